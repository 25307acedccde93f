"""A run's journal read on from a sequence number, with the newest of what its steps wrote."""

from __future__ import annotations

import codecs
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from vaibify_lab.runs.journal import ENDINGS, RunFolder, events_from
from vaibify_lab.runs.live import is_gone
from vaibify_lab.runs.logs import Written, open_log

Event = dict[str, Any]
PIECE = 64 * 2**10  # bytes of output in one message
BACKLOG = 2**20  # ... of each log that was there before
AT_ONCE = 256 * 2**10  # ... of each log in one reading, from then on
_MOST_EVENTS = 2_000
_ALIVE_SECONDS = 1.0
_LOST: Event = {"event": "runComplete", "outcome": "interrupted", "steps": {}, "lost": True}


class Source(Protocol):
    """What a journal's readers read: the next lines, until it has ended."""

    @property
    def ended(self) -> bool:
        """Whether the last line was read."""

    def read(self) -> list[Event]:
        """Return what is new; may block on the disk."""


@dataclass(slots=True)
class _Told:
    """Bytes of one log that events told of and that were not passed on yet."""

    written: Written
    sequence: int
    time: float
    stream: str

    def grow(self, later: Written, sequence: int, when: float) -> None:
        start = self.written.offset
        end = later.offset + later.length
        self.written = Written(later.slug, later.log, start, max(0, end - start))
        self.sequence, self.time = sequence, when


@dataclass(slots=True)
class _Log:
    """How far one log was passed on."""

    floor: int
    decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace")
    )


class Tail:
    """Reads a journal. Output is gathered between other events; what is too much is left out.

    Parameters
    ----------
    folder : RunFolder
    after : int
        The last sequence number that the reader has.
    with_output : bool
        Whether what the steps wrote is wanted.
    """

    def __init__(self, folder: RunFolder, after: int = 0, *, with_output: bool = True) -> None:
        self.ended = False
        self._folder = folder
        self._after = after
        self._with_output = with_output
        self._offset = 0
        self._logs: dict[tuple[str, str], _Log] = {}
        self._told: dict[tuple[str, str], _Told] = {}
        self._caught_up = False
        self._checked = time.monotonic()

    def read(self) -> list[Event]:
        """Return what is new, in the journal's order; a lost runner ends it."""
        found: list[Event] = []
        count = 0
        for event, end in events_from(self._folder, self._offset):
            self._offset = end
            count += 1
            if event["sequence"] > self._after or event["event"] in ENDINGS:
                found += self._take(event)
            if self.ended or count >= _MOST_EVENTS:
                break
        found += self._flush()
        self._caught_up = self._caught_up or count < _MOST_EVENTS
        if not count and not self.ended and self._is_lost():
            self.ended = True
            found.append(_LOST | {"sequence": 0, "time": time.time()})
        return found

    def _take(self, event: Event) -> list[Event]:
        written = Written.of(event) if event["event"] == "output" else None
        if written is not None:
            if self._with_output:
                self._gather(written, event)
            return []
        found = [*self._flush(), event]
        self._after = max(self._after, event["sequence"])
        self.ended = event["event"] in ENDINGS
        return found

    def _gather(self, written: Written, event: Event) -> None:
        key = (written.slug, written.log)
        told = self._told.get(key)
        when = float(event.get("time") or 0.0)
        if told is None:
            stream = str(event.get("stream", ""))
            self._told[key] = _Told(written, event["sequence"], when, stream)
        else:
            told.grow(written, event["sequence"], when)

    def _flush(self) -> list[Event]:
        found: list[Event] = []
        for told in sorted(self._told.values(), key=lambda one: one.sequence):
            found += self._pieces(told)
            self._after = told.sequence
        self._told.clear()
        return found

    def _pieces(self, told: _Told) -> Iterator[Event]:
        """Yield the newest of a log's new bytes; earlier pieces carry the sequence before them."""
        written = told.written
        start, end = written.offset, written.offset + written.length
        log = self._log(written)
        at_once = AT_ONCE if self._caught_up else BACKLOG
        shown = min(end, max(start, log.floor, end - at_once))
        if shown > start:
            log.decoder.reset()
        while True:
            last = min(end, shown + PIECE)
            yield {
                "event": "output",
                "sequence": told.sequence if last == end else self._after,
                "time": told.time,
                "step": written.slug,
                "log": written.log,
                "stream": told.stream,
                "offset": start,
                "length": last - start,
                "not_shown": shown - start,
                "text": self._text(written, log, shown, last, cut=shown > start),
            }
            start = shown = last
            if last == end:
                return

    def _log(self, written: Written) -> _Log:
        key = (written.slug, written.log)
        if key not in self._logs:
            self._logs[key] = _Log(max(0, _size(self._folder, written) - BACKLOG))
        return self._logs[key]

    def _text(self, written: Written, log: _Log, start: int, end: int, *, cut: bool) -> str:
        try:
            with open_log(self._folder, written.slug, written.log) as file:
                file.seek(start)
                data = file.read(end - start)
        except OSError as error:
            return f"[the log {written.log} cannot be read: {error.strerror}]"
        if cut:  # the rest of a character whose beginning is not shown
            head = data[:3]
            data = head.lstrip(bytes(range(0x80, 0xC0))) + data[3:]
        return log.decoder.decode(data)

    def _is_lost(self) -> bool:
        now = time.monotonic()
        if now - self._checked < _ALIVE_SECONDS:
            return False
        self._checked = now
        return is_gone(self._folder) and not any(
            True for _ in events_from(self._folder, self._offset)
        )


def _size(folder: RunFolder, written: Written) -> int:
    try:
        return os.stat(folder.step(written.slug) / written.log).st_size
    except OSError:
        return 0
