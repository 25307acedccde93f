"""``cite``: the sentence for a publication, and the check-list for its reviewers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Parser, Verb, open_project
from vaibify_lab.core.errors import NotPassed
from vaibify_lab.core.paths import shown

if TYPE_CHECKING:
    from vaibify_lab.ceremony.citing import Cited
    from vaibify_lab.provenance.citation import Task


def _arguments(parser: Parser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="STEP|RUN", help="a step, or a kept run's fingerprint"
    )
    parser.add_argument(
        "--replace", action="store_true", help="in place of a kept run's other bytes"
    )
    parser.add_argument(
        "--expect", metavar="FINGERPRINT", help="exit 1 unless the run has this name"
    )


def _execute(given: Namespace, screen: Screen) -> int:
    cited = open_project(given).cite(given.names, replace=given.replace)
    for one in cited:
        _show(screen, one)
    _show_tasks(screen, [task for one in cited for task in one.tasks])
    screen.document({"cited": [one.to_json() for one in cited]})
    other = [one.run for one in cited if given.expect not in (None, one.run.fingerprint)]
    if other:
        text = f"the run of {other[0].step!r} is {other[0].fingerprint}, not {given.expect}"
        raise NotPassed(text)
    return 0


def _show(screen: Screen, cited: Cited) -> None:
    screen.painted(screen.paint(shown(cited.text), "bold"))  # one line, to be copied
    screen.line()
    state = "kept now" if cited.is_new else "kept"
    screen.line(f"The run is {state} in {cited.run.folder}: commit it.", hang=2)
    for note in cited.notes:
        screen.line(f"note: {note}", hang=6, colour="yellow")
    screen.line()


def _show_tasks(screen: Screen, tasks: Sequence[Task]) -> None:
    """Show the check-list of all runs; what they have in common is done once."""
    if not tasks:
        return
    screen.line("A reviewer pastes these into a shell; each fails where the claim does not hold.")
    for number, task in enumerate(dict.fromkeys(tasks), 1):
        screen.line(f"# {number}. {task.what}")
        for line in task.command.split("\n"):
            screen.painted(shown(line))


VERB = Verb(
    "cite",
    example=f"{COMMAND} cite trend",
    execute=_execute,
    arguments=_arguments,
    more="Keeps the run behind a step's results under its fingerprint. All steps by default.",
    leaves="runs are kept as they were, or whole",
)
