"""A staged tree that holds only what a step declared: inputs, code and empty output folders."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from vaibify_lab.core.model import Step
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.writable import folder_of, make_ready

_COPY_LIMIT = 4 * 2**20


@dataclass(frozen=True, slots=True)
class Stage:
    """A staged tree. ``laid_in`` are large files that the engine binds instead of a copy."""

    tree: Tree
    files: tuple[str, ...]
    laid_in: Mapping[str, Path]


def stage(source: Tree, folder: Path, step: Step, files: Iterable[str], *, can_bind: bool) -> Stage:
    """Copy ``files`` (repository paths) into a new tree below ``folder`` and make it ready.

    Files over 4 MiB are left to the engine to lay in read-only where it can.
    """
    folder.mkdir(parents=True)
    staged = Tree(folder)
    laid_in: dict[str, Path] = {}
    held = tuple(dict.fromkeys(files))
    for path in held:
        parent = path.rpartition("/")[0]
        if parent:
            staged.make_directory(parent)
        seen = source.lstat(path)
        if can_bind and seen is not None and seen.st_size > _COPY_LIMIT:
            staged.write(path, b"")  # the place that the read-only file is laid over
            laid_in[path] = source.root / path
        else:
            _copy(source, path, folder / path)
    if step.directory:
        staged.make_directory(step.directory)
    make_ready(staged, step)
    return Stage(staged, held, laid_in)


def bring_home(staged: Tree, home: Tree, step: Step) -> None:
    """Move the outputs from the staged tree to their places in the repository."""
    for output in step.outputs:
        path = output.rstrip("/")
        parent = folder_of(path)
        if parent:
            home.make_directory(parent)
        if staged.lstat(path) is None:
            continue
        there = home.lstat(path)
        if there is not None and home.exists_as_directory(path):
            os.rmdir(home.root / path)  # made ready, empty
        os.rename(staged.root / path, home.root / path)


def _copy(source: Tree, path: str, target: Path) -> None:
    with os.fdopen(source.open_file(path), "rb") as read, target.open("xb") as write:
        shutil.copyfileobj(read, write, 2**20)
        mode = os.fstat(read.fileno()).st_mode & 0o777
    target.chmod(mode | 0o400)
