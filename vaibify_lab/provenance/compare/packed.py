"""gzip and zip: what is packed is compared as files are; when and how it was packed is noise."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from vaibify_lab.provenance.compare.verdict import Comparison, Ignored, joined
from vaibify_lab.provenance.compare.zip_layout import BrokenLayout, strays

GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
MOST_UNPACKED = 128 * 2**20  # bytes, of both sides and all that is nested
DEEPEST = 3
_MOST_MEMBERS = 10_000
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})  # the others' memory has no bound
_ENTRY = b"PK\x01\x02"
_ENCRYPTED = 0x1
_REFUSED = "the bytes differ, and were not looked into:"

Inner = Callable[[str, bytes, bytes], Comparison]


class CannotUnpack(Exception):  # the caller says it in its verdict
    """It is damaged, or would be too much."""


@dataclass(slots=True)
class Room:
    """How much may still be unpacked; shared by all that is nested in two files."""

    left: int = MOST_UNPACKED

    def take(self, size: int) -> None:
        """Use some of it up."""
        self.left -= size
        if self.left < 0:
            raise CannotUnpack(f"it unpacks to more than {MOST_UNPACKED:,} bytes")


def compare_gzip(path: str, stored: bytes, fresh: bytes, room: Room, inner: Inner) -> Comparison:
    """Compare two gzip files."""
    try:
        mine, yours = (_gunzipped(one, room) for one in (stored, fresh))
    except CannotUnpack as error:
        return Comparison("different", f"{_REFUSED} {error}")
    noise = Ignored("gzip header", "the file", _header(stored), _header(fresh))
    if stored[:10] == fresh[:10] and not (stored[3] | fresh[3]):
        noise = Ignored("compression", "the file")
    head = Comparison("noise-only", ignored=(noise,), ignored_count=1)
    if mine == yours:
        return head
    name = path[:-3] if path.lower().endswith(".gz") else path
    return joined([inner(name, mine, yours), head])


def _header(data: bytes) -> str:
    """Say when it was packed, and under which name where it has one."""
    return f"seconds {int.from_bytes(data[4:8], 'little')}, flags {data[3]}"


def _gunzipped(data: bytes, room: Room) -> bytes:
    """Unpack all members; nothing may follow them."""
    found = []
    while data:
        unpacker = zlib.decompressobj(wbits=31)
        try:
            piece = unpacker.decompress(data, room.left + 1)
        except zlib.error:
            raise CannotUnpack("it is no whole gzip file") from None
        room.take(len(piece) + 200)  # members of nothing cost something too
        if not unpacker.eof:
            raise CannotUnpack("it is no whole gzip file")
        found.append(piece)
        data = unpacker.unused_data
    return b"".join(found)


def compare_zip(path: str, stored: bytes, fresh: bytes, room: Room, inner: Inner) -> Comparison:
    """Compare two zip files, member by member in whatever order they are."""
    try:
        with _opened(stored) as mine, _opened(fresh) as yours:
            parts = list(
                _members(mine, yours, room, lambda name, *data: inner(f"{path}/{name}", *data))
            )
            return joined([*parts, _rest(strays(stored, mine), strays(fresh, yours))])
    except (CannotUnpack, BrokenLayout) as error:
        return Comparison("different", f"{_REFUSED} {error}")
    except Exception as error:  # whatever an archive made to hurt makes its reader raise
        return Comparison("different", f"{_REFUSED} no usable zip file ({type(error).__name__})")


def _opened(data: bytes) -> zipfile.ZipFile:
    if data.count(_ENTRY) > _MOST_MEMBERS:
        raise CannotUnpack(f"it has more than {_MOST_MEMBERS:,} members")
    return zipfile.ZipFile(io.BytesIO(data))


def _members(
    mine: zipfile.ZipFile, yours: zipfile.ZipFile, room: Room, inner: Inner
) -> Iterator[Comparison]:
    sides = _named(mine), _named(yours)
    for name in (*(n for n in sides[0] if n not in sides[1]), *sides[1]):
        if name not in sides[0] or name not in sides[1]:
            said = "is gone" if name in sides[0] else "is new"
            yield Comparison("different", f"the member {said}", name[:200])
            continue
        pair = sides[0][name], sides[1][name]
        yield _described(*pair).at(name[:200])
        datas = [_data(side, one, room) for side, one in zip((mine, yours), pair, strict=True)]
        if datas[0] != datas[1]:
            yield inner(name, datas[0], datas[1]).at(name[:200])
    if mine.comment != yours.comment:
        yield Comparison("different", "the comment is another", "the end of the archive")
    # bytes differ: where nothing above says why, it is how it was packed
    noise = Ignored("compression", "the archive")
    yield Comparison("noise-only", ignored=(noise,), ignored_count=1)


def _rest(mine: dict[str, bytes], yours: dict[str, bytes]) -> Comparison:
    """Compare what belongs to no member."""
    where = next((at for at in (*mine, *yours) if mine.get(at) != yours.get(at)), None)
    if where is None:
        return Comparison("identical")
    return Comparison("different", "bytes that belong to no member differ", where)


def _named(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    found = {one.filename: one for one in archive.infolist()}
    if len(found) != len(archive.infolist()):
        raise CannotUnpack("two of its members have one name")
    for one in found.values():
        if one.flag_bits & _ENCRYPTED or one.compress_type not in _METHODS:
            raise CannotUnpack(f"{one.filename[:80]!r} is encrypted or packed in an unusual way")
    return found


def _described(one: zipfile.ZipInfo, other: zipfile.ZipInfo) -> Comparison:
    """Compare what an archive tells of a member."""
    if one.external_attr >> 16 & 0o111 != other.external_attr >> 16 & 0o111:
        return Comparison("different", "may or may no longer be executed", "its mode")
    if one.comment != other.comment:
        return Comparison("different", "its comment is another", "its comment")
    if one.date_time == other.date_time:
        return Comparison("identical")
    times = [_time(side) for side in (one, other)]
    noise = Ignored("zip time", "its time", times[0], times[1])
    return Comparison("noise-only", ignored=(noise,), ignored_count=1)


def _time(one: zipfile.ZipInfo) -> str:
    year, month, day, hour, minute, second = one.date_time
    return f"{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"


def _data(archive: zipfile.ZipFile, one: zipfile.ZipInfo, room: Room) -> bytes:
    with archive.open(one) as member:
        data = member.read(room.left + 1)
    room.take(len(data))
    return data
