"""Whole notebooks, as the front doors ask for them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from vaibify_lab.ceremony.copying import Tell
from vaibify_lab.ceremony.notebooks import (
    NotebookCheck,
    NotebookRun,
    compare_stored,
    own_patterns,
    run_notebook,
)
from vaibify_lab.core.errors import UsageError
from vaibify_lab.project.facade import Project
from vaibify_lab.provenance.compare.noise import Rules
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.options import RunOptions


def repository_path(opened: Opened, given: Path) -> str:
    """Return the repository path of a file that somebody named.

    Raises
    ------
    UsageError
        It does not lie in the repository.
    """
    root = os.path.realpath(opened.tree.root)
    place = os.path.join(os.path.realpath(given.parent), given.name)
    if not place.startswith(f"{root}{os.sep}"):
        raise UsageError("lies outside this repository", where=str(given))
    return Path(os.path.relpath(place, root)).as_posix()


def run(project: Project, path: str, options: RunOptions, tell: Tell | None = None) -> NotebookRun:
    """Run a notebook on a copy of the project."""
    return run_notebook(project.opened, path, options, project.person(), tell)


def rules(
    project: Project,
    *,
    tolerance: float | None,
    absolute: float,
    ignore: Sequence[str],
    strict: bool,
) -> Rules:
    """Return what counts as the same here: the workflow's tolerance unless another is given."""
    if tolerance is None:
        known = project.opened.workflow_paths()
        tolerance = project.opened.workflow(project.path).tolerance if known else None
    own = own_patterns(project.opened, ignore)
    return Rules(1e-6 if tolerance is None else tolerance, absolute, own, ignore=not strict)


def compare(
    project: Project,
    path: str,
    how: Rules,
    *,
    fresh: tuple[str, bytes] | None = None,
    ran: NotebookRun | None = None,
) -> NotebookCheck:
    """Compare what is stored in a notebook with a fresh one, given by name and bytes, or run."""
    where, data = fresh or ("", None)
    return compare_stored(project.opened, path, how, fresh=data, where=where, run=ran)
