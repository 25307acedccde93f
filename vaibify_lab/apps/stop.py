"""``stop``: the project's long-lived container, ended."""

from __future__ import annotations

from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Verb, open_project


def _execute(given: Namespace, screen: Screen) -> int:
    stopped = open_project(given).image().stop()
    mark = screen.symbol("✓", "+")
    screen.line(f"{mark} stopped" if stopped else "the project's container does not run")
    screen.document({"stopped": stopped})
    return 0


VERB = Verb(
    "stop",
    example=f"{COMMAND} stop",
    execute=_execute,
    more="What was installed by hand in it goes with it. A run in progress is not touched: "
    "stop-run does that.",
    in_workflow=False,
)
