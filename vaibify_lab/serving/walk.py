"""The search for repositories below the server's root: bounded, each canonical place once."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

MOST_FOLDERS = 5_000
DEEPEST = 5
_PASSED_OVER = frozenset({"node_modules", "__pycache__", "site-packages", "venv"})


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a search goes."""

    folders: int = MOST_FOLDERS
    depth: int = DEEPEST


@dataclass(slots=True)
class Walk:
    """What a search found: contents path by canonical folder; whether it saw everything."""

    found: dict[Path, str] = field(default_factory=dict)
    complete: bool = True


def find_repositories(root: Path, limits: Limits) -> Walk:
    """Look for folders that hold a ``.git`` below a canonical root, itself included.

    Breadth first, so that a limit costs the deepest. Links to folders are followed, as the contents
    API follows them; a folder that was seen is not seen again, and a plain path wins over a link.
    """
    walk = Walk()
    seen: set[tuple[int, int]] = set()
    plain: deque[tuple[str, int]] = deque([("", 0)])
    linked: deque[tuple[str, int]] = deque()
    while plain or linked:
        contents, depth = (plain or linked).popleft()
        if len(seen) >= limits.folders:
            walk.complete = False
            break
        place = root / contents
        if not _is_new(place, seen):
            continue
        if os.path.lexists(place / ".git"):
            walk.found[place.resolve()] = contents
            continue
        for name, is_link in _folders(place):
            if depth == limits.depth:
                walk.complete = False
                break
            below = f"{contents}/{name}" if contents else name
            (linked if is_link else plain).append((below, depth + 1))
    return walk


def _is_new(place: Path, seen: set[tuple[int, int]]) -> bool:
    try:
        status = place.stat()
    except OSError:
        return False
    key = (status.st_dev, status.st_ino)
    is_new = key not in seen
    seen.add(key)
    return is_new


def _folders(place: Path) -> Iterator[tuple[str, bool]]:
    """Yield the names of the folders that may hold a project, and whether each is a link."""
    with suppress(OSError), os.scandir(place) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            if entry.name.startswith(".") or entry.name in _PASSED_OVER or not _is_text(entry.name):
                continue
            with suppress(OSError):
                if entry.is_dir():
                    yield entry.name, entry.is_symlink()


def _is_text(name: str) -> bool:
    return "\\" not in name and name.isprintable()
