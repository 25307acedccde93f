"""uv as it finds Pythons, makes virtual environments and installs packages into them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from packaging.utils import canonicalize_name

from vaibify_lab.core.errors import DiskFull, ToolFailed, ToolMissing
from vaibify_lab.files import uvprogram

_DRAWN = re.compile(r"[×│├╰─▶╭╮╯]+|\x1b\[[0-9;]*m")
_WORD = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


def program() -> str:
    """Return uv's path: that of the installed package, else the one on PATH.

    Raises
    ------
    ToolMissing
        There is neither.
    """
    found = uvprogram.program()
    if found is None:
        text = "uv is not installed, and only uv makes a step's Python from requirements.lock"
        raise ToolMissing(text, action="python -m pip install uv")
    return found


def find_python(version: str) -> str:
    """Return the path of an installed Python of this version.

    Raises
    ------
    ToolFailed
        There is none; nothing is downloaded.
    """
    command = ["python", "find", "--no-python-downloads", "--no-project", version]
    done = subprocess.run(
        [program(), *command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        env=uvprogram.surroundings(),
        check=False,
    )
    if done.returncode or not done.stdout.strip():
        text = f"asks for Python {version}, which is not installed here"
        action = f"install it (uv python install {version}), or make the lock anew"
        raise ToolFailed(text, where="requirements.lock", action=action)
    return done.stdout.strip()


def run(
    arguments: list[str],
    folder: Path,
    progress: Callable[[str], None],
    packages: frozenset[str] = frozenset(),
) -> None:
    """Run uv in ``folder`` and pass on what it says.

    Parameters
    ----------
    arguments : list of str
        uv's own.
    folder : Path
        Working directory; uv's settings are looked for from there upwards.
    progress : callable
        Told each line.
    packages : frozenset of str
        Normalised names; the first of them in an error is what the error is about.

    Raises
    ------
    ToolFailed
        With uv's own words on one line, about the package it names.
    DiskFull
        When that is what uv says.
    """
    said: list[str] = []
    with subprocess.Popen(
        [program(), *arguments, "--no-progress", "--color=never"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=uvprogram.surroundings(),
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            said.append(line)
            progress(line.rstrip())
    if process.returncode:
        _fail("".join(said), packages)


def condensed(words: str) -> str:
    """Return what uv says of a failure on one line, without its drawing."""
    line = " ".join(_DRAWN.sub(" ", words).split())
    return line.partition("error: ")[2] or line


def _fail(words: str, packages: frozenset[str]) -> None:
    if "No space left on device" in words:
        raise DiskFull("the Python environment of requirements.lock could not be made")
    reason = condensed(words)[:600] or "no reason given"
    named = (word[0] for word in _WORD.finditer(reason))
    package = next((word for word in named if canonicalize_name(word) in packages), None)
    where = f"requirements.lock: {package}" if package else "requirements.lock"
    raise ToolFailed(f"cannot be installed: {reason}", where=where)
