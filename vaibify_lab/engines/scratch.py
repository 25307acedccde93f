"""A step's private folders, removed when it is over. Supervisor side: few imports."""

from __future__ import annotations

import os


def remove_tree(folder: str) -> None:
    """Remove a folder in which a step may have taken rights away; leave what resists."""
    try:
        os.chmod(folder, 0o700)
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            remove_tree(entry.path)
        else:
            _quietly_unlink(entry.path)
    try:
        os.rmdir(folder)
    except OSError:
        return


def _quietly_unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
