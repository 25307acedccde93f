"""Arrays of numpy beside each other: values by their kind, other byte orders are other writing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vaibify_lab.provenance.compare.measured import Measured

_NUMBERS = {"f": 8, "c": 16, "i": 8, "u": 8, "b": 1}  # kind: the most bytes of one
_EXACT = "mM"  # times: counts of a unit
_BLOCK = 2**16


def weigh_arrays(measured: Measured, one: Any, other: Any, where: str) -> None:
    """Compare two arrays whose types hold no Python objects."""
    weighing = measured.weighing
    if one.shape != other.shape:
        weighing.note("different", f"its shape {one.shape} is now {other.shape}", where)
    elif one.dtype.names or other.dtype.names:
        _fields(measured, one, other, where)
    elif one.dtype.kind in "SU" and other.dtype.kind == one.dtype.kind:
        _texts(measured, one, other, where)
    elif one.dtype.newbyteorder("=") != other.dtype.newbyteorder("="):
        weighing.note("different", f"its type {one.dtype} is now {other.dtype}"[:300], where)
    else:
        if one.dtype != other.dtype:
            weighing.note("printed-otherwise", "the byte order is another", where)
        _values(measured, one, other, where)


def _fields(measured: Measured, one: Any, other: Any, where: str) -> None:
    if one.dtype.names != other.dtype.names:
        text = f"its fields {one.dtype.names} are now {other.dtype.names}"[:300]
        measured.weighing.note("different", text, where)
        return
    for name in one.dtype.names:
        weigh_arrays(measured, one[name], other[name], f"{where}.{name}"[:200])


def _texts(measured: Measured, one: Any, other: Any, where: str) -> None:
    import numpy as np

    for at in np.flatnonzero((one != other).reshape(-1)).tolist():
        pair = (one.flat[at], other.flat[at])
        text = f"{str(pair[0])[:80]!r} is now {str(pair[1])[:80]!r}"
        measured.weighing.note("different", text, _place(one.shape, at, where)())
        return


def _values(measured: Measured, one: Any, other: Any, where: str) -> None:
    kind, size = one.dtype.kind, one.dtype.itemsize
    one, other = (side.astype(side.dtype.newbyteorder("=")).reshape(-1) for side in (one, other))
    if kind in _NUMBERS and size <= _NUMBERS[kind]:
        _numbers(measured, one, other, where)
    elif one.tobytes() != other.tobytes():
        text = "its times are others" if kind in _EXACT else f"its bytes of type {one.dtype} differ"
        measured.weighing.note("different", text[:300], where)


def _numbers(measured: Measured, one: Any, other: Any, where: str) -> None:
    """Compare the numbers whose bits differ; complex ones part by part."""
    import numpy as np

    shape = one.shape
    if one.dtype.kind == "c":
        shape = (*shape, 2)
        one, other = (side.view(f"f{side.dtype.itemsize // 2}") for side in (one, other))
    elif one.dtype.kind == "b":  # what is true may be any number but zero
        one, other = one.view("u1") != 0, other.view("u1") != 0
        one, other = one.astype("u1"), other.astype("u1")
    bits = [side.view(f"u{side.dtype.itemsize}") for side in (one, other)]
    for start in range(0, len(one), _BLOCK):
        end = start + _BLOCK
        differing = np.flatnonzero(bits[0][start:end] != bits[1][start:end]) + start
        pairs = zip(
            differing.tolist(), one[differing].tolist(), other[differing].tolist(), strict=True
        )
        for at, mine, yours in pairs:
            measured.pair(mine, yours, _place(shape, at, where))


def _place(shape: tuple[int, ...], at: int, where: str) -> Callable[[], str]:
    def place() -> str:
        rest, found = at, []
        for length in reversed(shape):
            rest, index = divmod(rest, length)
            found.append(str(index))
        return f"{where}[{', '.join(reversed(found))}]"

    return place
