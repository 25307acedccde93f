"""``status``: what is true of every step now, and what is missing on the ladder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vaibify_lab.apps import report_view
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import Namespace, Parser, Verb, open_project, slugs_of

if TYPE_CHECKING:
    from vaibify_lab.project import Project
    from vaibify_lab.runs.plan import Planned
    from vaibify_lab.runs.reuse import Reuse


def _arguments(parser: Parser) -> None:
    parser.add_argument("steps", nargs="*", metavar="STEP", help="only these steps")
    parser.add_argument(
        "--why", action="store_true", help="every reason, and what run would do with each step"
    )


def _execute(given: Namespace, screen: Screen) -> int:
    from vaibify_lab.runs.plan import Selection, plan

    project = open_project(given)
    wanted = slugs_of(project, given.steps)
    report = project.report()
    steps = [step for step in report.steps if not wanted or step.slug in wanted]
    planned = plan(report.workflow, report.steps, Selection()) if given.why else None
    reuse = _reuse(project, planned or (), wanted)
    report_view.show(screen, report, steps, planned, reuse)
    answer = report.to_json() | {"steps": [step.to_json() for step in steps]}
    if planned is not None:
        answer["plan"] = [
            {"slug": one.slug, "action": one.action, "why": one.why}
            | ({"cache": reuse[one.slug].to_json()} if one.slug in reuse else {})
            for one in planned
        ]
    screen.document(answer)
    return 0


def _reuse(project: Project, planned: Sequence[Planned], wanted: Sequence[str]) -> dict[str, Reuse]:
    """Return what the cache holds for the steps shown that a run would not skip."""
    due = [one.slug for one in planned if one.action != "skip"]
    return project.would_reuse([slug for slug in due if not wanted or slug in wanted])


VERB = Verb(
    "status",
    example="jupyter vaibify status --why",
    execute=_execute,
    arguments=_arguments,
    more="Exits 0 whatever it shows; `verify` is the one that judges.",
)
