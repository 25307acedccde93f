"""What a person is told of a step that waits for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND


def what_to_do(screen: Screen, told: Mapping[str, Any]) -> None:
    """Say what the step is for: its description, what is suggested, what it must leave."""
    if told.get("description"):
        screen.line(f"  {told['description']}", hang=2)
    for title, name in (("suggested:", "commands"), ("to be written:", "outputs")):
        given = told.get(name)
        if isinstance(given, list) and given:
            screen.line(f"  {title}", colour="dim")
            for one in given:
                screen.line(f"    {one}", hang=4)


def how_to_go_on(screen: Screen, slug: str) -> None:
    """Say how one gets into it, and out of it."""
    screen.line(f"  a terminal in it: {COMMAND} attach {slug}", hang=2)
    screen.line(f"  when it is done:  {COMMAND} complete {slug}", hang=2)
