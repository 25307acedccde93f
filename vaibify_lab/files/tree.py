"""The tree beneath a root: every path is walked by descriptors and no link is ever followed.

Files are replaced whole or not at all: temporary file, fsync, rename, fsync of the folder.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from vaibify_lab.core.errors import CannotCheck, UnsafePath
from vaibify_lab.core.paths import as_word
from vaibify_lab.files.descent import Descent, EntryKind, entries, heir, look, sync
from vaibify_lab.files.directory import (
    READ_LIMIT,
    Directory,
    content_of,
    opened_regular,
    require_regular,
)
from vaibify_lab.files.paths import MAX_DEPTH, by_bytes, escaped, folder, join, split, too_deep
from vaibify_lab.files.refusals import reading, writing

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_KINDS: dict[EntryKind, str] = {
    "link": "is a symbolic link",
    "other": "is not a regular file",
}
# What looking at files leaves beside them: checkpoints, notes of file managers, caches of Python
# and its tools, and (by their pattern) what Vim, Emacs and office programs keep of an open file.
_LEFT_BY_LOOKING = frozenset(
    {".ipynb_checkpoints", ".DS_Store", "Thumbs.db", "desktop.ini"}
    | {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"}
)
_OPEN_ELSEWHERE = re.compile(r"\..*\.sw[a-p]|\.#.*|\.~lock\..*#|~\$.*", re.DOTALL)


class Tree:
    """Files beneath ``root``, named by repository paths.

    Every operation opens its way down from the root without following a link in any component,
    and raises `UnsafePath` where one stands. Errors of the operating system become errors of ours:
    `MissingFile` for what cannot be read, `DiskFull` or `CannotCheck` for what cannot be written.

    Parameters
    ----------
    root : Path
    drafts : str, optional
        A folder of the tree where files lie that are not whole yet, so that a death leaves none of
        them where somebody would take it along; made when it is needed. Else they lie beside the
        file that they become.
    """

    def __init__(self, root: Path, drafts: str | None = None) -> None:
        self.root = Path(root).resolve()
        self._drafts = drafts

    def open_file(self, path: str) -> int:
        """Return a read-only descriptor of a regular file; the caller closes it.

        Never blocks. Raises `MissingFile` (also when unreadable) or `UnsafePath`.
        """
        with reading(path), self._beside(path) as (directory, name):
            return opened_regular(directory, name, path)

    def lstat(self, path: str) -> os.stat_result | None:
        """Return the status of the path itself; None when nothing is there."""
        with reading(path):
            try:
                with self._beside(path) as (directory, name):
                    return look(directory, name)
            except (FileNotFoundError, NotADirectoryError):
                return None

    def read(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """Return a file's bytes; `InvalidFile` when there are more than ``limit``."""
        return content_of(self.open_file(path), path, limit)

    @contextmanager
    def inside(self, path: str) -> Iterator[Directory | None]:
        """Give a directory opened once for many files of it; None where there is none."""
        with reading(path), Descent(self.root) as descent:
            try:
                opened = descent.enter(folder(path))
            except (FileNotFoundError, NotADirectoryError):
                yield None
                return
            yield Directory(path, opened)

    def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Put ``data`` in place of the file, whole or not at all; missing folders are made.

        On any failure the old file stands as it was and nothing new is left behind.
        """
        temporary = f".vaibify-{secrets.token_hex(8)}.tmp"
        with writing(path), self._making(path) as (directory, name):
            _require_replaceable(directory, name, path)
            with self._draft_folder(directory) as place:
                try:
                    _fill(place, temporary, data, mode, heir(directory))
                    os.rename(temporary, name, src_dir_fd=place, dst_dir_fd=directory)
                except BaseException:
                    with suppress(OSError):
                        os.unlink(temporary, dir_fd=place)
                    raise

    def make_directory(self, path: str) -> None:
        """Create a directory and those above it; one that exists is left as it is."""
        with writing(path), Descent(self.root) as descent:
            descent.enter(folder(path), made=[])

    def remove(self, path: str) -> None:
        """Remove a file, or a link itself; `MissingFile` when nothing is there."""
        with writing(path), self._beside(path) as (directory, name):
            if stat.S_ISDIR(look(directory, name).st_mode):
                raise UnsafePath("is a directory", where=escaped(path))
            os.unlink(name, dir_fd=directory)
            sync(directory)

    def move(self, source: str, target: str, *, durable: bool = True) -> None:
        """Rename within the tree, replacing a file at ``target``; missing folders are made.

        A power cut may undo what is not ``durable``.
        """
        with writing(source), self._beside(source) as (old_directory, old_name):
            look(old_directory, old_name)  # before folders are made for nothing
            with writing(target), self._making(target, durable=durable) as (directory, name):
                try:
                    os.rename(old_name, name, src_dir_fd=old_directory, dst_dir_fd=directory)
                except PermissionError:
                    _require_writable(source, old_directory)
                    raise
            if durable:
                sync(old_directory)

    def list_files(self, directory: str, *, strict: bool = True) -> list[str]:
        """Return all regular files below a directory, sorted by bytes.

        A ``.git`` below the top is never entered (``""`` lists the root, whose own is passed over).
        What only looking at a folder leaves there (JupyterLab's checkpoints, a file manager's
        notes, byte code, an editor's marks) is nobody's.

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
        with reading(directory), Descent(self.root) as descent:
            while pending:
                here = pending.pop()
                with reading(here, silent=not strict and here != top):
                    if here.count("/") + 2 > MAX_DEPTH:
                        if strict:
                            raise too_deep(here)
                        continue
                    for name, kind in entries(descent.enter(here)):
                        path = join(here, name)
                        if is_left_by_looking(name):
                            continue
                        if strict:
                            _require_plain(path, name, kind)
                        if kind == "file" and not _is_git(name):
                            found.append(path)
                        elif kind == "folder" and not _is_git(name):
                            pending.append(path)
        return by_bytes(found)

    def exists_as_directory(self, path: str) -> bool:
        """Tell whether a directory, not a link to one, is there."""
        bare = folder(path)
        status = self.lstat(bare) if bare else self.root.stat()
        return status is not None and stat.S_ISDIR(status.st_mode)

    @contextmanager
    def _beside(self, path: str) -> Iterator[tuple[int, str]]:
        """Give the open directory of a path and its name."""
        parent, name = split(path)
        with Descent(self.root) as descent:
            yield descent.enter(parent), name

    @contextmanager
    def _making(self, path: str, *, durable: bool = True) -> Iterator[tuple[int, str]]:
        """As `_beside`, with missing folders made, which go again on failure."""
        parent, name = split(path)
        made: list[str] = []
        try:
            with Descent(self.root) as descent:
                yield descent.enter(parent, made=made), name
                if durable:
                    descent.settle(len(made))
        except BaseException:
            self._unmake(made)
            raise

    @contextmanager
    def _draft_folder(self, directory: int) -> Iterator[int]:
        """Give the open folder for a file that becomes one of ``directory`` by a rename."""
        with ExitStack() as stack:
            place = directory
            if self._drafts is not None:
                with suppress(OSError):  # a link, another disk, nothing to write: beside it then
                    found = stack.enter_context(Descent(self.root)).enter(self._drafts, made=[])
                    same = os.fstat(found).st_dev == os.fstat(directory).st_dev
                    place = found if same and os.access(".", os.W_OK, dir_fd=found) else directory
            yield place

    def _unmake(self, made: list[str]) -> None:
        with suppress(OSError), Descent(self.root) as descent:
            for path in reversed(made):
                parent, name = split(path)
                os.rmdir(name, dir_fd=descent.enter(parent))


def is_left_by_looking(name: str) -> bool:
    """Tell whether a name is that of what only looking at a folder leaves there."""
    if name in _LEFT_BY_LOOKING:
        return True
    return name[0] in ".~" and _OPEN_ELSEWHERE.fullmatch(name) is not None


def _fill(directory: int, name: str, data: bytes, mode: int, owner: tuple[int, int] | None) -> None:
    with os.fdopen(os.open(name, _NEW, mode, dir_fd=directory), "wb", buffering=0) as file:
        if owner is not None:
            os.fchown(file.fileno(), *owner)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file.fileno(), rest) :]
        os.fsync(file.fileno())


def _is_git(name: str) -> bool:
    return name.lower() == ".git"


def _require_replaceable(directory: int, name: str, path: str) -> None:
    with suppress(FileNotFoundError):
        require_regular(look(directory, name), path)


def _require_writable(path: str, folder: int) -> None:
    """Name the folder of a path where that is what keeps it from being moved.

    Raises
    ------
    CannotCheck
    """
    if not os.access(".", os.W_OK | os.X_OK, dir_fd=folder, effective_ids=True):
        text = "cannot be replaced: you may not write in its folder"
        above = path.rpartition("/")[0] or "."
        raise CannotCheck(text, where=escaped(path), action=f"chmod u+w {as_word(above)}")


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
