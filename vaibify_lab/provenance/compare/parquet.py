"""Parquet: columns by name, value by value; how they are cut, coded and packed is noise."""

from __future__ import annotations

import base64
import datetime
import decimal
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.provenance.compare.arrays import weigh_arrays
from vaibify_lab.provenance.compare.measured import Measured
from vaibify_lab.provenance.compare.noise import Rules
from vaibify_lab.provenance.compare.packed import CannotUnpack, Room
from vaibify_lab.provenance.compare.structured import weigh_json
from vaibify_lab.provenance.compare.verdict import Comparison
from vaibify_lab.provenance.compare.weighing import Weighing

SIGNATURE = b"PAR1"
_MOST_VALUES = 40_000_000
_ROWS = 2**16
_SCHEMA = b"ARROW:schema"  # the types again, which are compared as such
_NUMBER = b"PARQUET:field_id"
_PANDAS = b"pandas"
_WRITERS = ("creator", "pandas_version")


def compare_parquet(stored: bytes, fresh: bytes, rules: Rules, room: Room) -> Comparison:
    """Compare two tables."""
    import pyarrow
    from pyarrow import parquet

    weighing = Weighing(replace(rules, kinds=frozenset()))
    sides = [
        parquet.ParquetFile(pyarrow.BufferReader(one), pre_buffer=False) for one in (stored, fresh)
    ]
    for side in sides:
        room.take(_size(side.metadata))
    _compare(weighing, *sides)
    if weighing.verdict == "identical":
        writers = [str(side.metadata.created_by) for side in sides]
        weighing.pass_over("Parquet layout", "the file", *writers)
    return weighing.result()


def _size(metadata: Any) -> int:
    """Return how many bytes its columns are said to take."""
    if metadata.num_rows * max(1, metadata.num_columns) > _MOST_VALUES:
        raise CannotUnpack(f"it has more than {_MOST_VALUES:,} values")
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    return sum(max(0, group.total_byte_size) for group in groups)


def _compare(weighing: Weighing, mine: Any, yours: Any) -> None:
    schemas = mine.schema_arrow, yours.schema_arrow
    names = [schema.names for schema in schemas]
    if any(len(set(side)) != len(side) for side in names):
        raise CannotUnpack("two of its columns have one name")
    _notes(weighing, schemas)
    for name in dict.fromkeys((*names[0], *names[1])):
        if name not in names[0] or name not in names[1]:
            said = "is gone" if name in names[0] else "is new"
            weighing.note("different", f"the column {name[:80]!r} {said}", "the table")
    rows = mine.metadata.num_rows, yours.metadata.num_rows
    if rows[0] != rows[1]:
        weighing.note("different", f"{rows[0]} rows are now {rows[1]}", "the table")
        return
    measured = Measured(weighing)
    for name in (name for name in names[0] if name in names[1]):
        where = f"column {name}"[:100]
        types = [_type(schema.field(name).type) for schema in schemas]
        if types[0] != types[1]:
            text = f"its type {types[0]} is now {types[1]}"[:300]
            weighing.note("different", text, where)
            continue
        fields = [schema.field(name) for schema in schemas]
        if _said_of(fields[0]) != _said_of(fields[1]) or not types[0].equals(
            types[1], check_metadata=True
        ):
            weighing.note("different", "what is noted beside it is another", where)
        for start, one, other in _pieces(mine, yours, name, types[0]):
            _column(measured, one, other, start, where)
    if names[0] != names[1] and set(names[0]) == set(names[1]):
        weighing.note("printed-otherwise", "the columns are in another order", "the table")


def _notes(weighing: Weighing, schemas: tuple[Any, Any]) -> None:
    """Compare what writers add to a table: its names and values."""
    notes = [dict(schema.metadata or {}) for schema in schemas]
    found = []
    for side in notes:
        side.pop(_SCHEMA, None)
        plain: dict[str, Any] = {
            key.decode("latin-1"): base64.b64encode(value).decode() for key, value in side.items()
        }
        if _PANDAS in side:
            plain[_PANDAS.decode()] = _of_pandas(side[_PANDAS])
        found.append(plain)
    writers = [
        {key: side["pandas"].pop(key, None) for key in _WRITERS}
        if isinstance(side.get("pandas"), dict)
        else {}
        for side in found
    ]
    if writers[0] != writers[1]:
        weighing.pass_over("Parquet writer", "the table", str(writers[0]), str(writers[1]))
    weigh_json(weighing, found[0], found[1], "metadata")


def _of_pandas(data: bytes) -> Any:
    try:
        return jsonio.loads(data, "it", constants=True)
    except InvalidFile:
        return data.decode("latin-1")


def _type(of: Any) -> Any:
    """Return a type without how it is coded."""
    from pyarrow import binary, string, types

    if types.is_dictionary(of):
        return _type(of.value_type)
    if types.is_large_string(of) or types.is_string_view(of):
        return string()
    if types.is_large_binary(of) or types.is_binary_view(of):
        return binary()
    return of


def _said_of(field: Any) -> dict[bytes, bytes]:
    """Return what a writer noted beside a column, a unit perhaps, without the column's number."""
    return {key: value for key, value in (field.metadata or {}).items() if key != _NUMBER}


def _pieces(mine: Any, yours: Any, name: str, of: Any) -> Iterator[tuple[int, Any, Any]]:
    """Yield a column in pieces that begin at the same row on both sides."""
    columns = []
    for side in (mine, yours):
        column = side.read(columns=[name], use_threads=False).column(name)
        columns.append(column if column.type == of else column.cast(of))
    for start in range(0, len(columns[0]), _ROWS):
        one, other = (column.slice(start, _ROWS).combine_chunks() for column in columns)
        if len(one) != len(other):
            raise CannotUnpack("it has fewer values than rows")
        yield start, one, other


def _column(measured: Measured, one: Any, other: Any, start: int, where: str) -> None:
    from pyarrow import types

    of = one.type
    if not (types.is_integer(of) or types.is_floating(of)):
        weigh_json(measured.weighing, _plain(one), _plain(other), f"{where}, rows from {start}")
        return
    missing = [side.is_null().to_numpy(zero_copy_only=False) for side in (one, other)]
    if (missing[0] != missing[1]).any():
        at = start + int((missing[0] != missing[1]).argmax())
        measured.weighing.note("different", "a value is missing on one side", f"{where}[{at}]")
        return
    filled = [side.fill_null(0).to_numpy(zero_copy_only=False) for side in (one, other)]
    place = f"{where}, rows from {start} " if start else where
    weigh_arrays(measured, filled[0], filled[1], place)


def _plain(column: Any) -> list[Any]:
    """Return values as JSON could hold them."""
    from pyarrow import int64, types

    if types.is_timestamp(column.type) or types.is_duration(column.type):
        column = column.cast(int64())  # nanoseconds have no other form in Python
    return [_value(one) for one in column.to_pylist()]


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _value(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_value(one) for one in value]
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, decimal.Decimal | datetime.date | datetime.time):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
