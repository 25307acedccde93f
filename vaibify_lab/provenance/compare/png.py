"""PNG files: chunks that only tell of the file apart, then the pixels."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from vaibify_lab.provenance.compare.pictures import compare_pictures
from vaibify_lab.provenance.compare.verdict import SAMPLES, Comparison, Ignored

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_NOISE = {b"tEXt": "text", b"zTXt": "text", b"iTXt": "text", b"tIME": "time"}
_PIXELS = frozenset({b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND", b"sBIT"})  # weighed as pixels
_MOST = 64 * 2**20

_Chunk = tuple[bytes, bytes]


def compare_png(stored: bytes, fresh: bytes) -> Comparison:
    """Compare two PNG files: text and times are noise, what else is not pixels must be equal."""
    mine, yours = _chunks(stored), _chunks(fresh)
    if mine is None or yours is None:
        text = "the bytes differ, and it is no whole PNG"
        return Comparison("figure-differs", text, "the picture")
    other = _first_other(mine, yours)
    if other is not None:
        text = f"the chunk {other} is another, gone or new"
        return Comparison("figure-differs", text, "the picture")
    noise = list(_noise(mine, yours))
    if [one for one in mine if one[0] in _PIXELS] != [one for one in yours if one[0] in _PIXELS]:
        if not _same_data(mine, yours):
            found = compare_pictures(stored, fresh)
            if not found.passes:
                return found
        noise.append(Ignored("compression", "the picture"))
    if not noise:
        return Comparison("printed-otherwise", "the same chunks in another order", "the picture")
    return Comparison("noise-only", ignored=tuple(noise[:SAMPLES]), ignored_count=len(noise))


def _chunks(data: bytes) -> list[_Chunk] | None:
    """Return the chunks; None where the file is not whole or something follows its end."""
    found: list[_Chunk] = []
    at = len(SIGNATURE)
    while at + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, end = data[at + 4 : at + 8], at + 12 + length
        if end > len(data) or data[end - 4 : end] != _sum(data[at + 4 : end - 4]):
            return None
        found.append((kind, data[at + 8 : end - 4]))
        at = end
        if kind == b"IEND":
            break
    return found if found and found[-1][0] == b"IEND" and at == len(data) else None


def _sum(data: bytes) -> bytes:
    return struct.pack(">I", zlib.crc32(data))


def _first_other(mine: list[_Chunk], yours: list[_Chunk]) -> str | None:
    """Name a chunk that is neither noise nor pixels and not on both sides."""
    kept = [
        [one for one in side if one[0] not in _NOISE and one[0] not in _PIXELS]
        for side in (mine, yours)
    ]
    for one, other in zip(*kept, strict=False):
        if one != other:
            return ascii(one[0].decode("latin-1"))
    rest = kept[0][len(kept[1]) :] + kept[1][len(kept[0]) :]
    return ascii(rest[0][0].decode("latin-1")) if rest else None


def _noise(mine: list[_Chunk], yours: list[_Chunk]) -> Iterator[Ignored]:
    sides = [[one for one in side if one[0] in _NOISE] for side in (mine, yours)]
    for at in range(max(map(len, sides))):
        one, other = (side[at] if at < len(side) else (b"", b"") for side in sides)
        if one != other:
            kind = _NOISE[one[0] or other[0]]
            yield Ignored(f"PNG {kind}", "the picture", _shown(one[1]), _shown(other[1]))


def _shown(data: bytes) -> str:
    return data[:80].decode("latin-1").replace("\0", " ")


def _same_data(mine: list[_Chunk], yours: list[_Chunk]) -> bool:
    """Tell whether the same lines of pixels were only packed otherwise."""
    for kind in _PIXELS - {b"IDAT"}:
        if [one for one in mine if one[0] == kind] != [one for one in yours if one[0] == kind]:
            return False
    unpacked = [_inflated(side) for side in (mine, yours)]
    return unpacked[0] is not None and unpacked[0] == unpacked[1]


def _inflated(chunks: list[_Chunk]) -> bytes | None:
    packed = b"".join(data for kind, data in chunks if kind == b"IDAT")
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(packed, _MOST)
    except zlib.error:
        return None
    return data if unpacker.eof and not unpacker.unused_data else None
