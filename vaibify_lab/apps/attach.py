"""``attach``: a terminal inside a step that waits for a person."""

from __future__ import annotations

from vaibify_lab.apps.attending import attend
from vaibify_lab.apps.instructions import what_to_do
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Parser, Verb, open_project
from vaibify_lab.core.errors import UsageError


def _arguments(parser: Parser) -> None:
    parser.add_argument("step", metavar="STEP", help="the step that waits")


def _execute(given: Namespace, screen: Screen) -> int:
    if not screen.can_ask():
        action = f"type it on one: {COMMAND} attach {given.step}"
        raise UsageError("attach is for a person at a terminal", action=action)
    project = open_project(given)
    slug = project.step(given.step).slug
    for one in project.waiting():
        if one.slug == slug:
            what_to_do(screen, one.told)
    attend(project, slug, screen)
    return 0


VERB = Verb(
    "attach",
    example=f"{COMMAND} attach inspect",
    execute=_execute,
    arguments=_arguments,
    more="A shell of the step itself: its sandbox or container, its environment, its directory, "
    "nothing it may not do. As many as you like; leaving one ends nothing, and the step is done "
    "when you say so.",
    leaves="the step goes on waiting",
)
