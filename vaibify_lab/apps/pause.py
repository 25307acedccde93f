"""``pause``: a step that waits for a person stands still."""

from __future__ import annotations

from vaibify_lab.apps.attending import ask_and_follow
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Parser, Verb, open_project
from vaibify_lab.core.errors import NotPassed


def arguments(parser: Parser) -> None:
    """Add the step that waits."""
    parser.add_argument("step", metavar="STEP", help="the step that waits")


def hold(given: Namespace, screen: Screen, *, still: bool) -> int:
    """Let a step that waits stand still, or go on.

    Raises
    ------
    NotPassed
        When the engine cannot, or the step ended meanwhile.
    """
    project = open_project(given)
    slug = project.step(given.step).slug
    waiting, events = ask_and_follow(project, slug, "pause" if still else "resume")
    came = next((one for one in events if one["event"] != "output"), {})
    if came.get("event") != ("stepPaused" if still else "stepResumed"):
        raise NotPassed(f"step {slug!r} {came.get('text') or 'has ended'}")
    verb = f"is paused; go on with: {COMMAND} resume {slug}" if still else "goes on"
    screen.line(f"step {slug!r} {verb}")
    screen.document({"run_id": waiting.folder.run_id, "step": slug, "paused": still})
    return 0


def _execute(given: Namespace, screen: Screen) -> int:
    return hold(given, screen, still=True)


VERB = Verb(
    "pause",
    example=f"{COMMAND} pause inspect",
    execute=_execute,
    arguments=arguments,
    more="All its processes are frozen where they are, its terminals too; its time limit does "
    f"not count that. `{COMMAND} resume` lets them go on.",
    leaves="the runner was told",
)
