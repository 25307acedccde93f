"""Packs in a folder of the user's own: found by name, the least recently used making room.

Several processes may use it at once, and each may die at any moment: a pack comes by a rename and
goes by an unlink, and what a dead writer left is told by the lock that it no longer holds.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaibify_lab.core import disk
from vaibify_lab.core.errors import CannotCheck
from vaibify_lab.files.cachefile import cache_folder
from vaibify_lab.files.descent import look, names_in
from vaibify_lab.files.packs import Damaged, Member, Pack, read_pack, write_pack

_NAME = re.compile(r"[0-9a-f]{16,128}")
_DRAFT = re.compile(r"\.[0-9a-f]{16}\.tmp")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_STRANGE = (errno.ELOOP, errno.ENXIO, errno.EACCES)  # a link, a socket, one made unreadable
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def outputs_folder() -> Path:
    """Return where the outputs of runs are kept; it may not exist."""
    return cache_folder() / "vaibify_lab" / "outputs"


@dataclass(frozen=True, slots=True)
class Entry:
    """One pack as its folder lists it; ``used`` is when it was last of use (ns)."""

    name: str
    size: int
    used: int


class PackStore:
    """The packs of one folder, together at most ``limit`` bytes.

    Raises
    ------
    CannotCheck
        The folder cannot be made or read, is somebody else's, or others may write there.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self.limit = limit
        self._slack = limit // 20  # kept free, so that not every pack has the folder listed
        self._unlisted = limit
        self._opened = _open_own(folder)

    def __del__(self) -> None:
        with suppress(AttributeError, OSError):
            os.close(self._opened)

    def find(self, name: str) -> Pack | None:
        """Return the pack of a name, open; None where there is none.

        Raises
        ------
        Damaged
            It was, and has been removed.
        """
        try:
            opened = os.open(name, _READ, dir_fd=self._opened)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno not in _STRANGE:
                return None
            self._remove(name)
            raise Damaged(f"cannot be opened: {error.strerror}") from None
        try:
            _require_own(os.fstat(opened))
            return read_pack(opened, name)
        except BaseException as error:  # whatever ends it, no descriptor is left open
            if isinstance(error, Damaged):
                self.drop(name, opened)
            os.close(opened)
            raise

    def drop(self, name: str, opened: int) -> None:
        """Remove a pack that proved damaged, unless another took its place meanwhile."""
        with suppress(OSError):
            now = os.stat(name, dir_fd=self._opened, follow_symlinks=False)
            if os.path.samestat(now, os.fstat(opened)):
                self._remove(name)

    def used(self, pack: Pack) -> None:
        """Note that a pack was of use."""
        with suppress(OSError):
            os.utime(pack.opened)

    def keep(
        self,
        name: str,
        about: Mapping[str, Any],
        members: Sequence[Member],
        open_source: Callable[[Member], int],
    ) -> str:
        """Keep files under a name in place of what was there; return why not, "" when it is done.

        Raises
        ------
        VaibifyError
            A source cannot be read.
        """
        size = sum(member.size for member in members)
        if size > self.limit - self._slack:
            return f"its {size} bytes are more than the cache may hold"
        if 2 * size > _free(self._opened):
            return "the cache's disk has too little room"
        draft = f".{secrets.token_hex(8)}.tmp"
        try:
            opened = os.open(draft, _NEW, 0o600, dir_fd=self._opened)
            try:
                fcntl.flock(opened, fcntl.LOCK_EX)  # for as long as somebody writes it
                write_pack(opened, name, about, members, open_source)
                os.rename(draft, name, src_dir_fd=self._opened, dst_dir_fd=self._opened)
            except BaseException:  # also Ctrl-C: no half a draft stays
                self._remove(draft)
                raise
            finally:
                os.close(opened)
        except Damaged as error:
            return f"it {error}"
        except OSError as error:
            return str(disk.failure(error, "cannot be written", str(self.folder)))
        self._unlisted += size
        if self._unlisted > self._slack:
            self.make_room()
        return ""

    def entries(self, prefix: str = "") -> list[Entry]:
        """Return the packs whose names begin so, the least recently used first."""
        found = []
        for name in names_in(self._opened):
            if name.startswith(prefix) and _NAME.fullmatch(name):
                with suppress(FileNotFoundError):  # another process was faster
                    seen = look(self._opened, name)
                    found.append(Entry(name, seen.st_size, seen.st_mtime_ns))
        return sorted(found, key=lambda entry: entry.used)

    def make_room(self) -> None:
        """Remove what is over the limit, and what writers left that died."""
        self._unlisted = 0
        self._sweep()
        self._remove_all(too_many(self.entries(), self.limit - self._slack))

    def clear(self) -> tuple[int, int]:
        """Remove every pack; return how many there were, and their bytes."""
        self._sweep()
        gone = self.entries()
        self._remove_all(gone)
        return len(gone), sum(entry.size for entry in gone)

    def _sweep(self) -> None:
        for name in names_in(self._opened):
            if not _DRAFT.fullmatch(name):
                continue
            with suppress(OSError):  # it is being written, or is gone
                opened = os.open(name, _READ, dir_fd=self._opened)
                try:
                    fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    self._remove(name)
                finally:
                    os.close(opened)

    def _remove_all(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self._remove(entry.name)

    def _remove(self, name: str) -> None:
        with suppress(OSError):
            os.unlink(name, dir_fd=self._opened)


def too_many(entries: Sequence[Entry], limit: int) -> list[Entry]:
    """Return which entries go, of those given the least recently used first. Pure."""
    over = sum(entry.size for entry in entries) - limit
    gone = []
    for entry in entries:
        if over <= 0:
            break
        gone.append(entry)
        over -= entry.size
    return gone


def _open_own(folder: Path) -> int:
    """Open the folder, made where it is missing, if it is this user's and no other may write it."""
    where = str(folder)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = os.open(folder, _FOLDER)
    except OSError as error:
        text = f"cannot be used: {error.strerror}"
        raise CannotCheck(text, where=where, action="make it writable") from None
    seen = os.fstat(opened)
    if seen.st_uid == os.geteuid() and not seen.st_mode & 0o022:
        if seen.st_mode & 0o077:
            os.fchmod(opened, 0o700)
        return opened
    os.close(opened)
    text = "belongs to somebody else"
    if seen.st_uid == os.geteuid():
        text = "can be written by others, who may have put anything there"
    raise CannotCheck(text, where=where, action="remove it")


def _require_own(seen: os.stat_result) -> None:
    if not stat.S_ISREG(seen.st_mode):
        raise Damaged("is not a regular file")
    if seen.st_uid != os.geteuid() or seen.st_mode & 0o022:
        raise Damaged("is somebody else's, or can be written by others")


def _free(opened: int) -> int:
    seen = os.fstatvfs(opened)
    return seen.f_bavail * seen.f_frsize
