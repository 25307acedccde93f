"""``runs``: the runs kept on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaibify_lab.apps.screen import Colour, Screen
from vaibify_lab.apps.text import fill
from vaibify_lab.apps.verb import COMMAND, Namespace, Verb, count_of, counted, open_project

if TYPE_CHECKING:
    from vaibify_lab.runs.history import RunSummary

_COLOURS: dict[str, Colour] = {"passed": "green", "failed": "red", "running": "bold"}


def _execute(given: Namespace, screen: Screen) -> int:
    history = open_project(given).history()
    for one in history:
        _row(screen, one)
    if not history:
        screen.line(f"no run is kept on this machine; {COMMAND} run makes one")
    screen.document({"runs": [one.to_json() for one in history]})
    return 0


def _row(screen: Screen, one: RunSummary) -> None:
    detail = counted(one.steps.values()) or one.text or one.workflow
    took = f"{one.seconds:,.1f} s"
    head = f"{one.run_id}  {fill(one.outcome, 11)}  {took:>9}  "
    screen.line(head + detail, hang=4, colour=_COLOURS.get(one.outcome, "yellow"))


VERB = Verb(
    "runs",
    example=f"{COMMAND} runs",
    execute=_execute,
    more=f"Oldest first; {count_of(50, 'run')} are kept. `{COMMAND} log RUN` shows one of them.",
)
