"""Notebooks as steps: what must be there to run one, and what becomes of its executed copy."""

from __future__ import annotations

from collections.abc import Iterator

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.finding import Finding
from vaibify_lab.core.model import Step
from vaibify_lab.notebooks.cells import numbers_of_steps
from vaibify_lab.notebooks.session import copy_among
from vaibify_lab.provenance.compare.notebook_file import read_notebook
from vaibify_lab.runs.preflight.inspection import Inspection
from vaibify_lab.runs.preflight.modules import missing_module


def notebook_findings(inspection: Inspection, step: Step) -> Iterator[Finding]:
    """Yield why a step's notebook cannot be run, or what would be lost of its run."""
    path = step.notebook
    if step.interactive or path is None or inspection.place(path).kind != "file":
        return  # that it is missing is said with the scripts
    try:
        book = read_notebook(inspection.tree.read(path), path)
    except VaibifyError as error:
        text = f"notebook {path!r} {error.text}"
        yield Finding("error", "notebook-unusable", text, step.slug, path, error.action)
        return
    if cells := numbers_of_steps(book):
        text = f"cell {cells[0]} of {path!r} is a step of its own, which a step cannot run"
        action = "take the notebook's step out of the workflow, or the line from the cell"
        yield Finding("error", "step-in-step", text, step.slug, path, action)
    modules = ["nbclient", *(["ipykernel"] if book.language == "python" else [])]
    for module in modules:
        yield from missing_module(inspection, step, module, "a notebook needs")
    if copy_among(step.outputs, path) is None:
        text = "names no single output *.ipynb for its executed copy, which is not kept"
        yield Finding("warning", "no-executed-copy", text, step.slug, path)
