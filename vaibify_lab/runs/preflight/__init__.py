"""What is wrong before anything runs: every fault that can be named without starting a step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vaibify_lab.core.finding import Finding
from vaibify_lab.runs.preflight.commands import command_findings
from vaibify_lab.runs.preflight.conflicts import Conflicts
from vaibify_lab.runs.preflight.files import file_findings, ignored_outputs
from vaibify_lab.runs.preflight.foretold import foretold_findings
from vaibify_lab.runs.preflight.inspection import EngineFacts, Inspection, facts_of_local
from vaibify_lab.runs.preflight.locked import lock_findings
from vaibify_lab.runs.preflight.modules import module_findings
from vaibify_lab.runs.preflight.notebooks import notebook_findings
from vaibify_lab.runs.preflight.surroundings import UNKNOWN_KEY, surrounding_findings

__all__ = ["EngineFacts", "Inspection", "facts_of_local", "fails_check", "preflight"]


def preflight(
    inspection: Inspection, slugs: Sequence[str], *, foretell: bool = True
) -> list[Finding]:
    """Name what is wrong with the steps and around them, errors first.

    Parameters
    ----------
    inspection : Inspection
        What is looked at.
    slugs : sequence of str
        The steps that are planned; disabled ones are passed over.
    foretell : bool
        Read notebooks and cells for what they will not find.
    """
    by_slug = inspection.workflow.by_slug
    steps = [by_slug[slug] for slug in slugs if by_slug[slug].enabled]
    planned = frozenset(step.slug for step in steps)
    conflicts = Conflicts(inspection.tree, inspection.repository.snapshot())
    found = [*surrounding_findings(inspection), *lock_findings(inspection)]
    for step in steps:
        found += conflicts.before(inspection, step, planned)
        found += notebook_findings(inspection, step)
        found += file_findings(inspection, step, planned)
        found += command_findings(inspection, step)
        found += module_findings(inspection, step)
        found += foretold_findings(inspection, step) if foretell else ()
    found += ignored_outputs(inspection, steps)
    return sorted(dict.fromkeys(found), key=lambda one: one.level != "error")


def fails_check(findings: Iterable[Finding]) -> bool:
    """Tell whether ``check`` exits 1: an error, or a key that nobody knows."""
    return any(one.level == "error" or one.code == UNKNOWN_KEY for one in findings)
