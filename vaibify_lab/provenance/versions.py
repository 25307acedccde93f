"""Version numbers of contents: how many different ones the records have seen of a path.

A record gives a content its number; one that no record remembers gets the next. After a merge two
contents of a path may share a number, and a content may have two, the smaller of which is told:
the hash decides what is the same.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterable, Iterator

from vaibify_lab.core.facts import LARGEST_VERSION, Pins, RunRecord


class Versions:
    """The contents that records have seen of each path, numbered.

    Parameters
    ----------
    records : callable
        Gives the records; asked when a number is first wanted.
    """

    def __init__(self, records: Callable[[], Iterable[RunRecord]]) -> None:
        self._records: Callable[[], Iterable[RunRecord]] | None = records
        self._known: dict[str, dict[str, int]] = {}
        self._lock = threading.Lock()  # several steps of one run end at once

    def of(self, path: str, sha256: str) -> int:
        """Return the number of a content; one that is new gets the next and keeps it."""
        with self._lock:
            self._load()
            return self._number(path, sha256)

    def numbered(self, pins: Pins) -> Pins:
        """Return the pins with the numbers of their contents, as a record keeps them.

        A number that the pins bring along, because a record was kept elsewhere for a while, stays
        where no other content of the path has it.
        """
        given = pins.versions
        numbers = {}
        with self._lock:
            self._load()
            for path, sha256 in pins.contents():
                wanted = None if given is None else given.get(path, 1)
                numbers[path] = self._number(path, sha256, wanted)
        above = {path: number for path, number in numbers.items() if number > 1}
        return dataclasses.replace(pins, versions=above)

    def _number(self, path: str, sha256: str, wanted: int | None = None) -> int:
        known = self._known.setdefault(path, {})
        if sha256 not in known:
            following = min(max(known.values(), default=0) + 1, LARGEST_VERSION)
            is_free = wanted is not None and wanted not in known.values()
            known[sha256] = wanted if wanted is not None and is_free else following
        return known[sha256]

    def _load(self) -> None:
        if self._records is None:
            return
        records = [one for record in self._records() for one in _both(record)]
        self._records = None
        for record in records:
            given = record.pins.versions
            for path, sha256 in record.pins.contents() if given is not None else ():
                known = self._known.setdefault(path, {})
                number = given.get(path, 1) if given else 1
                known[sha256] = min(number, known.get(sha256, number))
        without = (one for one in records if one.pins.versions is None)
        for record in sorted(without, key=lambda one: (one.ended, one.run_id, one.step)):
            for path, sha256 in record.pins.contents():
                self._number(path, sha256)


def _both(record: RunRecord) -> Iterator[RunRecord]:
    yield record
    if record.last_passed is not None:
        yield record.last_passed
