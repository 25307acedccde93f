"""Directories opened one component at a time, so that no link is followed anywhere on the way.

Everything here speaks ``OSError``: ``ELOOP`` always means a symbolic link, with its path as
``filename``. ``tree`` turns that into errors of ours and ``hashing`` into states.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from vaibify_lab.files.paths import by_bytes

EntryKind = Literal["file", "folder", "link", "other"]

# O_PATH (Linux) also opens folders that may be searched but not listed.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: should a FIFO be put in place between the look and the opening, nothing waits.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Descent:
    """A chain of open directories from a root down to the one that was entered last.

    Going from one directory to the next reuses the part that both share, so a sorted batch opens
    each directory once. Use as a context manager; not for several threads at a time.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._parts: list[str] = []
        self._open: list[int] = []
        self._here = ""

    def __enter__(self) -> Self:
        self._open.append(os.open(self._root, _FOLDER))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._climb(-1)

    def enter(self, directory: str, *, made: list[str] | None = None) -> int:
        """Return a descriptor of ``directory`` (``""`` is the root), open until the next call.

        With ``made``, missing directories are created and their paths added to it.
        """
        if directory == self._here:
            return self._open[-1]
        parts = directory.split("/") if directory else []
        shared = 0
        for old, new in zip(self._parts, parts, strict=False):
            if old != new:
                break
            shared += 1
        self._climb(shared)
        for part in parts[shared:]:
            self._step_into(part, made)
        return self._open[-1]

    def settle(self, above: int) -> None:
        """Make the entries of the directory entered last, and of so many above it, durable."""
        for opened in reversed(self._open[-1 - above :]):
            sync(opened)

    def _climb(self, depth: int) -> None:
        while len(self._open) > depth + 1:
            os.close(self._open.pop())
        del self._parts[max(depth, 0) :]
        self._here = "/".join(self._parts)

    def _step_into(self, part: str, made: list[str] | None) -> None:
        path = f"{self._here}/{part}" if self._here else part
        parent = self._open[-1]
        try:
            opened = os.open(part, _FOLDER, dir_fd=parent)
        except FileNotFoundError:
            if made is None:
                raise
            make_folder(parent, part)
            made.append(path)
            opened = os.open(part, _FOLDER, dir_fd=parent)
        except OSError as error:
            if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                raise
            # Linux answers ENOTDIR for a link as well.
            raise _not_a_folder(parent, part, path) from None
        self._open.append(opened)
        self._parts.append(part)
        self._here = path


def look(directory: int, name: str) -> os.stat_result:
    """Return the status of ``name`` itself, never of what it links to."""
    return os.stat(name, dir_fd=directory, follow_symlinks=False)


def open_regular(directory: int, name: str) -> int:
    """Open a file for reading: no link is followed, and a FIFO does not make us wait."""
    return os.open(name, _FILE, dir_fd=directory)


def entries(directory: int) -> list[tuple[str, EntryKind]]:
    """Return the names in a directory and what each is, sorted by bytes."""
    listing = os.open(".", _LIST, dir_fd=directory)
    try:
        with os.scandir(listing) as found:
            kinds = {entry.name: _kind(entry) for entry in found}
    finally:
        os.close(listing)
    return [(name, kinds[name]) for name in by_bytes(kinds)]


def names_in(directory: int) -> list[str]:
    """Return the names in a directory, in no order."""
    listing = os.open(".", _LIST, dir_fd=directory)
    try:
        return os.listdir(listing)
    finally:
        os.close(listing)


def make_folder(parent: int, name: str) -> None:
    """Create a directory; another process may have been faster."""
    try:
        os.mkdir(name, dir_fd=parent)
    except FileExistsError:
        return
    if (owner := heir(parent)) is not None:
        os.chown(name, *owner, dir_fd=parent, follow_symlinks=False)


def heir(directory: int) -> tuple[int, int] | None:
    """Return whose root's new files in a directory should be: the directory's owner's.

    None where they are whose they should be: nobody else is root, or the directory is root's.
    """
    if os.geteuid():
        return None
    status = os.fstat(directory)
    return (status.st_uid, status.st_gid) if status.st_uid else None


def sync(directory: int) -> None:
    """Make a directory's entries durable, where its file system can do that."""
    try:
        listing = os.open(".", _LIST, dir_fd=directory)
    except PermissionError:  # may be written and searched but not listed
        return
    try:
        os.fsync(listing)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(listing)


def _kind(entry: os.DirEntry[str]) -> EntryKind:
    if entry.is_file(follow_symlinks=False):
        return "file"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "link" if entry.is_symlink() else "other"


def _not_a_folder(parent: int, part: str, path: str) -> OSError:
    is_link = stat.S_ISLNK(look(parent, part).st_mode)
    number = errno.ELOOP if is_link else errno.ENOTDIR
    return OSError(number, os.strerror(number), path)
