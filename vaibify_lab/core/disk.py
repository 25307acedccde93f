"""The operating system's errors on files, as errors of ours."""

from __future__ import annotations

import errno

from vaibify_lab.core.errors import CannotCheck, DiskFull
from vaibify_lab.core.paths import shown

_FULL = (errno.ENOSPC, errno.EDQUOT)
_BROKEN = (errno.EIO, errno.EROFS)
_NO_TEMPORARY = "No usable temporary directory"


def failure(error: OSError, text: str, where: str) -> CannotCheck:
    """Return what to raise for an error met while writing; ``text`` says what could not be."""
    full = error.errno in _FULL
    said, action = f"{text}: {error.strerror}", "free some space" if full else None
    return (DiskFull if full else CannotCheck)(said, where=shown(where), action=action)


def of_the_disk(error: BaseException) -> CannotCheck | None:
    """Return an error that came from nowhere in particular as ours, when the disk is to blame.

    A full or broken disk may fail any call of any library; that is no mistake of ours.
    """
    if not isinstance(error, OSError):
        return None
    if str(error.strerror).startswith(_NO_TEMPORARY):
        return CannotCheck("no temporary folder can be written", action="free some space")
    if error.errno not in (*_FULL, *_BROKEN):
        return None
    return failure(error, "the disk cannot be written or read", str(error.filename or "a file"))
