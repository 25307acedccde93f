"""A missing file whose name the disk holds in another Unicode normal form, and how it is renamed.

macOS, archives and file servers write such names; both look the same, so they are told by bytes.
"""

from __future__ import annotations

from vaibify_lab.core.clashes import told_apart
from vaibify_lab.core.observed import GitSnapshot
from vaibify_lab.core.paths import as_bytes_word, is_within
from vaibify_lab.files.disk_names import DiskNames
from vaibify_lab.files.tree import Tree


def in_other_form(tree: Tree, path: str) -> tuple[str, str] | None:
    """Return what lies there instead of a missing file: file or folder, and its name to be."""
    bare, names = path.removesuffix("/"), DiskNames(tree)
    found = [] if bare.isascii() else names.alike(bare, "form")
    if len(found) != 1 or found[0] == bare:  # of two nobody knows which is meant
        return None
    there, wanted = found[0].split("/"), bare.split("/")
    for depth in range(1, len(wanted) + 1):
        one, other = "/".join(there[:depth]), "/".join(wanted[:depth])
        if one != other and other not in names.alike(other, "form"):
            return one, other
    return None


def renaming(tree: Tree, snapshot: GitSnapshot, path: str) -> str | None:
    """Return how the file is renamed, by git where git holds it so; None where that is not it."""
    found = in_other_form(tree, path)
    if found is None:
        return None
    one, other = found
    is_held = any(is_within(held, one) for held in snapshot.index)
    return f"{'git mv' if is_held else 'mv'} -- {as_bytes_word(one)} {as_bytes_word(other)}"


def instead_of(tree: Tree, path: str) -> str:
    """Say that a missing file is there under a name of another form; empty where it is not."""
    found = in_other_form(tree, path)
    if found is None:
        return ""
    one, other = told_apart(*found)
    return f"{one} is there instead of {other}: another Unicode normal form of one name"
