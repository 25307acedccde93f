"""Two ways to one end, timed in turns, and the table that holds what came out."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: ``found`` must be at most ``goal``, or ``at_least`` that."""

    what: str
    ours: str
    theirs: str
    found: float
    goal: float
    unit: str = "x"
    spread: str = ""
    at_least: bool = False

    @property
    def is_met(self) -> bool:
        """Tell whether the goal is reached."""
        return self.found >= self.goal if self.at_least else self.found <= self.goal

    def line(self) -> str:
        """Return the row in Markdown."""
        goal = f"{'at least' if self.at_least else 'at most'} {self.goal:g} {self.unit}"
        found = f"{self.found:.3g} {self.unit}{self.spread}"
        cells = (self.what, self.ours, self.theirs, found, goal, "yes" if self.is_met else "**no**")
        return f"| {' | '.join(cells)} |"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two ways to the same end; both return what they found, so that it can be compared."""

    what: str
    against: str
    goal: float
    ours: Callable[[], object]
    theirs: Callable[[], object]


class Differ(Exception):
    """Two ways that must find the same did not: nothing was timed."""


def rows_of(pairs: Iterable[Pair], rounds: int) -> Iterator[Row]:
    """Time each pair, its answers compared first."""
    for pair in pairs:
        if pair.ours() != pair.theirs():
            raise Differ(pair.what)
        times = [timed(pair, number) for number in range(rounds)]
        mine, other = (statistics.median(column) for column in zip(*times, strict=True))
        ratios = sorted(one / two for one, two in times)
        spread = f" ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        theirs = f"{shown(other)}, {pair.against}"
        middle = statistics.median(ratios)
        yield Row(pair.what, shown(mine), theirs, middle, pair.goal, spread=spread)


def timed(pair: Pair, number: int) -> tuple[float, float]:
    """Return (ours, theirs) of one round; who is first alternates."""
    if number % 2:
        theirs = seconds(pair.theirs)
        return seconds(pair.ours), theirs
    return seconds(pair.ours), seconds(pair.theirs)


def seconds(work: Callable[[], object]) -> float:
    """Return how long one call took."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def shown(duration: float) -> str:
    """Return a duration as people read it."""
    return f"{duration:.2f} s" if duration >= 1 else f"{1000 * duration:.3g} ms"
