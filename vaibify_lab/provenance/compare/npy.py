"""NPY files: the array's values beside each other, by numpy's published format, without numpy."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass

from vaibify_lab.provenance.compare.measured import Measured
from vaibify_lab.provenance.compare.noise import Rules
from vaibify_lab.provenance.compare.verdict import Comparison
from vaibify_lab.provenance.compare.weighing import Weighing

SIGNATURE = b"\x93NUMPY"
_LONGEST_HEADER = 10_000
_BLOCK = 16_384  # bytes; a multiple of every size of a number
# a dictionary as numpy writes it; what is written otherwise is compared as bytes
_HEADER = re.compile(
    r"\{'descr': (?P<dtype>'[^']{1,40}'|\[.{0,9000}\]), 'fortran_order': (?P<fortran>True|False), "
    r"'shape': \((?P<shape>[0-9, ]{0,400})\),? ?\}\s*"
)
_DTYPE = re.compile(r"'([<>|=])([fciub]\d{1,2})'")
_FLOATS = {"f2": "e", "f4": "f", "f8": "d", "c8": "f", "c16": "d"}
_WHOLE = {"i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q"}
_CODES = {**_FLOATS, **_WHOLE, "b1": "B"}  # of `struct`


@dataclass(frozen=True, slots=True)
class _Array:
    dtype: str
    is_fortran: bool
    shape: tuple[int, ...]
    data: memoryview

    @property
    def code(self) -> tuple[str, str, int] | None:
        """How `struct` reads a number, and how many make a value; None for other types."""
        found = _DTYPE.fullmatch(self.dtype)
        if found is None or found[2] not in _CODES:
            return None
        order = "<" if found[1] in "|=" else found[1]
        return order, _CODES[found[2]], 2 if found[2][0] == "c" else 1


def compare_npy(stored: bytes, fresh: bytes, rules: Rules) -> Comparison:
    """Compare two arrays of one shape and kind of number."""
    mine, yours = _read(stored), _read(fresh)
    if mine is None or yours is None:
        return Comparison("different", "the bytes differ, and one is no whole NPY file")
    for name, one, other in (
        ("shape", mine.shape, yours.shape),
        ("type", mine.dtype.lstrip("'<>|="), yours.dtype.lstrip("'<>|=")),
        ("order of axes", mine.is_fortran, yours.is_fortran),
    ):
        if one != other:
            return Comparison("different", f"its {name} is another: {one} is now {other}"[:300])
    if mine.code is None or yours.code is None:
        if mine.dtype == yours.dtype and mine.data == yours.data:
            return Comparison("printed-otherwise", "the same array, its header written otherwise")
        text = f"its bytes differ; the values of type {mine.dtype[:60]} are not looked into"
        return Comparison("different", text, "the array")
    return _values(mine, yours, mine.code, yours.code, rules)


def _read(data: bytes) -> _Array | None:
    """Read a header; None where the file is not whole."""
    wide = data[6:7] in (b"\x02", b"\x03")
    if data[6:7] not in (b"\x01", b"\x02", b"\x03") or len(data) < 12:
        return None
    (length,) = struct.unpack_from("<I" if wide else "<H", data, 8)
    begin = 12 if wide else 10
    if length > _LONGEST_HEADER or begin + length > len(data):
        return None
    found = _HEADER.fullmatch(data[begin : begin + length].decode("utf-8", "replace"))
    if found is None:
        return None
    sizes = [one.strip() for one in found["shape"].split(",") if one.strip()]
    if not all(one.isdigit() and len(one) < 16 for one in sizes):
        return None
    shape = tuple(map(int, sizes))
    content = memoryview(data)[begin + length :]
    array = _Array(found["dtype"], found["fortran"] == "True", shape, content)
    if array.code is not None:
        order, code, parts = array.code
        if math.prod(shape) * struct.calcsize(order + code) * parts != len(content):
            return None
    return array


def _values(
    mine: _Array,
    yours: _Array,
    read: tuple[str, str, int],
    also: tuple[str, str, int],
    rules: Rules,
) -> Comparison:
    weighing = Weighing(rules)
    measured = Measured(weighing)
    size, parts = struct.calcsize(read[0] + read[1]), read[2]
    for start in range(0, len(mine.data), _BLOCK):
        one, other = mine.data[start : start + _BLOCK], yours.data[start : start + _BLOCK]
        if one == other and read == also:
            continue
        count = len(one) // size
        left = struct.unpack(f"{read[0]}{count}{read[1]}", one)
        right = struct.unpack(f"{also[0]}{count}{also[1]}", other)
        for at, (a, b) in enumerate(zip(left, right, strict=True), start // size):
            if a != b or a == 0:  # zeros may differ in their sign
                measured.pair(a, b, _place(mine, at, parts))
    return weighing.result()


def _place(array: _Array, at: int, parts: int) -> Callable[[], str]:
    """Say which value of the array it is."""

    def where() -> str:
        rest = at // parts
        found = []
        for length in array.shape if array.is_fortran else array.shape[::-1]:
            rest, index = divmod(rest, length)
            found.append(index)
        index_text = ", ".join(map(str, found if array.is_fortran else found[::-1]))
        part = ("", "") if parts == 1 else (" (real)", " (imaginary)")
        return f"[{index_text}]{part[at % 2]}"

    return where
