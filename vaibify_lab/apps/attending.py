"""A person and a step that waits for them: a terminal in it, and what they say of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vaibify_lab.apps.following import Event
from vaibify_lab.apps.instructions import how_to_go_on
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.terminal import LEAVE_TIMES, pass_on, size_here

if TYPE_CHECKING:
    from vaibify_lab.project import Project
    from vaibify_lab.runs.attending import Waiting
    from vaibify_lab.runs.waiting import Word


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
