"""Byte code beside a step's modules: Python would believe it by second and size alone."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.files.tree import Tree

_FOLDER = "__pycache__"


def drop_byte_code(tree: Tree, code: Iterable[str]) -> None:
    """Delete the byte code of these modules, which may be of an earlier text of the same length.

    It is a cache of Python's and comes again; steps themselves write none.
    """
    by_folder: dict[str, set[str]] = {}
    for path in code:
        folder, _, name = path.rpartition("/")
        if name.endswith(".py"):
            by_folder.setdefault(folder, set()).add(name.removesuffix(".py"))
    for folder, stems in by_folder.items():
        cache = f"{folder}/{_FOLDER}" if folder else _FOLDER
        for name in _names(tree, cache):
            if name.endswith(".pyc") and name.partition(".")[0] in stems:
                with suppress(VaibifyError):
                    tree.remove(f"{cache}/{name}")


def _names(tree: Tree, folder: str) -> list[str]:
    try:
        return os.listdir(tree.root / folder) if tree.exists_as_directory(folder) else []
    except (VaibifyError, OSError):
        return []
