"""What the journals say of runs that go on, or never ended."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vaibify_lab.core.world import Live
from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.runs.journal import ENDINGS, RunFolder, read_events
from vaibify_lab.runs.processes import ProcessId

CURRENT = f"{LOCAL}/current"
ACKNOWLEDGED = "acknowledged"
_STEP_ENDS = frozenset({"stepPass", "stepFail", "stepBlocked", "stepSkipped"})


def current_run(root: Path) -> RunFolder | None:
    """Return the repository's latest run, the only one that can be unfinished."""
    try:
        with open(root / CURRENT, encoding="ascii", errors="replace") as file:
            name = file.read(200).strip()
    except OSError:
        return None
    folder = RunFolder(root / LOCAL / "runs" / name)
    plain = name and "/" not in name and name not in (".", "..")
    return folder if plain and folder.journal.is_file() else None


def is_ended(folder: RunFolder) -> bool:
    """Tell from the journal's last line alone whether the run ended."""
    try:
        with folder.journal.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 64 * 1024))
            lines = file.read().splitlines(keepends=True)
    except OSError:
        return False
    if not lines or not lines[-1].endswith(b"\n"):
        return False
    try:
        event = json.loads(lines[-1])
    except ValueError:
        return False
    return isinstance(event, dict) and event.get("event") in ENDINGS


def runner_of(events: list[dict[str, Any]]) -> ProcessId | None:
    """Return the process that makes a run, from its journal."""
    for event in events:
        if event["event"] in ("runAccepted", "runStarted"):
            return ProcessId.from_json(event.get("process"))
    return None


def live_of(root: Path, stem: str) -> Mapping[str, Live]:
    """Return what the latest run says of each step of a workflow; empty once it ended."""
    folder = current_run(root)
    if folder is None or is_ended(folder) or (folder.path / ACKNOWLEDGED).exists():
        return {}
    events = read_events(folder)
    started = next((one for one in events if one["event"] == "runStarted"), None)
    runner = runner_of(events)
    if started is None or runner is None or started.get("stem") != stem:
        return {}
    alive = runner.alive()
    states = _states(started, events)
    found = {}
    for slug, state in states.items():
        if alive is False:
            if state == "running":
                text = f"run {folder.run_id} lost its runner before the step ended"
                found[slug] = Live("interrupted", folder.run_id, text + _aside(root, folder, slug))
        else:
            place = "" if alive else f" on {runner.host}"
            text = f"is {state} in run {folder.run_id}{place}"
            found[slug] = Live("running" if state == "running" else "queued", folder.run_id, text)
    return found


def _states(started: Mapping[str, Any], events: list[dict[str, Any]]) -> dict[str, str]:
    states = {
        one["slug"]: "queued" for one in started.get("plan", ()) if one.get("action") != "skip"
    }
    for event in events:
        slug = event.get("step")
        if event["event"] in ("stepStarted", "testsStarted"):
            states[str(slug)] = "running"
        elif event["event"] in _STEP_ENDS or event["event"] == "stepSettled":
            states.pop(str(slug), None)
    return states


def _aside(root: Path, folder: RunFolder, slug: str) -> str:
    place = root / LOCAL / "aside" / folder.run_id
    if not place.is_dir():
        return ""
    return f"; its old outputs lie in {LOCAL}/aside/{folder.run_id} and the next run restores them"
