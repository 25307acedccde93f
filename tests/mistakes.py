"""The mistakes of docs/mistakes.md, each set up on a real project: one scene a mistake.

A scene is a context manager. It is given a project that is all green, and yields what surrounds the
command of the table: where it is typed, in which surroundings, and what it may write.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.apps.front import SCRIPT, Done, start, surroundings, vaibify
from tests.kit import CHAIN, CHAIN_FILES, Made, git
from vaibify_lab.engines.local.environment import search_path
from vaibify_lab.envelope.lock import source_digest
from vaibify_lab.envelope.lock_compile import this_platform

RECORD = ".vaibify/records/workflow/make.json"
MARKER = ".vaibify/test_markers/workflow/make.json"
_RUN = re.compile(r"\d{8}T\d{6}-[0-9a-f]{8}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_MEGABYTE = 10**6


@dataclass(frozen=True)
class Scene:
    """What surrounds a command.

    Attributes
    ----------
    root : Path
        What PROJECT stands for; its files are compared before and after.
    place : Path, optional
        Where the command is typed, when it is not there.
    environment : mapping
        Variables beside the usual ones.
    before : tuple of str
        What the command line begins with.
    writes : frozenset of str
        The only paths that differ afterwards.
    """

    root: Path
    place: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    before: tuple[str, ...] = ()
    writes: frozenset[str] = frozenset()

    def type(self, *words: str) -> Done:
        """Type a command; what it says has PROJECT, PREFIX, RUN and TIME where they belong."""
        done = subprocess.run(
            [*self.before, str(SCRIPT), *words],
            cwd=self.place or self.root,
            env=surroundings(**self.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(), self._plain(done.stderr.decode()))

    def _plain(self, text: str) -> str:
        known = text.replace(str(self.root), "PROJECT").replace(sys.prefix, "PREFIX")
        return _TIME.sub("TIME", _RUN.sub("RUN", known))


SceneMaker = Callable[[Made], AbstractContextManager[Scene]]


def green(root: Path) -> Made:
    """Make a project of two steps that has run, is signed, enveloped and committed."""
    made = Made.new(root, CHAIN, CHAIN_FILES)
    assert made.run()["outcome"] == "passed"
    made.sign("make", "use")
    made.commit("green")
    shutil.rmtree(made.root / ".vaibify/local")
    return made


def contents(root: Path) -> dict[str, str]:
    """Return every path, git's own files too, as what it is and holds; without this machine's."""
    found = {}
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        if here == root / ".vaibify" and "local" in folders:
            folders.remove("local")
        for path in [*map(here.joinpath, folders), *map(here.joinpath, names)]:
            found[path.relative_to(root).as_posix()] = _content(path)
    return found


def _content(path: Path) -> str:
    mode = path.lstat().st_mode
    held = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(mode) else ""
    return f"{stat.filemode(mode)} {held}"


@contextmanager
def as_it_is(made: Made) -> Iterator[Scene]:
    """Change nothing: the mistake is in the command."""
    yield Scene(made.root)


def with_steps(*steps: Mapping[str, Any], **top: Any) -> SceneMaker:
    """Write another workflow."""

    @contextmanager
    def scene(made: Made) -> Iterator[Scene]:
        made.workflow(steps, **top)
        yield Scene(made.root)

    return scene


@contextmanager
def unmerged(made: Made) -> Iterator[Scene]:
    """Merge two changes of one line of an input."""
    git(made.root, "checkout", "-q", "-b", "other")
    made.write("data/in.txt", "2\n")
    made.commit()
    git(made.root, "checkout", "-q", "main")
    made.write("data/in.txt", "3\n")
    made.commit()
    subprocess.run(["git", "-C", made.root, "merge", "other"], capture_output=True, check=False)
    yield Scene(made.root)


def with_files(*writes: str, **files: str) -> SceneMaker:
    """Write files (``make_sh`` is ``make.sh``); ``writes`` are the paths that will differ."""

    @contextmanager
    def scene(made: Made) -> Iterator[Scene]:
        for name, content in files.items():
            made.write(name.replace("__", "/").replace("_", "."), content)
        yield Scene(made.root, writes=frozenset(writes))

    return scene


def writing(maker: SceneMaker, *paths: str) -> SceneMaker:
    """Say what the command of a scene writes."""

    @contextmanager
    def scene(made: Made) -> Iterator[Scene]:
        with maker(made) as found:
            yield replace(found, writes=frozenset(paths))

    return scene


def without(*paths: str) -> SceneMaker:
    """Remove files or folders."""

    @contextmanager
    def scene(made: Made) -> Iterator[Scene]:
        for path in paths:
            target = made.root / path
            if target.is_dir():
                shutil.rmtree(target)
            else:
                target.unlink()
        yield Scene(made.root)

    return scene


def replaced(path: str, old: str, new: str) -> SceneMaker:
    """Edit a file."""

    @contextmanager
    def scene(made: Made) -> Iterator[Scene]:
        text = made.read(path)
        assert text.count(old) >= 1
        made.write(path, text.replace(old, new, 1))
        yield Scene(made.root)

    return scene


@contextmanager
def outside(made: Made) -> Iterator[Scene]:
    """Be in a folder that no repository encloses."""
    folder = made.root.parent / "elsewhere"
    folder.mkdir()
    yield Scene(folder)


@contextmanager
def no_git(made: Made) -> Iterator[Scene]:
    """Have no git on the PATH."""
    yield Scene(made.root, environment={"PATH": _path_of(made, "bash", "env")})


def _path_of(made: Made, *names: str) -> str:
    """Return a PATH on which these programs are alone."""
    folder = made.root.parent / "bin"
    folder.mkdir()
    for name in names:
        found = shutil.which(name)
        assert found is not None, name
        (folder / name).symlink_to(found)
    return str(folder)


@contextmanager
def somebody_elses(made: Made) -> Iterator[Scene]:
    """Be in a repository that another user owns."""
    for folder, _, _ in os.walk(made.root):
        os.chown(folder, 4321, 4321)
    yield Scene(made.root)


@contextmanager
def two_workflows(made: Made) -> Iterator[Scene]:
    """Have two workflows, neither of them at the root."""
    for name in ("one", "two"):
        made.write(f".vaibify/workflows/{name}.json", made.read("workflow.json"))
    (made.root / "workflow.json").unlink()
    yield Scene(made.root)


@contextmanager
def original(made: Made) -> Iterator[Scene]:
    """Have a project of the original Vaibify."""
    made.write("workflow.json", json.dumps({"iWorkflowSchemaVersion": 13, "listSteps": []}))
    yield Scene(made.root)


@contextmanager
def ignored(made: Made) -> Iterator[Scene]:
    """Let git ignore the folder of an output."""
    git(made.root, "rm", "-q", "-r", "--cached", "out")
    made.write(".gitignore", "# big files\nout/\n")
    made.write(".gitattributes", "* -text\n")
    made.commit("ignore results")
    yield Scene(made.root)


@contextmanager
def clone_without_output(made: Made) -> Iterator[Scene]:
    """Clone a project whose output git ignores."""
    with ignored(made):
        yield Scene(made.clone(made.root.parent / "clone").root)


@contextmanager
def notebook_step(made: Made) -> Iterator[Scene]:
    """Have a notebook of no bytes as a step."""
    made.write("look.ipynb", "")
    made.workflow([{**CHAIN[0], "saDataCommands": [], "sNotebook": "look.ipynb"}])
    yield Scene(made.root)


@contextmanager
def old_lock(made: Made) -> Iterator[Scene]:
    """Add a package to requirements.in after the lock was made."""
    asked = "lightkurve\n"
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    head = f"# vaibify: python {python} {this_platform()}\n"
    head += f"# source-sha256: {source_digest(asked.encode())}\n"
    made.write("requirements.lock", f"{head}lightkurve==2.5.0 --hash=sha256:{'0' * 64}\n")
    made.write("requirements.in", f"{asked}emcee\n")
    made.workflow(CHAIN, bNoPythonPackages=False)
    yield Scene(made.root)


@contextmanager
def lock_of_none(made: Made) -> Iterator[Scene]:
    """Make a lock of no packages, and do not declare that there are none."""
    made.workflow(CHAIN, bNoPythonPackages=False)
    made.write("requirements.in", "# packages\n")
    yield Scene(made.root)


@contextmanager
def no_lock(made: Made) -> Iterator[Scene]:
    """Declare packages, and forget the lock."""
    made.workflow(CHAIN, bNoPythonPackages=False)
    made.project().envelope("manifest")
    yield Scene(made.root)


@contextmanager
def missing_module(made: Made) -> Iterator[Scene]:
    """Import a package that is not installed."""
    made.write("make.py", "import lightkurve\n")
    made.write("requirements.in", "# packages\n")
    made.workflow([{**CHAIN[0], "saDataCommands": ["python make.py"]}], bNoPythonPackages=False)
    yield Scene(made.root)


@contextmanager
def no_uv(made: Made) -> Iterator[Scene]:
    """Have no uv: neither the package nor the program."""
    made.workflow(CHAIN, bNoPythonPackages=False)
    made.write("requirements.in", "lightkurve\n")
    blocked = made.root.parent / "blocked"
    blocked.mkdir()
    (blocked / "uv.py").write_text("raise ImportError('there is no uv')\n")
    python_path = os.pathsep.join([str(blocked), os.environ.get("PYTHONPATH", "")])
    environment = {"PATH": _path_of(made, "bash", "env", "git"), "PYTHONPATH": python_path}
    yield Scene(made.root, environment=environment)


@contextmanager
def no_bash(made: Made) -> Iterator[Scene]:
    """Have no bash where steps look for it: hidden in a mount namespace of the command's own."""
    empty = made.root.parent / "empty"
    empty.write_bytes(b"")
    found = {
        os.path.realpath(path)
        for path in (os.path.join(one, "bash") for one in search_path(Path(sys.prefix)).split(":"))
        if os.path.exists(path)
    }
    hide = "".join(f"mount --bind '{empty}' '{path}' && " for path in sorted(found))
    before = ("unshare", "-m", "sh", "-c", hide + 'exec "$@"', "sh")
    yield Scene(made.root, before=before)


@contextmanager
def a_run_goes_on(made: Made) -> Iterator[Scene]:
    """Have a run that takes its time, started from another terminal."""
    made.write("make.sh", "sleep 300\n")
    first = start(made.root, "run")
    try:
        _wait_for_step(made.root)
        yield Scene(made.root)
    finally:
        assert vaibify(made.root, "stop-run").code == 0
        first.communicate(timeout=60)


def _wait_for_step(root: Path) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        journals = (root / ".vaibify/local/runs").glob("*/journal.jsonl")
        if any('"event":"stepStarted"' in one.read_text() for one in journals):
            return
        time.sleep(0.05)
    raise AssertionError("the run did not begin")


@contextmanager
def no_name(made: Made) -> Iterator[Scene]:
    """Have a git that knows no name."""
    git(made.root, "config", "--unset", "user.name")
    git(made.root, "config", "--unset", "user.email")
    yield Scene(made.root)


@contextmanager
def other_hash(made: Made) -> Iterator[Scene]:
    """Put another hash into the manifest."""
    lines = made.read("MANIFEST.sha256").splitlines(keepends=True)
    edited = ["0" * 64 + one[64:] if one.endswith("  out/a.txt\n") else one for one in lines]
    assert edited != lines
    made.write("MANIFEST.sha256", "".join(edited))
    yield Scene(made.root)


def on_a_disk(megabytes: int, free: float | None = None, *writes: str, **files: str) -> SceneMaker:
    """Have the project on a disk of its own, with so many megabytes left when ``free`` is given."""

    @contextmanager
    def scene(made: Made) -> Iterator[Scene]:
        disk = made.root.parent / "disk"
        disk.mkdir()
        options = f"size={megabytes * _MEGABYTE}"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], check=True)
        try:
            moved = Made(disk / "project")
            shutil.copytree(made.root, moved.root, symlinks=True)
            for name, content in files.items():
                moved.write(name.replace("_", "."), content)
            if free is not None:
                _fill(disk / "filler", int(free * _MEGABYTE))
            yield Scene(moved.root, writes=frozenset(writes))
        finally:
            _unmount(disk)

    return scene


def _fill(filler: Path, free: int) -> None:
    """Write until no more than so many bytes are free."""
    with filler.open("wb", buffering=0) as file:
        while (left := shutil.disk_usage(filler).free) > free:
            file.write(bytes(min(left - free, _MEGABYTE)))


def _unmount(disk: Path) -> None:
    end = time.monotonic() + 20
    while subprocess.run(["umount", disk], check=False, stderr=subprocess.DEVNULL).returncode:
        assert time.monotonic() < end, "something is still on the disk"
        time.sleep(0.1)


_FIRST, _SECOND = CHAIN
_ASKS = "band = input('Which band? ')\nprint(band, file=open('out/a.txt', 'w'))\n"
_FULL = "head -c 400M /dev/zero > out/a.txt\n"
SCENES: dict[str, SceneMaker] = {
    "no git repository": outside,
    "no git program": no_git,
    "no workflow": without("workflow.json"),
    "typo in a key": with_steps({**_FIRST, "saPlotFile": ["out/a.png"]}, _SECOND),
    "output never written": with_files(RECORD, make_sh="true\n"),
    "wrong directory": with_steps({**_FIRST, "sDirectory": "data"}),
    "cycle": with_steps({**_FIRST, "saDependencies": ["Use"]}, _SECOND),
    "missing module": missing_module,
    "missing input": with_steps({**_FIRST, "saInputDataFiles": ["data/input.txt"]}),
    "path outside": with_steps({**_FIRST, "saInputDataFiles": ["../shared/in.txt"]}),
    "two steps, one output": with_steps(_FIRST, {**_SECOND, "saDataFiles": ["out/a.txt"]}),
    "output ignored by git": ignored,
    "lock out of date": old_lock,
    "no bash": no_bash,
    "disk full": on_a_disk(16, 0),
    "disk nearly full": on_a_disk(16, 8.5),
    "disk full during a run": on_a_disk(240, None, RECORD, make_sh=_FULL),
    "second run at once": a_run_goes_on,
    "bad --skip-tier": as_it_is,
    "signing without a name": no_name,
    "a file read from the wrong folder": with_files(RECORD, make_sh="cat in.txt > out/a.txt\n"),
    "a step that adds to its own output": with_files(
        RECORD, make_sh="sort -o out/a.txt out/a.txt data/in.txt\n"
    ),
    "a step that waits for input": with_files(RECORD, make_sh="python ask.py\n", ask_py=_ASKS),
    "manifest edited by hand": replaced("MANIFEST.sha256", "  data/in.txt", " data/in.txt"),
    "hash edited by hand": other_hash,
    "future format": replaced("workflow.json", "vaibify-lab/1", "vaibify-lab/2"),
    "a project of the original Vaibify": original,
    "several workflows": two_workflows,
    "no step yet": with_steps(),
    "a repository of somebody else": somebody_elses,
    "misspelt verb": as_it_is,
    "misspelt option": as_it_is,
    "misspelt step": as_it_is,
    "typo in a required key": replaced("workflow.json", '"sName": "Make"', '"sname": "Make"'),
    "typo that a reference trips over": replaced("workflow.json", "saDataFiles", "saDataFile"),
    "text where a list belongs": with_steps({**_FIRST, "saDataFiles": "out/a.txt"}, _SECOND),
    "invalid JSON": replaced("workflow.json", '"sName": "Make",', '"sName": "Make"'),
    "conflict markers": replaced("workflow.json", '  "listSteps"', '<<<<<<< HEAD\n  "listSteps"'),
    "a merge that is not finished": unmerged,
    "absolute path": with_steps({**_FIRST, "saInputDataFiles": ["/data/in.txt"]}),
    "reference to nothing": replaced("workflow.json", "{Step01.a}", "{Step01.b}"),
    "missing script": with_steps({**_FIRST, "saDataCommands": ["bash maek.sh"]}),
    "an empty notebook as a step": notebook_step,
    "a program that is not there": with_files(RECORD, make_sh="pyhton fit.py > out/a.txt\n"),
    "a script that fails": with_files(RECORD, make_sh="python fit.py\n", fit_py="print(1 / 0)\n"),
    "output written elsewhere": with_files(RECORD, "a.txt", make_sh="echo 2 > a.txt\n"),
    "writing where a step may not": writing(
        with_steps({**_FIRST, "sDirectory": "data", "saDataCommands": ["echo 2 > ../a.txt"]}),
        RECORD,
    ),
    "a step that takes too long": writing(
        with_steps({**_FIRST, "saDataCommands": ["sleep 60"], "fTimeoutSeconds": 0.5}), RECORD
    ),
    "a failing test": writing(
        with_steps({**_FIRST, "bNoTests": False, "saTestCommands": ["grep -q 9 out/a.txt"]}),
        ".vaibify/test_markers",
        ".vaibify/test_markers/workflow",
        MARKER,
    ),
    "no test to run": as_it_is,
    "a container without an image": as_it_is,
    "nothing to stop": as_it_is,
    "no run to show": as_it_is,
    "signing without a verdict": as_it_is,
    "signing before running": without(".vaibify/records"),
    "signing an edited result": with_files(out__a_txt="3\n"),
    "every tier skipped": as_it_is,
    "reproduce without an envelope": without("MANIFEST.sha256"),
    "a lock of nothing": lock_of_none,
    "reproduce without a lock": no_lock,
    "a clone that lacks an output": clone_without_output,
    "uv absent": no_uv,
    "demo where something is": as_it_is,
}
