"""What differs between two good runs and says nothing: named by kind, so that it can be listed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from importlib import import_module
from typing import Any

from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.provenance.compare.expressions import MONTH, joined, kind_and_head
from vaibify_lab.provenance.compare.verdict import Comparison
from vaibify_lab.provenance.compare.wrapped import plain

_SECONDS = timedelta(seconds=2)  # of a text that tells no parts of them, and of a clock read early
_ZONE = re.compile(r"(?:Z|UTC|GMT|([-+])(\d\d):?(\d\d))(?= \d{4}$|$)")
_PATIENCE = timedelta(hours=14, minutes=5)  # a clock may tell any zone's time


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a line: ``kind`` is text, blank, number, or of which noise it is."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Own:
    """An expression of the project's own: what it matches is not compared."""

    name: str
    expression: str


@dataclass(frozen=True)
class Rules:
    """What counts as the same.

    Attributes
    ----------
    relative, absolute : float
        Numbers with a point or an exponent may lie so far apart; one of both is enough.
    own : tuple of Own
        The project's expressions.
    ran : tuple of datetime or None
        When the fresh side was made (begin, end). Then a time is a clock's reading only when the
        fresh one lies there; without it only what has date and seconds counts as one.
    ignore : bool
        False: noise is compared like everything else.
    kinds : frozenset of str or None
        In a file: the kinds of noise that count as such, and of these only what its form makes
        certain, for what else looks so may be a result. None: a cell's output, with every kind.
    pictures : callable or None
        Compares two pictures of a cell's output in place of this library, in another process.
    """

    relative: float = 1e-6
    absolute: float = 0.0
    own: tuple[Own, ...] = ()
    ran: tuple[datetime, datetime] | None = None
    ignore: bool = True
    kinds: frozenset[str] | None = None
    pictures: Callable[[bytes, bytes], Comparison] | None = None

    def check(self) -> None:
        """Raise `InvalidFile` where one of the project's expressions is none."""
        assert self._compiled is not None  # made now, and kept

    @property
    def of_a_file(self) -> bool:
        """Whether what is compared is a file, not what a cell gave."""
        return self.kinds is not None

    def passes_over(self, kind: str) -> bool:
        """Tell whether this kind of noise counts as such."""
        return self.ignore and (self.kinds is None or kind in self.kinds)

    def pieces(self, line: str) -> list[Piece]:
        """Split a line into what is compared and what is not."""
        found: list[Piece] = []
        for is_own, text in self._split_by_own(line):
            if is_own is not None:
                found.append(Piece(is_own, text))
            else:
                found += self._own_pieces(text)
        return found

    def _own_pieces(self, text: str) -> Iterator[Piece]:
        expression = joined(self.kinds if self.ignore else frozenset())
        text, done = plain(text), 0
        for match in expression.finditer(text):
            kind, head = kind_and_head(match)
            before = text[done : match.start()] + head
            if before:
                yield Piece("text", before)
            yield Piece(kind, match[0][len(head) :])
            done = match.end()
        if done < len(text):
            yield Piece("text", text[done:])

    def _split_by_own(self, line: str) -> Iterator[tuple[str | None, str]]:
        spans = sorted(
            (match.start(), -match.end(), name)
            for name, compiled in (self._compiled if self.ignore else ())
            for match in compiled.finditer(line)
            if match.end() > match.start()
        )
        done = 0
        for start, minus_end, name in spans:
            if start < done:
                continue
            if start > done:
                yield None, line[done:start]
            yield name, line[start:-minus_end]
            done = -minus_end
        if done < len(line):
            yield None, line[done:]

    @cached_property
    def _compiled(self) -> tuple[tuple[str, Any], ...]:
        """The project's expressions, by an engine that no expression makes slow.

        Raises
        ------
        InvalidFile
            One is none.
        """
        if not self.own:
            return ()
        re2: Any = import_module("re2")  # few projects have any, and it has no types

        options = re2.Options()
        options.log_errors = False
        found = []
        for one in self.own:
            try:
                found.append((one.name, re2.compile(one.expression, options)))
            except re2.error as error:
                said = error.args[0] if error.args else error
                said = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
                text = f"the expression {one.expression[:80]!r} cannot be used: {said}"
                raise InvalidFile(text, where=one.name) from None
        return tuple(found)

    def is_clock(self, kind: str, stored: str, fresh: str) -> bool:
        """Tell whether two times are two readings of a clock, and no result."""
        if self.ran is None:
            return kind == "time"
        if kind == "clock":
            return self._may_be_now(fresh)
        then, now = moment(stored), moment(fresh)
        if then is None or now is None:
            return False
        slack = _PATIENCE + (timedelta(days=1) if kind == "date" else timedelta())
        begin, end = self.ran
        if kind == "time" and not self._is_of_now(fresh, now):
            return False
        return begin - slack <= now <= end + slack and then <= end + slack

    def _is_of_now(self, text: str, told: datetime) -> bool:
        """Tell whether a time with its date is of the run: to the second, in the zone it names."""
        ran = self.ran or (told, told)
        begin, end = ran[0] - _SECONDS, ran[1] + _SECONDS
        zone = _ZONE.search(text)
        if zone is None:  # that of the machine, or any other: they differ by quarters of an hour
            lasted = (end - begin).total_seconds()
            return lasted >= 900 or (told - begin).total_seconds() % 900 <= lasted
        hours, minutes = int(zone[2] or 0), int(zone[3] or 0)
        offset = timedelta(hours=hours, minutes=minutes) * (-1 if zone[1] == "-" else 1)
        return begin <= told - offset <= end

    def _may_be_now(self, clock: str) -> bool:
        """Tell whether a time of day is of the run, in some zone: they differ by quarters."""
        hours, minutes, seconds = re.split("[:]", clock.replace(",", "."))
        at = (int(hours) * 3600 + int(minutes) * 60 + float(seconds)) % 900
        begin, end = (one.timestamp() for one in self.ran or ())
        return end - begin >= 900 or (at - begin) % 900 <= end - begin + 2


def moment(text: str) -> datetime | None:
    """Return the time that a text tells, as if it were UTC; None where it tells none."""
    digits = re.findall(r"\d+", text)
    month = re.search(MONTH, text)
    try:
        if month is not None and not text[:4].isdigit():
            number = re.findall(MONTH[3:-1], MONTH).index(month[0]) + 1
            day = int(digits[0])
            year = int(next(one for one in digits if len(one) == 4))
            hour, minute, second = map(int, re.findall(r"(\d\d):(\d\d):(\d\d)", text)[0])
            return datetime(year, number, day, hour, minute, second, tzinfo=UTC)
        given = [int(one) for one in digits[:6]]
        year, month_number, day, hour, minute, second = (given + [0] * 3)[:6]
        return datetime(year, month_number, day, hour, minute, second, tzinfo=UTC)
    except (ValueError, IndexError, StopIteration, TypeError):
        return None
