"""Why a step failed, read from the end of its log: the cause a person can act on, not only a code.

A hint, never a verdict: the log is the step's word and decides nothing.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from vaibify_lab.core.paths import shown
from vaibify_lab.core.report import Reason

_TAIL = 64 * 1024
_MODULE = re.compile(
    r"(?:No module named |there is no package called |[Pp]ackage )['\"‘“]?([A-Za-z_][\w.]*)['\"’”]?"
)
_FILE = re.compile(
    r"(?:No such file or directory: |cannot open file |No such file: ?)['\"‘]?([^'\"’\n]+)['\"’]?"
    r"|(?:^|: )([^\s:]+): No such file or directory",
    re.MULTILINE,
)
_WORD = re.compile(r"[^\s'\"‘’“”()\[\]{}<>,;:]+")
_INPUT = ("EOFError: EOF when reading a line", "EOFError", "raw_input was called")


def tail(path: Path, limit: int = _TAIL) -> str:
    """Return the end of a log as text, never more than ``limit`` bytes of it."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - limit))
            return file.read(limit).decode("utf-8", "replace")
    except OSError:
        return ""


def why_exit(status: int, stderr: str) -> Reason:
    """Return the reason for a non-zero exit status, the likely cause named where it shows."""
    if any(text in stderr for text in _INPUT):
        text = "asked for input; a step runs without a terminal"
        return Reason("asked-for-input", text, None, "read it from a file or the command")
    modules = _MODULE.findall(stderr)
    if modules and "No module named" in stderr:
        name = modules[-1].partition(".")[0]
        action = "add it to requirements.in, then: jupyter vaibify envelope --only lock"
        return Reason("missing-module", f"module {name!r} is not in its environment", None, action)
    missing = [one or two for one, two in _FILE.findall(stderr)]
    if missing:
        return Reason("missing-file", f"did not find the file {shown(missing[-1][:200])!r}")
    return Reason("exit", f"{_status_text(status)}{_last_line(stderr)}")


def missed_files(
    text: str,
    directory: str,
    root: str,
    exists: Callable[[str], bool],
    staged: Iterable[str],
    known: Iterable[str],
) -> tuple[str, ...]:
    """Return repository files that a log speaks of and that a sealed run did not hold.

    Parameters
    ----------
    text : str
        The log's end.
    directory, root : str
        The step's working directory (repository path) and the tree as the step sees it.
    exists : callable
        Tells whether a repository path is a regular file.
    staged, known : iterables of repository paths
        What the sealed tree held, and what git knows (for names without a folder).
    """
    held = frozenset(staged)
    found: dict[str, None] = {}
    for word in _WORD.findall(text):
        for path in _candidates(word, directory, root):
            if path not in held and exists(path):
                found[path] = None
    tracked = list(known)
    for name in _MODULE.findall(text):
        found.update(dict.fromkeys(_module_files(name, tracked, held)))
    if not found:
        names = {word.rsplit("/", 1)[-1] for word in _WORD.findall(text) if "." in word}
        matches = [path for path in tracked if path.rsplit("/", 1)[-1] in names]
        found.update(dict.fromkeys(path for path in matches if path not in held))
    return tuple(found)[:5]


def _candidates(word: str, directory: str, root: str) -> list[str]:
    inside = word.removeprefix(root + "/") if word.startswith(root + "/") else word
    if inside.startswith(("/", "~")) or "\x00" in inside or len(inside) > 1000:
        return []
    options = [inside] if inside is not word else [posixpath.join(directory, word), word]
    plain = [posixpath.normpath(option) for option in options]
    return [path for path in plain if not path.startswith("..") and path != "."]


def _module_files(name: str, tracked: list[str], held: frozenset[str]) -> list[str]:
    path = name.replace(".", "/")
    endings = (f"{path}.py", f"{path}/__init__.py")
    return [
        one
        for one in tracked
        if one not in held and any(one == end or one.endswith("/" + end) for end in endings)
    ]


def _status_text(status: int) -> str:
    if status == 127:
        return "a command was not found (exit status 127)"
    if status > 128:
        return f"was ended by signal {status - 128} (exit status {status})"
    return f"ended with exit status {status}"


def _last_line(stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    return f": {shown(lines[-1][:300])}" if lines else ""
