"""Which files of the repository a step's commands name, read from their text alone."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from vaibify_lab.core.references import ROOT

_INTERPRETER = re.compile(r"^(?:.*/)?(python[0-9.]*|ipython3?|Rscript|julia|bash|sh|perl)$")
_CODE = (".py", ".ipy", ".ipynb", ".sh", ".bash", ".r", ".jl", ".pl", ".m", ".awk")
_BREAKS = frozenset({"|", "||", "&", "&&", ";", ";;", "(", ")", "\n"})
_PYTHON_FLAGS_WITH_VALUE = frozenset({"-W", "-X", "--check-hash-based-pycs"})


@dataclass(frozen=True, slots=True)
class Named:
    """What commands name: repository paths and Python modules.

    ``scripts`` stand where an interpreter expects its program (they must exist); ``mentioned`` is
    every word that could be a path inside the repository; ``modules`` follow ``python -m``.
    """

    scripts: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    mentioned: tuple[str, ...] = ()


def named_by(commands: Iterable[str], directory: str) -> Named:
    """Read what commands name, as seen from their working directory (repository path)."""
    scripts: dict[str, None] = {}
    modules: dict[str, None] = {}
    mentioned: dict[str, None] = {}
    for command in commands:
        for words in simple_commands(command):
            _read_one(words, directory, scripts, modules, mentioned)
    return Named(tuple(scripts), tuple(modules), tuple(mentioned))


def looks_like_code(path: str) -> bool:
    """Tell by its suffix whether a file is code that a command may run."""
    return path.lower().endswith(_CODE)


def _read_one(
    words: list[str],
    directory: str,
    scripts: dict[str, None],
    modules: dict[str, None],
    mentioned: dict[str, None],
) -> None:
    for word in words:
        for part in {word, word.partition("=")[2]} if "=" in word else {word}:
            path = _repository_path(part, directory)
            if path:
                mentioned[path] = None
    start = next((i for i, word in enumerate(words) if _INTERPRETER.match(word)), None)
    if start is None:
        if words and "/" in words[0]:
            path = _repository_path(words[0], directory)
            if path:
                scripts[path] = None
        return
    program = _program_of(words[start + 1 :])
    if program is None:
        return
    kind, text = program
    if kind == "module":
        modules[text] = None
    elif path := _repository_path(text, directory):
        scripts[path] = None


def _program_of(arguments: list[str]) -> tuple[str, str] | None:
    """Return ("module" or "file", its text) of an interpreter's program; None for -c and stdin."""
    index = 0
    while index < len(arguments):
        word = arguments[index]
        if word == "-m" and index + 1 < len(arguments):
            return "module", arguments[index + 1]
        if word in ("-c", "-", "-e"):
            return None
        if word in _PYTHON_FLAGS_WITH_VALUE:
            index += 1
        elif not word.startswith("-"):
            return "file", word
        index += 1
    return None


def simple_commands(command: str) -> list[list[str]]:
    """Split a shell command into its simple commands' words, quotes removed."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    found: list[list[str]] = [[]]
    try:
        for word in lexer:
            if word in _BREAKS or not word.strip("();<>|&\n"):
                if word in _BREAKS:
                    found.append([])
            else:
                found[-1].append(word)
    except ValueError:
        return [re.split(r"[\s'\"();<>|&]+", command)]
    return [words for words in found if words]


def _repository_path(word: str, directory: str) -> str | None:
    """Return the repository path a word could mean, or None."""
    root = "{" + ROOT + "}"
    if word.startswith(root):
        joined = word[len(root) :].lstrip("/")
    elif word.startswith(("/", "~", "-", "$")) or "://" in word or "\x00" in word:
        return None
    else:
        joined = posixpath.join(directory, word)
    path = posixpath.normpath(joined) if joined else ""
    if path in ("", ".") or path.startswith("../") or path == ".." or len(path) > 4096:
        return None
    return path
