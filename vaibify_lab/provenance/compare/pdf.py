"""PDF files: dates, ids and where objects lie in the file apart, byte by byte."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import zip_longest

from vaibify_lab.provenance.compare.verdict import SAMPLES, Comparison, Ignored

SIGNATURE = b"%PDF-"
_STREAM = re.compile(rb">>[ \t\r\n]{0,8}stream\r?\n")
_HEADER = re.compile(rb"(?<![0-9])\d{1,10} \d{1,5} obj\b")
# strings without brackets inside: what a date is written as
_NOISE: tuple[tuple[str, re.Pattern[bytes]], ...] = (
    ("PDF date", re.compile(rb"(?<=/CreationDate)\s{0,4}\([^()\\]{0,60}\)")),
    ("PDF date", re.compile(rb"(?<=/ModDate)\s{0,4}\([^()\\]{0,60}\)")),
    (
        "PDF id",
        re.compile(rb"(?<=/ID)\s{0,4}\[\s{0,4}<[0-9A-Fa-f]{0,128}>\s{0,4}<[0-9A-Fa-f]{0,128}>"),
    ),
)
_XMP: tuple[tuple[str, re.Pattern[bytes]], ...] = (
    ("PDF date", re.compile(rb"(?<=Date)(?:>[^<>]{0,60}</xmp:|=\"[^\"<>]{0,60}\")")),
    (
        "PDF id",
        re.compile(
            rb"(?:(?<=DocumentID)|(?<=InstanceID))(?:>[^<>]{0,200}</xmpMM:|=\"[^\"<>]{0,200}\")"
        ),
    ),
)
_ENTRY = re.compile(rb"\b(\d{10}) (\d{5}) n\b")
_START = re.compile(rb"\bstartxref\s{1,4}(\d{1,12})\b")
_MOST_OBJECTS = 500_000


def compare_pdf(stored: bytes, fresh: bytes) -> Comparison:
    """Compare two PDF files."""
    noise: list[Ignored] = []
    places = _Places(stored), _Places(fresh)
    pairs = zip_longest(_parts(stored), _parts(fresh), fillvalue=(False, b""))
    for number, ((is_stream, one), (also, other)) in enumerate(pairs):
        if one == other and is_stream == also:
            continue
        where = f"{'' if is_stream else 'before '}stream {number // 2 + 1}"
        if is_stream != also:
            found = None
        elif is_stream:
            found = _metadata(one, other)
        else:
            found = _texts(one, other, places, where)
        if found is None:
            return Comparison("different", "more than dates and ids differs", where)
        noise += found
    if not noise:
        return Comparison("printed-otherwise", "the same objects, elsewhere in the file", "")
    return Comparison("noise-only", ignored=tuple(noise[:SAMPLES]), ignored_count=len(noise))


def _parts(data: bytes) -> Iterator[tuple[bool, bytes]]:
    """Yield what stands between streams and what they hold, in turn."""
    at = 0
    while True:
        begin = _STREAM.search(data, at)
        if begin is None:
            yield False, data[at:]
            return
        yield False, data[at : begin.end()]
        at = data.find(b"endstream", begin.end())
        if at < 0:
            yield True, data[begin.end() :]
            return
        yield True, data[begin.end() : at]


def _texts(
    one: bytes, other: bytes, places: tuple[_Places, _Places], where: str
) -> list[Ignored] | None:
    found = _without(one, other, _NOISE, where)
    if found is None:
        return None
    mine, yours, noise = found
    return noise if places[0].named(mine) == places[1].named(yours) else None


def _metadata(one: bytes, other: bytes) -> list[Ignored] | None:
    """Compare two streams: only metadata has anything that is passed over."""
    if not (one.lstrip().startswith(b"<?xpacket") and other.lstrip().startswith(b"<?xpacket")):
        return None
    found = _without(one, other, _XMP, "the metadata")
    return found[2] if found and found[0] == found[1] else None


def _without(
    one: bytes, other: bytes, kinds: tuple[tuple[str, re.Pattern[bytes]], ...], where: str
) -> tuple[bytes, bytes, list[Ignored]] | None:
    """Take noise out of both; None where not both have as much of it."""
    noise: list[Ignored] = []
    for kind, expression in kinds:
        mine, yours = expression.findall(one), expression.findall(other)
        if len(mine) != len(yours):
            return None
        for left, right in zip(mine, yours, strict=True):
            if left != right:
                noise.append(Ignored(kind, where, _shown(left), _shown(right)))
        one, other = expression.sub(b"", one), expression.sub(b"", other)
    return one, other, noise


class _Places:
    """Where the objects of a file lie, as its cross-reference table says it."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    @cached_property
    def _single(self) -> frozenset[bytes]:
        """Objects that are written once, so that their name says which bytes are meant."""
        seen: set[bytes] = set()
        twice: set[bytes] = set()
        for found in _HEADER.finditer(self._data):
            (twice if found[0] in seen else seen).add(found[0])
            if len(seen) > _MOST_OBJECTS:
                return frozenset()
        return frozenset(seen - twice)

    def named(self, text: bytes) -> bytes:
        """Write which object lies at a place instead of the place."""
        return _START.sub(self._start, _ENTRY.sub(self._entry, text))

    def _entry(self, found: re.Match[bytes]) -> bytes:
        header = _HEADER.match(self._data, int(found[1]))
        known = header is not None and header[0] in self._single
        return header[0] + b" " + found[2] if header and known else found[0]

    def _start(self, found: re.Match[bytes]) -> bytes:
        at = int(found[1])
        if self._data[at : at + 4] == b"xref" and self._data.count(b"startxref") == 1:
            return b"startxref xref"
        return found[0]


def _shown(data: bytes) -> str:
    return data[:80].decode("latin-1").strip(" ()")
