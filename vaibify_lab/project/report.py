"""What is true of a workflow now, steps and ladder, as one answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaibify_lab.ceremony.report import some
from vaibify_lab.ceremony.standing import standing
from vaibify_lab.core.errors import UnknownStep
from vaibify_lab.core.facts import FactFault
from vaibify_lab.core.levels import ladder
from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.core.report import Rung, StepReport
from vaibify_lab.runs.opened import Look, Opened


@dataclass(frozen=True, slots=True)
class Report:
    """What is true of a workflow now."""

    workflow: Workflow
    root: Path
    steps: tuple[StepReport, ...]
    levels: tuple[Rung, ...]
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer of ``status``."""
        return {
            "workflow": self.workflow.path,
            "name": self.workflow.name,
            "repo": str(self.root),
            "steps": [step.to_json() for step in self.steps],
            "levels": [rung.to_json() for rung in self.levels],
            "warnings": list(self.warnings),
        }


def report_on(opened: Opened, look: Look) -> Report:
    """Return what follows from a look, with the ladder."""
    workflows = [
        look.workflow if path == look.workflow.path else opened.workflow(path)
        for path in opened.workflow_paths()
    ] or [look.workflow]
    envelope = standing(opened, workflows, look)
    opened.cache.save()
    rungs = ladder(look.workflow, look.reports, envelope)
    warnings = [*look.workflow.warnings, *look.project.warnings, *_warnings(opened, look)]
    return Report(look.workflow, opened.tree.root, look.reports, rungs, tuple(warnings))


def find_step(workflow: Workflow, name: str) -> Step:
    """Return a step by slug, name or StepNN.

    Raises
    ------
    UnknownStep
    """
    for step in workflow.steps:
        if name in (step.slug, step.name, f"Step{step.number:02d}"):
            return step
    have = some([step.slug for step in workflow.steps], 10) or "none"
    raise UnknownStep(f"there is no step {name!r} (there are: {have})", where=workflow.path)


def _renamed(look: Look) -> Iterator[str]:
    """Tell of each step that is not there what is kept of it, and how a renamed one gets it."""
    kept: dict[str, list[str]] = {}
    for path in look.facts.orphans:
        kept.setdefault(path.rpartition("/")[2].removesuffix(".json"), []).append(path)
    for slug, paths in kept.items():
        text = f"there is no step {slug!r}, but facts of one: {some(paths)}"
        yield f'{text}; if it was renamed, give it "sStepId": "{slug}", and they count again'


def _warnings(opened: Opened, look: Look) -> Iterator[str]:
    yield from _renamed(look)
    if opened.local_is_tracked():
        yield ".vaibify/local is tracked by git; what lies there is not believed"
    for fact in look.facts.records.values():
        if isinstance(fact, FactFault):
            yield f"{fact.text}; {fact.action}"
