"""One directory of the tree, opened once for many of its files, and how a file is read there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from functools import partial

from vaibify_lab.core.errors import InvalidFile, UnsafePath
from vaibify_lab.files.descent import look, names_in, open_regular
from vaibify_lab.files.paths import escaped, join
from vaibify_lab.files.refusals import reading

READ_LIMIT = 64 * 2**20


class Directory:
    """An open directory of a tree, for as long as `Tree.inside` gives it."""

    def __init__(self, path: str, opened: int) -> None:
        self._path = path
        self._opened = opened

    def names(self) -> list[str]:
        """Return the names of everything in it, in no order."""
        with reading(self._path):
            return names_in(self._opened)

    def statuses(self, names: Iterable[str]) -> list[os.stat_result | None]:
        """Return the status of each name itself; None where nothing is there."""
        wanted = list(names)
        with reading(self._path):
            try:  # without a line of Python a file
                return list(
                    map(partial(os.stat, dir_fd=self._opened, follow_symlinks=False), wanted)
                )
            except (FileNotFoundError, NotADirectoryError):
                return [_status(self._opened, name) for name in wanted]

    def device(self) -> int:
        """Return the number of the file system that it lies on."""
        return os.fstat(self._opened).st_dev

    def read(self, name: str, limit: int = READ_LIMIT) -> bytes:
        """Return a file's bytes, as `Tree.read` does."""
        path = join(self._path, name)
        with reading(path):
            return content_of(opened_regular(self._opened, name, path), path, limit)


def opened_regular(directory: int, name: str, path: str) -> int:
    """Open a regular file for reading; refuse anything else, also what took its place just now."""
    require_regular(look(directory, name), path)
    opened = open_regular(directory, name)
    try:
        require_regular(os.fstat(opened), path)
    except UnsafePath:
        os.close(opened)
        raise
    return opened


def content_of(opened: int, path: str, limit: int) -> bytes:
    """Read an open file to its end, and close it."""
    with reading(path), os.fdopen(opened, "rb", buffering=0) as file:
        data = bytearray()
        while piece := os.read(file.fileno(), min(limit + 1 - len(data), 2**20)):
            data += piece
            if len(data) > limit:
                text = f"is larger than the {limit} bytes that are read of such a file"
                raise InvalidFile(text, where=escaped(path))
    return bytes(data)


def _status(directory: int, name: str) -> os.stat_result | None:
    try:
        return look(directory, name)
    except (FileNotFoundError, NotADirectoryError):
        return None


def require_regular(status: os.stat_result, path: str) -> None:
    """Refuse what is no regular file."""
    if stat.S_ISLNK(status.st_mode):
        raise UnsafePath("is a symbolic link", where=escaped(path))
    if not stat.S_ISREG(status.st_mode):
        raise UnsafePath("is not a regular file", where=escaped(path))
