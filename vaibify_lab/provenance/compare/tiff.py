"""TIFF: tags that only tell of the file apart, then the values of the pixels, which may be data."""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from vaibify_lab.provenance.compare.measured import Measured
from vaibify_lab.provenance.compare.noise import Rules
from vaibify_lab.provenance.compare.pictures import MOST_PIXELS
from vaibify_lab.provenance.compare.verdict import Comparison
from vaibify_lab.provenance.compare.weighing import Weighing

if TYPE_CHECKING:
    from PIL.TiffImagePlugin import TiffImageFile

SIGNATURES = (b"II*\0", b"MM\0*")
_NOISE = {305: "TIFF software", 306: "TIFF time", 316: "TIFF computer"}
# how the pixels lie in the file and are packed
_LAYOUT = frozenset({259, 266, 273, 278, 279, 284, 317, 322, 323, 324, 325, 347, 34665, 34853})
_BITS, _SUB_PICTURES = 258, 330
_EIGHT = frozenset({"1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX", "CMYK", "LAB", "YCbCr"})
_CODES = {"F": "f", "I": "i", "I;16": "<H", "I;16L": "<H", "I;16B": ">H"}  # of `struct`
_BLOCK = 16_384


@dataclass(frozen=True, slots=True)
class _Frame:
    size: tuple[int, int]
    mode: str
    tags: dict[int, str]
    colours: bytes | None
    data: bytes


def compare_tiff(stored: bytes, fresh: bytes, rules: Rules) -> Comparison:
    """Compare two files frame by frame: bytes of colour exactly, measured values by tolerance."""
    mine, yours = _read(stored), _read(fresh)
    if isinstance(mine, str) or isinstance(yours, str):
        said = mine if isinstance(mine, str) else yours
        text = f"the bytes differ, and were not looked into: {said}"
        return Comparison("different", text, "the picture")
    if len(mine) != len(yours):
        text = f"{len(mine)} frames are now {len(yours)}"
        return Comparison("different", text, "the picture")
    weighing = Weighing(rules)
    for number, (one, other) in enumerate(zip(mine, yours, strict=True), 1):
        _frames(weighing, one, other, f"frame {number}")
    if weighing.verdict == "identical":
        weighing.pass_over("compression", "the picture")
    return weighing.result()


def _read(data: bytes) -> list[_Frame] | str:
    """Return the frames with their values, or why they cannot be had."""
    from PIL import Image, ImageSequence, TiffImagePlugin

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            opened = Image.open(io.BytesIO(data), formats=["TIFF"])
            assert isinstance(opened, TiffImagePlugin.TiffImageFile)  # the format asked for
            frames, pixels = [], 0
            for _ in ImageSequence.Iterator(opened):
                pixels += opened.width * opened.height
                if pixels > MOST_PIXELS:
                    return f"it has more than {MOST_PIXELS:,} pixels"
                frames.append(_frame(opened))
    except Exception as error:  # whatever a picture made to hurt makes its reader raise
        said = str(error) if isinstance(error, _NotWhole) else type(error).__name__
        return f"no TIFF that can be read ({said})"
    return frames


class _NotWhole(Exception):
    """The reader would not give the values that are there."""


def _frame(image: TiffImageFile) -> _Frame:
    tags = {tag: repr(value) for tag, value in image.tag_v2.items()}
    bits = image.tag_v2.get(_BITS, (1,))
    if _SUB_PICTURES in image.tag_v2:
        raise _NotWhole("it has pictures below its pictures")
    if max(bits) > (8 if image.mode in _EIGHT else 32):
        raise _NotWhole(f"it has {max(bits)} bits a value")
    palette = image.palette.tobytes() if image.palette is not None else None
    return _Frame(image.size, image.mode, tags, palette, image.tobytes())


def _frames(weighing: Weighing, one: _Frame, other: _Frame, where: str) -> None:
    for name, mine, yours in (
        ("size", one.size, other.size),
        ("kind of pixel", one.mode.rstrip("LB"), other.mode.rstrip("LB")),
        ("palette", one.colours, other.colours),
    ):
        if mine != yours:
            weighing.note("different", f"its {name} is another", where)
            return
    _tags(weighing, one.tags, other.tags, where)
    if one.mode in _CODES:
        _values(Measured(weighing), one, other, where)
    elif one.data != other.data:
        at = next(n for n, (a, b) in enumerate(zip(one.data, other.data, strict=False)) if a != b)
        row = at // max(1, len(one.data) // one.size[1])
        weighing.note("figure-differs", f"the pixels differ from row {row} on", where)


def _tags(weighing: Weighing, mine: dict[int, str], yours: dict[int, str], where: str) -> None:
    for tag in sorted({*mine, *yours} - _LAYOUT):
        one, other = mine.get(tag, ""), yours.get(tag, "")
        if one == other:
            continue
        if tag in _NOISE:
            weighing.pass_over(_NOISE[tag], where, one, other)
        else:
            weighing.note("different", f"the tag {tag} is another, gone or new", where)


def _values(measured: Measured, one: _Frame, other: _Frame, where: str) -> None:
    width = one.size[0]
    for at, mine, yours in _pairs(one, other):
        if mine != yours or mine == 0:
            measured.pair(mine, yours, partial(_point, where, at, width))


def _point(where: str, at: int, width: int) -> str:
    return f"{where}[{at // width}, {at % width}]"


def _pairs(one: _Frame, other: _Frame) -> Iterator[tuple[int, float, float]]:
    codes = [_CODES[one.mode], _CODES[other.mode]]
    size = struct.calcsize(codes[0])
    for start in range(0, len(one.data), _BLOCK):
        mine, yours = one.data[start : start + _BLOCK], other.data[start : start + _BLOCK]
        if mine == yours and codes[0] == codes[1]:
            continue
        count = len(mine) // size
        read = [
            struct.unpack(f"{code[:-1]}{count}{code[-1]}", data)
            for code, data in zip(codes, (mine, yours), strict=True)
        ]
        for at, (left, right) in enumerate(zip(*read, strict=True), start // size):
            yield at, left, right
