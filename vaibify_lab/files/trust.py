"""When the same stamp means the same bytes: how old it is, and where the file lies."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

from vaibify_lab.files.hashing import Stamp, stamp_of

RACY_NS = 2_000_000_000
MOUNTS = Path("/proc/self/mountinfo")
# Their ctime is a copy of the mtime, which anybody sets, or the word of a server that need not
# keep one. Of NFS it is the server's own time of change, which nobody sets.
KINDS = frozenset({b"fuse", b"fuseblk", b"cifs", b"smb3", b"vfat", b"msdos", b"exfat"})


def is_settled(stamp: Stamp, started: int) -> bool:
    """Tell whether a later write must leave another stamp than this, seen at ``started`` (ns)."""
    return max(stamp[1], stamp[2]) < started - RACY_NS


def stamps_in(directory: int, names: Iterable[str]) -> list[Stamp] | None:
    """Return the stamps of all names, in one sweep without a line of Python a file.

    None where one cannot be had.
    """
    look = partial(os.stat, dir_fd=directory, follow_symlinks=False)
    try:
        return list(map(stamp_of, map(look, names)))
    except OSError:
        return None


class ChangeTimes:
    """Whether file systems tell when a file was changed, as mounted when it first matters."""

    def __init__(self) -> None:
        self._without: frozenset[int] | None = None

    def are_kept_on(self, device: int) -> bool:
        """Tell of a device (``st_dev``) that the ctime of what lies there can be believed."""
        if self._without is None:
            self._without = without_change_times()
        return device not in self._without


def without_change_times() -> frozenset[int]:
    """Return the devices of the file systems whose ctime proves nothing.

    None where the system has no such list of mounts.
    """
    try:
        lines = MOUNTS.read_bytes().splitlines()
    except OSError:
        return frozenset()
    found = set()
    for line in lines:  # proc(5): number, parent, major:minor, ..., "-", kind, source, options
        with suppress(ValueError, IndexError):
            fields = line.split(b" ")
            kind = fields[fields.index(b"-", 6) + 1]
            if kind in KINDS or kind.startswith(b"fuse."):
                major, minor = map(int, fields[2].split(b":"))
                found.add(os.makedev(major, minor))
    return frozenset(found)
