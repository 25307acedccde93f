"""Conflicts that git wrote into a file of text, and that nobody resolved."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from vaibify_lab.core.errors import InvalidFile, MissingFile, UnsafePath
from vaibify_lab.files.tree import Tree

LARGEST = 256 * 2**20  # a larger file is hardly in git as text
_FEWEST = 7  # signs of a mark; an attribute of git's asks for more
_BINARY = 8000  # bytes in which git looks for NUL: into what has one it writes no marks
_BEGIN = re.compile(rb"^(<{7,250}) [^\n]*", re.MULTILINE)
_MOST = 100  # lines that begin so
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Conflict:
    """Where a conflict begins: line, counted from one, and what stands there."""

    line: int
    mark: str


def conflict_in(tree: Tree, path: str) -> Conflict | None:
    """Return the first conflict in a file of text; None without one, and where it cannot be read.

    Three lines in their order make one, as git writes them: ``<`` seven times and a name, ``=``
    seven times alone, ``>`` seven times and a name. A line of ``=`` alone underlines a title.
    """
    try:
        data = tree.read(path, LARGEST)
    except (InvalidFile, MissingFile, UnsafePath):
        return None
    if b"<" * _FEWEST not in data or b"\0" in data[:_BINARY]:
        return None
    for begin in islice(_BEGIN.finditer(data), _MOST):
        count = len(begin[1])
        middle = re.compile(rb"^={%d}\r?$" % count, re.MULTILINE).search(data, begin.end())
        end = re.compile(rb"^>{%d} " % count, re.MULTILINE)
        if middle is not None and end.search(data, middle.end()):
            mark = begin[0].decode("utf-8", "replace").rstrip()[:_SHOWN]
            return Conflict(data.count(b"\n", 0, begin.start()) + 1, mark)
    return None
