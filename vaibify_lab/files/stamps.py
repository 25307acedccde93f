"""What changes when a file is written, replaced or touched."""

from __future__ import annotations

import os
import stat
from pathlib import Path

Stamp = tuple[int, int, int, int, int]


def stamp_of(seen: os.stat_result) -> Stamp:
    """Return size, times, inode and mode."""
    return (seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, seen.st_mode)


def stamp_at(name: Path | str, directory: int | None = None) -> Stamp | None:
    """Return the stamp of a name itself, never of what it links to; None when it is not there."""
    try:
        return stamp_of(os.stat(name, dir_fd=directory, follow_symlinks=False))
    except OSError:
        return None


def identity(seen: Stamp | None) -> Stamp | None:
    """Return what tells a folder from another in its place; of anything else, its stamp."""
    if seen is None or not stat.S_ISDIR(seen[4]):
        return seen
    return 0, 0, 0, seen[3], stat.S_IFMT(seen[4])
