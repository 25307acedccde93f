"""What an engine leaves in a step's state folder, read with the care that anybody's files need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.engines.base import Ended
from vaibify_lab.files.plainfile import read_plain
from vaibify_lab.files.tree import Tree

SMALL = 2**16
STATUS = "status.json"


def ended(state: Path) -> Ended | None:
    """Return how a step ended by its ``status.json``; None when that is not there or not whole."""
    try:
        values = parsed(small(state / STATUS), STATUS)
        code = values["returncode"]
        return Ended(
            returncode=None if code is None else int(code),
            stopped=values["stopped"] is True,
            out_of_memory=values["out_of_memory"] is True,
            lost=code is None or values.get("lost") is True,
            detail=str(values["detail"]),
            leftover_processes=int(values["leftover_processes"]),
            seconds=float(values["seconds"]),
            dropped_bytes=int(values["dropped_bytes"]),
        )
    except (InvalidFile, KeyError, TypeError, ValueError):
        return None


def write_ended(state: Path, how: Ended) -> None:
    """Write ``status.json``, whole or not at all.

    Raises
    ------
    DiskFull, CannotCheck
    """
    values = {name: getattr(how, name) for name in Ended.__slots__}
    Tree(state).write(STATUS, jsonio.dumps(values))


def small(path: Path) -> bytes:
    """Return a small file's bytes; b"" when it cannot be read, or is no plain file."""
    return (read_plain(path, SMALL) or b"")[:SMALL]


def parsed(data: bytes, name: str) -> dict[str, Any]:
    """Parse one of an engine's files; what is there may be half a file, or a step's.

    Raises
    ------
    InvalidFile
        It is no object of JSON.
    """
    value = jsonio.loads(data, name)
    if not isinstance(value, dict):
        raise InvalidFile("is not an object", where=name)
    return value
