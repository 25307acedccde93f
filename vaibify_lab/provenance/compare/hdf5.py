"""HDF5: groups, data sets and attributes; when and how they lie in the file is noise.

Nothing outside the file is opened: links to other files are compared as text, data that lies
elsewhere is refused.
"""

from __future__ import annotations

import io
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

SIGNATURE = b"\x89HDF\r\n\x1a\n"
_OBJECT = 2_000  # bytes of room that each object costs
_WRITER = frozenset({"_NCProperties"})  # which library made a netCDF file

_Pair = tuple[Any, Any]


def compare_hdf5(stored: bytes, fresh: bytes, rules: Rules, room: Room) -> Comparison:
    """Compare all that two files hold."""
    import h5py

    weighing = Weighing(replace(rules, kinds=frozenset()))
    with (
        h5py.File(io.BytesIO(stored), "r") as mine,
        h5py.File(io.BytesIO(fresh), "r") as yours,
    ):
        _Walk(weighing, room).all((mine, yours))
    if weighing.verdict == "identical":
        weighing.pass_over("HDF5 layout", "the file")
    return weighing.result()


class _Walk:
    """A walk through both files at once, each pair of objects seen once."""

    def __init__(self, weighing: Weighing, room: Room) -> None:
        self._weighing = weighing
        self._measured = Measured(weighing)
        self._room = room
        self._seen: set[tuple[int, int]] = set()

    def all(self, files: _Pair) -> None:
        """Compare two files from their root groups on."""
        pending = [("/", files)]
        while pending:
            where, pair = pending.pop()
            pending += self._object(where, pair)

    def _object(self, where: str, pair: _Pair) -> Iterator[tuple[str, _Pair]]:
        """Compare two objects; yield the pairs that they hold."""
        import h5py

        self._room.take(_OBJECT)
        one, other = (h5py.h5g.get_objinfo(side.id) for side in pair)
        places = one.objno[0], other.objno[0]
        if places in self._seen:
            return
        self._seen.add(places)
        kinds = [_kind(side) for side in pair]
        if kinds[0] != kinds[1]:
            self._weighing.note("different", f"what was a {kinds[0]} is a {kinds[1]} now", where)
            return
        if one.mtime != other.mtime:
            self._weighing.pass_over("HDF5 time", where, str(one.mtime), str(other.mtime))
        self._attributes(where, pair)
        if kinds[0] == "group":
            yield from self._members(where, pair)
        elif kinds[0] == "data set":
            self._data(where, pair)
        elif pair[0].dtype != pair[1].dtype:
            self._weighing.note("different", "the type is another", where)

    def _members(self, where: str, pair: _Pair) -> Iterator[tuple[str, _Pair]]:
        import h5py

        names = self._names(where, "member", pair)
        for name in names:
            inner = f"{where.rstrip('/')}/{name}"[:200]
            links = [side.get(name, getlink=True) for side in pair]
            if all(isinstance(link, h5py.HardLink) for link in links):
                yield inner, (pair[0][name], pair[1][name])
                continue
            said = [_link(link) for link in links]
            if said[0] != said[1]:
                text = f"the link {said[0]} is now {said[1]}"
                self._weighing.note("different", text[:300], inner)

    def _attributes(self, where: str, pair: _Pair) -> None:
        sides = pair[0].attrs, pair[1].attrs
        for name in self._names(where, "attribute", sides):
            self._room.take(_OBJECT + sum(side.get_id(name).get_storage_size() for side in sides))
            place = f"{where}, attribute {name}"[:200]
            if name in _WRITER:
                found = [str(side[name]) for side in sides]
                if found[0] != found[1]:
                    self._weighing.pass_over("HDF5 writer", place, *found)
                continue
            self._values(place, pair, tuple(side[name] for side in sides))

    def _names(self, where: str, what: str, sides: _Pair) -> list[str]:
        mine, yours = (set(side) for side in sides)
        for name in sorted(mine ^ yours):
            said = "is gone" if name in mine else "is new"
            self._weighing.note("different", f"the {what} {name[:80]!r} {said}", where)
        return sorted(mine & yours)

    def _data(self, where: str, pair: _Pair) -> None:
        for side in pair:
            if side.is_virtual or side.external:
                raise CannotUnpack("it refers to other files")
            self._room.take(side.nbytes or 0)
        if pair[0].shape != pair[1].shape:
            text = f"its shape {pair[0].shape} is now {pair[1].shape}"
            self._weighing.note("different", text, where)
        else:
            self._values(where, pair, (pair[0][()], pair[1][()]))

    def _values(self, where: str, owners: _Pair, values: tuple[Any, ...]) -> None:
        """Compare two values as h5py reads them."""
        import numpy as np

        one, other = (np.asarray(value) for value in values)
        if "O" in one.dtype.str + other.dtype.str or _holds_objects(one, other):
            plain = [_plain(value, owner.file) for value, owner in zip(values, owners, strict=True)]
            weigh_json(self._weighing, plain[0], plain[1], where)
            return
        if one.dtype.kind in "SU" and other.dtype.kind in "SU":
            one, other = (
                np.char.decode(side, "latin-1") if side.dtype.kind == "S" else side
                for side in (one, other)
            )
        if dict(one.dtype.metadata or {}) != dict(other.dtype.metadata or {}):
            self._weighing.note("different", "its type is another", where)
        weigh_arrays(self._measured, one, other, where)


def _holds_objects(*arrays: Any) -> bool:
    return any(one.dtype.hasobject for one in arrays)


def _kind(side: Any) -> str:
    import h5py

    if isinstance(side, h5py.Group):
        return "group"
    return "data set" if isinstance(side, h5py.Dataset) else "named type"


def _link(link: Any) -> str:
    path, file = getattr(link, "path", ""), getattr(link, "filename", "")
    return f"{type(link).__name__} {file} {path}"


def _plain(value: Any, file: Any) -> Any:
    """Return a value as JSON could hold it: text as text, references as the names they mean."""
    import h5py
    import numpy as np

    if isinstance(value, h5py.RegionReference):
        raise CannotUnpack("it refers to regions")
    if isinstance(value, h5py.Reference):
        return f"reference to {file[value].name}" if value else "no reference"
    if isinstance(value, h5py.Empty):
        return f"nothing, of type {value.dtype}"
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("latin-1")
    if isinstance(value, np.void) and value.dtype.names:
        return {name: _plain(value[name], file) for name in value.dtype.names}
    if isinstance(value, np.ndarray):
        return [_plain(one, file) for one in value] if value.shape else _plain(value[()], file)
    if isinstance(value, np.generic):
        return _plain(value.item(), file) if value.dtype.kind != "V" else value.tobytes().hex()
    return value if isinstance(value, bool | int | float) else str(value)
