"""Tier 2 beside pip: random locks of tiny packages, which an index on loopback offers."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from random import Random
from typing import Any

from tests.kit import git
from tests.serving import on_loopback
from tests.trust.verdicts import Damage, Theirs, variables
from vaibify_lab.envelope.lock_compile import this_platform

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
HEADER = f"# vaibify: python {PYTHON} {this_platform()}"
DEAD = "http://127.0.0.1:9/simple/"

# One child for all: it is pip's own start that takes the time.
CHILD = """
import contextlib, io, json, os, sys
from pip._internal.cli.main import main
found = {}
for root, index in json.loads(sys.argv[1]):
    if index is not None:
        os.environ["PIP_INDEX_URL"] = index
    os.chdir(root)
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        code = main(["download", "--quiet", "--no-cache-dir", "--no-input", "--retries", "0",
                     "--require-hashes", "--dest", "got", "-r", "requirements.lock"])
    found[root] = [code, said.getvalue()[-2000:]]
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Wheel:
    """One file that an index offers."""

    name: str
    version: str
    needs: tuple[str, ...]

    @property
    def file(self) -> str:
        return f"{self.name.replace('-', '_')}-{self.version}-py3-none-any.whl"

    @property
    def data(self) -> bytes:
        """The file, the same each time."""
        info = f"{self.name.replace('-', '_')}-{self.version}.dist-info"
        needs = "".join(f"Requires-Dist: {one}\n" for one in self.needs)
        head = f"Metadata-Version: 2.1\nName: {self.name}\nVersion: {self.version}\n{needs}"
        tags = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        listed = "".join(f"{info}/{one},,\n" for one in ("METADATA", "WHEEL", "RECORD"))
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as wheel:
            for name, text in (("METADATA", head), ("WHEEL", tags), ("RECORD", listed)):
                wheel.writestr(zipfile.ZipInfo(f"{info}/{name}"), text)
        return packed.getvalue()

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


@dataclass
class Project:
    """A lock, what an index offers for it, and how the index is spoilt."""

    root: Path
    index: str
    wheels: list[Wheel]
    lines: list[str] = field(default_factory=list)
    yanked: set[str] = field(default_factory=set)
    without_hash: set[str] = field(default_factory=set)
    spoilt_files: set[str] = field(default_factory=set)

    def page(self, name: str) -> str | None:
        """Return an index's page of a project."""
        files = [one for one in self.wheels if one.name == name]
        links = []
        for one in files:
            sha256 = "" if one.file in self.without_hash else f"#sha256={one.sha256}"
            yanked = ' data-yanked="no more"' if one.file in self.yanked else ""
            links.append(f'<a href="../../files/{one.file}{sha256}"{yanked}>{one.file}</a><br>')
        return f"<html><body>{''.join(links)}</body></html>" if links else None

    def file(self, name: str) -> bytes | None:
        """Return a file as the index has it."""
        found = next((one.data for one in self.wheels if one.file == name), None)
        return found + b"\0" if found and name in self.spoilt_files else found

    def write(self) -> None:
        """Write the lock."""
        (self.root / "requirements.lock").write_text("\n".join([*self.lines, ""]))

    def pick(self, rng: Random, *, needed: bool = False) -> int:
        """Return the number of a package's line: of one that another needs, if so asked."""
        names = {one for wheel in self.wheels for one in wheel.needs}
        found = [at for at, line in enumerate(self.lines) if "==" in line and
                 (line.split("==")[0] in names or not needed)]  # fmt: skip
        return rng.choice(found) if found else -1

    def wheel_of(self, at: int) -> Wheel:
        """Return the wheel that a line names."""
        name, _, rest = self.lines[at].partition("==")
        version = rest.split(" ")[0]
        return next(one for one in self.wheels if (one.name, one.version) == (name, version))


def line_of(wheel: Wheel, *more: str) -> str:
    hashes = (wheel.sha256, *more)
    return f"{wheel.name}=={wheel.version} " + " ".join(f"--hash=sha256:{one}" for one in hashes)


def make(root: Path, index: str, rng: Random) -> Project:
    """Make a project whose lock is whole: packages that need each other, some with two versions."""
    count = rng.randrange(2, 6)
    wheels: list[Wheel] = []
    for at in range(count):
        above = [f"vl-p{one}" for one in range(at) if rng.random() < 0.6]
        versions = rng.sample(["1.0", "1.1", "2.0rc1"], rng.randrange(1, 3))
        wheels += [Wheel(f"vl-p{at}", version, tuple(above)) for version in versions]
    project = Project(root, index, wheels)
    newest = {one.name: one for one in wheels}
    project.lines = [line_of(one) for one in newest.values()]
    rng.shuffle(project.lines)
    project.lines.insert(0, HEADER)
    root.mkdir(parents=True)
    git(root, "init", "-q", "--template=")
    steps = [{"sName": "A", "saDataCommands": ["true"], "bNoTests": True}]
    declare(project, {"sFormat": "vaibify-lab/1", "listSteps": steps})
    project.write()
    return project


def declare(project: Project, document: Mapping[str, Any]) -> None:
    (project.root / "workflow.json").write_text(json.dumps(document))


@contextmanager
def index_for(projects: dict[str, Project]) -> Iterator[str]:
    """Offer each project's packages below its own name; give the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            _, name, kind, *rest = self.path.split("/")
            project = projects[name]
            said = project.page(rest[0]) if kind == "simple" else project.file(rest[0])
            data = said.encode() if isinstance(said, str) else said
            self.send_response(404 if data is None else 200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(data or b"")))
            self.end_headers()
            self.wfile.write(data or b"")

        def log_message(self, *_: object) -> None:
            pass

    with on_loopback(Handler) as url:
        yield url


def by_hand(projects: Sequence[tuple[Path, str | None]]) -> dict[Path, Theirs]:
    """Let pip download each lock, as a stranger would, from an index or from its own."""
    own = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "VL_NUMBER": "1.0"}
    kept = dict(os.environ)
    if all(index is not None for _, index in projects):
        kept = {key: value for key, value in kept.items() if not key.startswith("PIP_")}
        own["PIP_CONFIG_FILE"] = os.devnull
    asked = json.dumps([(str(root), index) for root, index in projects])
    done = subprocess.run([sys.executable, "-c", CHILD, asked], env=kept | own,
                          stdin=subprocess.DEVNULL, capture_output=True, check=True)  # fmt: skip
    found = json.loads(done.stdout.splitlines()[-1])
    return {Path(root): Theirs(code == 0, said=said) for root, (code, said) in found.items()}


def asking(project: Project) -> Any:
    """Return the surroundings in which we ask the project's index."""
    names = ("PIP_EXTRA_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "PIP_NO_INDEX")
    others = dict.fromkeys(("UV_EXTRA_INDEX_URL", "UV_NO_INDEX", *names))
    return variables(**others, PIP_INDEX_URL=project.index)


# damages


def exchanged(old: str, new: str) -> object:
    """Return a damage of a package's line; VERSION, HASH, NAME and URL are its own."""

    def spoil(project: Project, rng: Random) -> None:
        at = project.pick(rng)
        wheel = project.wheel_of(at)
        words = {"VERSION": wheel.version, "HASH": wheel.sha256, "NAME": wheel.name}
        words["URL"] = f"{project.index.removesuffix('simple/')}files/{wheel.file}"
        pair = [old, new]
        for word, meaning in words.items():
            pair = [one.replace(word, meaning) for one in pair]
        assert pair[0] in project.lines[at]
        project.lines[at] = project.lines[at].replace(*pair)

    return spoil


def added(line: str) -> object:
    """Return a damage that adds a line."""

    def spoil(project: Project, rng: Random) -> None:
        project.lines.insert(rng.randrange(1, len(project.lines) + 1), line)

    return spoil


def lines_shuffled(project: Project, rng: Random) -> None:
    rng.shuffle(project.lines)


def dependency_missing(project: Project, rng: Random) -> bool | None:
    at = project.pick(rng, needed=True)
    if at < 0:
        return False
    name = project.lines[at].split("==")[0]
    wanted = [one for at, one in _locked(project) if name in one.needs]
    del project.lines[at]
    return bool(wanted)


def _locked(project: Project) -> list[tuple[int, Wheel]]:
    return [(at, project.wheel_of(at)) for at, one in enumerate(project.lines) if "==" in one]


def yanked(project: Project, rng: Random) -> None:
    project.yanked.add(project.wheel_of(project.pick(rng)).file)


def gone(project: Project, rng: Random) -> None:
    wheel = project.wheel_of(project.pick(rng))
    project.wheels = [one for one in project.wheels if one.name != wheel.name]


def other_bytes(project: Project, rng: Random) -> None:
    project.spoilt_files.add(project.wheel_of(project.pick(rng)).file)


def no_digests(project: Project, rng: Random) -> None:
    project.without_hash |= {one.file for one in project.wheels}


def index_gone(project: Project, rng: Random) -> None:
    project.index = DEAD


def nested(project: Project, rng: Random) -> None:
    at = project.pick(rng)
    (project.root / "nested.txt").write_text(project.lines[at] + "\n")
    project.lines[at] = "-r nested.txt"


def path_here(project: Project, rng: Random) -> None:
    at = project.pick(rng)
    wheel = project.wheel_of(at)
    (project.root / wheel.file).write_bytes(wheel.data)
    place = f"{wheel.name} @ file://{project.root}/{wheel.file}"
    project.lines[at] = f"{place} --hash=sha256:{wheel.sha256}"


def links_here(project: Project, rng: Random) -> None:
    project.lines.insert(1, f"--find-links {project.root}")


def sha512_alone(project: Project, rng: Random) -> None:
    at = project.pick(rng)
    wheel = project.wheel_of(at)
    digest = hashlib.sha512(wheel.data).hexdigest()
    project.lines[at] = f"{wheel.name}=={wheel.version} --hash=sha512:{digest}"


def two_meanings(project: Project, rng: Random) -> None:
    wheel = project.wheel_of(project.pick(rng))
    project.lines.append(f"{wheel.name}=={wheel.version} --hash=sha256:{'0' * 64}")


def emptied(project: Project, rng: Random) -> None:
    project.lines = [HEADER]


def none_declared(project: Project, rng: Random) -> None:
    document = json.loads((project.root / "workflow.json").read_text())
    declare(project, document | {"bNoPythonPackages": True})


def wildcard(project: Project, rng: Random) -> bool | None:
    at = project.pick(rng)
    version = project.wheel_of(at).version
    if "rc" in version:  # pip does not read a wildcard after one
        return False
    project.lines[at] = project.lines[at].replace(f"=={version}", f"=={version}.*")
    return None


def nothing(project: Project, rng: Random) -> None:
    return None


WRONG = "0" * 64
DAMAGES = (
    Damage("clean", nothing, True),
    Damage("lines in other order", lines_shuffled, True),
    Damage("for another platform", added("no-such==1 ; sys_platform == 'win32' --hash=sha256:"
           + WRONG), True, differs="not-offered"),
    Damage("wrong hash", exchanged("HASH", WRONG), False, says="hash-not-offered"),
    Damage("one of two hashes wrong", exchanged("HASH", f"HASH --hash=sha256:{WRONG}"), True,
           differs="hash-not-offered"),
    Damage("no hash", exchanged(" --hash=sha256:HASH", ""), False, says="no-hash"),
    Damage("md5 alone", exchanged("sha256:HASH", "md5:" + "0" * 32), False, says="bad-hash"),
    Damage("sha512 alone", sha512_alone, True, differs="no-hash"),
    Damage("not pinned", exchanged("==VERSION", ""), None, differs="unpinned"),
    Damage("pinned by a wildcard", wildcard, None, differs="unpinned"),
    Damage("version absent", exchanged("==VERSION", "==9.9"), False, says="not-offered"),
    Damage("package absent", gone, False, says="not-offered"),
    Damage("dependency missing", dependency_missing, False, differs="without a pinned image"),
    Damage("withdrawn (yanked)", yanked, True, says="yanked"),
    Damage("bytes altered at the index", other_bytes, False, differs="without a pinned image"),
    Damage("no hashes at the index", no_digests, True, differs="gives no SHA-256"),
    Damage("index gone", index_gone, False, says="cannot be reached"),
    Damage("from a URL", exchanged("NAME==VERSION", "NAME @ URL"), True,
           differs="comes from a URL"),
    Damage("bare URL", exchanged("NAME==VERSION", "URL"), True, differs="malformed"),
    Damage("from version control", exchanged("NAME==VERSION", "NAME @ git+http://127.0.0.1:9/x"),
           False, says="not-hashable"),
    Damage("path of one machine", path_here, True, differs="local-path"),
    Damage("folder of one machine", links_here, True, differs="local-path"),
    Damage("editable", added("-e ."), False, says="editable"),
    Damage("another file", nested, True, differs="nested"),
    Damage("from the environment", exchanged("==VERSION", "==${VL_NUMBER}"), None,
           differs="environment-variable"),
    Damage("no index", added("--no-index"), False, says="no-index"),
    Damage("two meanings of one pin", two_meanings, True, differs="duplicate"),
    Damage("conflict markers", added("<<<<<<< HEAD"), False, says="malformed"),
    Damage("hidden by a marker", added("no-such==1 ; sys_platform == 'win32'"), True,
           differs="no-hash"),
    Damage("no package", emptied, True, differs="no-packages"),
    Damage("packages though none are declared", none_declared, True, differs="declared-none"),
)  # fmt: skip


def spoilt(
    folder: Path, address: str, projects: dict[str, Project], rng: Random, damage: Damage
) -> Project:
    """Make a project and damage it; another one where the first had nothing to damage so."""
    while True:
        name = f"locks-{len(projects)}"
        project = projects[name] = make(folder / name, f"{address}/{name}/simple/", rng)
        if damage.spoil(project, rng) is not False:
            project.write()
            return project
