"""What the operating system refuses, as errors of ours."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from vaibify_lab.core.errors import CannotCheck, DiskFull, MissingFile, UnsafePath, VaibifyError
from vaibify_lab.files.paths import escaped


@contextmanager
def reading(path: str, *, silent: bool = False) -> Iterator[None]:
    """Turn the operating system's errors while reading into ours (or, silent, into nothing)."""
    try:
        yield
    except OSError as error:
        if not silent:
            raise _cannot_read(error, path) from error


def _cannot_read(error: OSError, path: str) -> VaibifyError:
    if error.errno == errno.ENOTDIR and error.filename == path:
        return UnsafePath("is not a folder", where=escaped(path))
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return MissingFile("does not exist", where=escaped(path))
    return _unsafe(error, path) or MissingFile(
        f"cannot be read: {error.strerror}", where=escaped(path)
    )


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Turn the operating system's errors while writing into ours."""
    try:
        yield
    except OSError as error:
        raise _cannot_write(error, path) from error


def _cannot_write(error: OSError, path: str) -> VaibifyError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        text = "cannot be written: no space is left; what was there before is untouched"
        return DiskFull(text, where=escaped(path), action="free some space")
    if error.errno == errno.ENOENT:
        return MissingFile("does not exist", where=escaped(path))
    return _unsafe(error, path) or CannotCheck(
        f"cannot be written: {error.strerror}", where=escaped(path)
    )


def _unsafe(error: OSError, path: str) -> UnsafePath | None:
    """Return the error for what is wrong with the path itself, if that is it."""
    if error.errno == errno.ELOOP:
        link = str(error.filename)
        if path.removesuffix("/").startswith(f"{link}/"):
            text = f"goes through the symbolic link {escaped(link)}"
            return UnsafePath(text, where=escaped(path))
        return UnsafePath("is a symbolic link", where=escaped(path))
    if error.errno == errno.ENOTDIR:
        text = f"lies below {escaped(str(error.filename))}, which is not a folder"
        return UnsafePath(text, where=escaped(path))
    if error.errno == errno.ENAMETOOLONG:
        return UnsafePath("has a name that is too long", where=f"{escaped(path)[:60]}...")
    return None
