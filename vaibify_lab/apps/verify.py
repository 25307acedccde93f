"""``verify``: the same as ``status``, from every byte read anew, and judged."""

from __future__ import annotations

from vaibify_lab.apps import report_view
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import Namespace, Verb, open_project
from vaibify_lab.core.report import all_green


def _execute(given: Namespace, screen: Screen) -> int:
    project = open_project(given, cached=False)
    screen.progress("reading every byte ...")
    report = project.report()
    report_view.show(screen, report, report.steps)
    screen.document(report.to_json())
    return 0 if all_green(report.steps) else 1


VERB = Verb(
    "verify",
    example="jupyter vaibify verify",
    execute=_execute,
    more="Reads every byte of code, inputs and outputs, checks the signatures, runs nothing.\n"
    "Exits 1 when any step is not green.",
)
