"""The words of a comparison, and how several become one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal

Verdict = Literal[
    "identical",
    "noise-only",
    "printed-otherwise",
    "within-tolerance",
    "figure-differs",
    "different",
    "not-run",
    "error",
]
WORDS: dict[Verdict, str] = {  # the least bad first
    "identical": "identical",
    "noise-only": "noise only",
    "printed-otherwise": "same value, different printing",
    "within-tolerance": "equal within tolerance",
    "figure-differs": "figure differs",
    "different": "different",
    "not-run": "not run",
    "error": "error",
}
PASSING: frozenset[Verdict] = frozenset(
    {"identical", "noise-only", "printed-otherwise", "within-tolerance"}
)
_RANK = {word: rank for rank, word in enumerate(WORDS)}
SAMPLES = 20  # of what was ignored, with its texts; the others are only counted


@dataclass(frozen=True, slots=True)
class Gap:
    """How far two numbers lie apart; ``relative`` is to the larger of both."""

    absolute: Decimal
    relative: Decimal
    where: str
    stored: str
    fresh: str

    def as_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        return {
            "absolute": f"{self.absolute:.6g}",
            "relative": f"{self.relative:.6g}",
            "where": self.where,
            "stored": self.stored,
            "fresh": self.fresh,
        }


@dataclass(frozen=True, slots=True)
class Ignored:
    """A place that was passed over, and why."""

    kind: str
    where: str
    stored: str = ""
    fresh: str = ""

    def as_json(self) -> dict[str, str]:
        """Return the JSON answer's form."""
        return {
            "kind": self.kind,
            "where": self.where,
            "stored": self.stored,
            "fresh": self.fresh,
        }


@dataclass(frozen=True, slots=True)
class Picture:
    """How two pictures differ, with a PNG that shows where (None: their sizes differ)."""

    text: str
    shown: bytes | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came of comparing one thing with another.

    Attributes
    ----------
    verdict : Verdict
    text : str
        What differs, in words; empty where nothing is to be said.
    where : str
        The first place that decided the verdict.
    absolute, relative : Gap or None
        The largest differences of numbers, in both measures.
    ignored : tuple of Ignored
        The first places that were passed over; ``ignored_count`` counts all.
    pictures : tuple of Picture
        Pictures that differ.
    """

    verdict: Verdict
    text: str = ""
    where: str = ""
    absolute: Gap | None = None
    relative: Gap | None = None
    ignored: tuple[Ignored, ...] = ()
    ignored_count: int = 0
    pictures: tuple[Picture, ...] = ()

    @property
    def passes(self) -> bool:
        """Whether it says the same."""
        return self.verdict in PASSING

    @property
    def words(self) -> str:
        """The verdict as a person reads it."""
        return WORDS[self.verdict]

    def at(self, place: str) -> Comparison:
        """Return the same, seen from further out."""

        def moved(gap: Gap | None) -> Gap | None:
            return gap and replace(gap, where=_within(place, gap.where))

        ignored = tuple(replace(one, where=_within(place, one.where)) for one in self.ignored)
        return replace(
            self,
            where=_within(place, self.where) if self.text else "",
            absolute=moved(self.absolute),
            relative=moved(self.relative),
            ignored=ignored,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        value: dict[str, Any] = {"verdict": self.verdict, "passes": self.passes}
        optional = {
            "text": self.text,
            "where": self.where,
            "largest_absolute": self.absolute and self.absolute.as_json(),
            "largest_relative": self.relative and self.relative.as_json(),
            "ignored": [one.as_json() for one in self.ignored],
            "ignored_count": self.ignored_count,
        }
        return value | {key: item for key, item in optional.items() if item}


def joined(parts: Iterable[Comparison]) -> Comparison:
    """Return several as one: the worst verdict, the largest gaps, all that was ignored."""
    given = list(parts)
    if not given:
        return Comparison("identical")
    worst = max(given, key=lambda one: _RANK[one.verdict])
    ignored = [place for one in given for place in one.ignored]
    return replace(
        worst,
        absolute=max(
            (one.absolute for one in given if one.absolute),
            key=lambda gap: gap.absolute,
            default=None,
        ),
        relative=max(
            (one.relative for one in given if one.relative),
            key=lambda gap: gap.relative,
            default=None,
        ),
        ignored=tuple(ignored[:SAMPLES]),
        ignored_count=sum(one.ignored_count for one in given),
        pictures=tuple(picture for one in given for picture in one.pictures),
    )


def worse(one: Verdict, other: Verdict) -> Verdict:
    """Return the worse of two verdicts."""
    return max(one, other, key=lambda word: _RANK[word])


def _within(place: str, where: str) -> str:
    return f"{place}, {where}" if where else place
