"""Names of which a part is not known before the code runs, such as ``steps/$name.py``.

What is not known is a hole, written ``@``. Which files such a name may mean is known all the same:
those that fit.
"""

from __future__ import annotations

import re

HOLE = "@"
# ``{}``, ``{name:02d}`` and ``%s`` of Python, ``$x``, ``${x}`` and ``$(x)`` of shells and of
# makefiles, shell patterns, and the stem of makefiles.
_HOLE = re.compile(
    r"\$\{[^{}]*\}|\$\([^()]*\)|`[^`]*`|\$\w+|\{[^{}/]*\}|%\(\w+\)[0-9.]*[sdi]|%[0-9.]*[sdi]\b"
    r"|\[[^\[\]/]*\]|[*?%]+"
)
_ANYWHERE = re.compile(r"""(?<![^\s"'=:;(])(?:@+/)+""")
_MANY = re.compile(r"@{2,}")


def with_holes(text: str) -> str:
    """Return a text with a hole for each part that something is put in for."""
    return _MANY.sub(HOLE, _HOLE.sub(HOLE, text))


def without_unknown_folders(text: str) -> str:
    """Return a text whose paths do not begin with folders of which nothing is known."""
    return _ANYWHERE.sub("", text)


def is_unknown(name: str) -> bool:
    """Tell whether nothing at all is known of a name, so that it may be any."""
    return HOLE in name and not re.search(r"\w", name.rpartition("/")[2].partition(".")[0])


def fits(pattern: str, name: str) -> bool:
    """Tell whether one part of a path (no slash in it) fits one with holes; in linear time."""
    if HOLE not in pattern:
        return name == pattern
    first, *between, last = pattern.split(HOLE)
    at, end = len(first), len(name) - len(last)
    if at > end or not (name.startswith(first) and name.endswith(last)):
        return False
    for piece in between:
        found = name.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True
