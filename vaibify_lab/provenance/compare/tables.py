"""CSV and TSV: cell beside cell, whatever way they are quoted."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

from vaibify_lab.provenance.compare.measured import Measured
from vaibify_lab.provenance.compare.named import names_what_is_below
from vaibify_lab.provenance.compare.noise import Rules
from vaibify_lab.provenance.compare.verdict import Comparison
from vaibify_lab.provenance.compare.weighing import Weighing

# no zero in front: there the digits are a name
_NUMBER = re.compile(r"[-+]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,4})?", re.ASCII)
_WHOLE = re.compile(r"[-+]?\d+", re.ASCII)
_WORDS = re.compile(r"[-+]?(?:nan|inf(?:inity)?)", re.IGNORECASE)
_LONGEST = 400
_NAME = 60
_BOM = "\ufeff"


class NoTable(Exception):  # not an error of anybody's: the caller compares otherwise
    """The text is no table by the rules of CSV."""


def compare_tables(stored: str, fresh: str, rules: Rules, *, tabs: bool = False) -> Comparison:
    """Compare two tables.

    Raises
    ------
    NoTable
        One of them is none.
    """
    weighing = Weighing(rules)
    measured = Measured(weighing)
    by = "\t" if tabs else _delimiter(stored)
    header: Sequence[str] = ()
    pairs = zip_longest(_rows(stored, by), _rows(fresh, by))
    for number, (one, other) in enumerate(pairs, 1):
        if one is None or other is None:
            more, at = ("fresh", "is new") if one is None else ("stored", "is gone")
            weighing.note("different", f"row {number} of the {more} table {at}", f"row {number}")
            break
        if number == 1:
            header = [] if any(_is_number(cell) for cell in one) else one
        if one != other:
            _row(measured, one, other, number, header)
    return weighing.result()


def _rows(text: str, by: str) -> Iterator[list[str]]:
    source = io.StringIO(text.removeprefix(_BOM), newline="")
    try:
        yield from csv.reader(source, delimiter=by, strict=True)
    except csv.Error as error:
        raise NoTable(str(error)) from None


def _delimiter(text: str) -> str:
    """Return what parts the cells of the first line that is not a comment."""
    head = next((line for line in text[:100_000].split("\n") if line[:1] not in ("#", "")), "")
    return max(",;\t", key=head.count)


def _row(
    measured: Measured, one: list[str], other: list[str], number: int, header: Sequence[str]
) -> None:
    weighing = measured.weighing
    if len(one) != len(other):
        weighing.note("different", f"{len(one)} cells are now {len(other)}", f"row {number}")
        return
    for at, (stored, fresh) in enumerate(zip(one, other, strict=True)):
        if stored == fresh:
            continue

        def where(at: int = at) -> str:
            name = header[at][:_NAME] if at < len(header) else ""
            return f"row {number}, column {name or at + 1}"

        is_name = at < len(header) and names_what_is_below(header[at][:_NAME])
        if is_name and stored.strip() != fresh.strip():
            weighing.line(stored, fresh, where(), quoted=True)
        elif not _numbers(measured, stored.strip(), fresh.strip(), where):
            _texts(weighing, stored, fresh, where())


def _numbers(measured: Measured, stored: str, fresh: str, where: Callable[[], str]) -> bool:
    """Compare two cells that are numbers; False: one of them is none."""
    if not (_is_number(stored) and _is_number(fresh)):
        return False
    if stored == fresh:
        measured.weighing.note("printed-otherwise", "the blanks differ", where())
    elif _WHOLE.fullmatch(stored) or _WHOLE.fullmatch(fresh):
        measured.weighing.number(stored, fresh, where())
    else:
        measured.printed(stored, fresh, float(stored), float(fresh), where)
    return True


def _texts(weighing: Weighing, stored: str, fresh: str, where: str) -> None:
    if stored.strip().isdigit() or fresh.strip().isdigit():  # digits that are a name
        weighing.note("different", f"{stored[:80]!r} is now {fresh[:80]!r}", where)
    else:
        weighing.line(stored, fresh, where)


def _is_number(cell: str) -> bool:
    return len(cell) <= _LONGEST and bool(_NUMBER.fullmatch(cell) or _WORDS.fullmatch(cell))
