"""Names as the disk really holds them: other normal forms, other case, one folder at a time."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from typing import Literal

from vaibify_lab.core.clashes import Clash, clashes
from vaibify_lab.core.paths import fold
from vaibify_lab.files.descent import Descent, names_in
from vaibify_lab.files.paths import by_bytes, join
from vaibify_lab.files.tree import Tree

Likeness = Literal["form", "case"]
_MOST = 16


def normal_form(name: str) -> str:
    """Return the composed form (NFC)."""
    return unicodedata.normalize("NFC", name)


_KEYS: dict[Likeness, Callable[[str], str]] = {"form": normal_form, "case": fold}


class DiskNames:
    """The names below a tree's root; each folder is listed once, no link is followed."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._folders: dict[tuple[str, Likeness], dict[str, list[str]]] = {}
        self._alike: dict[tuple[str, Likeness], list[str]] = {}
        self._without_forms: dict[str, bool] = {}

    def alike(self, path: str, likeness: Likeness) -> list[str]:
        """Return the paths on disk that equal ``path`` after normalisation (and case folding)."""
        parent, _, name = path.rpartition("/")
        key = _KEYS[likeness](name)
        return [
            join(folder, one)
            for folder in self._folders_alike(parent, likeness)
            for one in self._names(folder, likeness).get(key, ())
        ]

    def has_one_form(self, path: str) -> bool:
        """Tell at once, for nearly every path, that the disk holds it in no two normal forms.

        The answer is for all names in its folder, so no may also be said of another name's sake.
        """
        parent = path.rpartition("/")[0]
        known = self._without_forms.get(parent)
        if known is None:
            known = self._without_forms[parent] = self._is_without_forms(parent)
        return known

    def _is_without_forms(self, parent: str) -> bool:
        folders = self._folders_alike(parent, "form")
        names = [same for one in folders for same in self._names(one, "form").values()]
        return len(folders) < 2 and all(len(same) == 1 for same in names)

    def _folders_alike(self, path: str, likeness: Likeness) -> list[str]:
        if not path:
            return [""]
        if (path, likeness) not in self._alike:
            self._alike[path, likeness] = self.alike(path, likeness)[:_MOST]
        return self._alike[path, likeness]

    def _names(self, folder: str, likeness: Likeness) -> dict[str, list[str]]:
        if (folder, likeness) not in self._folders:
            names: dict[str, list[str]] = {}
            for name in self._list(folder):
                names.setdefault(_KEYS[likeness](name), []).append(name)
            self._folders[folder, likeness] = names
        return self._folders[folder, likeness]

    def _list(self, folder: str) -> list[str]:
        try:
            with Descent(self._tree.root) as descent:
                return by_bytes(names_in(descent.enter(folder)))
        except OSError:  # no folder, a link, or one that may not be listed: no name is known
            return []


def name_clashes(tree: Tree, paths: Iterable[str]) -> list[Clash]:
    """Return what keeps paths from being listed: names that clash, among them or on the disk.

    The disk counts for normal forms alone: beside a listed name, nobody could say which is meant.
    """
    wanted = list(paths)
    found = {frozenset(one.both): one for one in clashes(wanted)}
    names = DiskNames(tree)
    for path in (path for path in wanted if not names.has_one_form(path)):
        for other in names.alike(path, "form"):
            if other != path:
                found.setdefault(frozenset((path, other)), Clash(path, other))
    return list(found.values())
