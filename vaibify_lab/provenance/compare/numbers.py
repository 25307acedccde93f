"""Two numbers as they are printed: the same, close enough, or not.

Whole numbers count things and are compared exactly, a decimal point or an exponent makes a number
a measured one. Decimals hold what was printed, so that nothing is rounded before it is compared.
"""

from __future__ import annotations

import decimal
import re
from decimal import Decimal
from typing import Literal

from vaibify_lab.provenance.compare.verdict import Gap

Closeness = Literal["same", "printed-otherwise", "close", "apart"]
LONGEST = 400  # characters; what is longer is text
# Nothing with a second point: that is a version. No sign after a name, a number or a bracket:
# there it is a minus between two things.
NUMBER = (
    r"(?:(?<![\w.)\]])[-+\u2212])?"
    r"(?<![\w.])(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?![\d_]|\.(?:\d|[x*](?!\w)))"
    r"|(?<![\w.])[-+\u2212]?(?:[nN]a[nN]|NAN|[iI]nf(?:inity)?)(?!\w)"
)
_WHOLE = re.compile(r"[-+]?\d+")
_CONTEXT = decimal.Context(
    prec=40,
    Emax=decimal.MAX_EMAX,
    Emin=decimal.MIN_EMIN,
    traps=[],
    rounding=decimal.ROUND_HALF_EVEN,
)
_ZERO = Decimal(0)


def closeness(
    stored: str, fresh: str, relative: float, absolute: float, where: str = ""
) -> tuple[Closeness, Gap | None]:
    """Compare two printed numbers; the gap is None where there is none to measure."""
    if stored == fresh:
        return "same", None
    one, other = _plain(stored), _plain(fresh)
    mine, yours = _CONTEXT.create_decimal(one), _CONTEXT.create_decimal(other)
    if not (mine.is_finite() and yours.is_finite()):
        is_same = (mine.is_nan() and yours.is_nan()) or (
            mine.is_infinite() and yours.is_infinite() and mine == yours
        )
        return ("printed-otherwise" if is_same else "apart"), None
    mine, yours = Decimal(one), Decimal(other)
    if mine == yours and mine.is_signed() == yours.is_signed():
        return "printed-otherwise", None
    gap = _gap(mine, yours, where, stored, fresh)
    if _WHOLE.fullmatch(one) and _WHOLE.fullmatch(other) and mine != yours:
        return "apart", gap
    larger = max(abs(mine), abs(yours))
    near = gap.absolute <= _CONTEXT.multiply(Decimal(relative), larger)
    return ("close" if near or gap.absolute <= Decimal(absolute) else "apart"), gap


def _plain(text: str) -> str:
    return text.replace("\u2212", "-")


def _gap(one: Decimal, other: Decimal, where: str, stored: str, fresh: str) -> Gap:
    distance = abs(_CONTEXT.subtract(one, other))
    larger = max(abs(one), abs(other))
    relative = _CONTEXT.divide(distance, larger) if larger else _ZERO
    return Gap(distance, relative, where, stored, fresh)
