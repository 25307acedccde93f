"""``log``: a run's journal and what its steps wrote, as it was told while the run went on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaibify_lab.apps.following import Teller
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Parser, Verb, open_project

if TYPE_CHECKING:
    from vaibify_lab.runs.journal import RunFolder


def _arguments(parser: Parser) -> None:
    parser.add_argument(
        "run", nargs="?", metavar="RUN", help="a run, or how its name begins (the latest)"
    )
    parser.add_argument("--follow", action="store_true", help="go on until the run ends")


def _execute(given: Namespace, screen: Screen) -> int:
    from vaibify_lab.runs.history import damage
    from vaibify_lab.runs.journal import read_events

    project = open_project(given)
    folder = project.find_run(given.run)
    teller = Teller(screen, folder)
    if given.follow:
        ending = teller.follow(project.events(folder))
    else:
        ending = teller.follow(read_events(folder))
        if ending is None and (text := damage(folder)):
            teller.tell({"event": "warning", "text": text, "sequence": 0})
    if ending is not None and ending["event"] == "runRefused":
        screen.line(f"the run was refused: {ending.get('text', '')}", hang=3, colour="red")
    if ending is None:
        _unfinished(screen, folder)
    return 0


def _unfinished(screen: Screen, folder: RunFolder) -> None:
    from vaibify_lab.runs.history import summary

    if summary(folder).outcome == "lost":
        screen.line("the run lost its runner before it ended", colour="yellow")
    else:
        screen.line(f"the run goes on: {COMMAND} log {folder.run_id} --follow")


VERB = Verb(
    "log",
    example=f"{COMMAND} log --follow",
    execute=_execute,
    arguments=_arguments,
    more="Output of steps is passed on byte by byte, except to a terminal, where control "
    "characters are shown instead of obeyed.",
    leaves="the run itself goes on",
)
