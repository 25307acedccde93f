"""``check`` of a notebook: what will go wrong with it elsewhere, and modules nobody offers."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.finding import Finding
from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.core.paths import shown
from vaibify_lab.files.directory import READ_LIMIT
from vaibify_lab.notebooks.foretell import foretell
from vaibify_lab.notebooks.foretell.kernels import has_python_kernel, kernels_here
from vaibify_lab.notebooks.foretell.telling import Around, Place, Telling
from vaibify_lab.project.cell_findings import findings_of
from vaibify_lab.project.cells import cell_states, sources_in
from vaibify_lab.provenance.compare.notebook_file import read_notebook
from vaibify_lab.runs.enveloping import read_environment
from vaibify_lab.runs.inspecting import engine_facts, inspect
from vaibify_lab.runs.opened import DEFAULT, Look, Opened
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.preflight.modules import missing_module, module_findings
from vaibify_lab.runs.preflight.undeclared import told_of, undeclared_in_code


def check_notebook(opened: Opened, look: Look, path: str) -> list[Finding]:
    """Return what is wrong with a notebook before it runs; errors first.

    Raises
    ------
    InvalidFile, MissingFile, UnsafePath
    """
    telling = Telling.of(path, read_notebook(opened.tree.read(path, READ_LIMIT), path))
    found = [*_modules(opened, look, telling)]
    found += _kernel(telling)
    found += foretell(telling, around(opened, path))
    cells = cell_states(opened, look, sources_in(opened, path))
    found += (one for one in findings_of(path, cells, "warning") if one.code != "step-line")
    found += _undeclared(opened, look, path, [one["report"] for one in cells])
    return sorted(dict.fromkeys(found), key=lambda one: one.level != "error")


def look_without_workflow(opened: Opened) -> Look:
    """Look at a repository in which nothing is declared yet: a notebook can be checked before."""
    return opened.look_at(Workflow(DEFAULT, "", (), raw={"listSteps": []}))


def _kernel(telling: Telling) -> Iterator[Finding]:
    """Yield that nothing here runs a notebook of step cells, which is run where its reader is."""
    has_steps = any(cell.is_step for cell in telling.cells)
    if has_steps and telling.notebook.language == "python" and not has_python_kernel():
        text = "has step cells, and there is no Python kernel on this machine"
        action = "python -m pip install ipykernel"
        yield telling.finding("warning", "kernel-missing", None, text, action)


def _undeclared(
    opened: Opened, look: Look, path: str, reports: Iterable[dict[str, Any] | None]
) -> Iterator[Finding]:
    """Yield what the steps of a notebook read undeclared: it is one, or its cells are."""
    slugs = [one["slug"] for one in reports if one]
    slugs += [step.slug for step in look.workflow.steps if step.notebook == path]
    if not slugs:
        return
    facts = engine_facts(opened, RunOptions(look.workflow.path), read_environment(opened))
    inspection = inspect(opened, look, facts, ())
    for slug in dict.fromkeys(slugs):
        step = look.workflow.by_slug[slug]
        yield from told_of(undeclared_in_code(inspection, step, look.reach.tests[slug]))


def _modules(opened: Opened, look: Look, telling: Telling) -> Iterator[Finding]:
    """Yield the modules that neither lock nor repository has, by preflight's own rule."""
    directory = posixpath.dirname(telling.path)
    step = Step("notebook", 1, "notebook", directory=directory, notebook=telling.path)
    alone = Workflow(
        look.workflow.path, "", (step,), no_python_packages=look.workflow.no_python_packages
    )
    facts = engine_facts(opened, RunOptions(alone.path), read_environment(opened))
    reach = opened.observer.scout.reach(alone)
    inspection = inspect(opened, replace(look, workflow=alone, reach=reach), facts, ())
    needed = ["nbclient", *(["ipykernel"] if telling.notebook.language == "python" else [])]
    if any(cell.is_step for cell in telling.cells):
        needed = []  # it runs where its kernel is, and each step where the project says
    for one in (
        *module_findings(inspection, step),
        *(
            found
            for module in needed
            for found in missing_module(inspection, step, module, "a notebook needs")
        ),
    ):
        if one.code == "code-computed":
            continue  # of a step it matters: that is told of the step
        if one.code != "code-unread" or not any(cell.fault for cell in telling.cells):
            text = _by_cell(telling, one.text)
            yield replace(one, text=text, step=None, path=telling.path)  # else the cell is named


def _by_cell(telling: Telling, text: str) -> str:
    """Name the cell in place of a line, which is counted through all of them."""
    found = re.match(rf"{re.escape(shown(telling.path))}:(\d+)(?= imports )", text)
    last = 0
    for cell in telling.notebook.code if found else ():
        last += cell.source.count("\n") + 1
        if found and int(found[1]) <= last:
            return f"{telling.path} cell {cell.number}{text[found.end() :]}"
    return text


def around(opened: Opened, path: str) -> Around:
    """Return what surrounds a notebook."""
    return Around(_places(opened, path), kernels_here())


def _places(opened: Opened, notebook: str) -> Callable[[str], Place]:
    """Return what tells of a path beside the notebook what others would find there."""
    folder = posixpath.dirname(notebook)
    committed = opened.repository.snapshot().tree

    def place(path: str) -> Place:
        inner = posixpath.normpath(posixpath.join(folder, path))
        if inner == ".." or inner.startswith("../"):
            return "outside"
        try:
            if opened.tree.exists_as_directory(inner):
                return "folder"
            state = opened.cache.observe([inner])[inner]
        except VaibifyError:
            return "not-committed"
        if state.kind in ("lfs-pointer", "missing"):
            return "lfs" if state.kind == "lfs-pointer" else "missing"
        return "committed" if inner in committed else "not-committed"

    return place
