"""The step cells of a notebook with what is true of their steps."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from vaibify_lab.core.errors import UsageError, VaibifyError
from vaibify_lab.core.graph import descendants
from vaibify_lab.core.model import Workflow
from vaibify_lab.files.directory import READ_LIMIT
from vaibify_lab.notebooks.cells import read_cell, step_magic
from vaibify_lab.notebooks.scan import Found, Source, Text, read_text, step_cells
from vaibify_lab.notebooks.standing import Cell, Steps
from vaibify_lab.project.declaring import text_of
from vaibify_lab.provenance.compare.notebook_file import read_notebook
from vaibify_lab.runs.opened import Look, Opened

_WITH_IDS = (4, 5)
PYTHON = "python"  # the only kernels that have the magics


def sources_in(opened: Opened, path: str) -> list[Source]:
    """Return the code cells of a notebook file, which is only read.

    Raises
    ------
    InvalidFile, MissingFile, UnsafePath
    """
    notebook = read_notebook(opened.tree.read(path, READ_LIMIT), path)
    if notebook.language != PYTHON:
        return []
    has_ids = notebook.format >= _WITH_IDS  # else what reads it may have made some up
    return [Source(one.number, one.id if has_ids else None, one.source) for one in notebook.code]


def cell_states(opened: Opened, look: Look, sources: Sequence[Source]) -> list[dict[str, Any]]:
    """Return each step cell of the workflow, how it stands to its step, and what is true now."""
    steps = Steps(look.workflow.raw["listSteps"])
    reports = {one.slug: one for one in look.reports}

    def joined(found: Found) -> dict[str, Any]:
        report = reports.get(_step_of(found))
        return found.to_json() | {
            "behind": behind.get(report.slug, []) if report else [],
            "report": report.to_json() if report else None,
        }

    def remembered(source: Source) -> Text:
        return opened.memory.of(read_text, source.text, name=source.number)

    def read(path: str) -> str | None:
        return text_of(opened.tree, path)

    @cache
    def is_mine(workflow: str | None) -> bool:
        with suppress(VaibifyError):  # several workflows, and the cell does not say which
            return opened.choose(workflow) == look.workflow.path
        return True

    cells = ((one, remembered(one).cell) for one in sources)
    mine = [one for one, cell in cells if cell is None or is_mine(cell.line.workflow)]
    found = step_cells(mine, steps, read, remembered)
    behind = _behind(look.workflow, found)
    return [joined(one) for one in found]


def _step_of(found: Found) -> str:
    """Return the slug of a cell's step; empty where there is none yet."""
    stands = found.standing
    return stands.slug if stands is not None and stands.index is not None else ""


def _behind(workflow: Workflow, cells: Sequence[Found]) -> dict[str, list[str]]:
    """Return the steps of edited cells that a step rests on, by its slug."""
    edited = [_step_of(one) for one in cells if one.state in ("cell", "both")]
    found: dict[str, list[str]] = {}
    for slug in dict.fromkeys(one for one in edited if one in workflow.by_slug):
        for following in descendants(workflow, [slug]):
            found.setdefault(following, []).append(slug)
    return found


def named_workflow(opened: Opened, path: str) -> str | None:
    """Return what a cell's line has to say of its workflow: nothing where it is found without."""
    with suppress(VaibifyError):  # several workflows, none of them the root's
        return None if opened.choose(None) == path else path
    return path


def cell_in(source: str) -> Cell:
    """Read a whole cell that is a step.

    Raises
    ------
    UsageError
        Also when it is none.
    """
    magic = step_magic(source)
    if magic is None:
        raise UsageError("is no step", where="the cell", action="begin it with %%vaibify step NAME")
    return read_cell(magic.line, magic.body)


def cell_of(line: str, code: str) -> Cell:
    """Read code that becomes a step by the line above it.

    Raises
    ------
    UsageError
    """
    if len(line.splitlines()) != 1:
        raise UsageError("a name or a path holds a line break", where="%%vaibify step")
    return cell_in(f"{line}\n{code}")
