"""What a step left that is dangerous to the host: moved out of reach, or made harmless."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.files.descent import Descent, look
from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.files.paths import split
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.writes import Snapshot


def quarantine(tree: Tree, path: str, run_id: str) -> str | None:
    """Move what was planted out of git's reach; return where it lies now, None if it resisted.

    There git would find it as well, had it kept its names: a ``.git`` folder is a bare repository
    under any name.
    """
    folder = f"{LOCAL}/runs/{run_id}/quarantine"
    place = _moved(tree, path, folder)
    waiting = [place] if place else []
    while waiting:
        inside = Snapshot.take(tree, (waiting.pop(),)).repositories
        waiting += filter(None, [_moved(tree, one, folder) for one in inside])
    return place


def take_privileges(tree: Tree, paths: Iterable[str]) -> None:
    """Let files run with nobody's rights but the caller's own."""
    with Descent(tree.root) as descent:
        for path in paths:
            directory, name = split(path)
            try:
                handle = descent.enter(directory)
                mode = look(handle, name).st_mode
                if stat.S_ISREG(mode):
                    os.chmod(
                        name, stat.S_IMODE(mode) & ~(stat.S_ISUID | stat.S_ISGID), dir_fd=handle
                    )
            except OSError:
                continue  # not ours, and so not with our rights


def _moved(tree: Tree, path: str, folder: str) -> str | None:
    place = f"{folder}/{secrets.token_hex(4)}.kept"
    try:
        tree.move(path, place)
    except VaibifyError:
        return None
    return place
