"""Files that a step's code names to read and the step does not declare: their changes go unseen."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.finding import Finding
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import is_within, shown
from vaibify_lab.files.filenames import FileReader, FileUse
from vaibify_lab.notebooks.foretell.telling import Telling
from vaibify_lab.provenance.compare.notebook_file import read_notebook
from vaibify_lab.runs.preflight.inspection import Inspection


def undeclared_findings(inspection: Inspection, step: Step) -> Iterator[Finding]:
    """Yield each file of the repository that a step's Python names to read, undeclared.

    A warning, for code may never come to it; a sealed run is the proof.
    """
    scan = inspection.code.get(step.slug)
    if scan is None or step.interactive or not step.enabled:
        return
    uses = [(path, use) for path in scan.files for use in _uses(inspection, path)]
    places = [(path, use, _place(step, use.path)) for path, use in uses]
    known = [*step.inputs, *step.outputs, *scan.files]
    known += [place for _, use, place in places if use.writes and place]
    for path, use, place in places:
        if place is None or any(is_within(place, one) for one in known):
            continue
        makers = [one for one in inspection.producers.of([place]) if one != step.slug]
        if makers or inspection.place(place).kind == "file":
            known.append(place)
            where = shown(path) if path.endswith(".ipynb") else f"{shown(path)}:{use.line}"
            made = f", which step {makers[0]!r} makes:" if makers else ", which"
            text = f"{where} reads {shown(place)!r}{made} {'it ' if makers else ''}is not declared"
            action = "add it to saInputDataFiles, else nobody is told when it changes"
            yield Finding("warning", "undeclared-input", text, step.slug, place, action)


def _uses(inspection: Inspection, path: str) -> list[FileUse]:
    reader = FileReader()
    try:
        data = inspection.tree.read(path)
        if path.endswith(".ipynb"):
            cells = Telling.of(path, read_notebook(data, path)).cells
            return [use for cell in cells for use in reader.read(cell.code)]
    except VaibifyError:
        return []  # which is said as such
    if not path.endswith((".py", ".ipy")):
        return []
    [script] = Telling.of_script(path, data.decode("utf-8", "replace")).cells
    return [*reader.read(script.code)]


def _place(step: Step, path: str) -> str | None:
    """Return the repository path that a path of the code means; None where it is no such."""
    if "://" in path or posixpath.isabs(path):
        return None
    inner = posixpath.normpath(posixpath.join(step.directory, path))
    return None if inner == ".." or inner.startswith("../") else inner
