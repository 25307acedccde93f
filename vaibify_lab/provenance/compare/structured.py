"""JSON values: keys in any order, numbers by value, what is quoted as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.provenance.compare.noise import Rules
from vaibify_lab.provenance.compare.text import compare_text, decoded, weigh_lines
from vaibify_lab.provenance.compare.verdict import Comparison
from vaibify_lab.provenance.compare.weighing import Weighing

_LONGEST_PATH = 200
_SMALL = re.compile(rb"(\d[\d.]{0,60})[eE]-\d{3,9}")


def compare_json(stored: Any, fresh: Any, rules: Rules) -> Comparison:
    """Compare two values that were read from JSON."""
    weighing = Weighing(rules)
    weigh_json(weighing, stored, fresh, "$")
    return weighing.result()


def compare_json_lines(stored: bytes, fresh: bytes, rules: Rules) -> Comparison | None:
    """Compare two texts of one JSON value a line; None where they are none."""
    weighing = Weighing(rules)
    lines = [one.rstrip(b"\n").split(b"\n") for one in (stored, fresh)]
    if len(lines[0]) != len(lines[1]):
        text = f"{len(lines[0])} lines are now {len(lines[1])}"
        weighing.note("different", text, f"line {min(map(len, lines)) + 1}")
    for number, (one, other) in enumerate(zip(*lines, strict=False), 1):
        if one == other:
            continue
        try:
            mine, yours = (jsonio.loads(side, "it", constants=True) for side in (one, other))
        except InvalidFile:
            return None
        weigh_json(weighing, mine, yours, f"line {number} $")
    return weighing.result()


def weigh_json(weighing: Weighing, stored: Any, fresh: Any, where: str) -> None:
    """Compare two values within something larger."""
    # A stack of our own: a deep value must not exhaust Python's.
    pending = [(stored, fresh, where)]
    while pending:
        one, other, where = pending.pop()
        pending += _value(weighing, one, other, where)


def compare_json_text(stored: bytes, fresh: bytes, rules: Rules) -> Comparison:
    """Compare two JSON documents: the same values written otherwise are said to be that."""
    if stored == fresh:
        return Comparison("identical")
    try:
        mine, yours = (jsonio.loads(one, "it", constants=True) for one in (stored, fresh))
    except InvalidFile:  # not JSON, or made to hurt: then it is text
        return compare_text(*decoded(stored, fresh), rules)
    found = compare_json(mine, yours, rules)
    if found.verdict == "identical" and _too_small(stored) != _too_small(fresh):
        return Comparison("different", "numbers too small for a double differ", "$")
    if found.verdict == "identical":
        return Comparison("printed-otherwise", "the same values, written otherwise", "$")
    return found


def _too_small(text: bytes) -> list[bytes]:
    """Return the numbers that a double would hold as 0, sorted: keys may stand in any order."""
    return sorted(
        one[0] for one in _SMALL.finditer(text) if one[1].strip(b"0.") and not float(one[0])
    )


def _value(weighing: Weighing, one: Any, other: Any, where: str) -> Iterator[tuple[Any, Any, str]]:
    """Compare two values; yield the pairs of what they hold."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in (
            *(key for key in one if key not in other),
            *(key for key in other if key not in one),
        ):
            said = "is gone" if key in one else "is new"
            weighing.note("different", f"the key {key[:80]!r} {said}", where)
        for key in reversed([key for key in one if key in other]):
            yield one[key], other[key], f"{where}.{key}"[:_LONGEST_PATH]
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            weighing.note("different", f"{len(one)} items are now {len(other)}", where)
        pairs = list(zip(one, other, strict=False))
        for at in range(len(pairs) - 1, -1, -1):
            yield *pairs[at], f"{where}[{at}]"[:_LONGEST_PATH]
    elif isinstance(one, str) and isinstance(other, str):
        if one != other:
            weigh_lines(weighing, one, other, f"{where} line", quoted=True)
    elif _is_number(one) and _is_number(other):
        _numbers(weighing, one, other, where)
    elif type(one) is not type(other) or one != other:
        weighing.note("different", f"{_shown(one)} is now {_shown(other)}", where)


def _numbers(weighing: Weighing, one: float, other: float, where: str) -> None:
    if repr(one) != repr(other):
        weighing.number(repr(one), repr(other), where)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return repr(value)[:80]
