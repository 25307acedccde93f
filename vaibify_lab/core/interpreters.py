"""What a simple command starts: a file, a module, or code that stands in the command itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_KEYWORDS = frozenset(
    {"if", "then", "else", "elif", "while", "until", "do", "!", "{", "time", "exec", "command"}
)
_STARTERS = frozenset(
    {"env", "nice", "ionice", "nohup", "timeout", "stdbuf", "setsid", "sudo", "xargs", "taskset"}
    | {"numactl", "chrt", "mpirun", "mpiexec", "srun", "prun", "aprun", "jsrun", "uv", "poetry"}
    | {"pixi", "pipenv", "hatch", "pdm", "conda", "mamba", "micromamba"}
)
_RUN = frozenset({"run", "exec"})
_AMOUNT = re.compile(r"[0-9][0-9.,:-]*[smhdkMG]?")
# Also by the names that scripts and makefiles give it: ``$PY``, ``${PYTHON3}``, ``$PYTHON_EXE``.
PYTHON_NAMES = r"(?i:py|python[0-9]?)(?:_?(?i:bin|exe|cmd|executable))?"
_PYTHON = re.compile(
    rf"python[0-9.]*[dt]?|pypy[0-9.]*|\$(?:{PYTHON_NAMES}|\{{{PYTHON_NAMES}(?::[-=][^{{}}]*)?\}})"
)


Kind = Literal["file", "module", "python", "shell", "stdin", "other"]


@dataclass(frozen=True, slots=True)
class Family:
    """How one kind of interpreter reads its arguments.

    ``inline``, ``module``: flags before code and before a module's name, alone or at the end of a
    cluster. ``valued``: flags whose value is the next word.
    """

    code: Literal["python", "shell", "other"]
    inline: re.Pattern[str]
    module: re.Pattern[str] | None = None
    valued: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """A program's kind and its text.

    ``file`` a path as written, ``module`` a dotted name, ``python`` and ``shell`` code,
    ``stdin`` for Python that reads its code from standard input, ``other`` for what is not read.
    """

    kind: Kind
    text: str = ""


_FLAGS = "[bBdEiIOPqRsSuvVx]*"
_OPTIONS = re.compile(rf"-(?=[^-])({_FLAGS})([cmWX]?)")
# Options of pytest whose value may look like a file of tests and names none to run.
_PYTEST_VALUED = frozenset(
    {"--ignore", "--ignore-glob", "--deselect", "-k", "-m", "-p", "-o", "-c"}
)
_DEAF = frozenset("IES")
_FAMILIES = (
    (
        _PYTHON,
        Family(
            "python",
            re.compile(rf"-{_FLAGS}c"),
            re.compile(rf"-{_FLAGS}m"),
            re.compile(rf"-{_FLAGS}[WX]|--check-hash-based-pycs"),
        ),
    ),
    (re.compile(r"ipython3?"), Family("python", re.compile("-c"), re.compile("-m"))),
    (
        re.compile("bash|sh|dash|zsh|ksh"),
        Family(
            "shell",
            re.compile("-[abefhilmnprtuvx]*c[abefhilmnprtuvx]*"),
            None,
            re.compile("[-+][abefhilmnprtuvx]*[oO]|--rcfile|--init-file"),
        ),
    ),
    (re.compile("Rscript"), Family("other", re.compile("-e"))),
    (
        re.compile("julia"),
        Family("other", re.compile("-[eE]|--eval|--print"), None, re.compile("-[tpLJCH]")),
    ),
    (
        re.compile("perl"),
        Family("other", re.compile("-[a-zA-Z0-9]*[eE]"), None, re.compile("-I")),
    ),
    (re.compile("node(js)?|deno|bun|lua|ruby|tclsh"), Family("other", re.compile("-[ep]|--eval"))),
)


def program_of(words: Sequence[str]) -> Program | None:
    """Return what a simple command starts, when that stands in the repository or in its text."""
    index = _own_name(words)
    if index == len(words):
        return None
    word = words[index]
    family = _family(word)
    if family is not None:
        return _read(family, words[index + 1 :])
    if word in (".", "source") and index + 1 < len(words):
        return Program("file", words[index + 1])
    return Program("file", word) if "/" in word else None


def called_by(words: Sequence[str]) -> Sequence[str]:
    """Return the name by which a simple command has the shell look for a program, if it has one."""
    index = _own_name(words)
    return [one for one in words[index : index + 1] if one and "/" not in one]


def starts(words: Sequence[str], program: str) -> bool:
    """Tell whether a simple command starts a program, by its name or as a module of Python's."""
    index = _own_name(words)
    named = program_of(words) == Program("module", program)
    return named or [word.rpartition("/")[2] for word in words[index : index + 1]] == [program]


def test_files_of(words: Sequence[str]) -> list[str]:
    """Return the files that a simple command hands to pytest; with a test's name or without."""
    if not any("pytest" in word for word in words):
        return []
    index = _own_name(words)
    rest = list(words[index + 1 :])
    if program_of(words) == Program("module", "pytest"):
        rest = rest[next(n for n, word in enumerate(rest) if word.endswith("pytest")) + 1 :]
    elif list(words[index : index + 1]) != ["pytest"]:
        return []
    given = (
        one for before, one in zip(["", *rest], rest, strict=False) if before not in _PYTEST_VALUED
    )
    files = (word.partition("::")[0] for word in given if not word.startswith("-"))
    return [file for file in files if file.endswith(".py")]


def ignores_environment(words: Sequence[str]) -> bool:
    """Tell whether a simple command starts a Python that heeds no variables or no site.

    That is what ``-I``, ``-E`` and ``-S`` do; what is laid into its path does not run there.
    """
    index = _own_name(words)
    if index == len(words) or not _PYTHON.fullmatch(words[index].rpartition("/")[2]):
        return False
    rest = iter(words[index + 1 :])
    for word in rest:
        found = _OPTIONS.match(word)
        if found is None:
            return False
        if set(found[1]) & _DEAF:
            return True
        if found[2] and found[2] in "cm":
            return False
        if found[2] and found.end() == len(word):
            next(rest, None)  # its value
    return False


def _own_name(words: Sequence[str]) -> int:
    """Return where a command's own name stands; past the end where it has none."""
    index = 0
    while index < len(words) and _leads_on(words, index):
        index += 1
    return index


def _leads_on(words: Sequence[str], index: int) -> bool:
    """Tell whether the command's own name comes after this word."""
    word = words[index]
    if word in _KEYWORDS or _ASSIGNMENT.match(word):
        return True
    if word in _STARTERS and index + 1 < len(words):
        return True
    started = any(one in _STARTERS for one in words[:index])
    if not started or _family(word) is not None:
        return False
    value = words[index - 1].startswith("-") and "/" not in word
    return word.startswith("-") or word in _RUN or value or _AMOUNT.fullmatch(word) is not None


def _family(word: str) -> Family | None:
    name = word.rpartition("/")[2]
    return next((family for names, family in _FAMILIES if names.fullmatch(name)), None)


def _read(family: Family, arguments: Sequence[str]) -> Program | None:
    index = 0
    while index < len(arguments):
        word = arguments[index]
        inside = _said_by_flag(family, arguments[index:])
        if inside is not None:
            return inside
        if word == "-" or (family.code == "shell" and word == "-s"):
            break
        if family.valued is not None and family.valued.fullmatch(word):
            index += 1
        elif not word.startswith(("-", "+")):
            return Program("file", word)
        index += 1
    return Program("stdin") if family.code == "python" else Program("other")


def _said_by_flag(family: Family, arguments: Sequence[str]) -> Program | None:
    """Return the code or module that a flag introduces; Python's may be joined to its value."""
    word = arguments[0]
    following = arguments[1] if len(arguments) > 1 else ""
    flags: tuple[tuple[re.Pattern[str] | None, Kind], ...]
    flags = ((family.inline, family.code), (family.module, "module"))
    for flag, kind in flags:
        found = flag.match(word) if flag is not None else None
        if found and (family.code == "python" or found.end() == len(word)):
            return Program(kind, word[found.end() :] or following)
    return None
