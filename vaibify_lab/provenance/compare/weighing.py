"""Piece by piece: what differs between two lines, gathered over a whole text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from vaibify_lab.provenance.compare.named import named
from vaibify_lab.provenance.compare.noise import Piece, Rules
from vaibify_lab.provenance.compare.numbers import NUMBER, closeness
from vaibify_lab.provenance.compare.verdict import (
    SAMPLES,
    Comparison,
    Gap,
    Ignored,
    Verdict,
    worse,
)
from vaibify_lab.provenance.compare.wrapped import printed_otherwise

_CLOCKS = frozenset({"time", "date", "clock"})
_NUMBERS = re.compile(f"({NUMBER})")
_SHOWN = 80
_MOST = 500_000  # characters of differing lines that are looked into
_MOST_NUMBERS = 500_000  # pairs of differing numbers


@dataclass(slots=True)
class Weighing:
    """Gathers the differences of many pairs of lines."""

    rules: Rules
    verdict: Verdict = "identical"
    text: str = ""
    where: str = ""
    absolute: Gap | None = None
    relative: Gap | None = None
    ignored: list[Ignored] = field(default_factory=list)
    ignored_count: int = 0
    _left: int = _MOST
    _numbers_left: int = _MOST_NUMBERS
    _shifted: str | None = None  # where only blanks differ, until something explains it

    def result(self) -> Comparison:
        """Return what came of it."""
        if self._shifted is not None and self.verdict == "identical":
            self.note("different", "the blanks differ", self._shifted)
        return Comparison(
            self.verdict,
            self.text,
            self.where,
            self.absolute,
            self.relative,
            tuple(self.ignored),
            self.ignored_count,
        )

    def note(self, verdict: Verdict, text: str, where: str) -> None:
        """Make the verdict at least so bad; of equal ones the first is told."""
        if worse(self.verdict, verdict) != self.verdict:
            self.verdict, self.text, self.where = verdict, text, where

    def pass_over(self, kind: str, where: str, stored: str = "", fresh: str = "") -> None:
        """Note a place that is not compared."""
        self.ignored_count += 1
        if len(self.ignored) < SAMPLES:
            self.ignored.append(Ignored(kind, where, _cut(stored), _cut(fresh)))
        self.note("noise-only", "", "")

    def line(self, stored: str, fresh: str, where: str, *, quoted: bool = False) -> None:
        """Compare two lines; quoted: digits in it are text like everything else."""
        if stored == fresh:
            return
        if not quoted and self._only_numbers(stored, fresh, where):
            return
        self._left -= len(stored) + len(fresh)
        if self._left < 0:
            self.note("different", "more differs than can be looked into", where)
            return
        mine = self.rules.pieces(stored)
        yours = self.rules.pieces(fresh)
        if not self._align(mine, yours):
            self.note("different", _differ(stored, fresh), where)
            return
        for one, other in zip(mine, yours, strict=True):
            if one.text == other.text:
                continue
            if (quoted and one.kind == "number") or not self._piece(one, other, where):
                self.note("different", _differ(stored, fresh), where)
                return
        if said := printed_otherwise(stored, fresh):
            self.note("printed-otherwise", _cut(said), where)

    def _only_numbers(self, stored: str, fresh: str, where: str) -> bool:
        """Take lines of which only numbers differ, by little: most are such, and this is quick."""
        if len(stored) + len(fresh) > _MOST:
            return False
        mine, yours = _NUMBERS.split(stored), _NUMBERS.split(fresh)
        if mine[::2] != yours[::2] or named(stored) != named(fresh):
            return False
        rules = self.rules
        if self._numbers_left < 0:
            return False
        pairs = [pair for pair in zip(mine[1::2], yours[1::2], strict=True) if pair[0] != pair[1]]
        if any(closeness(*pair, rules.relative, rules.absolute)[0] == "apart" for pair in pairs):
            return False
        for pair in pairs:
            self.number(*pair, where)
        return True

    def _align(self, mine: list[Piece], yours: list[Piece]) -> bool:
        """Pair blanks at an end of one line alone with none; tell whether the pieces fit."""
        for place in (0, -1):
            for one, other in ((mine, yours), (yours, mine)):
                if one and one[place].kind == "blank" and other and other[place].kind != "blank":
                    other.insert(0 if place == 0 else len(other), Piece("blank", ""))
        return len(mine) == len(yours)

    def _piece(self, one: Piece, other: Piece, where: str) -> bool:
        """Compare two pieces that are not the same text; False: they are two different things."""
        kinds = {one.kind, other.kind}
        if kinds == {"number"}:
            self.number(one.text, other.text, where)
            return True
        if len(kinds) > 1:
            return False
        if one.kind == "blank":
            self._shifted = self._shifted or where
        elif one.kind == "text" or (
            one.kind in _CLOCKS and not self.rules.is_clock(one.kind, one.text, other.text)
        ):
            return False
        else:
            self.pass_over(one.kind, where, one.text, other.text)
        return True

    def number(self, stored: str, fresh: str, where: str) -> None:
        """Compare two printed numbers."""
        rules = self.rules
        self._numbers_left -= 1
        if self._numbers_left < 0:
            self.note("different", "more differs than can be looked into", where)
            return
        found, gap = closeness(stored, fresh, rules.relative, rules.absolute, where)
        if gap is not None:
            if self.absolute is None or gap.absolute > self.absolute.absolute:
                self.absolute = gap
            if self.relative is None or gap.relative > self.relative.relative:
                self.relative = gap
        said = f"{_cut(stored)} is now {_cut(fresh)}"
        if found == "apart":
            self.note("different", said, where)
        elif found == "close":
            self.note("within-tolerance", said, where)
        elif found == "printed-otherwise":
            self.note("printed-otherwise", said, where)


def _differ(stored: str, fresh: str) -> str:
    """Say where two lines part, with a little of what stands there."""
    part = next(
        (at for at, (a, b) in enumerate(zip(stored, fresh, strict=False)) if a != b),
        min(len(stored), len(fresh)),
    )
    start = max(0, part - 20)
    return f"{_cut(stored[start:])!r} is now {_cut(fresh[start:])!r}"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
