"""``acknowledge``: failed and interrupted runs marked as seen."""

from __future__ import annotations

from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import Namespace, Parser, Verb, open_project, slugs_of


def _arguments(parser: Parser) -> None:
    parser.add_argument("steps", nargs="*", metavar="STEP", help="only these steps")


def _execute(given: Namespace, screen: Screen) -> int:
    project = open_project(given)
    seen = project.acknowledge(slugs_of(project, given.steps))
    for slug in seen:
        screen.line(f"{slug}: seen; it shows what its last passed run is worth")
    if not seen:
        screen.line("nothing to acknowledge: no failed or interrupted run is unseen")
    screen.document({"acknowledged": seen})
    return 0


VERB = Verb(
    "acknowledge",
    example="jupyter vaibify acknowledge trend",
    execute=_execute,
    arguments=_arguments,
    more="The step then shows what its last passed run is worth. The record stays.",
    leaves="each record is as it was, or marked",
)
