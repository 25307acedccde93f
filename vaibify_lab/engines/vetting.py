"""What is looked at just before a step starts: nothing in its request may lead elsewhere."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from vaibify_lab.core.errors import MissingFile, UnsafePath, UsageError
from vaibify_lab.core.paths import PROTECTED, is_protected, shown
from vaibify_lab.engines.base import Launch
from vaibify_lab.files.descent import Descent
from vaibify_lab.files.paths import folder
from vaibify_lab.files.tree import Tree

LONGEST_SCRIPT = 2**17 - 256  # Linux passes no single argument of 128 KiB or more


def vetted(launch: Launch) -> Launch:
    """Check a request against the project as it is now; return it with paths in shortest form.

    Raises
    ------
    UnsafePath
        A path leaves the project, goes through a link, or would make ``.git`` writable.
    MissingFile
        A folder does not exist.
    UsageError
        A name, variable or script that no operating system takes; a used state folder.
    """
    _vet_words(launch)
    _vet_places(launch.state, filter(None, (launch.exchange, launch.preamble)))
    with Descent(launch.tree) as descent:
        for path in (launch.directory, *launch.writable):
            _vet_folder(descent, path)
    for path in (*filter(None, launch.writable), *launch.read_only):
        if is_protected(path):
            raise UnsafePath("no step may write there", where=shown(path))
    for name in PROTECTED:
        if "" in launch.writable and (launch.tree / name).is_symlink():
            text = "is a symbolic link, and the step may write the folder that holds it"
            raise UnsafePath(text, where=name, action="put the folder itself there")
    return replace(
        launch,
        tree=launch.tree.absolute(),
        state=launch.state.absolute(),
        directory=folder(launch.directory),
        writable=tuple(folder(path) for path in launch.writable),
    )


def lay_read_only(launch: Launch, *, by_link: bool) -> None:
    """Lay ``launch.read_only`` into the tree: as links, or as empty places to mount over.

    Raises
    ------
    UnsafePath
        Something else is there already, or a link is on the way.
    """
    tree = Tree(launch.tree)
    for path, source in launch.read_only.items():
        tree.make_directory(path.rpartition("/")[0])
        if by_link:
            _link(tree, path, source)
        elif source.is_dir():
            tree.make_directory(path)
        elif tree.lstat(path) is None:
            tree.write(path, b"")
        else:
            os.close(tree.open_file(path))


def _link(tree: Tree, path: str, source: Path) -> None:
    parent, _, name = path.rpartition("/")
    with Descent(tree.root) as descent:
        try:
            os.symlink(source, name, dir_fd=descent.enter(parent))
        except FileExistsError:
            raise UnsafePath("is already there", where=shown(path)) from None


def _vet_words(launch: Launch) -> None:
    name = launch.project_name
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise UnsafePath("is not a name for a project's folder", where=shown(name) or '""')
    if "\0" in launch.script:
        raise UsageError("the step's commands hold a NUL character", where=launch.slug)
    if len(os.fsencode(launch.script)) > LONGEST_SCRIPT:
        text = f"the step's commands are longer than {LONGEST_SCRIPT} bytes"
        raise UsageError(text, where=launch.slug, action="put them in a script")
    for variable, value in launch.environment.items():
        if not variable or "=" in variable or "\0" in variable + value:
            text = f"{shown(variable)!r} cannot be an environment variable"
            raise UsageError(text, where=launch.slug)


def _vet_places(state: Path, beside: Iterable[Path]) -> None:
    for one in beside:
        if one.is_symlink() or not one.is_dir():
            raise UnsafePath("is not a folder that a step can share", where=str(one))
    if not state.is_dir():
        raise UsageError("is not a folder for a step's state", where=str(state))
    if os.listdir(state):
        raise UsageError("has been used for a step before", where=str(state))


def _vet_folder(descent: Descent, path: str) -> None:
    """Open a folder component by component; a link or a file on the way is refused."""
    try:
        descent.enter(folder(path))
    except OSError as error:
        place = shown(str(error.filename or path))
        if error.errno == errno.ENOENT:
            raise MissingFile("is not there; a step needs the folder", where=shown(path)) from None
        kind = "symbolic link" if error.errno == errno.ELOOP else "file"
        text = f"goes through the {kind} {place}"
        raise UnsafePath(text, where=shown(path)) from None
