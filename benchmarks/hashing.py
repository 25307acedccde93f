"""Manifests written and verified, in process and by the whole command, against coreutils.

Where the processor has no SHA instructions the reference is ``openssl dgst``: there the hash
library's own code decides, and coreutils says nothing about it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from machine import has_sha
from measure import Pair
from projects import commit

from vaibify_lab.ceremony.integrity import check_integrity
from vaibify_lab.envelope.manifest import NAME, format_manifest
from vaibify_lab.files.hashing import hash_many
from vaibify_lab.files.tree import Tree

MEBIBYTE = 2**20
PER_FOLDER = 100
SMALL_GOAL, LARGE_GOAL, OPENSSL_GOAL, COMMAND_GOAL = 0.6, 0.3, 1.3, 1.0


def pairs(folder: Path, count: int, size: int, mebibytes: int) -> Iterator[Pair]:
    """Make the files; yield what is timed on them."""
    small = make_small_files(folder / "small", count, size)
    yield from _both(f"{count:,} files of {size:,} bytes", folder / "small", small, SMALL_GOAL)
    yield _command(folder / "small")
    shutil.rmtree(folder / "small")
    large = make_large_file(folder / "large", mebibytes)
    yield from _both(f"one file of {mebibytes:,} MiB", folder / "large", large, LARGE_GOAL)


def make_small_files(folder: Path, count: int, size: int) -> list[str]:
    """Make a committed project of distinct random files, a hundred a folder; return their paths."""
    names = ["workflow.json"]
    step = {
        "sName": "All",
        "saDataCommands": ["true"],
        "saDataFiles": ["data/"],
        "bNoInputData": True,
        "bNoTests": True,
    }
    value = {"sFormat": "vaibify-lab/1", "bNoPythonPackages": True, "listSteps": [step]}
    folder.mkdir()
    (folder / "workflow.json").write_text(json.dumps(value))
    for number in range(count):
        name = f"data/{number // PER_FOLDER:04d}/{number:06d}.dat"
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(os.urandom(size))
        names.append(name)
    (folder / NAME).write_bytes(_written(folder, names))
    commit(folder)
    return sorted(names)


def make_large_file(folder: Path, mebibytes: int) -> list[str]:
    """Write one file, really on disk (no hole), a mebibyte of random bytes over and over."""
    folder.mkdir()
    block = os.urandom(MEBIBYTE)
    with (folder / "large.dat").open("wb") as stream:
        for _ in range(mebibytes):
            stream.write(block)
    (folder / NAME).write_bytes(_written(folder, ["large.dat"]))
    return ["large.dat"]


def _both(what: str, root: Path, names: list[str], goal: float) -> Iterator[Pair]:
    tool, most = ("`sha256sum`", goal) if has_sha() else ("`openssl dgst`", OPENSSL_GOAL)
    check = "`sha256sum -c`" if has_sha() else tool
    yield Pair(
        f"manifest of {what}, written",
        tool,
        most,
        lambda: _written(root, names),
        lambda: _by_tool(root, names),
    )
    yield Pair(
        f"manifest of {what}, verified",
        check,
        most,
        lambda: check_integrity(Tree(root)).state == "passed",
        lambda: _checked(root) if has_sha() else _by_tool(root, names) == _kept(root),
    )


def _command(root: Path) -> Pair:
    script = program()
    skipped = ("--skip-tier", "2", "--skip-tier", "3")
    command = [script, "reproduce", "--repo", str(root), *skipped]
    return Pair(
        "`reproduce --skip-tier 2 --skip-tier 3` of the same",
        "`sha256sum -c`",
        COMMAND_GOAL,
        lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL).returncode == 0,
        lambda: _checked(root),
    )


def starting() -> Pair:
    """Return the pair that starts the command line and a bare interpreter."""
    script = program()
    return Pair(
        "`jupyter-vaibify --help`",
        "`python -c pass`",
        15,
        lambda: subprocess.run([script, "--help"], check=True, stdout=subprocess.DEVNULL).args[0:0],
        lambda: subprocess.run([sys.executable, "-c", "pass"], check=True).args[0:0],
    )


def program() -> str:
    """Return the installed command line."""
    script = shutil.which("jupyter-vaibify", path=str(Path(sys.executable).parent))
    if script is None:
        sys.exit("jupyter-vaibify is not installed beside this Python; run make bench")
    return script


def _written(root: Path, names: list[str]) -> bytes:
    """Return the manifest, every byte of every file read, no cache."""
    found = hash_many(Tree(root), names)
    return format_manifest({path: state.sha256 or "" for path, state in found.items()})


def _kept(root: Path) -> bytes:
    return (root / NAME).read_bytes()


def _by_tool(root: Path, names: list[str]) -> bytes:
    tool = ["sha256sum"] if has_sha() else ["openssl", "dgst", "-sha256", "-r"]
    listed = "\0".join(names).encode()
    asked = ["xargs", "-0", *tool]
    done = subprocess.run(asked, input=listed, cwd=root, capture_output=True, check=True)
    return done.stdout.replace(b" *", b"  ")


def _checked(root: Path) -> bool:
    asked = ["sha256sum", "-c", "--quiet", NAME]
    return subprocess.run(asked, cwd=root, check=True).returncode == 0
