"""Repository paths: POSIX, relative to the root, ``str`` with surrogate escapes for odd bytes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from vaibify_lab.core.errors import UnsafePath

# Deeper trees than this are refused: a walk holds one descriptor a level.
MAX_DEPTH = 255

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def escaped(path: str) -> str:
    r"""Return ``path`` as one printable line: odd bytes and control characters as ``\xNN``."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def by_bytes(names: Iterable[str]) -> list[str]:
    """Return names sorted by their bytes.

    UTF-8 sorts as its code points do; only the escapes of other bytes do not.
    """
    found = list(names)
    return sorted(found) if "".join(found).isascii() else sorted(found, key=os.fsencode)


def split(path: str) -> tuple[str, str]:
    """Return (directory, name) of a repository path; the root's directory is ``""``.

    Raises
    ------
    UnsafePath
        When it is empty, absolute, too deep, or holds NUL, ``..``, ``.`` or an empty component.
    """
    parts = path.split("/")
    if "" in parts or "." in parts or ".." in parts or "\0" in path:
        raise UnsafePath("is not a plain path inside the project", where=escaped(path) or '""')
    if len(parts) > MAX_DEPTH:
        raise too_deep(path)
    directory, _, name = path.rpartition("/")
    return directory, name


def too_deep(path: str) -> UnsafePath:
    """Return the error for a path of more parts than `MAX_DEPTH`."""
    text = f"is nested deeper than {MAX_DEPTH} folders"
    return UnsafePath(text, where=f"{escaped(path)[:60]}...")


def folder(path: str) -> str:
    """Return the path of a directory without its final slash; ``""`` is the root itself."""
    bare = path.removesuffix("/")
    if path:
        split(bare)
    return bare


def join(directory: str, name: str) -> str:
    """Return the path of ``name`` in ``directory`` (``""`` is the root)."""
    return f"{directory}/{name}" if directory else name
