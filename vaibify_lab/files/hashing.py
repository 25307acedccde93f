"""SHA-256 of files, read once: regular files only, no link followed, never blocking.

A file's status is taken before it is opened and after it was read; when size, times or inode
differ the bytes are of no one moment, and after two more tries the state is ``changing``.
What this cannot see: a store through a live memory mapping into a page that is already dirty
moves no time stamp on any file system tried. Hash a step's files after its processes are gone.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from operator import attrgetter

from vaibify_lab.core.errors import MissingFile
from vaibify_lab.core.observed import MISSING, FileState
from vaibify_lab.files.descent import Descent, look, open_regular
from vaibify_lab.files.paths import escaped, split
from vaibify_lab.files.sharing import shared
from vaibify_lab.files.tree import Tree

Stamp = tuple[int, int, int, int]

# What tells one version of a file from the next (the rule of git's index).
stamp_of: Callable[[os.stat_result], Stamp] = attrgetter(
    "st_size", "st_mtime_ns", "st_ctime_ns", "st_ino"
)

_ATTEMPTS = 3
_SMALL = 2**20
_THREADS = 4
_PIECE = 512 * 1024
# A file of 64 GiB or more with less than a thousandth of it on disk holds no data worth hours.
_SPARSE_SIZE = 2**36
_SPARSE_SHARE = 1000

# https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md: below 1024 bytes, version line first.
_POINTER_LIMIT = 1024
_POINTER = re.compile(
    rb"version https?://[\w./-]*(?:git-lfs|hawser|git-media)[\w./-]*\n"
    rb"(?:ext-\d-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize \d+\n?\Z"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of one path.

    Attributes
    ----------
    state : FileState
    blob : str or None
        The git blob id of the bytes, when it was asked for and there are bytes.
    stamp : tuple or None
        (size, mtime in ns, ctime in ns, inode) of the file whose bytes were read.
    started : int
        The clock just before, nanoseconds since the epoch.
    """

    state: FileState
    blob: str | None = None
    stamp: Stamp | None = None
    started: int = 0


def hash_file(tree: Tree, path: str) -> FileState:
    """Return the state of one file, every byte of it read."""
    return hash_both(tree, path, None)[0]


def pointers_among(tree: Tree, paths: Iterable[str]) -> Iterator[str]:
    """Yield the paths at which a git LFS pointer stands; what cannot be one is not read."""
    with open_descent(tree) as descent:
        for directory, name, path in sorted((*split(path), path) for path in paths):
            try:
                opened = descent.enter(directory)
                size = look(opened, name).st_size
            except OSError:
                continue
            if size < _POINTER_LIMIT and read_at(opened, name, None).state.kind == "lfs-pointer":
                yield path


def pointer_in(data: bytes) -> str | None:
    """Return the oid where all of a file is a git LFS pointer, else None."""
    found = _POINTER.match(data) if len(data) < _POINTER_LIMIT else None
    return found[1].decode("ascii") if found else None


def holds_pointer(tree: Tree, path: str) -> bool:
    """Tell whether a git LFS pointer stands at a path."""
    return any(pointers_among(tree, [path]))


def hash_both(tree: Tree, path: str, object_format: str | None) -> tuple[FileState, str | None]:
    """Return the state of a file and its git blob id, from one reading.

    ``object_format`` is ``sha1`` or ``sha256``; None asks for no blob id.
    """
    directory, name = split(path)
    with open_descent(tree) as descent:
        reading = read_below(descent, directory, name, object_format)
    return reading.state, reading.blob


def hash_many(tree: Tree, paths: Iterable[str]) -> dict[str, FileState]:
    """Return the state of each file, in the order given, every byte of all of them read."""
    wanted = list(paths)
    found = dict(hash_each(tree, wanted))
    return {path: found[path] for path in wanted}


def hash_each(tree: Tree, paths: Iterable[str]) -> Generator[tuple[str, FileState], None, None]:
    """Yield each file with its state as soon as that is known, every byte of all of them read.

    Large files come last, read in threads: hashing lets go of the interpreter. Small ones are too
    small for that, threads would only wait for each other: many are shared with other processes.
    """
    wanted = list(paths)
    large: list[str] = []
    with open_descent(tree) as descent:
        for path, state in shared(tree.root, wanted, partial(hash_small, descent)):
            if state is None:
                large.append(path)
            else:
                yield path, state
    if large:
        from concurrent.futures import ThreadPoolExecutor  # dear to load, and seldom needed

        with ThreadPoolExecutor(min(_THREADS, len(large), os.cpu_count() or 1)) as pool:
            yield from zip(large, pool.map(partial(hash_file, tree), large), strict=True)


@contextmanager
def hashed_ahead(tree: Tree, paths: Iterable[str]) -> Iterator[Iterator[tuple[str, FileState]]]:
    """Give what `hash_each` yields; where it has helpers they work from now on, taken or not."""
    states = hash_each(tree, paths)
    with closing(states):
        begun = list(islice(states, 1))
        yield chain(begun, states)


def hash_small(descent: Descent, paths: Iterable[str]) -> Iterator[tuple[str, FileState | None]]:
    """Yield each file with its state, None for a large one, which is not read."""
    for directory, name, path in sorted((*split(path), path) for path in paths):
        try:
            opened = descent.enter(directory)
            status = look(opened, name)
        except OSError as error:
            yield path, state_of_error(error)
            continue
        if status.st_size > _SMALL:
            yield path, None
        else:
            state = _small_state(opened, name, status)
            yield path, state or read_at(opened, name, None).state


def read_below(descent: Descent, directory: str, name: str, object_format: str | None) -> Reading:
    """Hash ``name`` in ``directory`` of an open descent; what is in the way becomes the state."""
    try:
        opened = descent.enter(directory)
    except OSError as error:
        return Reading(state_of_error(error))
    return read_at(opened, name, object_format)


def _small_state(directory: int, name: str, before: os.stat_result) -> FileState | None:
    """Read a small regular file at once; None where it must be looked at with more care."""
    if not stat.S_ISREG(before.st_mode):
        return None
    try:
        opened = open_regular(directory, name)
    except OSError:
        return None
    try:
        data = os.read(opened, before.st_size + 1)
        after = os.fstat(opened)
    except OSError:
        return None
    finally:
        os.close(opened)
    is_whole = len(data) == before.st_size and stamp_of(after) == stamp_of(before)
    return _state_of(data) if is_whole else None


def read_at(directory: int, name: str, object_format: str | None) -> Reading:
    """Hash ``name`` in an open directory."""
    for _ in range(_ATTEMPTS):
        started = time.time_ns()
        try:
            before = look(directory, name)
            if not stat.S_ISREG(before.st_mode) or _is_hollow(before):
                return Reading(_refused(directory, name, before))
            state, blob, after = _digest(directory, name, before.st_size, object_format)
        except OSError as error:
            return Reading(state_of_error(error))
        stamp = stamp_of(after)
        if stamp == stamp_of(before) and state.size == before.st_size:
            return Reading(state, blob, stamp, started)
    return Reading(FileState("changing", detail="changed while it was read"))


def state_of_error(error: OSError) -> FileState:
    """Return the state of a path that the operating system refused."""
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return MISSING
    if error.errno == errno.ELOOP:
        return FileState("link", detail=f"{escaped(str(error.filename))} is a symbolic link")
    return FileState("unreadable", detail=error.strerror or "cannot be read")


def open_descent(tree: Tree) -> Descent:
    """Return a descent from the tree's root, to be used as a context manager."""
    if not tree.root.is_dir():
        raise MissingFile("does not exist", where=str(tree.root))
    return Descent(tree.root)


def _digest(
    directory: int, name: str, size: int, object_format: str | None
) -> tuple[FileState, str | None, os.stat_result]:
    blob = _blob_hasher(object_format, size)
    opened = open_regular(directory, name)
    try:
        if size <= _SMALL:
            state = _digest_small(opened, size, blob)
        else:
            state = _digest_large(opened, size, blob)
        after = os.fstat(opened)
    finally:
        os.close(opened)
    return state, blob.hexdigest() if blob else None, after


def _digest_small(opened: int, size: int, blob: hashlib._Hash | None) -> FileState:
    data = os.read(opened, size + 1)
    while 0 < len(data) < size and (more := os.read(opened, size + 1 - len(data))):
        data += more
    if blob:
        blob.update(data)
    return _state_of(data)


def _state_of(data: bytes) -> FileState:
    digest = hashlib.sha256(data).hexdigest()
    if (oid := pointer_in(data)) is not None:
        return FileState("lfs-pointer", digest, len(data), oid)
    return FileState("file", digest, len(data))


def _digest_large(opened: int, size: int, blob: hashlib._Hash | None) -> FileState:
    digest = hashlib.sha256()
    piece = memoryview(bytearray(_PIECE))
    total = 0
    while total <= size and (count := os.readv(opened, [piece])):
        digest.update(piece[:count])
        if blob:
            blob.update(piece[:count])
        total += count
    return FileState("file", digest.hexdigest(), total)


def _blob_hasher(object_format: str | None, size: int) -> hashlib._Hash | None:
    if object_format is None:
        return None
    # usedforsecurity=False: git's own object name, also where SHA-1 is otherwise barred.
    hasher = hashlib.new(object_format, usedforsecurity=False)
    hasher.update(b"blob %d\0" % size)
    return hasher


def _is_hollow(status: os.stat_result) -> bool:
    held = status.st_blocks * 512
    return status.st_size >= _SPARSE_SIZE and held < status.st_size // _SPARSE_SHARE


def _refused(directory: int, name: str, status: os.stat_result) -> FileState:
    if stat.S_ISLNK(status.st_mode):
        target = escaped(os.readlink(name, dir_fd=directory))
        return FileState("link", detail=f"a symbolic link to {target}")
    if stat.S_ISREG(status.st_mode):
        text = f"{status.st_size} bytes, nearly all of them a hole: not read"
        return FileState("unreadable", size=status.st_size, detail=text)
    kinds = {stat.S_IFDIR: "a directory", stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket"}
    kind = kinds.get(stat.S_IFMT(status.st_mode), "a device")
    return FileState("not-regular", detail=kind)
