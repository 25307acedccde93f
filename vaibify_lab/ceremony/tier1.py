"""Tier 1 of a reproduction: what is listed against its bytes and against what workflows declare."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from vaibify_lab.ceremony.by_hand import with_by_hand
from vaibify_lab.ceremony.integrity import Listed, Progress
from vaibify_lab.ceremony.report import TierReport, problem
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.model import Workflow
from vaibify_lab.core.paths import shown
from vaibify_lab.runs.enveloping import covered_by, output_folders
from vaibify_lab.runs.opened import Opened


def readable(opened: Opened, named: str | None) -> tuple[tuple[Workflow, ...], VaibifyError | None]:
    """Read the workflows; one that cannot be read is a finding of tier 1, not an end."""
    paths = [opened.choose(named)] if named else opened.workflow_paths()
    found = []
    for path in paths:
        try:
            found.append(opened.workflow(path))
        except VaibifyError as error:
            return tuple(found), error
    return tuple(found), None


def integrity(
    opened: Opened,
    listed: Listed,
    workflows: Sequence[Workflow],
    fault: VaibifyError | None,
    progress: Progress | None,
) -> TierReport:
    """Judge what is listed by what the workflows declare; ``fault``: one cannot be read."""
    expected: Sequence[str] = ()
    known: dict[str, Sequence[str]] = {}
    try:
        seen = [(one, opened.reach(one)) for one in workflows]
        for folders in (reach.folders for _, reach in seen):
            known |= {one: folders.files[one] for one in folders.files.keys() - folders.faults}
        expected = (*covered_by(opened, seen), *output_folders(workflows))
    except VaibifyError as error:
        fault = fault or error
    steps = [step for workflow in workflows for step in workflow.steps]
    declared = [path for step in steps for path in (*step.outputs, *step.inputs)]
    report = listed.judged(
        expected=None if fault else expected,
        directories={path: known.get(path) for path in declared if path.endswith("/")},
        progress=progress,
    )
    if fault is not None:
        return _failed(report, "workflow-unusable", f"what must be listed cannot be told: {fault}")
    without = nothing_declared(workflows)
    return _failed(report, "nothing-declared", without) if without else report


def nothing_declared(workflows: Sequence[Workflow]) -> str:
    """Say why there is no result whose bytes could be confirmed (case M10); "" where there is."""
    steps = [step for workflow in workflows for step in workflow.steps]
    if any(step.outputs for step in steps):
        return ""
    named = ", ".join(shown(one.path) for one in workflows)
    what = f"{named} has no step" if len(workflows) == 1 else f"{named} have no step"
    if not workflows:
        what = "there is no workflow"
    elif steps:
        what = f"no step of {named} declares an output"
    return f"{what}, so there is no result to confirm"


def _failed(report: TierReport, code: str, text: str) -> TierReport:
    """Return a report that fails for what no listed file can tell."""
    return dataclasses.replace(
        report,
        state="failed",
        line=report.line if report.state == "failed" else f"FAILED, {report.line} but: {text}",
        problems=(*report.problems, with_by_hand(problem(code, text))),
    )
