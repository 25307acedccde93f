"""``resume``: a step that was paused goes on."""

from __future__ import annotations

from vaibify_lab.apps.pause import arguments, hold
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Verb


def _execute(given: Namespace, screen: Screen) -> int:
    return hold(given, screen, still=False)


VERB = Verb(
    "resume",
    example=f"{COMMAND} resume inspect",
    execute=_execute,
    arguments=arguments,
    leaves="the runner was told",
)
