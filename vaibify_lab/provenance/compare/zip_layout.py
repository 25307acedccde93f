"""What lies in a zip file and in no member: before, between and behind them, and in their headers.

A reader of zip files finds the members from the end and never looks at the rest.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator

_LOCAL, _ENTRY, _END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_END64, _LOCATOR, _DESCRIPTOR = b"PK\x06\x06", b"PK\x06\x07", b"PK\x07\x08"
_DESCRIBED_BEHIND = 0x8
_BLOCK = 2**20
# fields that hold sizes (zip64), times and the owner's number, or fill up to a boundary
_FIELDS = frozenset({0x0001, 0x000A, 0x5455, 0x5855, 0x7855, 0x7875, 0xCAFE, 0xD935})


class BrokenLayout(ValueError):
    """The parts of the archive do not lie as its directory says."""


def strays(data: bytes, archive: zipfile.ZipFile) -> dict[str, bytes]:
    """Return what belongs to no member by where it is; an archive as it should be has nothing.

    Raises
    ------
    BrokenLayout
        Members lie over each other, or something is not where it should be.
    """
    found = {}
    done, before = 0, "before the first member"
    for one in sorted(archive.infolist(), key=lambda member: member.header_offset):
        found[before] = _behind(data, done, one.header_offset)
        begin, extra = _local(data, one)
        done = begin + one.compress_size
        found[f"in the header of {one.filename[:80]!r}"] = _unknown(extra) + _unknown(one.extra)
        found[f"in the data of {one.filename[:80]!r}"] = _unused(data, begin, one)
        done += _descriptor(data, done, one)
        before = f"after {one.filename[:80]!r}"
    found[before] = _behind(data, done, archive.start_dir)
    found["behind the archive"] = data[_end(data, archive) :]
    return {place: rest for place, rest in found.items() if rest}


def _behind(data: bytes, done: int, begin: int) -> bytes:
    if begin < done:
        raise BrokenLayout("its members lie over each other")
    return data[done:begin]


def _local(data: bytes, one: zipfile.ZipInfo) -> tuple[int, bytes]:
    """Return where a member's data begins, and the further fields of its header."""
    header = data[one.header_offset : one.header_offset + 30]
    if len(header) < 30 or header[:4] != _LOCAL:
        raise BrokenLayout("a member is not where it should be")
    name, extra = struct.unpack("<HH", header[26:])
    begin = one.header_offset + 30 + name
    return begin + extra, data[begin : begin + extra]


def _unknown(extra: bytes) -> bytes:
    """Return the fields of a header that may hold anything."""
    found, at = b"", 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        if kind not in _FIELDS:
            found += extra[at : at + 4 + size]
        at += 4 + size
    return found + extra[at:]


def _unused(data: bytes, begin: int, one: zipfile.ZipInfo) -> bytes:
    """Return what stands in a member's place behind the end of its data."""
    packed = data[begin : begin + one.compress_size]
    if one.compress_type == zipfile.ZIP_STORED:
        return packed[one.file_size :]
    unpacker = zlib.decompressobj(-15)
    left = one.file_size + _BLOCK  # `zipfile` read the member before, so its size is bounded
    while packed and not unpacker.eof and left > 0:
        left -= len(unpacker.decompress(packed, _BLOCK))
        packed = unpacker.unconsumed_tail
    return unpacker.unused_data if unpacker.eof else b"no end"


def _descriptor(data: bytes, at: int, one: zipfile.ZipInfo) -> int:
    """Return how long the description behind a member's data is."""
    if not one.flag_bits & _DESCRIBED_BEHIND:
        return 0
    return next((len(each) for each in _descriptors(one) if data.startswith(each, at)), 0)


def _descriptors(one: zipfile.ZipInfo) -> Iterator[bytes]:
    for mark in (_DESCRIPTOR, b""):
        for sizes in ("<LQQ", "<LLL"):
            if sizes == "<LQQ" or max(one.compress_size, one.file_size) < 2**32:
                yield mark + struct.pack(sizes, one.CRC, one.compress_size, one.file_size)


def _end(data: bytes, archive: zipfile.ZipFile) -> int:
    """Return where the archive ends, by its directory and the records behind that."""
    at = archive.start_dir
    for _ in archive.infolist():
        if not data.startswith(_ENTRY, at):
            raise BrokenLayout("its directory is not whole")
        at += 46 + sum(struct.unpack_from("<HHH", data, at + 28))
    if data.startswith(_END64, at):
        at += 12 + int(struct.unpack_from("<Q", data, at + 4)[0])
        at += 20 if data.startswith(_LOCATOR, at) else 0
    if not data.startswith(_END, at):
        raise BrokenLayout("its directory does not end where it should")
    return at + 22 + int(struct.unpack_from("<H", data, at + 20)[0])
