"""What in a folder of git's could make git run something, told by its stamps; no git is started.

Git takes a folder for a repository when it holds ``HEAD``, ``objects`` and ``refs`` (or names by
``commondir`` where those are), whatever it is called. Its configuration, its hooks and those of
the submodules and work trees that it keeps can name programs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from vaibify_lab.files.paths import MAX_DEPTH, join
from vaibify_lab.files.stamps import Stamp, identity, stamp_at

Marks = dict[str, Stamp | None]
LISTING = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILES = ("config", "config.worktree", "commondir")
_HOOKS = "hooks"
_KEPT_INSIDE = ("modules", "worktrees")
_WITHOUT_ANY = frozenset({"objects", "refs", "logs", "lfs", "annex"})


BARE = frozenset({"head", "objects", "refs", "commondir"})


def is_bare(names: set[str]) -> bool:
    """Tell from the names in a folder, in lower case, whether git takes it for a repository."""
    return "head" in names and ("commondir" in names or {"objects", "refs"} <= names)


def marks(name: str, directory: int | None) -> Marks:
    """Return the stamps of all that can execute in a folder, or those of a file or link."""
    found: Marks = {"": identity(stamp_at(name, directory))}
    try:
        opened = os.open(name, LISTING, dir_fd=directory)
    except OSError:
        return found
    try:
        found.update(_of_repository(opened))
    finally:
        os.close(opened)
    return found


def changed(before: Marks, now: Marks) -> list[str]:
    """Return the paths that differ, "" for the place itself."""
    return sorted(one for one in before.keys() | now.keys() if before.get(one) != now.get(one))


def _of_repository(opened: int) -> Iterator[tuple[str, Stamp | None]]:
    for name in _FILES:
        yield name, stamp_at(name, opened)
    yield from _of_hooks(_HOOKS, opened)
    for name in _KEPT_INSIDE:
        yield from _of_kept(name, opened)


def _of_hooks(path: str, opened: int) -> Iterator[tuple[str, Stamp | None]]:
    yield path, identity(stamp_at(path, opened))
    for name in _names(path, opened):
        yield f"{path}/{name}", stamp_at(f"{path}/{name}", opened)


def _of_kept(top: str, opened: int) -> Iterator[tuple[str, Stamp | None]]:
    """Yield what can execute in the repositories below a folder; objects are passed over."""
    waiting = [top]
    while waiting:
        here = waiting.pop()
        for name in _names(here, opened):
            path = join(here, name)
            if name == _HOOKS:
                yield from _of_hooks(path, opened)
            elif name in _FILES:
                yield path, stamp_at(path, opened)
            elif name not in _WITHOUT_ANY and path.count("/") < MAX_DEPTH:
                waiting.append(path)  # of what is no folder there are no names


def _names(path: str, opened: int) -> list[str]:
    try:
        listing = os.open(path, LISTING, dir_fd=opened)
    except OSError:
        return []
    try:
        return sorted(os.listdir(listing))
    except OSError:
        return []
    finally:
        os.close(listing)
