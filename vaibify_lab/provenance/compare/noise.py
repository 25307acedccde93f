r"""What differs between two good runs and says nothing: named by kind, so that it can be listed.

Each expression is anchored by what stands around it, because an address, a time or a duration can
also be a result. No expression repeats something that repeats, so that none takes long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from importlib import import_module
from typing import Any

from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.provenance.compare.numbers import NUMBER
from vaibify_lab.provenance.compare.verdict import Comparison
from vaibify_lab.provenance.compare.wrapped import plain

_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_TOOK = (
    r"(?:wall[ -]time|cpu[ -]times?|elapsed(?:[ -]time)?|took|run[ -]?time"
    r"|(?:execution|computation|training|fitting|processing|total)[ -]time"
    r"|(?:finished|done|completed|passed|failed|ran) in)"
)
_UNIT = r"(?:ns|[\u00b5\u03bcu]s|ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?)(?!\w)"
_VALUE = r"\d{1,12}(?:[.:]\d{1,12}){0,3}(?:e[-+]?\d{1,3})?"
_HEX = r"[0-9a-fA-F]"
# kind, expression; group h: what stands before and is compared
_EXPRESSIONS: tuple[tuple[str, str], ...] = (
    ("address", rf"(?P<h0>(?i:\bat |\bid=|\baddress[=: ]{{1,3}}))0x{_HEX}{{4,16}}\b"),
    ("address", rf"\b0x(?:0{{4}})?(?:7[ef]|55|56|10){_HEX}{{8,10}}\b"),
    ("uuid", rf"\b{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}\b"),
    ("progress", r"\[\d{1,3}:\d\d(?::\d\d)?<[^\]\n]{1,60}\]"),
    ("progress", r"(?P<h1>- |\] )\d{1,6}m?s(?: \d{1,6}[mu\u00b5]?s/(?:step|epoch))?"),
    ("progress", rf"{_VALUE} ?(?:k?B|MB|GB|kiB|MiB|GiB|it|step|batch(?:es)?)/s\b"),
    ("progress", rf"{_VALUE} ?(?:s|ms|[\u00b5u]s)/(?:it|step|epoch|loop)\b"),
    ("duration", rf"{_VALUE} ?{_UNIT} (?:\u00b1|\+-) {_VALUE} ?{_UNIT} per loop"),
    ("duration", rf"(?P<h2>\b(?:user|sys|total): ){_VALUE} ?{_UNIT}(?: {_VALUE} ?{_UNIT}){{0,2}}"),
    (
        "duration",
        rf"(?P<h3>(?i:\b{_TOOK})[^\d\n]{{0,24}}?){_VALUE}(?: ?{_UNIT})?"
        rf"(?: {_VALUE} ?{_UNIT}){{0,2}}",
    ),
    ("time", rf"\b\d{{4}}-\d\d-\d\d[T ]{_CLOCK}(?:Z|[-+]\d\d:?\d\d)?"),
    ("time", rf"\b{_DAY},? {_MONTH} {{1,2}}\d{{1,2}} {_CLOCK} (?:[A-Z]{{3,5}} )?\d{{4}}\b"),
    ("time", rf"\b{_DAY}, \d{{1,2}} {_MONTH} \d{{4}} {_CLOCK}(?: (?:GMT|[-+]\d{{4}}))?"),
    ("time", r"\bdatetime\.datetime\(\d{4}(?:, ?\d{1,6}){4,6}\)"),
    ("date", r"\b\d{4}-\d\d-\d\d\b(?!:)"),
    ("clock", rf"(?<![\d:.]){_CLOCK}(?![\d:])"),
    # the figure itself is compared by its pixels
    ("figure line", r"(?P<h9><Figure size )\d{1,6}(?:\.\d{1,6})?x\d{1,6}(?:\.\d{1,6})?(?= with )"),
    # what lies below the folder with the made-up name is a result like any other
    (
        "temporary path",
        r"(?P<h4>(?<![\w./-])/tmp/)(?:ipykernel_\d{1,8}/\d{1,12}\.py|[\w.-]{1,100})",
    ),
    (
        "temporary path",
        r"(?P<h10>/var/folders/)[\w+-]{1,4}/[\w+-]{1,60}/\w/[\w.-]{1,100}",
    ),
    ("kernel number", r"(?P<h5>\bipykernel_)\d{1,8}(?:/\d{1,12}\.py)?"),
    ("process number", r"(?P<h6>(?i:\bpid[=: ]{1,3}))\d{1,8}\b"),
    (
        "installation path",
        r"(?<![\w./-])/[\w./@+-]{1,150}/(?:(?:site|dist)-packages|lib/python3\.\d{1,2})(?=/)",
    ),
    (
        "element id",
        r"(?P<h7>\b(?:id|for|name|aria-labelledby|aria-controls|data-id)=[\"']#?)[\w:.-]{1,200}(?=[\"'])",
    ),
    ("element id", r"(?P<h8>url\(#|href=[\"']#|getElementById\([\"'])[\w:.-]{1,200}"),
    ("element id", r"#(?![0-9a-fA-F]{3,8}\b)(?=[\w-]*\d)[A-Za-z_][\w-]{3,200}"),
)
_MARKUP = frozenset({"element id"})
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
        The kinds of noise that count as such; None: every one.
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

    def passes_over(self, kind: str) -> bool:
        """Tell whether this kind of noise counts as such."""
        return self.ignore and (self.kinds is None or kind in self.kinds)

    def pieces(self, line: str, *, markup: bool = False) -> list[Piece]:
        """Split a line (or a piece of markup) into what is compared and what is not."""
        found: list[Piece] = []
        for is_own, text in self._split_by_own(line):
            if is_own is not None:
                found.append(Piece(is_own, text))
            else:
                found += self._own_pieces(text, markup=markup)
        return found

    def _own_pieces(self, text: str, *, markup: bool) -> Iterator[Piece]:
        expression = _joined(markup, self.kinds if self.ignore else frozenset())
        text, done = plain(text), 0
        for match in expression.finditer(text):
            kind = _KINDS.get(match.lastgroup or "", match.lastgroup or "")
            head = next(
                (value for key, value in match.groupdict().items() if value and key[0] == "h"), ""
            )
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
        return begin - slack <= now <= end + slack and then <= end + slack

    def _may_be_now(self, clock: str) -> bool:
        """Tell whether a time of day is of the run, in some zone: they differ by quarters."""
        hours, minutes, seconds = re.split("[:]", clock.replace(",", "."))
        at = (int(hours) * 3600 + int(minutes) * 60 + float(seconds)) % 900
        begin, end = (one.timestamp() for one in self.ran or ())
        return end - begin >= 900 or (at - begin) % 900 <= end - begin + 2


def moment(text: str) -> datetime | None:
    """Return the time that a text tells, as if it were UTC; None where it tells none."""
    digits = re.findall(r"\d+", text)
    month = re.search(_MONTH, text)
    try:
        if month is not None and not text[:4].isdigit():
            number = re.findall(_MONTH[3:-1], _MONTH).index(month[0]) + 1
            day = int(digits[0])
            year = int(next(one for one in digits if len(one) == 4))
            hour, minute, second = map(int, re.findall(r"(\d\d):(\d\d):(\d\d)", text)[0])
            return datetime(year, number, day, hour, minute, second, tzinfo=UTC)
        given = [int(one) for one in digits[:6]]
        year, month_number, day, hour, minute, second = (given + [0] * 3)[:6]
        return datetime(year, month_number, day, hour, minute, second, tzinfo=UTC)
    except (ValueError, IndexError, StopIteration, TypeError):
        return None


@cache
def _joined(markup: bool, kinds: frozenset[str] | None) -> re.Pattern[str]:
    parts = [
        f"(?P<n{number}>{expression})"
        for number, (kind, expression) in enumerate(_EXPRESSIONS)
        if (kinds is None or kind in kinds) and (markup or kind not in _MARKUP)
    ]
    return re.compile("|".join([*parts, f"(?P<number>{NUMBER})", r"(?P<blank>[ \t]+)"]))


_KINDS = {f"n{number}": kind for number, (kind, _) in enumerate(_EXPRESSIONS)}
