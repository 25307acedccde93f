"""A small file that anybody may have put there: read when it is a plain one, else not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # nothing waits for who writes to a FIFO


def read_plain(path: Path, limit: int, *, follow: bool = False) -> bytes | None:
    """Return a file's bytes; None where there is no regular file that can be read.

    Parameters
    ----------
    path : Path
        The file.
    limit : int
        Of a longer file ``limit + 1`` bytes are returned, by which it is known.
    follow : bool
        Whether the path itself may be a symbolic link.
    """
    try:
        opened = os.open(path, _OPEN | (0 if follow else os.O_NOFOLLOW))
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            return None
        with os.fdopen(opened, "rb", closefd=False) as file:
            return file.read(limit + 1)
    except OSError:
        return None
    finally:
        os.close(opened)
