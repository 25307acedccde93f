"""What changed below some folders: told from the stamps of all files before and after."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.paths import is_within
from vaibify_lab.files.descent import Descent
from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.files.paths import MAX_DEPTH
from vaibify_lab.files.tree import Tree

Stamp = tuple[int, int, int, int, int]
_IGNORED = ("__pycache__", ".pytest_cache", ".ipynb_checkpoints", ".mypy_cache")
_LISTING = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PASSED_OVER = frozenset({".git", ".vaibify", LOCAL})


def stamp(path: Path | str) -> Stamp | None:
    """Return what changes when a file is written, replaced or touched; None when missing."""
    try:
        seen = os.lstat(path)
    except OSError:
        return None
    return _stamp_of(seen)


def stamps(tree: Tree, paths: Iterable[str]) -> dict[str, Stamp | None]:
    """Return the stamps of repository paths."""
    return {path: stamp(tree.root / path) for path in paths}


@dataclass(frozen=True, slots=True)
class Written:
    """Files below some folders that are new or changed since a snapshot, and what was planted."""

    paths: tuple[str, ...]
    byte_code: int
    nested_git: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The stamps of all files below some folders of the tree."""

    tree: Tree
    folders: tuple[str, ...]
    stamps: dict[str, Stamp]
    nested_git: frozenset[str]

    @classmethod
    def take(cls, tree: Tree, folders: Sequence[str]) -> Snapshot:
        """Walk the folders (repository paths, "" is the root) without following links."""
        found: dict[str, Stamp] = {}
        nested: set[str] = set()
        outermost = [one for one in dict.fromkeys(folders) if not _has_outer(one, folders)]
        for folder in outermost:
            _walk(tree, folder, found, nested)
        return cls(tree, tuple(outermost), found, frozenset(nested))

    def written_since(self) -> Written:
        """Return what changed since."""
        now = Snapshot.take(self.tree, self.folders)
        changed = [path for path, seen in now.stamps.items() if self.stamps.get(path) != seen]
        gone = [path for path in self.stamps if path not in now.stamps]
        paths = sorted(set(changed) | set(gone))
        noise = [path for path in paths if any(part in _IGNORED for part in path.split("/"))]
        quiet = frozenset(noise)
        return Written(
            tuple(path for path in paths if path not in quiet),
            len(noise),
            tuple(sorted(now.nested_git - self.nested_git)),
        )


def quarantine(tree: Tree, paths: Iterable[str], run_id: str) -> list[str]:
    """Move planted ``.git`` entries out of git's reach; return those that resisted."""
    left = []
    for path in paths:
        token = secrets.token_hex(4)
        try:
            tree.move(path, f"{LOCAL}/runs/{run_id}/quarantine/{token}.kept")
        except VaibifyError:
            left.append(path)
    return left


def _stamp_of(seen: os.stat_result) -> Stamp:
    return (seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, seen.st_mode)


def _has_outer(folder: str, folders: Sequence[str]) -> bool:
    return any(folder != other and is_within(folder, other) for other in folders)


def _walk(tree: Tree, folder: str, found: dict[str, Stamp], nested: set[str]) -> None:
    """Walk by descriptors: a step may put links to the whole machine in place of its folders."""
    todo = [folder]
    with Descent(tree.root) as descent:
        while todo:
            here = todo.pop()
            if here.count("/") >= MAX_DEPTH:
                continue  # git refuses such a path as well
            try:
                listing = os.open(".", _LISTING, dir_fd=descent.enter(here))
            except OSError:
                continue
            try:
                with os.scandir(listing) as entries:
                    todo += _sort_out(entries, here, found, nested)
            finally:
                os.close(listing)


def _sort_out(
    entries: Iterable[os.DirEntry[str]], here: str, found: dict[str, Stamp], nested: set[str]
) -> list[str]:
    """Keep the stamps of a folder's files; return its folders."""
    below = []
    for entry in entries:
        path = f"{here}/{entry.name}" if here else entry.name
        if path in _PASSED_OVER:
            continue
        if entry.name.lower() == ".git":
            nested.add(path)
            continue
        try:
            seen = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        if stat.S_ISDIR(seen.st_mode):
            below.append(path)
        else:
            found[path] = _stamp_of(seen)
    return below
