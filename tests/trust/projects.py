"""Random projects for tier 1: any names and contents that a manifest can list."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tests.kit import git
from tests.trust.verdicts import typed

MANIFEST = "MANIFEST.sha256"
NAMES = (
    *("a", "b.csv", "fig 1.pdf", "x,y", "--", "Data", "réseau.txt", "日本", "über", "no_end"),
    *("a.tar.gz", "C", "100%", "<b>", "it's", "&amp;", "0", "_", "é", "ß", "K"),
)
BELOW = (  # only in a declared folder: no workflow can name them
    *("-n", "new\nline", "back\\slash", "re\rturn", "\\n", "*", "a  b", " lead", "trail "),
    *("?", "[x]", "~", "tab\t", "-"),
)


@dataclass
class Project:
    """A project on disk, and what its manifest lists."""

    root: Path
    folders: list[str]

    @property
    def listed(self) -> dict[str, str]:
        """Return the listed paths and hashes, as ``sha256sum`` wrote and would read them."""
        found = {}
        for line in self.manifest.split(b"\n")[:-1]:
            digest, _, name = line.lstrip(b"\\").partition(b"  ")
            found[os.fsdecode(unescaped(name) if line[:1] == b"\\" else name)] = digest.decode()
        return found

    @property
    def manifest(self) -> bytes:
        return (self.root / MANIFEST).read_bytes()

    def write_manifest(self, data: bytes) -> None:
        (self.root / MANIFEST).write_bytes(data)

    def line_of(self, path: str) -> bytes:
        """Return the line that lists a path."""
        return b"%s  %s" % (sha(self.root / path).encode(), os.fsencode(path))

    def pick(self, rng: Random, *, plain: bool = True, **wanted: bool) -> str:
        """Return one of the listed files: a data file, whose name needs no escape."""
        found = [path for path in self.listed if "\\" not in path and path.isprintable()]
        found = [path for path in found if path != "workflow.json"]
        if wanted.get("in_folder"):
            found = [path for path in found if "/" in path]
        if wanted.get("text"):
            found = [path for path in found if is_text((self.root / path).read_bytes())]
        return rng.choice(found) if found else ""


def is_text(data: bytes) -> bool:
    """Tell whether a conversion of line endings alters these bytes, and git would do it."""
    return b"\n" in data and b"\r" not in data and b"\0" not in data


def unescaped(name: bytes) -> bytes:
    """Take back the escapes of GNU ``sha256sum``."""
    marked = name.replace(b"\\\\", b"\0").replace(b"\\n", b"\n").replace(b"\\r", b"\r")
    return marked.replace(b"\0", b"\\")


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def make(root: Path, rng: Random) -> Project:
    """Make a project of one to four steps, its manifest written by ``envelope``."""
    root.mkdir()
    git(root, "init", "-q", "--template=", "-b", "main")
    (root / ".vaibify").mkdir()
    steps = [_step(root, number, rng) for number in range(rng.randrange(1, 5))]
    document = {"sFormat": "vaibify-lab/1", "bNoPythonPackages": True, "listSteps": steps}
    (root / "workflow.json").write_text(json.dumps(document, indent=2) + "\n")
    code, _ = typed("envelope", "--only", "manifest", "--json", "--repo", str(root))
    assert code == 0
    declared = [path for step in steps for path in step["saDataFiles"]]
    return Project(root, [path for path in declared if path.endswith("/")])


def _step(root: Path, number: int, rng: Random) -> dict[str, Any]:
    folder = f"step{number}" if rng.random() < 0.7 else f"s {number}/deep/er"
    names = rng.sample(NAMES, rng.randrange(1, 6))
    outputs = [f"{folder}/{name}" for name in names]
    if rng.random() < 0.6:
        outputs.append(f"parts{number}/")
        below = rng.sample([*NAMES, *BELOW], rng.randrange(1, 8))
        names = [f"parts{number}/{rng.choice(['', '', 'in/', 'dé/'])}{name}" for name in below]
    else:
        names = []
    inputs = [f"data/{number}-{rng.choice(NAMES)}"]
    for path in (*outputs, *names, *inputs):
        if not path.endswith("/"):
            write(root / path, content(rng))
    write(root / f"code/s{number}.py", f"print({number})\n".encode())
    return {
        "sName": f"Step {number}",
        "saDataCommands": [f"python code/s{number}.py"],
        "saDataFiles": outputs,
        "saInputDataFiles": inputs,
        "bNoTests": True,
    }


def content(rng: Random) -> bytes:
    """Return what a file may hold."""
    lines = b"".join(b"%d,%d\n" % (row, rng.randrange(1000)) for row in range(rng.randrange(9)))
    return rng.choice([b"", lines, lines, b"no end", lines.replace(b"\n", b"\r\n"), b"\n",
                       rng.randbytes(rng.randrange(1, 300)), rng.randbytes(70_000)])  # fmt: skip


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def cloned(project: Project, *options: str) -> None:
    """Commit everything, and put a clone in the project's place."""
    root, kept = project.root, project.root.with_name(project.root.name + "-kept")
    git(root, "add", "-A")
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    git(root, *who, "commit", "-q", "-m", "all")
    root.rename(kept)
    subprocess.run(["git", "clone", "-q", *options, str(kept), str(root)], check=True)
