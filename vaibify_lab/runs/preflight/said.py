"""Which files a file of code says that it uses, and which it only names."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache

from vaibify_lab.core.commands import named_by
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.files.codefile import language_of
from vaibify_lab.files.filenames import FileReader, FileUse
from vaibify_lab.files.mentions import Mention, mentions_in
from vaibify_lab.files.shellsource import shell_lines
from vaibify_lab.files.tree import Tree
from vaibify_lab.notebooks.foretell.telling import Telling
from vaibify_lab.provenance.compare.notebook_file import read_notebook

Said = tuple[tuple[FileUse, ...], tuple[Mention, ...]]
_PYTHON = ("python", "ipython")
_QUOTED = ("r", "julia", "matlab", "perl", "javascript", "quoted")
_TEXT = re.compile(r"""(["'])([^"'\n\\]{1,300})\1""")
_OPENS = re.compile(r"^\s*(?:if|case)\b")
_CLOSES = re.compile(r"\b(?:fi|esac)\b")


def said_in(tree: Tree, path: str, directory: str) -> Said:
    """Return the files that code uses, and those it names; nothing of what cannot be read.

    ``directory`` is where it runs, from which the paths are to be read.
    """
    try:
        return _read_once(path, tree.read(path), directory)
    except VaibifyError:
        return (), ()  # which is said as such


@lru_cache(256)  # many steps share a script
def _read_once(path: str, data: bytes, directory: str) -> Said:
    language = language_of(path, data)
    if language == "shell":
        return _of_shell(data, directory)
    if language in _QUOTED:
        return (), tuple(_quoted(data.decode("utf-8", "replace")))
    if language == "notebook":
        trees = [cell.tree for cell in Telling.of(path, read_notebook(data, path)).cells]
    elif language in _PYTHON:
        trees = [Telling.of_script(path, data.decode("utf-8", "replace")).cells[0].tree]
    else:
        return (), ()
    reader = FileReader()
    uses = tuple(use for tree in trees for use in reader.read(tree))
    return uses, tuple(one for tree in trees for one in mentions_in(tree))


def _of_shell(data: bytes, directory: str) -> Said:
    """Read a script line by line; what stands behind a condition may never be read."""
    uses: list[FileUse] = []
    mentions: list[Mention] = []
    depth = 0
    for number, line in shell_lines(data):
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


def _quoted(text: str) -> Iterator[Mention]:
    for number, line in enumerate(text.split("\n"), 1):
        for found in _TEXT.finditer(line):
            if "." in found[2].strip("./") or "/" in found[2].strip("./"):
                yield Mention(found[2], number)
