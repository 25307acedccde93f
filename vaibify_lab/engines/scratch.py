"""A step's private folders, removed when it is over. Supervisor side: few imports."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(folder: str) -> None:
    """Remove a folder in which a step may have taken rights away; leave what resists.

    A step may nest folders deeper than any recursion, and than any path is long: each folder below
    is moved up beside the others before it is looked into. No link is followed.
    """
    try:
        os.chmod(folder, 0o700)
        top = os.open(folder, _FOLDER)
    except OSError:
        return
    names, waiting = _Names(), ["."]
    while waiting:
        name = waiting.pop()
        waiting += _empty(top, name, names)
        if name != ".":
            _quietly(os.rmdir, name, top)
    os.close(top)
    try:
        os.rmdir(folder)
    except OSError:
        return


class _Names:
    """Names that nobody else has given."""

    def __init__(self) -> None:
        self._token = os.urandom(8).hex()
        self._count = 0

    def next(self) -> str:
        self._count += 1
        return f"{self._token}-{self._count}"


def _empty(top: int, name: str, names: _Names) -> list[str]:
    """Delete the files of ``name`` and move its folders to ``top``; return their new names."""
    moved = []
    try:
        here = os.open(name, _FOLDER, dir_fd=top)
    except OSError:
        return []
    try:
        with os.scandir(here) as listing:
            entries = [(one.name, one.is_dir(follow_symlinks=False)) for one in listing]
        for entry, is_folder in entries:
            if not is_folder:
                _quietly(os.unlink, entry, here)
            elif _move_up(entry, here, new := names.next(), top):
                moved.append(new)
    finally:
        os.close(here)
    return moved


def _move_up(name: str, folder: int, new: str, top: int) -> bool:
    try:
        os.chmod(name, 0o700, dir_fd=folder)  # else it could be neither moved nor read
        os.rename(name, new, src_dir_fd=folder, dst_dir_fd=top)
    except OSError:
        return False
    return True


def _quietly(remove: Callable[..., None], name: str, folder: int) -> None:
    try:
        remove(name, dir_fd=folder)
    except OSError:
        return
