"""Generated pairs: no false identical, no false different, in every format that holds numbers."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.provenance.test_compare_files import both
from tests.provenance.writers import PURE, WRITERS

STEADY = settings(deadline=None, max_examples=100, derandomize=True)
floats = st.floats(width=64)


@pytest.mark.parametrize("path", WRITERS)
def test_generated_numbers(path: str) -> None:
    own = settings(STEADY, max_examples=100 if path in PURE else 30)
    own(given(values=st.lists(floats, min_size=1, max_size=6), data=st.data())(check))(path)


def check(path: str, values: list[float], data: st.DataObject) -> None:
    write, again = WRITERS[path]
    stored = write(values)
    assert both(path, stored, write(values)).verdict == "identical"
    found = both(path, stored, again(values))
    assert found.passes and (found.verdict == "identical") is (stored == again(values))
    at = data.draw(st.integers(0, len(values) - 1))
    value = values[at]

    def moved(to: float) -> str:
        found = both(path, stored, write([*values[:at], to, *values[at + 1 :]]))
        gap = found.absolute
        if found.verdict == "within-tolerance":
            assert gap is not None and gap.absolute == abs(dec(to) - dec(value))
        return found.verdict

    if not math.isfinite(value):
        assert moved(1.5) == moved(-math.inf if value != -math.inf else math.inf) == "different"
        return
    assert moved(math.nan) == moved(math.inf) == "different"
    if value == 0:
        assert moved(-value) == "within-tolerance"
    elif 1e-300 < abs(value) < 1e300:
        assert moved(math.nextafter(value, math.inf)) == "within-tolerance"
        assert moved(value * (1 + 5e-7)) == "within-tolerance"
        assert moved(value * (1 + 3e-6)) == moved(-value) == "different"


def dec(value: float) -> Decimal:
    return Decimal(repr(value))


@STEADY
@given(st.binary(max_size=40), st.binary(max_size=40), st.sampled_from([*WRITERS, "a.svg", "a"]))
def test_only_the_same_bytes_are_identical(one: bytes, two: bytes, path: str) -> None:
    assert (both(path, one, two).verdict == "identical") is (one == two)
