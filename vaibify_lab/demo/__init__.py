"""The demo project: real data, four steps in a diamond, or three cells of a notebook.

Only its files; the verb runs them.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from vaibify_lab.core.errors import UsageError


def write_demo(target: Path, *, notebook: bool = False) -> None:
    """Write the demo project's files into a folder that is new or empty.

    Parameters
    ----------
    target : Path
        Made, with its parents, where it is missing.
    notebook : bool
        The one whose steps are cells.

    Raises
    ------
    UsageError
        When ``target`` is a file or holds anything.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(
            "the demo needs a new or empty folder", where=str(target), action="name another one"
        )
    shipped = files(__package__)
    if notebook:
        _copy(shipped / "notebook", target)
        _copy(shipped / "project" / "data", target / "data")
    else:
        _copy(shipped / "project", target)


def _copy(source: Traversable, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for entry in source.iterdir():
        if entry.name == "__pycache__":  # an installer compiles what it finds
            continue
        if entry.is_dir():
            _copy(entry, target / entry.name)
        else:
            (target / entry.name).write_bytes(entry.read_bytes())
