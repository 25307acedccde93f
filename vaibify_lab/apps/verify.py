"""``verify``: the same as ``status``, from every byte read anew, and judged."""

from __future__ import annotations

from vaibify_lab.apps import report_view
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Verb, open_project
from vaibify_lab.core.report import all_green


def _execute(given: Namespace, screen: Screen) -> int:
    project = open_project(given, cached=False)
    screen.progress("reading every byte ...")
    report = project.report()
    report_view.show(screen, report, report.steps)
    screen.document(report.to_json())
    if all_green(report.steps):
        return 0
    bad = [step.slug for step in report.steps if not step.green]
    said = f"not green: {', '.join(bad[:5])}" if bad else "the workflow has no step"
    more = f" and {len(bad) - 5} more" if len(bad) > 5 else ""
    screen.failed(f"{COMMAND} verify: {said}{more}; see: {COMMAND} status --why")
    return 1


VERB = Verb(
    "verify",
    example="jupyter vaibify verify",
    execute=_execute,
    more="Reads every byte of code, inputs and outputs, checks the signatures, runs nothing. "
    "Exits 1 when any step is not green.",
)
