"""One run's journal: a folder under ``.vaibify/local/runs`` with one line per event.

Every front door reads it; the runner alone writes it. A line is whole or not there: a reader takes
only what ends in a line feed.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vaibify_lab.core import jsonio
from vaibify_lab.files.factstore import LOCAL

RUNS = f"{LOCAL}/runs"
JOURNAL = "journal.jsonl"
ENDINGS = frozenset({"runComplete", "runRefused"})


def now() -> str:
    """Return the time as records hold it: UTC, seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_run_id() -> str:
    """Return a name for a run: sorts by time, unique on and beyond this machine."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S") + "-" + os.urandom(4).hex()


@dataclass(frozen=True, slots=True)
class RunFolder:
    """Where one run keeps its request, journal, logs and stop request."""

    path: Path

    @property
    def run_id(self) -> str:
        """The run's name."""
        return self.path.name

    @property
    def journal(self) -> Path:
        """The file of events."""
        return self.path / JOURNAL

    @property
    def stop_request(self) -> Path:
        """The file whose presence asks the runner to stop."""
        return self.path / "stop"

    def step(self, slug: str) -> Path:
        """The folder of one step's logs and engine state."""
        return self.path / "steps" / slug


class JournalWriter:
    """Appends events; safe to call from several threads."""

    def __init__(self, folder: RunFolder) -> None:
        self._file = folder.journal.open("ab", buffering=0)
        self._lock = threading.Lock()
        self._sequence = 0

    def write(self, event: str, **details: Any) -> None:
        """Append one event with its sequence number and time."""
        with self._lock:
            self._sequence += 1
            head = {"event": event, "sequence": self._sequence, "time": time.time()}
            self._file.write(jsonio.line(head | details))

    def close(self) -> None:
        """Make what was written last, and close."""
        with self._lock:
            os.fsync(self._file.fileno())
            self._file.close()


def read_events(folder: RunFolder, after: int = 0) -> list[dict[str, Any]]:
    """Return the events after a sequence number; a torn or foreign line ends the reading."""
    return [event for event, _ in _events(folder, 0) if event["sequence"] > after]


def follow(folder: RunFolder, poll: float = 0.05) -> Iterator[dict[str, Any] | None]:
    """Yield events as they come; None whenever there is nothing new. The caller decides to end."""
    offset = 0
    while True:
        nothing = True
        for event, end in _events(folder, offset):
            offset = end
            nothing = False
            yield event
        if nothing:
            yield None
            time.sleep(poll)


def _events(folder: RunFolder, offset: int) -> Iterator[tuple[dict[str, Any], int]]:
    try:
        with folder.journal.open("rb") as file:
            file.seek(offset)
            data = file.read()
    except OSError:
        return
    for line in data.splitlines(keepends=True):
        offset += len(line)
        if not line.endswith(b"\n"):
            return
        try:
            event = json.loads(line)
        except ValueError:
            return
        if not isinstance(event, dict) or not isinstance(event.get("sequence"), int):
            return
        yield event, offset


def run_folders(root: Path) -> list[RunFolder]:
    """Return the runs kept on this machine, oldest first."""
    try:
        names = sorted(os.listdir(root / RUNS))
    except OSError:
        return []
    found = [RunFolder(root / RUNS / name) for name in names]
    return [one for one in found if one.journal.is_file() and not one.path.is_symlink()]
