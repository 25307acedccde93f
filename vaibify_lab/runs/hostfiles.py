"""The operating system's errors on files of ours, as errors of ours."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from vaibify_lab.core.errors import CannotCheck, DiskFull
from vaibify_lab.core.paths import shown


@contextmanager
def os_errors(where: str) -> Iterator[None]:
    """Turn an ``OSError`` into `DiskFull` or `CannotCheck`."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            text = "cannot be written: no space is left"
            raise DiskFull(text, where=shown(where), action="free some space") from error
        raise CannotCheck(f"cannot be written: {error.strerror}", where=shown(where)) from error
