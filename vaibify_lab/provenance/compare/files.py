"""Two versions of one file: the format is told by content and name, else bytes decide."""

from __future__ import annotations

from collections.abc import Callable

from vaibify_lab.provenance.compare.fits import SIGNATURE as FITS
from vaibify_lab.provenance.compare.fits import compare_fits
from vaibify_lab.provenance.compare.hdf5 import SIGNATURE as HDF5
from vaibify_lab.provenance.compare.hdf5 import compare_hdf5
from vaibify_lab.provenance.compare.libraries import Compare, with_library
from vaibify_lab.provenance.compare.noise import Rules
from vaibify_lab.provenance.compare.npy import SIGNATURE as NPY
from vaibify_lab.provenance.compare.npy import compare_npy
from vaibify_lab.provenance.compare.packed import (
    DEEPEST,
    GZIP,
    ZIP,
    Room,
    compare_gzip,
    compare_zip,
)
from vaibify_lab.provenance.compare.parquet import SIGNATURE as PARQUET
from vaibify_lab.provenance.compare.parquet import compare_parquet
from vaibify_lab.provenance.compare.pdf import SIGNATURE as PDF
from vaibify_lab.provenance.compare.pdf import compare_pdf
from vaibify_lab.provenance.compare.pictures import compare_pictures
from vaibify_lab.provenance.compare.png import SIGNATURE as PNG
from vaibify_lab.provenance.compare.png import compare_png
from vaibify_lab.provenance.compare.textual import SUFFIXES, compare_texts
from vaibify_lab.provenance.compare.tiff import SIGNATURES as TIFF
from vaibify_lab.provenance.compare.tiff import compare_tiff
from vaibify_lab.provenance.compare.verdict import Comparison

LARGEST = 64 * 2**20  # bytes of one side; what is larger is not looked into
_BLOCK = 2**16
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (PNG, "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF8", "GIF"),
    *((mark, "TIFF") for mark in TIFF),
    (PDF, "PDF"),
    (GZIP, "gzip"),
    (ZIP, "zip"),
    (NPY, "NPY"),
    (HDF5, "HDF5"),
    (FITS, "FITS"),
    (PARQUET, "Parquet"),
)
_CONTENT: dict[str, Callable[[bytes, bytes], Comparison]] = {
    "PNG": compare_png,
    "JPEG": compare_pictures,
    "GIF": compare_pictures,
    "WebP": compare_pictures,
    "BMP": compare_pictures,
    "PDF": compare_pdf,
}
_BY_LIBRARY: dict[str, Compare] = {
    "HDF5": compare_hdf5,
    "FITS": compare_fits,
    "Parquet": compare_parquet,
}


def compare_files(path: str, stored: bytes, fresh: bytes, rules: Rules) -> Comparison:
    """Compare two versions of a file; the path is read for its suffix alone.

    Other bytes are never identical: the same content in other bytes is noise where its kind has a
    name, else the same values written otherwise.
    """
    return _Look(rules).at(path, stored, fresh)


class _Look:
    """One comparison with all that is nested in it."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._room = Room()
        self._depth = 0

    def at(self, path: str, stored: bytes, fresh: bytes) -> Comparison:
        """Compare two versions of a file."""
        if stored == fresh:
            return Comparison("identical")
        if max(len(stored), len(fresh)) > LARGEST:
            return _refused(f"larger than {LARGEST:,} bytes")
        kind, other = _kind(path, stored), _kind(path, fresh)
        if kind != other:
            return Comparison("different", f"what was {kind} is now {other}")
        found = self._of_kind(kind, path, stored, fresh)
        if found.verdict == "identical":
            return Comparison("printed-otherwise", "the same values, written otherwise")
        if found.verdict == "noise-only" and not self._rules.ignore:
            return Comparison("different", "only noise differs, which counts here")
        return found

    def _of_kind(self, kind: str, path: str, stored: bytes, fresh: bytes) -> Comparison:
        if kind in _CONTENT:
            return _CONTENT[kind](stored, fresh)
        if kind in ("gzip", "zip"):
            return self._packed(kind, path, stored, fresh)
        if kind == "NPY":
            return compare_npy(stored, fresh, self._rules)
        if kind == "TIFF":
            return compare_tiff(stored, fresh, self._rules)
        if kind in _BY_LIBRARY:
            return with_library(kind, _BY_LIBRARY[kind], stored, fresh, self._rules, self._room)
        if kind == "bytes":
            return _bytes(stored, fresh)
        return compare_texts(kind, path, stored, fresh, self._rules)

    def _packed(self, kind: str, path: str, stored: bytes, fresh: bytes) -> Comparison:
        if self._depth == DEEPEST:
            return _refused(f"packed more than {DEEPEST} times")
        self._depth += 1
        compare = compare_gzip if kind == "gzip" else compare_zip
        found = compare(path, stored, fresh, self._room, self.at)
        self._depth -= 1
        return found


def _kind(path: str, data: bytes) -> str:
    for signature, kind in _SIGNATURES:
        if data.startswith(signature):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WebP"
    name = path.rpartition("/")[2].lower()
    suffix = name[name.rfind(".") :] if "." in name else ""
    if data[:2] == b"BM" and suffix == ".bmp":
        return "BMP"
    if b"\0" in data:
        return "bytes"
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "bytes"
    return "text"


def _bytes(stored: bytes, fresh: bytes) -> Comparison:
    """Say where two files of no known format part."""
    shorter = min(len(stored), len(fresh))
    block = next(
        (
            at
            for at in range(0, shorter, _BLOCK)
            if stored[at : at + _BLOCK] != fresh[at : at + _BLOCK]
        ),
        shorter,
    )
    pairs = zip(stored[block : block + _BLOCK], fresh[block : block + _BLOCK], strict=False)
    at = block + next((n for n, (one, other) in enumerate(pairs) if one != other), 0)
    at = min(at, shorter)
    sizes = "" if len(stored) == len(fresh) else f", {len(stored)} bytes are now {len(fresh)}"
    return Comparison("different", f"the bytes differ{sizes}", f"byte {at + 1}")


def _refused(why: str) -> Comparison:
    return Comparison("different", f"the bytes differ, and were not looked into: {why}")
