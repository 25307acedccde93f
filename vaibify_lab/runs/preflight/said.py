"""Which files a file of code says that it uses, and which it only names."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache

from vaibify_lab.core.commands import named_by
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.files.codefile import language_of
from vaibify_lab.files.filenames import ROOT_SIGN, FileReader, FileUse
from vaibify_lab.files.mentions import Mention, mentions_in
from vaibify_lab.files.shellsource import shell_lines
from vaibify_lab.files.syntax import last_name
from vaibify_lab.files.tree import Tree
from vaibify_lab.notebooks.foretell.telling import CodeCell, Telling
from vaibify_lab.provenance.compare.notebook_file import read_notebook

Said = tuple[tuple[FileUse, ...], tuple[Mention, ...]]
_NONE: frozenset[str] = frozenset()
_PYTHON = ("python", "ipython", "notebook")
_QUOTED = ("r", "julia", "matlab", "perl", "javascript", "quoted")
_TEXT = re.compile(r"""(["'])([^"'\n\\]{1,300})\1""")
_OPENS = re.compile(r"^\s*(?:if|case)\b")
_HERE = re.compile(r"""<<-?\s*["'\\]?([A-Za-z_]\w*)""")
_WORD = re.compile(r"[\w./+-]+")
_CLOSES = re.compile(r"\b(?:fi|esac)\b")


def said_in(tree: Tree, path: str, directory: str, called: frozenset[str] = frozenset()) -> Said:
    """Return the files that code uses, and those it names; nothing of what cannot be read.

    ``directory`` is where it runs, from which the paths are to be read; those of the repository's
    root begin with `ROOT_SIGN`. ``called`` are functions that other code of its step calls.
    """
    try:
        return _read_once(path, tree.read(path), directory, called)
    except VaibifyError:
        return (), ()  # which is said as such


def calls_in(tree: Tree, path: str) -> frozenset[str]:
    """Return the functions of other modules that a file of Python calls, by their last names."""
    try:
        return _calls_once(path, tree.read(path)) if path.endswith((".py", ".ipynb")) else _NONE
    except VaibifyError:
        return _NONE


@lru_cache(256)
def _calls_once(path: str, data: bytes) -> frozenset[str]:
    nodes = [node for tree in _trees(path, data) for node in ast.walk(tree)]
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    known = {one.asname or one.name.partition(".")[0]: one for two in imports for one in two.names}
    found: set[str] = set()
    for call in (node.func for node in nodes if isinstance(node, ast.Call)):
        if isinstance(call, ast.Name) and call.id in known:
            found.add(known[call.id].name)
        elif isinstance(call, ast.Attribute) and last_name(call.value) in known:
            found.add(call.attr)
    return frozenset(found)


def _trees(path: str, data: bytes) -> list[ast.Module]:
    return [cell.tree for cell in _cells(path, data)]


@lru_cache(16)  # each is asked for twice or three times, one soon after the other
def _cells(path: str, data: bytes) -> tuple[CodeCell, ...]:
    if path.endswith(".ipynb"):
        return tuple(Telling.of(path, read_notebook(data, path)).cells)
    return tuple(Telling.of_script(path, data.decode("utf-8", "replace")).cells)


@lru_cache(256)  # many steps share a script
def _read_once(path: str, data: bytes, directory: str, called: frozenset[str]) -> Said:
    language = language_of(path, data)
    if language == "shell":
        return _of_shell(data, directory)
    if language in _QUOTED:
        return (), tuple(_quoted(data.decode("utf-8", "replace")))
    if language == "rules":
        return (), tuple(_words(data.decode("utf-8", "replace")))
    if language not in _PYTHON:
        return (), ()
    trees = _trees(path, data)
    here = {} if language == "notebook" else {"__file__": f"{ROOT_SIGN}{path}"}
    reader = FileReader(here, called=called, with_arguments=True)
    uses = tuple(use for tree in trees for use in reader.read(tree))
    mentions = tuple(one for tree in trees for one in mentions_in(tree))
    if language != "notebook":
        return uses, mentions
    of_shell = _of_shell("\n".join(_shell_of(path, data)).encode("utf-8", "replace"), directory)
    return (*uses, *of_shell[0]), (*mentions, *of_shell[1])


def _shell_of(path: str, data: bytes) -> Iterator[str]:
    """Yield what a notebook gives to a shell."""
    for cell in _cells(path, data):
        yield from cell.shell_lines
        if cell.magic is not None and cell.magic.name in ("bash", "sh"):
            yield cell.magic.body


def _of_shell(data: bytes, directory: str) -> Said:
    """Read a script line by line; what stands behind a condition may never be read."""
    uses: list[FileUse] = []
    mentions: list[Mention] = []
    depth = 0
    ends = ""
    for number, line in shell_lines(data):
        if ends:  # within a here-document, which is text
            ends = "" if line.strip() == ends else ends
            continue
        ends = here[1] if (here := _HERE.search(line)) else ""
        depth += bool(_OPENS.search(line))
        named = named_by([line], directory)
        read = [path for path in named.mentioned if named.reads(path)]
        for path in (*read, *named.patterns):
            written = posixpath.relpath(path, directory or ".")
            if depth == 0:
                uses.append(FileUse(written, number))
            else:
                mentions.append(Mention(written, number))
        depth = max(0, depth - bool(_CLOSES.search(line)))
    return tuple(uses), tuple(mentions)


def _words(text: str) -> Iterator[Mention]:
    for number, line in enumerate(text.split("\n"), 1):
        for word in _WORD.findall(line.partition("#")[0]):
            if "." in word.strip("./") or "/" in word.strip("./"):
                yield Mention(word, number)


def _quoted(text: str) -> Iterator[Mention]:
    for number, line in enumerate(text.split("\n"), 1):
        for found in _TEXT.finditer(line):
            if "." in found[2].strip("./") or "/" in found[2].strip("./"):
                yield Mention(found[2], number)
