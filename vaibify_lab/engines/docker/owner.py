"""Whose files a step makes: the host's user, or, for a server that is root, the project's owner."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from vaibify_lab.engines.docker.inspected import About
from vaibify_lab.files.descent import Descent, look

Owner = tuple[int, int]


def owner_of(tree: Path) -> Owner:
    """Return (user, group) of the host that a step's files should belong to."""
    if os.geteuid():
        return os.geteuid(), os.getegid()
    status = tree.stat()
    return status.st_uid, status.st_gid


def owner_inside(about: About, owner: Owner) -> Owner:
    """Return what that is inside: root, where the engine itself runs as the user."""
    return (0, 0) if about.rootless else owner


def hand_over(paths: Iterable[Path], owner: Owner) -> None:
    """Give folders that root made for a step to the step's user. No link is followed."""
    if os.geteuid() or not owner[0]:
        return
    with Descent(Path("/")) as descent:
        for path in paths:
            parent, _, name = str(path).strip("/").rpartition("/")
            handle = descent.enter(parent)
            if look(handle, name).st_uid == 0:
                os.chown(name, *owner, dir_fd=handle, follow_symlinks=False)
