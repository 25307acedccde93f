"""A run's journal as a person reads it, with what its steps wrote."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vaibify_lab.apps.instructions import how_to_go_on, what_to_do
from vaibify_lab.apps.screen import Colour, Screen
from vaibify_lab.apps.verb import count_of, counted

if TYPE_CHECKING:
    from vaibify_lab.runs.journal import RunFolder

Event = dict[str, Any]
_CHUNK = 2**16


@dataclass(slots=True)
class Teller:
    """Tells one run's events; keeps what its end needs to know.

    Attributes
    ----------
    faults : list of str
        Why each step that failed did, as sentences.
    unattended : list of str
        Steps that needed a person, and had none.
    attend : callable
        Called with what was told of a step that has come to wait for a person.
    """

    screen: Screen
    folder: RunFolder
    faults: list[str] = field(default_factory=list)
    unattended: list[str] = field(default_factory=list)
    attend: Callable[[Event], None] = lambda event: None
    ending: Event | None = None
    _findings: list[str] = field(default_factory=list)
    _running: dict[str, float] = field(default_factory=dict)
    _waiting: set[str] = field(default_factory=set)
    _speaker: str = ""
    _began: float | None = None

    def follow(self, events: Iterable[Event | None]) -> Event | None:
        """Tell events to their end and return the last one; None when there was no end."""
        for event in events:
            if event is None:
                self._wait()
            else:
                self.tell(event)
        return self.ending

    def tell(self, event: Event) -> None:
        """Tell one event: as its line for machines, else in words."""
        self.screen.json_line(event)
        if self._began is None and isinstance(event.get("time"), float):
            self._began = event["time"]
        tell = _TELLING.get(str(event.get("event")), Teller._other)
        tell(self, event)

    def _say(self, symbol: str, plain: str, text: str, colour: Colour | None = None) -> None:
        self._speaker = ""
        self.screen.line(f"{self.screen.symbol(symbol, plain)} {text}", hang=2, colour=colour)

    def _wait(self) -> None:
        if self._running:
            now = time.time()
            parts = [
                f"{slug} waits for you" if slug in self._waiting else f"{slug} {now - since:.0f} s"
                for slug, since in self._running.items()
            ]
            self.screen.progress(f"  running: {', '.join(parts)}")

    def _other(self, event: Event) -> None:
        if "text" in event:
            self._say("·", "-", f"{_about(event)}{event['text']}", "dim")

    def _preparing(self, event: Event) -> None:
        self.screen.progress(f"  preparing: {event.get('text', '')}")

    def _warning(self, event: Event) -> None:
        self._say("!", "!", f"warning: {_about(event)}{event.get('text', '')}", "yellow")

    def _preflight(self, event: Event) -> None:
        action = f"; {event['action']}" if event.get("action") else ""
        text = f"{_about(event)}{event.get('text', '')}{action}"
        if event.get("level") == "error":
            self._findings.append(text)
        elif event.get("level") == "warning":
            self._say("!", "!", f"warning: {text}", "yellow")

    def _run_started(self, event: Event) -> None:
        tier = (event.get("engine") or {}).get("tier", "")
        held = {
            "container": "in containers of the pinned image",
            "sandbox": f"in a sandbox ({tier}), not in a container",
            "none": "without isolation, not in a container",
        }.get(str(event.get("isolation")), str(event.get("isolation")))
        self._say("▶", ">", f"run {self.folder.run_id} of {event.get('workflow')}, {held}", "bold")

    def _step_started(self, event: Event) -> None:
        slug = str(event.get("step"))
        self._running[slug] = time.time()
        self._say("▶", ">", f"{slug}: started")
        self._speaker = slug

    def _step_waiting(self, event: Event) -> None:
        slug = str(event.get("step"))
        self._waiting.add(slug)
        self._say("◆", "*", f"{slug}: waits for you", "bold")
        what_to_do(self.screen, event)
        how_to_go_on(self.screen, slug)
        self.attend(event)

    def _person(self, event: Event) -> None:
        words = {
            "stepPaused": "paused",
            "stepResumed": "goes on",
            "stepCompleted": "done",
            "stepAbandoned": "given up",
        }
        said = words[event["event"]]
        if event["event"] in ("stepCompleted", "stepAbandoned"):
            self._waiting.discard(str(event.get("step")))
        self._say("◆", "*", f"{event.get('step')}: {said}, says {event.get('by')}")

    def _output(self, event: Event) -> None:
        slug = str(event.get("step"))
        if self._speaker != slug and not self.screen.as_json:
            self._say("│", "|", f"{slug} says:", "dim")
            self._speaker = slug
        pass_output(self.screen, self.folder, event)

    def _step_pass(self, event: Event) -> None:
        self._running.pop(str(event.get("step")), None)
        outputs = int(event.get("outputs") or 0)
        same = ", identical to the last run's" if event.get("identical") else ""
        text = f"{event.get('step')}: passed in {event.get('seconds', 0):.1f} s"
        self._say("✓", "+", f"{text}, {count_of(outputs, 'output')}{same}", "green")

    def _step_cached(self, event: Event) -> None:
        self._running.pop(str(event.get("step")), None)
        outputs = count_of(int(event.get("outputs") or 0), "output")
        self._say("✓", "+", f"{event.get('step')}: {event.get('text')}, {outputs}", "green")

    def _step_fail(self, event: Event) -> None:
        slug = str(event.get("step"))
        self._running.pop(slug, None)
        stopped = event.get("outcome") == "interrupted" or event.get("code") == "interrupted"
        word = "interrupted" if stopped else "FAILED"
        text = event.get("text") or f"exit status {event.get('exit_code')}"
        self._say("✗", "x", f"{slug}: {word}: {text}", "yellow" if stopped else "red")
        self.faults.append(f"step {slug!r} {text}" if not stopped else f"step {slug!r} was stopped")

    def _step_blocked(self, event: Event) -> None:
        if event.get("code") == "needs-person":
            self.unattended.append(str(event.get("step")))
        self._say("✗", "x", f"{event.get('step')}: blocked: {event.get('text')}", "yellow")

    def _step_skipped(self, event: Event) -> None:
        self._say("-", "-", f"{event.get('step')}: skipped: {event.get('text')}", "dim")

    def _tests_started(self, event: Event) -> None:
        slug = str(event.get("step"))
        self._running[f"tests of {slug}"] = time.time()
        self._say("▶", ">", f"{slug}: tests")
        self._speaker = slug

    def _tests(self, event: Event) -> None:
        slug, outcome = event.get("step"), str(event.get("outcome"))
        self._running.pop(f"tests of {slug}", None)
        count = count_of(int(event.get("collected") or 0), "test")
        detail = f": {event['text']}" if event.get("text") else ""
        text = f"{event.get('category')} tests {outcome} ({count}){detail}"
        if outcome == "passed":
            self._say("✓", "+", f"{slug}: {text}", "green")
        else:
            self._say("✗", "x", f"{slug}: {text}", "red")
            action = f"; {event['action']}" if event.get("action") else ""
            self.faults.append(f"step {slug!r}: {text}{action}")

    def _twice(self, event: Event) -> None:
        slug = event.get("step")
        left = ", ".join(map(str, event.get("left", ())))
        if event.get("identical") and left:
            text = f"run twice, outputs identical, but the second could read {left}"
            self._say("✗", "x", f"{slug}: {text}, which the first left", "red")
            action = "declare it as an output, or remove it in the step"
            self.faults.append(f"step {slug!r} wrote {left}, undeclared: {action}")
        elif event.get("identical"):
            self._say("✓", "+", f"{slug}: run twice, outputs identical", "green")
        else:
            paths = ", ".join(map(str, event.get("differing", ())))
            self._say("✗", "x", f"{slug}: run twice, outputs differ: {paths}", "red")
            for one in event.get("found", ()):
                said = f" ({one['said']})" if one.get("said") else ""
                self.screen.line(f"    {one.get('path')}: {one.get('verdict')}{said}", hang=6)
            self.faults.append(f"step {slug!r} gave different outputs when run twice: {paths}")

    def _refused(self, event: Event) -> None:
        self.ending = event
        if len(self._findings) > 1:
            for text in self._findings:
                self._say("✗", "x", text, "red")

    def _complete(self, event: Event) -> None:
        self.ending = event
        text = counted((event.get("steps") or {}).values())
        took = ""
        if self._began is not None and isinstance(event.get("time"), float):
            took = f" in {event['time'] - self._began:.1f} s"
        head = f"run {self.folder.run_id} {event.get('outcome')}{took}"
        good = event.get("outcome") == "passed"
        symbol = ("✓", "+") if good else ("✗", "x")
        self._say(*symbol, f"{head}: {text or 'no step'}", "green" if good else "red")


_TELLING: dict[str, Callable[[Teller, Event], None]] = {
    "runAccepted": lambda teller, event: None,
    "preparing": Teller._preparing,
    "warning": Teller._warning,
    "preflight": Teller._preflight,
    "runStarted": Teller._run_started,
    "stepStarted": Teller._step_started,
    "stepWaiting": Teller._step_waiting,
    "stepPaused": Teller._person,
    "stepResumed": Teller._person,
    "stepCompleted": Teller._person,
    "stepAbandoned": Teller._person,
    "output": Teller._output,
    "stepPass": Teller._step_pass,
    "stepCached": Teller._step_cached,
    "stepFail": Teller._step_fail,
    "stepBlocked": Teller._step_blocked,
    "stepSkipped": Teller._step_skipped,
    "testsStarted": Teller._tests_started,
    "tests": Teller._tests,
    "twice": Teller._twice,
    "runRefused": Teller._refused,
    "runComplete": Teller._complete,
}


def pass_output(screen: Screen, folder: RunFolder, event: Event) -> None:
    """Pass on the bytes that an ``output`` event speaks of."""
    from vaibify_lab.runs.logs import Written, open_log

    written = None if screen.as_json else Written.of(event)
    if written is None:
        return
    length = written.length
    try:
        with open_log(folder, written.slug, written.log) as file:
            file.seek(written.offset)
            while length > 0 and (data := file.read(min(length, _CHUNK))):
                screen.output(data)
                length -= len(data)
    except OSError as error:
        text = f"the log {written.log} of {written.slug} cannot be read: {error.strerror}"
        screen.line(text)


def _about(event: Event) -> str:
    return f"{event['step']}: " if event.get("step") else ""
