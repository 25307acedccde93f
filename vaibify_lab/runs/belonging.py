"""What a runner that is root leaves in a repository of somebody else is theirs, not root's."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from vaibify_lab.files.descent import Descent, entries
from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.files.paths import MAX_DEPTH


def hand_over_local(root: Path) -> None:
    """Give root's files below .vaibify/local to the repository's owner; no link is followed.

    Else the owner's next run could neither take the lock nor delete what this one kept. A file that
    has another name is left alone: that may be anywhere.
    """
    owner = root.stat()
    if os.geteuid() or not owner.st_uid:
        return
    waiting = [LOCAL]
    with suppress(OSError), Descent(root) as descent:
        while waiting:
            here = waiting.pop()
            handle = descent.enter(here)
            for name, kind in entries(handle):
                _give(name, handle, owner)
                if kind == "folder" and here.count("/") < MAX_DEPTH:
                    waiting.append(f"{here}/{name}")


def _give(name: str, directory: int, owner: os.stat_result) -> None:
    with suppress(FileNotFoundError):
        seen = os.stat(name, dir_fd=directory, follow_symlinks=False)
        single = stat.S_ISDIR(seen.st_mode) or seen.st_nlink == 1
        if seen.st_uid == 0 and single:
            os.chown(name, owner.st_uid, owner.st_gid, dir_fd=directory, follow_symlinks=False)
