"""What a step wrote where it should not: told from the state of the tree before and after."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from vaibify_lab.core.paths import is_within
from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.files.git import Repository
from vaibify_lab.files.tree import Tree

Stamp = tuple[int, int, int, int, int]
_IGNORED = ("__pycache__", ".pytest_cache", ".ipynb_checkpoints", ".mypy_cache")
_EXECUTING = (
    "core.fsmonitor",
    "core.hookspath",
    "core.sshcommand",
    "core.gitproxy",
    "core.editor",
    "core.pager",
    "core.askpass",
    "sequence.editor",
    "alias.",
    "filter.",
    "diff.",
    "merge.",
    "credential.",
    "gpg.",
    "include",
    "pager.",
)


def stamp(path: Path | str) -> Stamp | None:
    """Return what changes when a file is written, replaced or touched; None when missing."""
    try:
        seen = os.lstat(path)
    except OSError:
        return None
    return (seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, seen.st_mode)


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
            _walk(tree.root, folder, found, nested)
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
    """Move planted ``.git`` entries out of git's reach; return where they went."""
    moved = []
    for number, path in enumerate(paths):
        target = f"{LOCAL}/runs/{run_id}/quarantine/{number}-{path.replace('/', '_')}.kept"
        tree.move(path, target)
        moved.append(target)
    return moved


@dataclass(frozen=True, slots=True)
class GitGuard:
    """What of git's own folder could make the host run something: hooks, executing keys."""

    repository: Repository
    hooks: tuple[tuple[str, Stamp | None], ...]
    config: tuple[Stamp | None, ...]
    lines: tuple[str, ...]

    @classmethod
    def take(cls, repository: Repository) -> GitGuard:
        """Look at it now."""
        files = _config_files(repository)
        lines = tuple(line for file in files for line in _executing_lines(repository, file))
        return cls(repository, _hooks(repository), tuple(map(stamp, files)), lines)

    def changed(self) -> bool:
        """Tell whether any of it is different now."""
        if _hooks(self.repository) != self.hooks:
            return True
        files = _config_files(self.repository)
        if tuple(map(stamp, files)) == self.config:
            return False
        now = tuple(line for file in files for line in _executing_lines(self.repository, file))
        return now != self.lines


def _hooks(repository: Repository) -> tuple[tuple[str, Stamp | None], ...]:
    folder = repository.common_dir / "hooks"
    names = sorted(os.listdir(folder)) if folder.is_dir() else []
    return tuple((name, stamp(folder / name)) for name in names)


def _config_files(repository: Repository) -> list[Path]:
    files = [repository.common_dir / "config", repository.git_dir / "config.worktree"]
    return [file for file in files if file.is_file()]


def _executing_lines(repository: Repository, file: Path) -> list[str]:
    listed = repository.run("config", "--file", str(file), "--no-includes", "--list", "-z")
    lines = listed.decode("utf-8", "surrogateescape").split("\0")
    return sorted(line for line in lines if line.lower().startswith(_EXECUTING))


def _has_outer(folder: str, folders: Sequence[str]) -> bool:
    return any(folder != other and is_within(folder, other) for other in folders)


def _walk(root: Path, folder: str, found: dict[str, Stamp], nested: set[str]) -> None:
    todo = [folder]
    while todo:
        here = todo.pop()
        try:
            entries = list(os.scandir(root / here))
        except OSError:
            continue
        for entry in entries:
            path = f"{here}/{entry.name}" if here else entry.name
            if here == "" and entry.name in (".git", ".vaibify"):
                continue
            if entry.name.lower() == ".git":
                nested.add(path)
                continue
            seen = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(seen.st_mode):
                todo.append(path)
            else:
                found[path] = (
                    seen.st_size,
                    seen.st_mtime_ns,
                    seen.st_ctime_ns,
                    seen.st_ino,
                    seen.st_mode,
                )
