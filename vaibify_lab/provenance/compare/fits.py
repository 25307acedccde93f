"""FITS: header cards and the data of each unit; when it was written and its sums are noise."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from vaibify_lab.provenance.compare.arrays import weigh_arrays
from vaibify_lab.provenance.compare.measured import Measured
from vaibify_lab.provenance.compare.noise import Rules
from vaibify_lab.provenance.compare.packed import CannotUnpack, Room
from vaibify_lab.provenance.compare.structured import weigh_json
from vaibify_lab.provenance.compare.verdict import Comparison
from vaibify_lab.provenance.compare.weighing import Weighing

SIGNATURE = b"SIMPLE  ="
_CARD = 80
_UNIT = 5_760  # bytes of room that each unit costs
_MOST_CARDS = 200_000
_NOISE = {"DATE": "FITS date", "CHECKSUM": "FITS sum", "DATASUM": "FITS sum"}
# each writer has words of its own beside these
_FORM = frozenset(
    {"SIMPLE", "XTENSION", "BITPIX", "EXTEND", "PCOUNT", "GCOUNT", "TFIELDS", "GROUPS"}
)
_FORMS = ("NAXIS", "TFORM", "TTYPE", "TDIM", "TSCAL", "TZERO", "BSCALE", "BZERO")


def compare_fits(stored: bytes, fresh: bytes, rules: Rules, room: Room) -> Comparison:
    """Compare two files unit by unit."""
    from astropy.io import fits

    if max(stored.count(b"END" + b" " * 77), fresh.count(b"END" + b" " * 77)) * _UNIT > room.left:
        raise CannotUnpack("it has too many units")
    weighing = Weighing(replace(rules, kinds=frozenset()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is odd on both sides is not for us to say
        options = {"memmap": False, "lazy_load_hdus": False, "do_not_scale_image_data": True}
        with (
            fits.open(io.BytesIO(stored), **options) as mine,
            fits.open(io.BytesIO(fresh), **options) as yours,
        ):
            _units(weighing, room, mine, yours)
    if weighing.verdict == "identical":
        weighing.pass_over("FITS layout", "the file")
    return weighing.result()


def _units(weighing: Weighing, room: Room, mine: Any, yours: Any) -> None:
    if len(mine) != len(yours):
        text = f"{len(mine)} units are now {len(yours)}"
        weighing.note("different", text, f"unit {min(len(mine), len(yours))}")
    measured = Measured(weighing)
    for number, (one, other) in enumerate(zip(mine, yours, strict=False)):
        room.take(_UNIT)
        where = f"unit {number}" + (f" ({one.name[:40]})" if one.name else "")
        if type(one) is not type(other):
            text = f"what was a {type(one).__name__} is a {type(other).__name__} now"
            weighing.note("different", text, where)
            continue
        _headers(weighing, one.header, other.header, where)
        for side in (one, other):
            room.take(_size(side.header))
        _data(measured, one, other, where)


def _size(header: Any) -> int:
    """Return how many bytes the data of a unit is said to take, unpacked."""
    lengths = [max(0, int(header.get(f"NAXIS{at}", 0))) for at in range(1, header["NAXIS"] + 1)]
    size = abs(int(header["BITPIX"])) // 8 if lengths else 0
    for length in lengths:
        size *= length
    return size + max(0, int(header.get("PCOUNT", 0)))


def _headers(weighing: Weighing, mine: Any, yours: Any, where: str) -> None:
    if max(len(mine), len(yours)) > _MOST_CARDS:
        raise CannotUnpack(f"it has more than {_MOST_CARDS:,} header cards")
    sides = [_cards(header) for header in (mine, yours)]
    for keyword in dict.fromkeys((*sides[0], *sides[1])):
        place = f"{where}, {keyword or 'a blank card'}"
        cards = [side.get(keyword, []) for side in sides]
        if cards[0] == cards[1] and repr(cards[0]) == repr(cards[1]):
            continue
        if keyword in _NOISE:
            shown = [str(one[0][0]) if one else "" for one in cards]
            weighing.pass_over(_NOISE[keyword], place, *shown)
        elif len(cards[0]) != len(cards[1]):
            text = f"{len(cards[0])} cards are now {len(cards[1])}"
            weighing.note("different", text, place)
        else:
            _keyword(weighing, keyword, cards, place)


def _keyword(weighing: Weighing, keyword: str, cards: list[list[tuple[Any, str]]], at: str) -> None:
    for (one, mine), (other, yours) in zip(*cards, strict=True):
        weigh_json(weighing, _plain(one), _plain(other), at)
        if mine == yours:
            continue
        if keyword in _FORM or keyword.rstrip("0123456789") in _FORMS:
            weighing.pass_over("FITS comment", at, mine, yours)
        else:  # the unit of a value stands there
            weighing.note("different", f"its comment {mine[:60]!r} is now {yours[:60]!r}", at)


def _cards(header: Any) -> dict[str, list[tuple[Any, str]]]:
    found: dict[str, list[tuple[Any, str]]] = {}
    for card in header.cards:
        found.setdefault(card.keyword, []).append((card.value, card.comment))
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, complex):
        return [value.real, value.imag]
    return value if isinstance(value, bool | int | float | str) else str(value)


def _data(measured: Measured, one: Any, other: Any, where: str) -> None:
    mine, yours = one.data, other.data
    if mine is None or yours is None or not hasattr(mine, "dtype"):
        if mine is not yours and mine != yours:
            measured.weighing.note("different", "its data is another, gone or new", where)
        return
    if mine.dtype.names is None or yours.dtype.names is None:
        weigh_arrays(measured, mine, yours, where)
        return
    for name, columns in _columns(mine, yours):
        place = f"{where}, column {name}"[:200]
        if any(column.dtype.hasobject for column in columns):
            weigh_json(measured.weighing, _rows(columns[0]), _rows(columns[1]), place)
        else:
            weigh_arrays(measured, *columns, place)
    if mine.dtype.names != yours.dtype.names or len(mine) != len(yours):
        measured.weighing.note("different", "its columns or rows are others", where)


def _columns(mine: Any, yours: Any) -> Iterator[tuple[str, tuple[Any, Any]]]:
    import numpy as np

    for name in mine.dtype.names:
        if name in yours.dtype.names:
            yield name, (np.asarray(mine.field(name)), np.asarray(yours.field(name)))


def _rows(column: Any) -> list[Any]:
    """Return rows of different lengths as lists."""
    return [_listed(row) for row in column]


def _listed(row: Any) -> Any:
    plain = row.tolist() if hasattr(row, "tolist") else row
    if isinstance(plain, list):
        return [_listed(one) for one in plain]
    return plain.decode("latin-1") if isinstance(plain, bytes) else _plain(plain)
