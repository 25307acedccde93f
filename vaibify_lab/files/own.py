"""Files that the project is told by: read as they are, unless git holds their content elsewhere."""

from __future__ import annotations

from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.files.directory import READ_LIMIT
from vaibify_lab.files.hashing import pointer_in
from vaibify_lab.files.tree import Tree

PULL = "git lfs pull"
POINTER = "holds a git LFS pointer, not the content"


def read_own(tree: Tree, path: str, limit: int = READ_LIMIT) -> bytes:
    """Return a file's bytes.

    Raises
    ------
    InvalidFile
        Also where only a git LFS pointer is here, which no reader of ours would know as that.
    """
    data = tree.read(path, limit)
    if pointer_in(data) is not None:
        raise InvalidFile(POINTER, where=path, action=PULL)
    return data
