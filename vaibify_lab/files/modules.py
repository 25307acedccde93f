"""Where Python would find a module in the tree, folder by folder, as its own path finder does."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vaibify_lab.core.holes import HOLE, fits
from vaibify_lab.files.answers import Answers
from vaibify_lab.files.descent import Descent, EntryKind, entries
from vaibify_lab.files.hashing import Stamp, stamp_of
from vaibify_lab.files.paths import join
from vaibify_lab.files.tree import is_left_by_looking
from vaibify_lab.files.trust import ChangeTimes, is_settled

# Folders on which a project's own modules lie by custom, whatever puts them on the path.
CUSTOMARY = ("", "src")
_STANDARD = sys.stdlib_module_names | {"__main__"}
_COMPILED = re.compile(r"(\w+)\.(?:[\w-]+\.)?(?:so|pyd)")


@dataclass(frozen=True, slots=True)
class Found:
    """Where a dotted name leads.

    ``files`` are those that importing it runs, in order, as far as the name was found; ``folders``
    are where its submodules would be looked for.
    """

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """What a folder holds; ``compiled`` are extension modules, by module name."""

    kinds: Mapping[str, EntryKind]
    compiled: Mapping[str, str]

    def file(self, name: str) -> tuple[str, ...]:
        """Return the name when a file, or a link that should not be there, has it."""
        return (name,) if self.kinds.get(name) in ("file", "link") else ()


_NOTHING = Listing({}, {})


class Folders:
    """Listings of the tree's folders, kept as long as a folder's own status is the same."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Stamp, Listing]] = {}
        self.times = ChangeTimes()

    def listing(self, descent: Descent, folder: str, now: int) -> Listing:
        """Return what a folder holds; nothing when it is none or cannot be read."""
        try:
            opened = descent.enter(folder)
            status = os.fstat(opened)
            stamp = stamp_of(status)
            kept = self._kept.get(folder)
            if kept is not None and kept[0] == stamp:
                return kept[1]
            kinds = dict(entries(opened))
        except OSError:
            return _NOTHING
        matches = filter(None, map(_COMPILED.fullmatch, kinds))
        listing = Listing(kinds, {found[1]: found[0] for found in matches})
        if is_settled(stamp, now) and self.times.are_kept_on(status.st_dev):
            self._kept[folder] = (stamp, listing)
        else:
            self._kept.pop(folder, None)
        return listing


class Finder:
    """Finds modules at one moment: each folder is asked for once."""

    def __init__(self, descent: Descent, folders: Folders, now: int) -> None:
        self._descent = descent
        self.listing = Answers(lambda folder: folders.listing(descent, folder, now))
        self.is_folder = Answers(self._is_folder)

    def absolute(self, module: str, roots: Sequence[str]) -> Found:
        """Find a module on the path ``roots``.

        Only the first root, the script's own folder, comes before the standard library.
        """
        parts = module.split(".")
        return self.below(parts, roots[:1] if is_standard(module) else roots)

    def below(self, parts: Sequence[str], folders: Iterable[str]) -> Found:
        """Find a dotted name, its first part in ``folders``."""
        files: list[str] = []
        here = tuple(folders)
        for part in parts:
            found, here = self._one(part, here)
            if not found and not here:
                return Found(tuple(files))
            files += found
        return Found(tuple(files), here)

    def file(self, path: str) -> tuple[str, ...]:
        """Return the path when a file, or a link in its place, is there."""
        folder, _, name = path.rpartition("/")
        return (path,) if self.listing(folder).file(name) else ()

    def fitting(self, path: str) -> tuple[str, ...]:
        """Return the files that fit a path with holes; nothing hidden, unless it is named so."""
        *folders, name = path.split("/")
        places = [""]
        for part in folders:
            places = [join(one, inner) for one in places for inner in self._inside(one, part)]
        return tuple(
            join(one, file)
            for one in places
            for file in self._named(one, name)
            if self.listing(one).file(file)
        )

    def all_below(self, folder: str) -> list[str]:
        """Return the files below a folder, links and what cannot be entered; nothing hidden."""
        found: list[str] = []
        pending = [folder]
        while pending:
            here = pending.pop()
            for name, kind in self.listing(here).kinds.items():
                path = join(here, name)
                if name.startswith(".") or is_left_by_looking(name):
                    continue
                enters = kind == "folder" and self.is_folder(path)
                (pending if enters else found).append(path)
        return sorted(found)

    def _inside(self, folder: str, part: str) -> Iterable[str]:
        if HOLE not in part:
            return (part,)
        kinds = self.listing(folder).kinds
        return [name for name in self._named(folder, part) if kinds[name] == "folder"]

    def _named(self, folder: str, part: str) -> list[str]:
        names = sorted(self.listing(folder).kinds)
        hidden = part.startswith(".")
        return [one for one in names if fits(part, one) and one.startswith(".") == hidden]

    def _is_folder(self, folder: str) -> bool:
        """Tell whether there is such a folder, no link to one."""
        try:
            self._descent.enter(folder)
        except OSError:
            return False
        return True

    def _one(self, part: str, folders: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the files of one part of a name, and the folders of what lies below it.

        In each folder a package comes first, then a module, and a folder without ``__init__.py``
        counts only when no other folder has either: a namespace package may lie in several.
        """
        portions: list[str] = []
        for folder in folders:
            listing = self.listing(folder)
            inner = join(folder, part)
            kind = listing.kinds.get(part)
            if kind == "link":  # perhaps a package: its state says that links are not followed
                return (inner,), ()
            package = self.file(f"{inner}/__init__.py") if kind == "folder" else ()
            if package:
                return package, (inner,)
            # Which of the two is imported depends on the Python that is meant by the first.
            compiled = listing.compiled.get(part)
            modules = (*((compiled,) if compiled else ()), *listing.file(f"{part}.py"))
            if modules:
                return tuple(join(folder, name) for name in modules), ()
            portions += [inner] if kind == "folder" else []
        return (), tuple(portions)


def is_standard(module: str) -> bool:
    """Tell whether a module is of the standard library (of the Python that we run in)."""
    return module.partition(".")[0] in _STANDARD
