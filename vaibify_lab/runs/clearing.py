"""What a run needs only as long as it goes on, removed by the next."""

from __future__ import annotations

import os
import time
from contextlib import suppress

from vaibify_lab.files.factstore import DRAFTS
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.aside import delete
from vaibify_lab.runs.journal import RunFolder

_NEEDED = ("tree", ".scratch", ".temporary", ".probe")
_HALF = 3600.0  # seconds after which nobody still writes a file that is not whole


def clear(run: RunFolder) -> None:
    """Delete what a run left of staged trees and temporary folders; its logs stay.

    It was lost, or could not delete them.
    """
    steps = run.path / "steps"
    for slug in os.listdir(steps) if steps.is_dir() else []:
        for entry in list((steps / slug).iterdir()):
            if entry.is_dir() and entry.name.endswith(_NEEDED):
                delete(entry)


def drop_drafts(tree: Tree) -> None:
    """Delete what a death left of files that were being written."""
    folder = tree.root / DRAFTS
    for name in os.listdir(folder) if tree.exists_as_directory(DRAFTS) else []:
        with suppress(OSError):
            if time.time() - os.lstat(folder / name).st_mtime > _HALF:
                os.unlink(folder / name)
