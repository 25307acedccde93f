"""Starting a run and seeing it through: shared by ``run``, ``test`` and ``demo``."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, TypeAlias

from vaibify_lab.apps.following import Event, Teller
from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import COMMAND

if TYPE_CHECKING:
    from vaibify_lab.project import Project
    from vaibify_lab.runs.journal import RunFolder
    from vaibify_lab.runs.options import RunOptions

INTERRUPTED = 130
_Handler: TypeAlias = Callable[[int, FrameType | None], object] | int | None


@dataclass(frozen=True, slots=True)
class Seen:
    """How a run that was followed ended: the exit code, and why it is not 0."""

    code: int
    said: str = ""


class Stop:
    """Ctrl-C while a run is followed: the first asks the run to stop, the second leaves it."""

    def __init__(self) -> None:
        self.asked = False
        self._is_asking = False
        self._folder: RunFolder | None = None
        self._before: _Handler = None

    def __enter__(self) -> Stop:
        if threading.current_thread() is threading.main_thread():  # no other gets a signal
            self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """While a person is asked something: then Ctrl-C is their answer as well."""
        self._is_asking = True
        try:
            with suppress(KeyboardInterrupt):
                yield
        finally:
            self._is_asking = False

    def of(self, folder: RunFolder) -> None:
        """Name the run that is to be stopped."""
        self._folder = folder
        if self.asked:
            self._pass_on(folder)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.asked and self._folder is not None:
            run = self._folder.run_id
            raise KeyboardInterrupt(f"run {run} goes on stopping; {COMMAND} log {run} --follow")
        self.asked = True
        if self._folder is not None:
            self._pass_on(self._folder)
        if self._is_asking:
            raise KeyboardInterrupt

    def _pass_on(self, folder: RunFolder) -> None:
        from vaibify_lab.runs.stopping import ask_to_stop

        ask_to_stop(folder)


def make_run(project: Project, options: RunOptions, screen: Screen, verb: str) -> int:
    """Start a run, follow it to its end, and return the exit code.

    Raises
    ------
    VaibifyError
        The runner refused.
    """
    seen = see_through(project, options, screen)
    if seen.code:
        screen.failed(f"{COMMAND} {verb}: {seen.said}")
    return seen.code


def see_through(project: Project, options: RunOptions, screen: Screen) -> Seen:
    """Start a run and follow it to its end.

    Raises
    ------
    VaibifyError
        The runner refused.
    """
    from vaibify_lab.project.running import refusal

    with Stop() as stop:
        folder = project.start_run(options)
        stop.of(folder)
        teller = Teller(screen, folder, attend=partial(_offer, project, screen, stop))
        ending = teller.follow(project.events(folder))
    if ending is None or ending["event"] == "runRefused":
        raise refusal(ending or {"text": f"run {folder.run_id} ended without a word"})
    if ending["outcome"] == "passed" and not stop.asked and not teller.faults:
        return Seen(0)
    said = _left(ending) if stop.asked else _first(teller, ending)
    return Seen(INTERRUPTED if stop.asked else 1, said)


def _offer(project: Project, screen: Screen, stop: Stop, told: Event) -> None:
    """Offer a terminal in a step that the run has come to, where somebody is there."""
    if screen.can_ask() and not stop.asked:
        from vaibify_lab.apps.attending import offer

        with stop.asking():
            offer(project, told, screen)


def _first(teller: Teller, ending: Event) -> str:
    """Say why the run did not pass, in one line."""
    if not teller.faults and teller.unattended:
        return _unattended(teller.unattended, ending)
    if not teller.faults:
        said = ending.get("text") or f"the run was {ending['outcome']}"
        return f"{said}; see: {COMMAND} status --why"
    more = len(teller.faults) - 1
    return teller.faults[0] + (f" (and {more} more)" if more else "")


def _unattended(slugs: list[str], ending: Event) -> str:
    """Say which steps needed a person, and what was therefore not run."""
    outcomes = ending.get("steps") or {}
    after = [one for one, how in outcomes.items() if how == "blocked" and one not in slugs]
    text = f"nobody was there for {', '.join(map(repr, slugs))}, which a person does"
    text += f"; not run because of that: {', '.join(after)}" if after else ""
    return f"{text}; on a terminal: {COMMAND} run {' '.join(slugs)}"


def _left(ending: Event) -> str:
    """Say what a stopped run leaves."""
    by_outcome: dict[str, list[str]] = {}
    for slug, outcome in (ending.get("steps") or {}).items():
        by_outcome.setdefault(outcome, []).append(slug)
    text = "stopped on request"
    if by_outcome.get("interrupted"):
        names = ", ".join(by_outcome["interrupted"])
        text += f"; not finished, with what they had before: {names}"
    if by_outcome.get("passed"):
        text += f"; done and kept: {', '.join(by_outcome['passed'])}"
    return f"{text}; go on with: {COMMAND} run"
