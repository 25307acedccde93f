"""What a person is told of a step that waits for them, and asked about it; shared by the verbs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from vaibify_lab.apps.following import Event
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.terminal import LEAVE_TIMES, pass_on, size_here
from vaibify_lab.apps.verb import COMMAND

if TYPE_CHECKING:
    from vaibify_lab.project import Project
    from vaibify_lab.runs.attending import Waiting
    from vaibify_lab.runs.waiting import Word


def what_to_do(screen: Screen, told: Mapping[str, Any]) -> None:
    """Say what a step that waits is for: its description, suggestions, what it must leave."""
    if told.get("description"):
        screen.line(f"  {told['description']}", hang=2)
    for title, name in (("suggested:", "commands"), ("to be written:", "outputs")):
        given = told.get(name)
        if isinstance(given, list) and given:
            screen.line(f"  {title}", colour="dim")
            for one in given:
                screen.line(f"    {one}", hang=4)


def how_to_go_on(screen: Screen, slug: str) -> None:
    """Say how one gets into a step that waits, and out of it."""
    screen.line(f"  a terminal in it: {COMMAND} attach {slug}", hang=2)
    screen.line(f"  when it is done:  {COMMAND} complete {slug}", hang=2)


def attend(project: Project, slug: str, screen: Screen) -> None:
    """Open a terminal in a step that waits; when it is closed, ask whether the step is done."""
    terminal = project.open_terminal(slug, os.environ.get("TERM", ""), size_here())
    screen.line(
        f"a terminal in step {slug!r}: exit leaves it (Ctrl-] {LEAVE_TIMES} times, should it hang)",
        colour="dim",
    )
    pass_on(terminal)
    screen.line()
    if slug not in (one.slug for one in project.waiting()):
        screen.line(f"step {slug!r} does not wait any more")
    elif screen.agrees(f"Is step {slug!r} done? Its outputs are then judged and recorded."):
        project.speak(slug, "complete")
    else:
        screen.line(f"step {slug!r} goes on waiting")
        how_to_go_on(screen, slug)


def offer(project: Project, told: Event, screen: Screen) -> None:
    """Offer a terminal in a step that a run has just come to."""
    slug = str(told.get("step"))
    is_waiting = slug in (one.slug for one in project.waiting())
    if is_waiting and screen.agrees(f"Open a terminal in step {slug!r} now?"):
        attend(project, slug, screen)


def ask_and_follow(project: Project, slug: str, word: Word) -> tuple[Waiting, Iterator[Event]]:
    """Tell the runner a person's word; give what it then writes of that step."""
    from vaibify_lab.runs.journal import read_events

    before = next((one for one in project.waiting() if one.slug == slug), None)
    last = read_events(before.folder)[-1]["sequence"] if before is not None else 0
    waiting = project.speak(slug, word)
    return waiting, _since(project, waiting, int(last))


def _since(project: Project, waiting: Waiting, sequence: int) -> Iterator[Event]:
    for event in project.events(waiting.folder):
        if event is None or 0 < event["sequence"] <= sequence:
            continue
        if event.get("step") == waiting.slug or "steps" in event:
            yield event
