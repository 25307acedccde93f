"""One run's journal: a folder under ``.vaibify/local/runs`` with one line per event.

Every front door reads it; the runner alone writes it. A line is whole or not there: a reader takes
only what ends in a line feed.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vaibify_lab.core import disk, jsonio
from vaibify_lab.core.errors import CannotCheck
from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.runs.events import parse_event

RUNS = f"{LOCAL}/runs"
JOURNAL = "journal.jsonl"
REQUEST = "request.json"
ENDINGS = frozenset({"runComplete", "runRefused"})
_RESERVE = 32 * 1024


def now() -> str:
    """Return the time as records hold it: UTC, seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def shown_time(seconds: object) -> str:
    """Return an event's time as records hold it; "an unknown time" for what is none."""
    if not isinstance(seconds, int | float):
        return "an unknown time"
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_run_id() -> str:
    """Return a name for a run: sorts by time, unique on and beyond this machine.

    Of the eight digits at its end four are the fraction of the second, four are chance.
    """
    moment = datetime.now(UTC)
    fraction = moment.microsecond * 2**16 // 10**6
    return f"{moment:%Y%m%dT%H%M%S}-{fraction:04x}{os.urandom(2).hex()}"


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
    """Appends events, each line whole or not at all; safe to call from several threads.

    A little space is set aside at the start: where a step fills the disk, the journal can still
    say so and end.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._lock = threading.Lock()
        self._sequence = 0
        self._reserve = folder.path / "journal.reserve"
        try:
            self._file = folder.journal.open("ab", buffering=0)
            self._reserve.write_bytes(bytes(_RESERVE))
        except OSError as error:
            raise _failure(error, folder) from None
        self._folder = folder

    def write(self, event: str, **details: Any) -> None:
        """Append one event with its sequence number and time.

        Raises
        ------
        DiskFull, CannotCheck
            Never for ``output``: where there is no room to tell of bytes, they are in the log.
        """
        with self._lock:
            head = {"event": event, "sequence": self._sequence + 1, "time": time.time()}
            line = jsonio.line(head | details)
            try:
                self._append(line)
            except OSError as error:
                if event == "output":
                    return
                self._append_from_reserve(line, error)
            self._sequence += 1

    def close(self) -> None:
        """Make what was written last, and close."""
        with self._lock, suppress(OSError):
            self._reserve.unlink(missing_ok=True)
            os.fsync(self._file.fileno())
            self._file.close()

    def _append(self, line: bytes) -> None:
        end = os.fstat(self._file.fileno()).st_size
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(self._file.fileno(), rest) :]
        except OSError:
            os.ftruncate(self._file.fileno(), end)  # no torn line, or readers would end there
            raise

    def _append_from_reserve(self, line: bytes, first: OSError) -> None:
        try:
            self._reserve.unlink()
            self._append(line)
        except OSError:
            raise _failure(first, self._folder) from None


def _failure(error: OSError, folder: RunFolder) -> CannotCheck:
    return disk.failure(error, "the journal of the run cannot be written", str(folder.journal))


def read_events(folder: RunFolder, after: int = 0) -> list[dict[str, Any]]:
    """Return the events after a sequence number; a torn or foreign line ends the reading."""
    return [event for event in each_event(folder) if event["sequence"] > after]


def each_event(folder: RunFolder) -> Iterator[dict[str, Any]]:
    """Yield the events there are, reading no further than they are asked for."""
    for event, _ in events_from(folder, 0):
        yield event


def follow(folder: RunFolder, poll: float = 0.05) -> Iterator[dict[str, Any] | None]:
    """Yield events as they come; None whenever there is nothing new. The caller decides to end."""
    offset = 0
    while True:
        nothing = True
        for event, end in events_from(folder, offset):
            offset = end
            nothing = False
            yield event
        if nothing:
            yield None
            time.sleep(poll)


def events_from(folder: RunFolder, offset: int) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the events from an offset of the file on, each with the offset where it ends."""
    try:
        file = folder.journal.open("rb")
    except OSError:
        return
    with file:
        file.seek(offset)
        for line in file:
            offset += len(line)
            event = parse_event(line)
            if event is None:
                return
            yield event, offset


def damaged_line(folder: RunFolder) -> int | None:
    """Return the number of the line that ends the reading though it is whole; None without one."""
    try:
        with folder.journal.open("rb") as file:
            return next((at for at, line in enumerate(file, 1) if _is_foreign(line)), None)
    except OSError:
        return None


def _is_foreign(line: bytes) -> bool:
    return line.endswith(b"\n") and parse_event(line) is None


def run_folders(root: Path) -> list[RunFolder]:
    """Return the runs kept on this machine, oldest first."""
    try:
        names = sorted(os.listdir(root / RUNS))
    except OSError:
        return []
    found = [RunFolder(root / RUNS / name) for name in names]
    return [one for one in found if one.journal.is_file() and not one.path.is_symlink()]
