"""Folders of a project, opened so that no link leads elsewhere. Supervisor side: few imports."""

from __future__ import annotations

import os

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def open_folder(tree: str, path: str) -> int:
    """Open the folder ``path`` beneath ``tree`` and return its descriptor.

    Raises
    ------
    OSError
        A component is missing, not a folder, or a symbolic link (``ENOTDIR``, ``ELOOP``);
        ``filename`` is the repository path up to it.
    """
    handle = os.open(tree, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    walked: list[str] = []
    for part in path.split("/") if path else []:
        walked.append(part)
        try:
            deeper = os.open(part, FOLDER, dir_fd=handle)
        except OSError as error:
            error.filename = "/".join(walked)
            raise
        finally:
            os.close(handle)
        handle = deeper
    return handle
