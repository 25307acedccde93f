"""``%%vaibify step``: the cell written down, run by the one runner, followed, and shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from vaibify_lab.apps.running import Seen, see_through
from vaibify_lab.core.errors import StaleCopy, StepFailed, VaibifyError
from vaibify_lab.magics import live, widgets
from vaibify_lab.magics.screen import CellScreen
from vaibify_lab.magics.view import outputs_of, show
from vaibify_lab.notebooks.cells import read_cell
from vaibify_lab.notebooks.standing import Cell
from vaibify_lab.notebooks.step_line import usage, words_of
from vaibify_lab.project import Project
from vaibify_lab.project.declaring import Declared
from vaibify_lab.runs.options import RunOptions

_NO_ENGINE = frozenset({"engine-missing", "engine-unfit"})
_NO_PACKAGE = "tool-missing"


@dataclass(frozen=True, slots=True)
class Here:
    """Where a cell runs.

    Attributes
    ----------
    names : mapping
        The names that the kernel has.
    cell : str
        The cell's id; empty where the front end does not say.
    is_attended : bool
        A front end with a person before it is there for sure: it names the cell, and takes
        questions. Headless runners do not; where nothing is known, nobody is there.
    declared : dict
        The id and the code of the cell that declared a step last in this kernel, by slug.
    """

    names: Mapping[str, object]
    cell: str
    is_attended: bool
    declared: dict[str, tuple[str, str]]

    def was_another(self, slug: str, code: str) -> bool:
        """Note which cell a step is now; tell whether it was another with other code before."""
        before = self.declared.get(slug, (self.cell, code))
        self.declared[slug] = (self.cell, code)
        return "" not in (self.cell, before[0]) and self.cell != before[0] and code != before[1]


def run_cell(here: Here, line: str, body: str) -> None:
    """Declare the cell's step and run it; what is not passed fails the cell.

    Parameters
    ----------
    here : Here
        Where it runs.
    line, body : str
        What follows ``%%vaibify``, and the lines below it.

    Raises
    ------
    VaibifyError
    """
    if not {"--help", "-h"}.isdisjoint(words_of(line)):
        for text in usage().splitlines():
            CellScreen().line(text)
        return
    cell = read_cell(line, body)
    project = Project(Path.cwd(), cell.line.workflow)
    screen = CellScreen()
    declared = _declare(project, cell, screen)
    for text in declared.changes:
        screen.line(f"{screen.symbol('·', '-')} {text}", hang=2)
    if here.was_another(declared.slug, cell.code):
        text = f"another cell with other code was step {declared.slug!r} before this one"
        screen.line(f"! warning: {text}: if it is still there, rename one of the two", hang=2)
    for text in live.warnings_of(cell, here.names):
        screen.line(f"{screen.symbol('!', '!')} warning: this cell {text}", hang=2)
    if cell.line.declare_only:
        screen.line(f"declared, not run; run it with: %vaibify run {declared.slug}")
        return
    seen = _run(here, project, declared, screen)
    if seen is not None and seen.code:
        raise StepFailed(live.explained(seen.said, cell, here.names))


def _declare(project: Project, cell: Cell, screen: CellScreen) -> Declared:
    try:
        return project.declare_cell(cell)
    except StaleCopy as error:
        for text in str(error.details.get("diff", "")).splitlines():
            screen.line(text)
        raise


def _run(here: Here, project: Project, declared: Declared, screen: CellScreen) -> Seen | None:
    """Run the step and show what came of it; None where it is left to others to run."""
    before = outputs_of(project, declared.slug)
    kit = widgets.toolkit()
    options = RunOptions(project.path, "steps", (declared.slug,))
    try:
        with widgets.progress(kit, screen, declared.slug):
            seen = see_through(project, options, screen)
    except VaibifyError as error:
        if not _is_for_want_of_an_engine(project, error):
            raise
        _leave(here, project, declared.slug, error, screen)
        return None
    except KeyboardInterrupt as error:
        raise StepFailed(str(error) or "interrupted; the run goes on") from None
    show(project, declared.slug, before, passed=not seen.code, kit=kit)
    return seen


def _leave(
    here: Here, project: Project, slug: str, error: VaibifyError, screen: CellScreen
) -> None:
    """Say who runs the step; fail the cell where nobody would, and it is not current."""
    report = next(one for one in project.look().reports if one.slug == slug)
    tested = report.unit_test in ("none", "passed")
    if report.run == "current" and not report.upstream_modified and tested:
        screen.line(f"not run here, and current as it is: {error.text}", hang=2)
        return
    screen.line(f"declared, not run here: {error.text}", hang=2)
    screen.line(
        "  run it where there is an engine: by the badge at the cell, in the panel, or with "
        f"jupyter vaibify run {slug}",
        hang=2,
    )
    if not here.is_attended:
        is_now = "not tested" if report.run == "current" and not tested else report.run
        raise StepFailed(f"step {slug!r} was not run, and is {is_now}: {error.text}")


def _is_for_want_of_an_engine(project: Project, error: VaibifyError) -> bool:
    if error.code == _NO_PACKAGE:  # the one that asks an engine, where an image is pinned
        return project.opened.observer.pinned_image()[0] is not None
    return error.code in _NO_ENGINE
