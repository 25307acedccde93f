"""``complete``: a person's word that a step is done, or given up; waits for what comes of it."""

from __future__ import annotations

from vaibify_lab.apps.attending import ask_and_follow
from vaibify_lab.apps.following import Teller
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Parser, Verb, open_project


def _arguments(parser: Parser) -> None:
    parser.add_argument("step", metavar="STEP", help="the step that waits")
    parser.add_argument(
        "--abandon", action="store_true", help="give it up: what was there before is put back"
    )


def _execute(given: Namespace, screen: Screen) -> int:
    project = open_project(given)
    slug = project.step(given.step).slug
    wanted = "interrupted" if given.abandon else "passed"
    waiting, events = ask_and_follow(project, slug, "abandon" if given.abandon else "complete")
    teller = Teller(screen.of_one_document(), waiting.folder)
    outcome = "interrupted"
    for event in events:
        if event["event"] == "stepSettled" or "steps" in event:
            outcome = str(event.get("outcome"))
            break
        teller.tell(event)
    screen.document({"run_id": waiting.folder.run_id, "step": slug, "outcome": outcome})
    if outcome == wanted:
        return 0
    said = teller.faults[0] if teller.faults else f"step {slug!r}: {outcome}"
    screen.failed(f"{COMMAND} {VERB.name}: {said}")
    return 1


VERB = Verb(
    "complete",
    example=f"{COMMAND} complete inspect\n{COMMAND} complete inspect --abandon",
    execute=_execute,
    arguments=_arguments,
    more="Ends the step and its terminals; its outputs are judged, tested and recorded like any "
    "other's, with your name as who did it. The run then goes on. Exits 0 when the step passed.",
    leaves="the runner was told, and goes on",
)
