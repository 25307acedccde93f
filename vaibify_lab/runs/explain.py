"""Why a step failed, read from the end of its log: the cause a person can act on, not only a code.

A hint, never a verdict: the log is the step's word and decides nothing. Only the last lines are
read, each cut to a length, so that no log makes this slow.
"""

from __future__ import annotations

import errno
import os
import posixpath
import re
import signal
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from vaibify_lab.core.paths import shown
from vaibify_lab.core.report import Reason

_TAIL = 64 * 1024
_LINES, _LENGTH, _WORDS, _NAMED = 40, 2000, 500, 5
_NEAR = 12  # lines before the last in which a cause is worth a mention
_PYTHON_MODULE = re.compile(r"No module named ['\"]?([A-Za-z_][\w.]*)")
_IMPORTED_NAME = re.compile(r"cannot import name '(\w+)' from (?:[a-z ]+)?'([\w.]+)'")
_R_PACKAGE = re.compile(r"there is no package called ['\"‘“]([A-Za-z][\w.]*)")
_PROGRAM = re.compile(
    r"(?:^|: )([^:]+): command not found$"  # bash
    r"|^(?:/bin/)?sh: \d+: (?:[^\s:]+: )?([^\s:]+): not found$"  # dash
    r"|^(?:/usr/bin/)?env: ['\"‘]?([^\s'\"’:]+)['\"’]?: No such file or directory$"
)
_NOT_RUN = re.compile(r"^[^:]+: (?:line )?\d+: ([^:]+): Permission denied$")
_FILE = re.compile(
    r"No such file or directory: ['\"]([^'\"]+)['\"]"
    r"|file or directory not found: (.+)$"  # pytest
    r"|cannot open file ['\"‘`]([^'\"’]+)['\"’]"
    r"|name = '([^']+)', errno = 2"
    r"|['\"‘]([^'\"‘’]+)['\"’]: No such file or directory"
    r"|(?<![^\s:])([^\s:'\"‘’]+): No such file or directory"
)
_PYTHON3 = "call it python3 where only that is there, or install python"
_WORD = re.compile(r"[^\s'\"`‘’“”()\[\]{}<>,;:=]+")
_INPUT = (
    "EOFError: EOF when reading a line",
    "raw_input was called, but",
    "getpass was called, but",
)
_SAYS_NOTHING = re.compile(
    r"Execution halted|Calls: |Traceback |(?:subprocess\.)?CalledProcessError: |make: \*\*\* "
)


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
    telling = _telling(stderr)
    if not telling:
        return Reason("exit", _status_text(status))
    last = _INPUT[0] if _was_getpass(telling[-1], stderr) else telling[-1]
    cause = _by_status(status, telling) or _cause(last)
    if cause is not None:
        return cause
    text = f"{_status_text(status)}: {shown(telling[-1][:300])}"
    before = next((one for one in reversed(telling[-1 - _NEAR : -1]) if _cause(one)), None)
    return Reason("exit", f"{text} (before that: {shown(before[:200])})" if before else text)


def _was_getpass(last: str, stderr: str) -> bool:
    """Tell whether Python asked for a password: its own error then says nothing."""
    return last.strip() == "EOFError" and "in fallback_getpass" in stderr


def file_not_found(stderr: str) -> str | None:
    """Return the file that the last telling line says was not found, as the line writes it."""
    names = [name for line in _telling(stderr)[-1:] for name in _names_of_files(line)]
    return names[-1] if names else None


def modules_not_found(stderr: str) -> list[str]:
    """Return the modules of which the log says that they were not found, in order."""
    return _names_of_modules(stderr[-_TAIL:])


@dataclass(frozen=True, slots=True)
class Sealed:
    """What a sealed run could see: its working directory, the tree's place, the files it held.

    ``exists`` tells whether a repository path is a file, ``files`` lists those of the repository.
    """

    directory: str
    root: str
    held: frozenset[str]
    exists: Callable[[str], bool]
    files: Callable[[], Iterable[str]]

    def missed(self, stderr: str, *, certain: bool = False) -> tuple[str, ...]:
        """Return repository files that the log says were not found and that the run did not hold.

        With ``certain``, only those of exactly the path or module that a message says is not there;
        else also those of the same name elsewhere and, without any such message, every other file
        that the last lines speak of.
        """
        lines = _last_lines(stderr)
        names = [name for line in lines for name in _names_of_files(line)]
        modules = [name for line in lines for name in _names_of_modules(line)]
        found = dict.fromkeys(path for name in names for path in self._as_files(name))
        if names or modules:
            known = [path for path in self.files() if path not in self.held]
            for name in modules:
                found.update(dict.fromkeys(module_files(name, known, certain=certain)))
            for name in names if not found and not certain else ():
                found.update(dict.fromkeys(_below_or_alike(name, known)))
        if not found and not certain:
            words = _WORD.findall("\n".join(lines[-15:]))
            for word in list(dict.fromkeys(reversed(words)))[:_WORDS]:
                found.update(dict.fromkeys(self._as_files(word)))
        return tuple(found)[:_NAMED]

    def _as_files(self, word: str) -> list[str]:
        inside = word.removeprefix(self.root + "/")
        if inside.startswith(("/", "~")) or "\0" in inside or len(inside) > 1000:
            return []
        options = [inside]
        if inside == word:
            options = [posixpath.join(self.directory, word), word]
        plain = dict.fromkeys(posixpath.normpath(option) for option in options)
        inner = [path for path in plain if not path.startswith("..") and path != "."]
        return [path for path in inner if path not in self.held and self.exists(path)][:1]


def _by_status(status: int, lines: Sequence[str]) -> Reason | None:
    """Return what a shell says with the two statuses of programs that could not be run."""
    if status == 127:
        return _program(lines[-_NEAR:])
    found = _NOT_RUN.search(lines[-1]) if status == 126 else None
    if found is None:
        return None
    text = f"may not run {shown(found[1][:200])!r}: it is not marked as a program"
    return Reason("not-executable", text, None, "chmod +x, or name its interpreter before it")


def _cause(line: str) -> Reason | None:
    if any(text in line for text in _INPUT):
        text = "asked for input; a step runs without a terminal"
        return Reason("asked-for-input", text, None, "read it from a file or the command")
    if "Read-only file system" in line:
        text = f"wrote where it may not: {shown(line[:300])}"
        action = "declare what it writes as an output, or set bWriteAnywhere"
        return Reason("read-only", text, None, action)
    if os.strerror(errno.ENOSPC) in line:
        text = f"filled the disk: {shown(line[:300])}"
        return Reason("disk-full", text, None, "free some space")
    found = _PYTHON_MODULE.search(line)
    if found:
        action = "add it to requirements.in, then: jupyter vaibify envelope --only lock"
        text = f"imports {found[1].rstrip('.')!r}, which is not in its environment"
        return Reason("missing-module", text, None, action)
    found = _R_PACKAGE.search(line)
    if found:
        text = f"loads the R package {found[1]!r}, which is not in its environment"
        return Reason("missing-module", text, None, "install it where the step runs")
    program = _program([line])
    if program is not None:
        return program
    files = _names_of_files(line)
    if files:
        noun = "file" if re.search("[./*]", files[-1]) else "file or program"
        return Reason("missing-file", f"did not find the {noun} {shown(files[-1][:200])!r}")
    return None


def _program(lines: Sequence[str]) -> Reason | None:
    """Return which program was not there, as the last of these lines that tells it says."""
    for line in reversed(lines):
        if found := _PROGRAM.search(line):
            name = next(filter(None, found.groups()))
            text = f"calls the program {shown(name[:200])!r}, which is not in its environment"
            action = _PYTHON3 if name == "python" else "install it where the step runs"
            return Reason("missing-program", text, None, action)
    return None


def _telling(stderr: str) -> list[str]:
    lines = _last_lines(stderr)
    return [line for line in lines if not _SAYS_NOTHING.match(line)] or lines


def _last_lines(text: str) -> list[str]:
    lines = text[-_TAIL:].splitlines()[-5 * _LINES :]
    kept = [line.strip()[:_LENGTH] for line in lines]
    return [line for line in kept if line][-_LINES:]


def _names_of_files(line: str) -> list[str]:
    return [next(filter(None, groups)) for groups in _FILE.findall(line)]


def _names_of_modules(line: str) -> list[str]:
    names = [name.rstrip(".") for name in _PYTHON_MODULE.findall(line)]
    return names + [f"{package}.{name}" for name, package in _IMPORTED_NAME.findall(line)]


def module_files(name: str, known: list[str], *, certain: bool) -> list[str]:
    """Return the files that may be a module, or lie in it where it is a folder without a file."""
    path = name.replace(".", "/")
    whole = (f"/{path}.py", f"/{path}/__init__.py")
    exact = [one for one in known if f"/{one}".endswith(whole)]
    if exact or certain:
        return exact
    inside = [one for one in known if one.endswith(".py") and f"/{path}/" in f"/{one}"]
    return inside[:_NAMED]


def _below_or_alike(name: str, known: list[str]) -> list[str]:
    """Return files below a folder that was not found, else those of the same last name."""
    parts = [part for part in name.split("/") if part not in ("", ".", "..")]
    if not parts:
        return []
    inner = "/".join(parts)
    below = [one for one in known if f"/{inner}/" in f"/{one}"]
    return below[:_NAMED] or [one for one in known if one.rpartition("/")[2] == parts[-1]]


def _status_text(status: int) -> str:
    if status == 127:
        return "called a command that was not found (exit status 127)"
    if status > 128:
        number = status - 128
        known = {one.value: one.name for one in signal.Signals}
        if number in known:
            return f"was ended by signal {number}, {known[number]} (exit status {status})"
    return f"ended with exit status {status}"
