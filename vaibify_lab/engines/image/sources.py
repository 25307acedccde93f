"""Repositories of container.conf: resolved by git on the host, exported as the committed bytes.

The host's git has the host's credentials, so nothing secret enters a build. It runs in a new, empty
repository: settings of the project's own could name programs, and the project may be a stranger's.
What is exported is what the commit holds: no filter, no export-ignore, no line-ending rule.
"""

from __future__ import annotations

import io
import os
import re
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from vaibify_lab.core.errors import CannotCheck, InvalidFile, MissingFile, ToolFailed
from vaibify_lab.core.paths import shown
from vaibify_lab.engines.image.container_conf import SourceLine
from vaibify_lab.files.git import Repository
from vaibify_lab.files.paths import split

SECONDS = 900.0
LARGEST = 2 * 2**30  # bytes of one repository
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHORT = re.compile(r"[0-9a-f]{7,63}")
_POINTER = b"version https://git-lfs.github.com/spec/v1\n"
_BATCH = 500

RefKind = Literal["branch", "tag", "commit"]


@dataclass(frozen=True, slots=True)
class Resolved:
    """A repository and the commit that its ref names now."""

    line: SourceLine
    kind: RefKind
    commit: str

    @property
    def moves(self) -> bool:
        """Tell whether the ref is one that is meant to move."""
        return self.kind == "branch"

    @property
    def installs(self) -> bool:
        """Tell whether pip installs it."""
        return self.line.method in ("pip_editable", "pip_no_deps", "c_and_pip")


@dataclass(frozen=True, slots=True)
class Exported:
    """A commit's files as a tar without a top folder, and what is not in it."""

    resolved: Resolved
    tar: Path
    warnings: tuple[str, ...] = ()


def resolve(place: Repository, line: SourceLine) -> Resolved:
    """Ask the repository which commit the ref names now.

    ``place`` is where git runs: an empty repository, whose settings are nobody's.

    Raises
    ------
    InvalidFile
        When the repository has no such branch or tag, or has both.
    CannotCheck
        When it does not answer.
    """
    if _COMMIT.fullmatch(line.ref):
        return Resolved(line, "commit", line.ref)
    wanted = (f"refs/heads/{line.ref}", f"refs/tags/{line.ref}", f"refs/tags/{line.ref}^{{}}")
    listed = _asked(place, line, "ls-remote", "--", line.url, *wanted)
    pairs = (row.split("\t", 1) for row in listed.decode("utf-8", "replace").splitlines())
    found = {pair[1]: pair[0] for pair in pairs if len(pair) == 2 and pair[1] in wanted}
    branch = found.get(wanted[0])
    tag = found.get(wanted[2]) or found.get(wanted[1])
    if branch and tag and branch != tag:
        text = f"{line.ref} is both a branch and a tag there; write the commit"
        raise InvalidFile(text, where=line.where)
    commit = tag or branch
    if commit is None or not _COMMIT.fullmatch(commit):
        short = " (a commit is written with all its digits)" if _SHORT.fullmatch(line.ref) else ""
        text = f"{shown(line.url)} has no branch or tag {line.ref!r}{short}"
        raise InvalidFile(text, where=line.where)
    return Resolved(line, "tag" if tag else "branch", commit)


def export(resolved: Resolved, folder: Path, tell: Callable[[str], None]) -> Exported:
    """Fetch the commit into ``folder`` and write its files as a tar there.

    Raises
    ------
    CannotCheck
        When it cannot be fetched.
    InvalidFile
        When the repository does not have it, or is larger than is taken.
    """
    line = resolved.line
    place = folder / f"{line.name}.git"
    place.mkdir()
    repository = Repository.make(place)
    tell(f"fetching {line.name} at {resolved.commit[:12]}")
    _fetch(repository, resolved)
    target = folder / f"{line.name}.tar"
    with target.open("wb") as file:
        warnings = tuple(_write(repository, resolved, file))
    return Exported(resolved, target, warnings)


def _fetch(repository: Repository, resolved: Resolved) -> None:
    """Fetch the commit alone; where the server gives no single commit, all branches and tags."""
    line, commit = resolved.line, resolved.commit
    options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--depth=1")
    try:
        _asked(repository, line, "fetch", *options, "--", line.url, f"+{commit}:refs/wanted")
    except CannotCheck:
        every = ("+refs/heads/*:refs/heads-there/*", "+refs/tags/*:refs/tags-there/*")
        _asked(repository, line, "fetch", "--quiet", "--no-tags", "--", line.url, *every)
    kind = repository.run("cat-file", "--batch-check", input=f"{commit}\n".encode())
    if kind.split()[1:2] != [b"commit"]:
        text = f"{shown(line.url)} has no commit {commit}"
        raise InvalidFile(text, where=line.where)


def _asked(place: Repository, line: SourceLine, *args: str) -> bytes:
    try:
        return place.run(*args, transport=True, timeout=SECONDS)
    except ToolFailed as error:
        text = f"{shown(line.url)}: {error.text}"
        action = "git ls-remote shows whether this machine may read it"
        raise CannotCheck(text, where=line.where, action=action) from None


def _write(repository: Repository, resolved: Resolved, file: IO[bytes]) -> Iterator[str]:
    """Write the tree as a tar; yield what a build will lack."""
    line = resolved.line
    listed = repository.run("ls-tree", "-r", "-l", "-z", "--full-tree", resolved.commit)
    rows = [_row(entry) for entry in listed.split(b"\0") if entry]
    if sum(size for *_, size in rows) > LARGEST:
        text = f"{line.name} is larger than the {LARGEST} bytes that are taken"
        raise InvalidFile(text, where=line.where)
    if not rows:
        raise MissingFile(f"{line.name} holds no file at this commit", where=line.where)
    pointers = 0
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for mode, path, data in _contents(repository, rows):
            pointers += data.startswith(_POINTER) and len(data) < 1024
            _add(tar, mode, path, data)
    if modules := [shown(path) for mode, _, path, _ in rows if mode == "160000"]:
        yield f"{line.name}: submodules are not taken: {', '.join(modules[:5])}"
    if pointers:
        yield f"{line.name}: {pointers} git LFS pointers stand in for their content"


_Row = tuple[str, str, str, int]


def _row(entry: bytes) -> _Row:
    head, _, path = entry.partition(b"\t")
    mode, _, name, size = head.decode("ascii").split()
    split(os.fsdecode(path))  # refuses what a tree made by hand can hold: '..'
    return mode, name, os.fsdecode(path), int(size) if size.isdecimal() else 0


def _contents(repository: Repository, rows: list[_Row]) -> Iterator[tuple[str, str, bytes]]:
    """Yield mode, path and bytes of every file and link, a few blobs at a time."""
    blobs = [row for row in rows if row[0] != "160000"]
    for batch in _batches(blobs):
        asked = "".join(f"{name}\n" for _, name, _, _ in batch).encode()
        stream = io.BytesIO(repository.run("cat-file", "--batch", input=asked, timeout=SECONDS))
        for mode, _, path, size in batch:
            stream.readline()
            yield mode, path, stream.read(size)
            stream.read(1)


def _batches(rows: list[_Row]) -> Iterator[list[_Row]]:
    batch: list[_Row] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _BATCH or sum(size for *_, size in batch) > 64 * 2**20:
            yield batch
            batch = []
    if batch:
        yield batch


def _add(tar: tarfile.TarFile, mode: str, path: str, data: bytes) -> None:
    entry = tarfile.TarInfo(path)
    if mode == "120000":
        entry.type, entry.mode = tarfile.SYMTYPE, 0o777
        entry.linkname = os.fsdecode(data)
        tar.addfile(entry)
        return
    entry.size, entry.mode = len(data), 0o755 if mode == "100755" else 0o644
    tar.addfile(entry, io.BytesIO(data))
