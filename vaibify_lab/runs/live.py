"""What the journals say of runs that go on, or never ended."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaibify_lab.core.world import Live, LiveState
from vaibify_lab.engines.local.handle import LocalHandle
from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.runs.events import parse_event
from vaibify_lab.runs.journal import ENDINGS, RunFolder, damaged_line, each_event, read_events
from vaibify_lab.runs.processes import ProcessId

CURRENT = f"{LOCAL}/current"
ACKNOWLEDGED = "acknowledged"
_PIECE = 64 * 1024
_WORDS = {
    "testing": "is running",
    "waiting": "waits for a person",
    "paused": "waits for a person, and is paused,",
}
_LIVE: dict[str, LiveState] = {
    "queued": "queued",
    "running": "running",
    "testing": "running",
    "waiting": "waiting",
    "paused": "waiting",
}
_ENDS = frozenset(
    {"stepPass", "stepCached", "stepFail", "stepBlocked", "stepSkipped", "stepSettled"}
)
_BEGINS = {
    "stepStarted": "running",
    "testsStarted": "testing",
    "stepWaiting": "waiting",
    "stepPaused": "paused",
    "stepResumed": "waiting",
    "stepCompleted": "running",
    "stepAbandoned": "running",
}


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The latest run, when its journal has no end: who makes it, and how far it came."""

    folder: RunFolder
    accepted: Mapping[str, Any]
    started: Mapping[str, Any]
    runner: ProcessId | None
    states: Mapping[str, str]

    @property
    def begun(self) -> list[str]:
        """The steps that had begun, and not ended; those whose tests had are none of them."""
        found = self.states.items()
        return [slug for slug, state in found if state not in ("queued", "testing")]

    @property
    def alive(self) -> bool | None:
        """Whether its runner lives; None where nobody here can know."""
        return False if self.runner is None else self.runner.alive()

    @property
    def acknowledged(self) -> bool:
        """Whether somebody has seen that it was lost."""
        return (self.folder.path / ACKNOWLEDGED).exists()


def current_run(root: Path) -> RunFolder | None:
    """Return the repository's latest run, the only one that can be unfinished."""
    try:
        with open(root / CURRENT, encoding="ascii", errors="replace") as file:
            name = file.read(200).strip()
    except OSError:
        return None
    folder = RunFolder(root / LOCAL / "runs" / name)
    plain = name and "/" not in name and "\0" not in name and name not in (".", "..")
    return folder if plain and folder.journal.is_file() else None


def is_ended(folder: RunFolder) -> bool:
    """Tell from the journal's last line alone whether the run ended."""
    event = parse_event(_last_line(folder))
    return event is not None and event["event"] in ENDINGS


def _last_line(folder: RunFolder) -> bytes:
    try:
        with folder.journal.open("rb") as file:
            left = file.seek(0, os.SEEK_END)
            tail = b""
            while left and b"\n" not in tail[:-1]:
                size = min(left, _PIECE)
                left = file.seek(left - size)
                tail = file.read(size) + tail
    except OSError:
        return b""
    return tail[tail.rfind(b"\n", 0, -1) + 1 :]


def runner_of(events: Iterable[dict[str, Any]]) -> ProcessId | None:
    """Return the process that makes a run, from the beginning of its journal."""
    for event in events:
        if event["event"] in ("runAccepted", "runStarted"):
            return ProcessId.from_json(event.get("process"))
    return None


def runner_in(folder: RunFolder) -> ProcessId | None:
    """Return the process that makes a run, reading no more of its journal than that takes."""
    return runner_of(each_event(folder))


def is_gone(folder: RunFolder) -> bool:
    """Tell whether nobody makes the run any more.

    Also when its journal is gone. False while it has not said who makes it, unless its journal
    cannot be read so far.
    """
    if not folder.journal.is_file():
        return True
    runner = runner_in(folder)
    return damaged_line(folder) is not None if runner is None else runner.alive() is False


def unfinished(root: Path) -> Unfinished | None:
    """Return the latest run when its journal has no end."""
    folder = current_run(root)
    if folder is None or is_ended(folder):
        return None
    events = read_events(folder)
    accepted, started = (_first(events, name) for name in ("runAccepted", "runStarted"))
    return Unfinished(folder, accepted, started, runner_of(events), _states(started, events))


def live_of(root: Path, stem: str) -> Mapping[str, Live]:
    """Return what the latest run says of each step of a workflow; empty once it ended."""
    run = unfinished(root)
    if run is None or run.acknowledged or run.runner is None or run.started.get("stem") != stem:
        return {}
    alive, run_id = run.alive, run.folder.run_id
    place = "" if alive else f" on {run.runner.host}"
    found = {}
    for slug, state in run.states.items():
        if alive is not False:
            text = f"{_WORDS.get(state, f'is {state}')} in run {run_id}{place}"
            found[slug] = Live(_LIVE[state], run_id, text, paused=state == "paused")
        elif state != "queued":
            what = "its tests" if state == "testing" else "the step"
            text = f"run {run_id} lost its runner before {what} ended"
            if left := _runs_on(run, slug):
                text += f"; it {left}, until the next run, or jupyter vaibify stop-run, ends it"
            aside = f"{LOCAL}/aside/{run_id}/{stem}/{slug}"
            if _holds_any(root / aside / "old"):
                text += f"; its old outputs lie in {aside} and the next run restores them"
            found[slug] = Live("interrupted", run_id, text)
    return found


def _runs_on(run: Unfinished, slug: str) -> str:
    """Say whether what a lost runner had started goes on; of a container only its engine knows."""
    engine = run.started.get("engine")
    if isinstance(engine, Mapping) and engine.get("kind") == "docker":
        return "may still run"
    records = run.folder.step(slug).glob("*/supervisor.json")
    handles = (LocalHandle.found(one.parent) for one in records)
    return "still runs" if any(one.poll() is None for one in handles) else ""


def _holds_any(folder: Path) -> bool:
    try:
        return bool(os.listdir(folder))
    except OSError:
        return False


def _first(events: list[dict[str, Any]], name: str) -> Mapping[str, Any]:
    return next((one for one in events if one["event"] == name), {})


def _states(started: Mapping[str, Any], events: list[dict[str, Any]]) -> dict[str, str]:
    states = {
        one["slug"]: "queued" for one in started.get("plan", ()) if one.get("action") != "skip"
    }
    for event in events:
        if event["event"] in _BEGINS:
            states[str(event.get("step"))] = _BEGINS[event["event"]]
        elif event["event"] in _ENDS:
            states.pop(str(event.get("step")), None)
    return states
