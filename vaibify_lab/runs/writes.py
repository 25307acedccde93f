"""What changed below some folders: told from the stamps of all files before and after."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from vaibify_lab.core.paths import is_within
from vaibify_lab.files import gitplaces
from vaibify_lab.files.descent import Descent
from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.files.paths import MAX_DEPTH, join
from vaibify_lab.files.stamps import Stamp, stamp_at, stamp_of
from vaibify_lab.files.tree import Tree

_IGNORED = ("__pycache__", ".pytest_cache", ".ipynb_checkpoints", ".mypy_cache")
_PASSED_OVER = frozenset({".git", ".vaibify", LOCAL})
_PRIVILEGED = stat.S_ISUID | stat.S_ISGID


def stamps(tree: Tree, paths: Iterable[str]) -> dict[str, Stamp | None]:
    """Return the stamps of repository paths."""
    return {path: stamp_at(tree.root / path) for path in paths}


@dataclass(frozen=True, slots=True)
class Written:
    """What is new or changed below some folders since a snapshot.

    Attributes
    ----------
    paths : tuple of str
        Files, without byte code and caches, of which ``byte_code`` is the number.
    planted : tuple of str
        What git would take for a repository: ``.git`` entries, and the HEAD of a folder that looks
        like a bare one.
    too_deep : tuple of str
        Folders nested so deep that nobody looked into them.
    turned : tuple of str
        Repositories that were there before and now run something else.
    privileged : tuple of str
        Files that would run with their owner's rights.
    """

    paths: tuple[str, ...]
    byte_code: int
    planted: tuple[str, ...]
    too_deep: tuple[str, ...]
    turned: tuple[str, ...]
    privileged: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The stamps of all files below some folders of the tree, and the repositories there."""

    tree: Tree
    folders: tuple[str, ...]
    stamps: dict[str, Stamp] = field(default_factory=dict)
    repositories: dict[str, gitplaces.Marks] = field(default_factory=dict)
    too_deep: set[str] = field(default_factory=set)

    @classmethod
    def take(cls, tree: Tree, folders: Sequence[str]) -> Snapshot:
        """Walk the folders (repository paths, "" is the root) without following links."""
        outermost = [one for one in dict.fromkeys(folders) if not _has_outer(one, folders)]
        found = cls(tree, tuple(outermost))
        for folder in outermost:
            found._walk(folder)
        return found

    def written_since(self) -> Written:
        """Return what changed since."""
        now = Snapshot.take(self.tree, self.folders)
        changed = [path for path, seen in now.stamps.items() if self.stamps.get(path) != seen]
        gone = [path for path in self.stamps if path not in now.stamps]
        paths = sorted(set(changed) | set(gone))
        noise = [path for path in paths if any(part in _IGNORED for part in path.split("/"))]
        quiet = frozenset(noise)
        return Written(
            paths=tuple(path for path in paths if path not in quiet),
            byte_code=len(noise),
            planted=tuple(sorted(now.repositories.keys() - self.repositories.keys())),
            too_deep=tuple(sorted(now.too_deep - self.too_deep)),
            turned=tuple(sorted(self._turned(now.repositories))),
            privileged=tuple(path for path in sorted(changed) if _is_privileged(now.stamps[path])),
        )

    def _turned(self, now: Mapping[str, gitplaces.Marks]) -> Iterator[str]:
        for path, before in self.repositories.items():
            for below in gitplaces.changed(before, now.get(path, {})):
                yield path.removesuffix("/HEAD") + (f"/{below}" if below else "")
                break

    def _walk(self, folder: str) -> None:
        """Walk by descriptors: a step may put links to the whole machine in place of folders."""
        todo = [folder]
        with Descent(self.tree.root) as descent:
            while todo:
                here = todo.pop()
                if here.count("/") + 2 > MAX_DEPTH:
                    self.too_deep.add(here)
                    continue
                try:
                    opened = descent.enter(here)
                    listing = os.open(".", gitplaces.LISTING, dir_fd=opened)
                except OSError:
                    continue
                try:
                    with os.scandir(listing) as entries:
                        todo += self._sort_out(entries, here, listing)
                finally:
                    os.close(listing)

    def _sort_out(self, entries: Iterable[os.DirEntry[str]], here: str, opened: int) -> list[str]:
        """Keep the stamps of a folder's files; return its folders."""
        below, like_git = [], set()
        for entry in entries:
            path, lower = join(here, entry.name), entry.name.lower()
            if path in _PASSED_OVER:
                continue
            if lower in gitplaces.BARE:
                like_git.add(lower)
            if lower == ".git":
                self.repositories[path] = gitplaces.marks(entry.name, opened)
                continue
            try:
                seen = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISDIR(seen.st_mode):
                below.append(path)
            else:
                self.stamps[path] = stamp_of(seen)
        if gitplaces.is_bare(like_git):
            self.repositories[join(here, "HEAD")] = gitplaces.marks(".", opened)
        return below


def _is_privileged(seen: Stamp) -> bool:
    return stat.S_ISREG(seen[4]) and bool(seen[4] & _PRIVILEGED)


def _has_outer(folder: str, folders: Sequence[str]) -> bool:
    return any(folder != other and is_within(folder, other) for other in folders)
