"""The operating system's errors on files of ours, as errors of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from vaibify_lab.core import disk


@contextmanager
def os_errors(where: str) -> Iterator[None]:
    """Turn an ``OSError`` into `DiskFull` or `CannotCheck`."""
    try:
        yield
    except OSError as error:
        raise disk.failure(error, "cannot be written", where) from error
