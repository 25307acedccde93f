"""What will go wrong in a step's notebook, or its cell, told from the text before it runs.

An error only where the run must fail; a run is never refused for what may go well.
"""

from __future__ import annotations

import platform
import posixpath
from collections.abc import Iterator
from dataclasses import replace

from vaibify_lab.core.cell_scripts import script_of
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.finding import Finding, Level
from vaibify_lab.core.model import Step
from vaibify_lab.files.hashing import holds_pointer
from vaibify_lab.notebooks.foretell import foretell_run
from vaibify_lab.notebooks.foretell.kernels import kernel_findings, kernels_here
from vaibify_lab.notebooks.foretell.telling import Around, Place, Telling
from vaibify_lab.provenance.compare.notebook_file import read_notebook
from vaibify_lab.runs.preflight.inspection import Inspection

_NAMES = frozenset({"name-missing", "name-below"})
_JUPYTER = ("JUPYTER_PATH", "JUPYTER_DATA_DIR", "HOME", "XDG_DATA_HOME")  # where kernels may lie


def foretold_findings(inspection: Inspection, step: Step) -> Iterator[Finding]:
    """Yield what a step's notebook, or the script of its cell, will not find."""
    try:
        telling = None if step.interactive else _telling(inspection, step)
    except VaibifyError:
        return  # which is said as such
    if telling is None:
        return
    around = Around(lambda path: _place(inspection, step, path), kernels_here())
    for one in _kernel(inspection, step, telling, around):
        yield replace(one, step=step.slug)
    if telling.notebook.language != "python":
        return
    for one in foretell_run(telling, around):
        if one.code != "network" or inspection.project.network_isolation:
            yield replace(one, step=step.slug, level=_level(inspection, one))


def _telling(inspection: Inspection, step: Step) -> Telling | None:
    if step.notebook is not None:
        if inspection.place(step.notebook).kind != "file":
            return None
        book = read_notebook(inspection.tree.read(step.notebook), step.notebook)
        return Telling.of(step.notebook, book)
    script = script_of(step.commands, step.slug)
    path = posixpath.join(step.directory, script) if script else ""
    if not path.endswith((".py", ".ipy")) or inspection.place(path).kind != "file":
        return None
    source = inspection.tree.read(path).decode("utf-8", "replace")
    return Telling.of_script(path, source)


def _kernel(
    inspection: Inspection, step: Step, telling: Telling, around: Around
) -> Iterator[Finding]:
    """Yield that the kernel is not there, where this machine's are those that a step can have."""
    is_elsewhere = inspection.engine.isolation == "container"
    if is_elsewhere or telling.is_script or any(name in step.environment for name in _JUPYTER):
        return
    is_sure = inspection.lock is None and telling.notebook.language != "python"
    for one in kernel_findings(telling, around):
        yield replace(one, level="error" if is_sure else "warning")


def _level(inspection: Inspection, found: Finding) -> Level:
    if found.code in _NAMES:
        return found.level
    same = f"{inspection.engine.python}.".startswith(_minor(platform.python_version()))
    return found.level if found.code == "cell-broken" and same else "warning"


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2]) + "."


def _place(inspection: Inspection, step: Step, path: str) -> Place:
    """Return what stands where the step would find a file; what is declared is told elsewhere."""
    inner = posixpath.normpath(posixpath.join(step.directory, path))
    if inner == ".." or inner.startswith("../"):
        return "outside"
    if _is_declared(inspection, step, inner):
        return "committed"
    place = inspection.place(inner)
    if place.kind == "missing":
        return "missing"
    if place.kind == "file" and holds_pointer(inspection.tree, inner):
        return "lfs"
    return "folder" if place.kind == "folder" else "committed"


def _is_declared(inspection: Inspection, step: Step, path: str) -> bool:
    outputs = (one for other in inspection.workflow.steps for one in other.outputs)
    return any(
        path == one or (one.endswith("/") and f"{path}/".startswith(one))
        for one in (*step.inputs, *outputs)
    )
