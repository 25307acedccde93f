"""Names that one file system or another takes for one (cases M06, M07), and how they are told."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from vaibify_lab.core.paths import fold, shown

WHY = "one name on a file system that ignores case or normalises Unicode"
RENAME = "rename one of them"


@dataclass(frozen=True, slots=True)
class Clash:
    """Two paths that cannot both be had there; ``one`` may be what ``other`` has for a folder."""

    one: str
    other: str

    @property
    def both(self) -> tuple[str, str]:
        """The two paths."""
        return self.one, self.other

    def __str__(self) -> str:
        """Name both, each so that it can be told from the other by eye."""
        one, other = told_apart(*self.both)
        if self.other.count("/") > self.one.count("/"):
            other = f"the folder of {other}"
        return f"{other} and {one} are {WHY}"


def clashes(paths: Iterable[str]) -> list[Clash]:
    """Return the pairs of different paths that some file system cannot hold beside each other."""
    files: dict[str, str] = {}
    folders: dict[str, str] = {}
    found = []
    for path in paths:
        other = files.setdefault(fold(path), path)
        if other != path:
            found.append(Clash(other, path))
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders[folder] = path
            folder = folder.rpartition("/")[0]
    for folder, path in folders.items():
        file = files.get(fold(folder), folder)
        if file != folder:
            found.append(Clash(file, path))
    return found


def told_apart(*paths: str) -> list[str]:
    r"""Return paths quoted, with escapes such as ``\u0301`` where they only look the same."""
    split = [path.split("/") for path in paths]
    for at in range(max(map(len, split))):
        names = {parts[at] for parts in split if at < len(parts)}
        if len(names) > len(set(map(_looks, names))):
            for parts in split:
                parts[at : at + 1] = map(_escaped, parts[at : at + 1])
    return [f"'{shown('/'.join(parts))}'" for parts in split]


def _looks(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _escaped(name: str) -> str:
    return "".join(char if char.isascii() else _escape(char) for char in name)


def _escape(char: str) -> str:
    r"""Write a character so that nobody takes it for a byte, which is shown as ``\xNN``."""
    if "\udc80" <= char <= "\udcff":
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
