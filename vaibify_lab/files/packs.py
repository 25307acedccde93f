"""A result kept as one file: what it is, then the bytes of its files, each large one on a block.

One file, so that it is whole or not there (a rename), gone at once (an unlink), and stays whole for
whoever has it open while another process replaces or removes it. Large files begin at a block's
border, so that a file system that can shares blocks with the copy instead of writing them again.

Nothing is believed that was not hashed: the head by the digest in its first line, every file by the
hash that the head gives for it, taken from the copy after it was written. So nothing is synced
either: a power cut costs an entry, never a wrong byte.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import InvalidFile

_BLOCK = 4096
_PIECE = 512 * 1024
_LARGE = 2**20
_THREADS = 4
_HEAD_LIMIT = 64 * 2**20
_FIRST = re.compile(rb"vaibify_lab pack 1 ([0-9a-f]{64}) ([0-9]{1,9})\n")
_LINE = 200
_HASH = re.compile(r"[0-9a-f]{64}")


class Damaged(Exception):
    """A pack that is not what was written; the text says what of it is wrong."""


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a pack: its repository path, the hash, size and permissions it had."""

    path: str
    sha256: str
    size: int
    mode: int


@dataclass(frozen=True, slots=True)
class Pack:
    """An open pack. Use as a context manager.

    ``about`` is what was kept beside the files, by nobody's word but its writer's.
    """

    opened: int
    about: Mapping[str, Any]
    members: tuple[Member, ...]
    base: int

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self.opened)

    def take_out(self, create: Callable[[Member], int]) -> None:
        """Copy every file to the new one that ``create`` opens for it, and hash the copy.

        Large ones in threads: copying and hashing let go of the interpreter.

        Raises
        ------
        Damaged
            When a copy's bytes are not those that were kept; what was made is the caller's to drop.
        """

        def take(one: tuple[Member, int]) -> None:
            member, start = one
            target = create(member)
            try:
                copy(self.opened, start, target, 0, member.size)
                if _digest_of(target, member.size) != member.sha256:
                    raise Damaged(f"its {member.path!r} holds other bytes than were kept")
            finally:
                os.close(target)

        listed = list(placed(self.members, self.base))
        large = [one for one in listed if one[0].size > _LARGE]
        for one in listed if len(large) < 2 else [one for one in listed if one[0].size <= _LARGE]:
            take(one)
        if len(large) > 1:
            from concurrent.futures import ThreadPoolExecutor  # dear to load, and seldom needed

            with ThreadPoolExecutor(min(_THREADS, len(large), os.cpu_count() or 1)) as pool:
                list(pool.map(take, large))


def write_pack(
    target: int,
    label: str,
    about: Mapping[str, Any],
    members: Iterable[Member],
    open_source: Callable[[Member], int],
) -> None:
    """Write a pack to an empty file; ``label`` is what it must be asked for by.

    Raises
    ------
    Damaged
        When a source is shorter than its member says.
    """
    listed = tuple(members)
    rows = [[one.path, one.sha256, one.size, one.mode] for one in listed]
    head = jsonio.line({"about": about, "members": rows})
    first = b"vaibify_lab pack 1 %s %d\n" % (_digest(label, head), len(head))
    _write_all(target, first + head)
    base = len(first) + len(head)
    end = base
    for member, start in placed(listed, base):
        source = open_source(member)
        try:
            copy(source, 0, target, start, member.size)
        finally:
            os.close(source)
        end = start + member.size
    os.ftruncate(target, end)


def read_pack(opened: int, label: str) -> Pack:
    """Read the head of an open pack; the pack then owns the descriptor.

    Raises
    ------
    Damaged
    """
    data = os.pread(opened, _LINE, 0)
    first = _FIRST.match(data)
    if first is None or int(first[2]) > _HEAD_LIMIT:
        raise Damaged("does not begin as one")
    head = os.pread(opened, int(first[2]), first.end())
    if _digest(label, head) != first[1]:
        raise Damaged("its description is not what was written")
    try:
        value = jsonio.loads(head, label)
        members = tuple(_member(row) for row in value["members"])
        about = dict(value["about"])
    except (InvalidFile, KeyError, TypeError, ValueError) as error:
        raise Damaged(f"its description does not read: {error}") from None
    base = first.end() + len(head)
    ends = [base, *(start + member.size for member, start in placed(members, base))]
    if os.fstat(opened).st_size != ends[-1]:
        raise Damaged("is longer or shorter than was written")
    return Pack(opened, about, members, base)


def placed(members: Iterable[Member], base: int) -> Iterator[tuple[Member, int]]:
    """Yield each member with where its bytes begin."""
    position = base
    for member in members:
        if member.size >= _BLOCK:
            position = -(-position // _BLOCK) * _BLOCK
        yield member, position
        position += member.size


def copy(source: int, start: int, target: int, at: int, size: int) -> None:
    """Copy bytes between files, blocks shared where the file system can.

    Raises
    ------
    Damaged
        When the source ends before.
    """
    by_kernel = hasattr(os, "copy_file_range")
    while size > 0:
        if by_kernel:
            try:
                count = os.copy_file_range(source, target, size, start, at)
            except OSError:  # not between these file systems; a full disk fails again below
                count = 0
            if not count:
                by_kernel = False
                continue
        else:
            count = os.pwrite(target, os.pread(source, min(size, _PIECE), start), at)
        if not count:
            raise Damaged("ends before its last file does")
        start, at, size = start + count, at + count, size - count


def _member(row: Any) -> Member:
    path, sha256, size, mode = row
    fits = isinstance(path, str) and isinstance(sha256, str) and _HASH.fullmatch(sha256)
    whole = type(size) is int and type(mode) is int and 0 <= size < 2**60 and 0 <= mode < 0o1000
    if not (fits and whole):
        raise ValueError(f"no file is {row!r:.80}")
    return Member(path, sha256, size, mode)


def _digest(label: str, head: bytes) -> bytes:
    return hashlib.sha256(label.encode("ascii") + b"\0" + head).hexdigest().encode("ascii")


def _digest_of(opened: int, size: int) -> str:
    """Hash an open file from its beginning; one of another size has no such hash."""
    digest = hashlib.sha256()
    piece = memoryview(bytearray(min(_PIECE, size + 1)))
    done = 0
    os.lseek(opened, 0, os.SEEK_SET)
    while count := os.readv(opened, [piece]):
        digest.update(piece[:count])
        done += count
    return digest.hexdigest() if done == size else ""


def _write_all(target: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(target, rest) :]
