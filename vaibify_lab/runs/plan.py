"""Which steps a run makes, in which order, and why: pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from vaibify_lab.core.errors import UnknownStep, UsageError
from vaibify_lab.core.graph import ancestors, descendants, workflow_order
from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.core.paths import is_within
from vaibify_lab.core.report import StepReport

Action = Literal["run", "if-needed", "skip"]
Mode = Literal["stale", "all", "steps", "only", "from"]


@dataclass(frozen=True, slots=True)
class Selection:
    """What was asked for: a mode and, for the last three, the steps it names (slugs)."""

    mode: Mode = "stale"
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Planned:
    """One step of a plan.

    ``run``: whatever its state. ``if-needed``: decided when its parents have ended, by comparing
    what it would consume with what its last passed run consumed (early cut-off). ``skip``: not.
    ``tests_due``: where it is not run, its tests are, of which nobody knows what they say of the
    bytes that are there.
    ``asked_for``: somebody wants to see it run, so that nothing made before stands in for it.
    """

    slug: str
    action: Action
    why: str
    tests_due: bool = False
    asked_for: bool = False

    @property
    def is_idle(self) -> bool:
        """Whether nothing of the step is run, not even its tests."""
        return self.action == "skip" and not self.tests_due


def plan(
    workflow: Workflow,
    reports: Sequence[StepReport],
    selection: Selection,
    *,
    plot_only: bool = False,
    tests: bool = True,
    attended: bool = True,
    sealed: bool = False,
    deterministic: bool = False,
) -> tuple[Planned, ...]:
    """Return every step that the selection touches, parents first.

    ``attended``: a person is there for interactive steps. Without one they are run as little as
    can be, and where one is needed all the same the scheduler says so. ``sealed`` and
    ``deterministic``: a step that is current, and whose run was not that, is run for it.

    Raises
    ------
    UnknownStep
        When it names a step that is not there.
    UsageError
        When it names one that cannot be run.
    """
    for slug in selection.steps:
        if slug not in workflow.by_slug:
            raise UnknownStep(f"there is no step {slug!r}", where=workflow.path)
    by_slug = {report.slug: report for report in reports}
    wanted = _wanted(workflow, selection)
    planned = []
    for slug in workflow_order(workflow):
        if slug not in wanted:
            continue
        step = workflow.by_slug[slug]
        reason = _unfit(step, plot_only)
        if reason is not None:
            text, action = reason
            if slug in selection.steps:
                raise UsageError(f"step {slug!r} {text}", where=workflow.path, action=action)
            planned.append(Planned(slug, "skip", text))
        elif step.interactive and not attended:
            if slug in selection.steps:
                text = f"step {slug!r} is done by a person, and nobody is there"
                raise UsageError(text, where=workflow.path, action=on_a_terminal(slug))
            planned.append(_if_needed(slug, by_slug[slug]))
        elif wanted[slug] == "run":
            why = _why_asked(selection, slug)
            planned.append(Planned(slug, "run", why, asked_for=True))
        elif not step.interactive and (lacks := _lacks(by_slug[slug], sealed, deterministic)):
            planned.append(Planned(slug, "run", f"no {lacks} run of it is recorded"))
        else:
            due = by_slug[slug].tests_due if tests and selection.mode == "stale" else None
            planned.append(_with_tests(_if_needed(slug, by_slug[slug]), due))
    fit = [slug for slug in by_slug if _unfit(workflow.by_slug[slug], plot_only) is None]
    return _without_idle_ends(workflow, planned, frozenset(fit))


def _lacks(report: StepReport, sealed: bool, deterministic: bool) -> str:
    """Return in which way that is asked for a step was not run; empty for none."""
    if sealed and not report.sealed:
        return "sealed"
    return "deterministic" if deterministic and not report.deterministic else ""


def _unfit(step: Step, plot_only: bool) -> tuple[str, str] | None:
    """Return why a step cannot be run, and what to do about it."""
    if not step.enabled:
        return "is disabled", "set bEnabled to true"
    if plot_only and step.interactive:
        return "is done by a person, who makes all its files", "run it without --plot-only"
    if plot_only and not (step.plot_commands and step.plot_files):
        return "makes no plots by saPlotCommands and saPlotFiles", "run it without --plot-only"
    return None


def _wanted(workflow: Workflow, selection: Selection) -> dict[str, Action]:
    named = selection.steps
    if selection.mode == "stale":
        return {step.slug: "if-needed" for step in workflow.steps}
    if selection.mode == "all":
        return {step.slug: "run" for step in workflow.steps}
    if selection.mode == "only":
        return dict.fromkeys(named, "run")
    before: dict[str, Action] = dict.fromkeys(ancestors(workflow, named), "if-needed")
    after = descendants(workflow, named) if selection.mode == "from" else frozenset()
    return before | dict.fromkeys(after, "run") | dict.fromkeys(named, "run")


def _why_asked(selection: Selection, slug: str) -> str:
    if slug in selection.steps:
        return "was asked for"
    return "every step was asked for" if selection.mode == "all" else "comes after what was named"


def _if_needed(slug: str, report: StepReport) -> Planned:
    if report.run != "current":
        why = report.reasons[0].text if report.reasons else f"is {report.run}"
        return Planned(slug, "if-needed", why)
    if report.upstream_modified:
        return Planned(slug, "if-needed", "something upstream of it changed")
    return Planned(slug, "skip", "is current")


def _with_tests(planned: Planned, due: str | None) -> Planned:
    """Say of a step that is not run, and whose tests are, why they are."""
    if due is None:
        return planned
    why = due if planned.action == "skip" else planned.why
    return replace(planned, tests_due=True, why=why)


def _without_idle_ends(
    workflow: Workflow, planned: list[Planned], fit: frozenset[str]
) -> tuple[Planned, ...]:
    """Let a current step wait for its parents' outcome when one of them may run."""
    action: dict[str, Action] = {one.slug: one.action for one in planned}
    found = []
    for one in planned:
        parents = workflow.by_slug[one.slug].parents
        moved = any(action.get(parent, "skip") != "skip" for parent in parents)
        if one.action == "skip" and moved and one.slug in fit:
            action[one.slug] = "if-needed"
            found.append(replace(one, action="if-needed", why="waits for what its parents make"))
        else:
            found.append(one)
    return tuple(found)


def on_a_terminal(slug: str) -> str:
    """Return how a step that needs a person is run."""
    return f"on a terminal: jupyter vaibify run {slug}"


def nested(mine: Sequence[str], others: Sequence[str]) -> bool:
    """Tell whether writable folders of two steps nest: then they never run together."""
    return any(is_within(one, two) or is_within(two, one) for one in mine for two in others)
