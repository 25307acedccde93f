"""Many numbers beside many: the largest gaps found by floats, told by exact decimals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from vaibify_lab.provenance.compare.weighing import Weighing

_WELL_INSIDE = 0.999


@dataclass(slots=True)
class Measured:
    """Weighs pairs of numbers; what is well inside and no new largest gap costs next to nothing."""

    weighing: Weighing
    _absolute: float = 0.0
    _relative: float = 0.0

    def pair(self, one: float, other: float, where: Callable[[], str]) -> None:
        """Compare two numbers; NaN is NaN, whatever its bits."""
        if one == other and (one != 0 or math.copysign(1, one) == math.copysign(1, other)):
            return
        if not (math.isnan(one) and math.isnan(other)):
            self.printed(repr(one), repr(other), one, other, where)

    def printed(
        self, stored: str, fresh: str, one: float, other: float, where: Callable[[], str]
    ) -> None:
        """Compare two printed numbers, whose values as floats are given."""
        gap = abs(one - other)
        larger = max(abs(one), abs(other))
        # not so for NaN, infinities, zeros and whole numbers: these take the exact way
        if 0.0 < gap <= self._absolute and larger < math.inf:
            relative = gap / larger
            inside = relative < self.weighing.rules.relative * _WELL_INSIDE
            if inside and relative <= self._relative:
                return
        self.weighing.number(stored, fresh, where())
        most, by = self.weighing.absolute, self.weighing.relative
        self._absolute = float(most.absolute) if most else 0.0
        self._relative = float(by.relative) if by else 0.0
