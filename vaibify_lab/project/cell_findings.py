"""Step cells whose notebook and step no longer say the same, as ``check`` tells them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.finding import Finding, Level
from vaibify_lab.core.paths import shown
from vaibify_lab.project.cells import cell_states, sources_in
from vaibify_lab.runs.opened import Look, Opened

_CHECKPOINTS = ".ipynb_checkpoints"
_TOLD = {
    "new": ("cell-new", "run the cell"),
    "cell": ("cell-differs", "run the cell, or take its code back from the script"),
    "other": ("cell-differs", "take the step's code into the cell, or run it with --overwrite"),
    "both": ("cell-differs", "see the difference at the cell's badge, and keep one of the two"),
    "foreign": ("cell-differs", "rename the cell's step"),
    "duplicate": ("cell-duplicate", None),
    "wrong": ("step-line", None),
}


def cells_of_all(opened: Opened, look: Look, *, publish: bool = False) -> Iterator[Finding]:
    """Yield the step cells of the repository's notebooks that are not as their steps.

    Of what git tracks or would add. ``publish`` makes an error of code that a reader of the
    notebook would take for what ran.
    """
    made = {path for step in look.workflow.steps for path in step.outputs}
    for path in _notebooks(opened):
        if path in made:
            continue
        try:
            yield from cells_of_one(opened, look, path, publish=publish)
        except VaibifyError as error:
            text = f"{shown(path)} cannot be read for step cells: {error.text}"
            yield Finding("warning", "notebook-unread", text, None, path, error.action)


def cells_of_one(
    opened: Opened, look: Look, path: str, *, publish: bool = False
) -> Iterator[Finding]:
    """Yield the step cells of one notebook that are not as their steps.

    Raises
    ------
    InvalidFile, MissingFile, UnsafePath
    """
    states = cell_states(opened, look, sources_in(opened, path))
    yield from findings_of(path, states, "error" if publish else "warning")


def findings_of(path: str, states: Iterable[dict[str, Any]], level: Level) -> Iterator[Finding]:
    """Yield the cells that are not as their steps, of those that were looked at."""
    for one in states:
        if one["state"] in _TOLD:
            yield _finding(path, one, level)


def _finding(path: str, cell: dict[str, Any], level: Level) -> Finding:
    code, action = _TOLD[cell["state"]]
    name = f" ({cell['name']})" if cell["name"] else ""
    text = f"{shown(path)} cell {cell['number']}{name}: {cell['text']}"
    return Finding(level, code, text, None, path, action)


def _notebooks(opened: Opened) -> Iterable[str]:
    """Return the notebooks that git tracks, or does not ignore."""
    paths = opened.repository.files("*.ipynb")
    there = [one for one in paths if opened.tree.lstat(one) is not None]
    return [one for one in there if _CHECKPOINTS not in one.split("/")]
