"""The tree beneath a root: every path is walked by descriptors and no link is ever followed.

Files are replaced whole or not at all: temporary file, fsync, rename, fsync of the folder.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vaibify_lab.core.errors import (
    CannotCheck,
    DiskFull,
    InvalidFile,
    MissingFile,
    UnsafePath,
    VaibifyError,
)
from vaibify_lab.files.descent import (
    Descent,
    EntryKind,
    entries,
    heir,
    look,
    open_regular,
    sync,
)
from vaibify_lab.files.paths import MAX_DEPTH, escaped, folder, join, split, too_deep

READ_LIMIT = 64 * 2**20
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_KINDS: dict[EntryKind, str] = {
    "link": "is a symbolic link",
    "other": "is not a regular file",
}


class Tree:
    """Files beneath ``root``, named by repository paths.

    Every operation opens its way down from the root without following a link in any component,
    and raises `UnsafePath` where one stands. Errors of the operating system become errors of ours:
    `MissingFile` for what cannot be read, `DiskFull` or `CannotCheck` for what cannot be written.
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(root).resolve()

    def open_file(self, path: str) -> int:
        """Return a read-only descriptor of a regular file; the caller closes it.

        Never blocks. Raises `MissingFile` (also when unreadable) or `UnsafePath`.
        """
        with _reading(path), self._beside(path) as (directory, name):
            _require_regular(look(directory, name), path)
            opened = open_regular(directory, name)
            try:
                _require_regular(os.fstat(opened), path)
            except UnsafePath:
                os.close(opened)
                raise
            return opened

    def lstat(self, path: str) -> os.stat_result | None:
        """Return the status of the path itself; None when nothing is there."""
        with _reading(path):
            try:
                with self._beside(path) as (directory, name):
                    return look(directory, name)
            except (FileNotFoundError, NotADirectoryError):
                return None

    def read(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """Return a file's bytes; `InvalidFile` when there are more than ``limit``."""
        opened = self.open_file(path)
        with _reading(path), os.fdopen(opened, "rb", buffering=0) as file:
            data = bytearray()
            while piece := os.read(file.fileno(), min(limit + 1 - len(data), 2**20)):
                data += piece
                if len(data) > limit:
                    text = f"is larger than the {limit} bytes that are read of such a file"
                    raise InvalidFile(text, where=escaped(path))
        return bytes(data)

    def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Put ``data`` in place of the file, whole or not at all; missing folders are made.

        On any failure the old file stands as it was and nothing new is left behind.
        """
        temporary = f".vaibify-{secrets.token_hex(8)}.tmp"
        with _writing(path), self._beside(path, make=True) as (directory, name):
            _require_replaceable(directory, name, path)
            try:
                _fill(directory, temporary, data, mode)
                os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=directory)
                raise
            sync(directory)

    def make_directory(self, path: str) -> None:
        """Create a directory and those above it; one that exists is left as it is."""
        with _writing(path), Descent(self.root) as descent:
            descent.enter(folder(path), made=[])

    def remove(self, path: str) -> None:
        """Remove a file, or a link itself; `MissingFile` when nothing is there."""
        with _writing(path), self._beside(path) as (directory, name):
            if stat.S_ISDIR(look(directory, name).st_mode):
                raise UnsafePath("is a directory", where=escaped(path))
            os.unlink(name, dir_fd=directory)
            sync(directory)

    def move(self, source: str, target: str) -> None:
        """Rename within the tree, replacing a file at ``target``; missing folders are made."""
        with _writing(source), self._beside(source) as (old_directory, old_name):
            look(old_directory, old_name)  # before folders are made for nothing
            with _writing(target), self._beside(target, make=True) as (directory, name):
                os.rename(old_name, name, src_dir_fd=old_directory, dst_dir_fd=directory)
                sync(directory)
            sync(old_directory)

    def list_files(self, directory: str, *, strict: bool = True) -> list[str]:
        """Return all regular files below a directory, sorted by bytes.

        A ``.git`` below the top is never entered (``""`` lists the root, whose own is passed over).

        Parameters
        ----------
        directory : str
            With or without a final slash.
        strict : bool
            Raise `UnsafePath` at the first link, other irregular entry, nested repository or name
            that is not UTF-8. Otherwise regular files are returned, whatever their names, and the
            rest, unreadable folders included, is passed over.
        """
        top = folder(directory)
        found: list[str] = []
        pending = [top]
        with _reading(directory), Descent(self.root) as descent:
            while pending:
                here = pending.pop()
                with _reading(here, silent=not strict and here != top):
                    if here.count("/") >= MAX_DEPTH:
                        if strict:
                            raise too_deep(here)
                        continue
                    for name, kind in entries(descent.enter(here)):
                        path = join(here, name)
                        if strict:
                            _require_plain(path, name, kind)
                        if kind == "file" and not _is_git(name):
                            found.append(path)
                        elif kind == "folder" and not _is_git(name):
                            pending.append(path)
        return sorted(found, key=os.fsencode)

    def exists_as_directory(self, path: str) -> bool:
        """Tell whether a directory, not a link to one, is there."""
        bare = folder(path)
        status = self.lstat(bare) if bare else self.root.stat()
        return status is not None and stat.S_ISDIR(status.st_mode)

    @contextmanager
    def _beside(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """Give the open directory of a path and its name; folders made go again on failure."""
        parent, name = split(path)
        made: list[str] = []
        try:
            with Descent(self.root) as descent:
                yield descent.enter(parent, made=made if make else None), name
        except BaseException:
            self._unmake(made)
            raise

    def _unmake(self, made: list[str]) -> None:
        with suppress(OSError), Descent(self.root) as descent:
            for path in reversed(made):
                parent, name = split(path)
                os.rmdir(name, dir_fd=descent.enter(parent))


def _fill(directory: int, name: str, data: bytes, mode: int) -> None:
    with os.fdopen(os.open(name, _NEW, mode, dir_fd=directory), "wb", buffering=0) as file:
        if (owner := heir(directory)) is not None:
            os.fchown(file.fileno(), *owner)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file.fileno(), rest) :]
        os.fsync(file.fileno())


def _is_git(name: str) -> bool:
    return name.lower() == ".git"


def _require_regular(status: os.stat_result, path: str) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise UnsafePath("is a symbolic link", where=escaped(path))
    if not stat.S_ISREG(status.st_mode):
        raise UnsafePath("is not a regular file", where=escaped(path))


def _require_replaceable(directory: int, name: str, path: str) -> None:
    with suppress(FileNotFoundError):
        _require_regular(look(directory, name), path)


def _require_plain(path: str, name: str, kind: EntryKind) -> None:
    if _is_git(name) and "/" in path:
        raise UnsafePath("is a nested repository", where=escaped(path))
    if kind in _KINDS:
        raise UnsafePath(_KINDS[kind], where=escaped(path))
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        text, action = "has a name that is not UTF-8", "rename it"
        raise UnsafePath(text, where=escaped(path), action=action) from None


@contextmanager
def _reading(path: str, *, silent: bool = False) -> Iterator[None]:
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
def _writing(path: str) -> Iterator[None]:
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
