"""HDF5, FITS, Parquet and TIFF: what is noise in each, and what must not pass as such."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pytest
from astropy.io import fits
from PIL import Image, TiffImagePlugin
from pyarrow import parquet as pq

from tests.provenance.test_compare_files import both, kinds
from tests.provenance.writers import hdf5, image, parquet

VALUES = [1.0, 2.5, -0.0, float("nan")]


def test_x05_hdf5_times_and_layout_are_noise_and_named() -> None:
    stored = hdf5(VALUES)
    found = both("a.h5", stored, hdf5(VALUES, libver="latest"))
    assert (found.verdict, kinds(found)) == ("noise-only", {"HDF5 layout"})
    found = both("a.h5", stored, hdf5(VALUES, times=True))
    assert (found.verdict, kinds(found)) == ("noise-only", {"HDF5 time"})
    found = both("a.h5", stored, hdf5(np.array(VALUES, ">f8")))
    assert (found.verdict, found.text) == ("printed-otherwise", "the byte order is another")
    found = both("a.h5", stored, hdf5(np.array(VALUES, "f4")))
    assert (found.verdict, found.where) == ("different", "/g/x")
    assert "shape" in both("a.h5", stored, hdf5([VALUES])).text
    assert "'y' is gone" in both("a.h5", stored, hdf5(VALUES, order="x")).text


def tree(**change: Any) -> bytes:
    """A file with all that HDF5 can hold: words, references, records, links."""
    out = io.BytesIO()
    with h5py.File(out, "w", libver=change.get("libver", "earliest")) as made:
        data = made.create_dataset("grid/x", data=[1.5, 2.5])
        data.attrs["unit"] = change.get("unit", "m")
        made["words"] = change.get("words", ["a", "b"])
        if change.get("before"):
            made.create_dataset("extra/shift", data=[0.0] * 99)
            del made["extra"]
        made["points"] = np.array([data.ref], dtype=h5py.ref_dtype)
        made["records"] = np.array([(1, change.get("mass", 1.5))], dtype=[("n", "i4"), ("m", "f8")])
        made["flags"] = np.array([True, change.get("flag", False)])
        made["colour"] = np.array([0], dtype=h5py.enum_dtype(change.get("names", {"red": 0}), "i1"))
        made["ragged"] = np.array([np.arange(2.0), np.arange(3.0)], dtype=h5py.vlen_dtype("f8"))
        made["soft"] = h5py.SoftLink(change.get("soft", "/grid/x"))
        made["outside"] = h5py.ExternalLink(change.get("file", "/etc/passwd"), "/x")
        made["again"] = made["grid"]  # and a circle
        made["grid/up"] = made["/grid"]
        made["nothing"] = h5py.Empty("f8")
    return out.getvalue()


def test_hdf5_everything_that_it_can_hold_is_compared() -> None:
    stored = tree()
    assert both("a.h5", stored, tree(libver="latest", before=True)).verdict == "noise-only"
    close = both("a.h5", stored, tree(mass=1.50000001))
    assert (close.verdict, close.where) == ("within-tolerance", "/records.m[0]")
    for change in (
        {"unit": "cm"},
        {"words": ["a", "c"]},
        {"words": ["a"]},
        {"mass": 1.6},
        {"flag": True},
        {"names": {"blue": 0}},
        {"soft": "/grid/y"},
        {"file": "/etc/group"},
    ):
        assert both("a.h5", stored, tree(**change)).verdict == "different", change


def test_hdf5_that_lies_elsewhere_is_not_followed(tmp_path: Any) -> None:
    """A data set kept in another file, or made of others', would show files of this machine."""
    for number, host in enumerate((tmp_path / "one", tmp_path / "two")):
        host.write_bytes(bytes([number]) * 8)
    sides = []
    for host in ("one", "two"):
        out = io.BytesIO()
        with h5py.File(out, "w") as made:
            made.create_dataset("x", (8,), "u1", external=str(tmp_path / host))
        sides.append(out.getvalue())
    found = both("a.h5", *sides)
    assert (found.verdict, "it refers to other files" in found.text) == ("different", True)
    virtual = []
    for host in ("one", "two"):
        layout = h5py.VirtualLayout((8,), "u1")
        layout[:] = h5py.VirtualSource(str(tmp_path / host), "x", (8,))
        out = io.BytesIO()
        with h5py.File(out, "w", libver="latest") as made:
            made.create_virtual_dataset("x", layout)
        virtual.append(out.getvalue())
    assert "it refers to other files" in both("a.h5", *virtual).text


def test_fits_dates_and_sums_are_noise_and_named() -> None:
    stored = image(VALUES, DATE="2026-01-01", CHECKSUM="aaaa")
    found = both("a.fits", stored, image(VALUES, DATE="2026-01-02", DATASUM="1"))
    assert (found.verdict, kinds(found)) == ("noise-only", {"FITS date", "FITS sum"})
    assert both("a.fits", stored, stored.replace(b"conforms to", b"may be of  ")).passes
    for change in (
        {"EXPTIME": (1.6, "[s]")},
        {"EXPTIME": (1.5, "[h]")},
        {"OBJECT": "M32"},
        {"DATE-OBS": "2026-01-01"},
        {"HISTORY": "flattened"},
    ):
        assert both("a.fits", stored, image(VALUES, **change)).verdict == "different", change
    close = both("a.fits", stored, image(VALUES, EXPTIME=(1.50000001, "[s]")))
    assert (close.verdict, close.where) == ("within-tolerance", "unit 0 (PRIMARY), EXPTIME")
    assert both("a.fits", image([1, 2]), image([1, 3])).verdict == "different"
    assert both("a.fits", image([1, 2]), image([1.0, 2.0])).verdict == "different"


def units(**change: Any) -> bytes:
    columns = [
        fits.Column("name", "4A", array=change.get("names", ["a", "b"])),
        fits.Column("big", "J", bzero=2**31, array=np.array([1, change.get("big", 2**31)], "u4")),
        fits.Column("flag", "L", array=[True, change.get("flag", False)]),
        fits.Column(
            "rows",
            "PD()",
            array=np.array(
                [np.array([1.0, change.get("row", 2.0)]), np.array([3.0])], dtype=object
            ),
        ),
    ]
    pixels = np.linspace(1, change.get("last", 2), 64, dtype="f4").reshape(8, 8)
    packed = fits.CompImageHDU(
        pixels, compression_type=change.get("by", "GZIP_1"), quantize_level=0, name="PACKED"
    )
    made = [fits.PrimaryHDU(), fits.BinTableHDU.from_columns(columns), packed]
    out = io.BytesIO()
    fits.HDUList(made[: change.get("count", 3)]).writeto(out)
    return out.getvalue()


def test_fits_tables_and_packed_pictures_are_compared_by_value() -> None:
    stored = units()
    assert both("a.fits", stored, units(row=2.0000001)).verdict == "within-tolerance"
    assert both("a.fits", stored, units(last=2.000001)).verdict == "within-tolerance"
    for change in (
        {"names": ["a", "c"]},
        {"big": 2**31 + 1},
        {"flag": True},
        {"row": 2.1},
        {"last": 2.1},
        {"count": 2},
    ):
        assert both("a.fits", stored, units(**change)).verdict == "different", change


def rows(**change: Any) -> bytes:
    columns = {
        "n": pa.array([1, change.get("missing"), 3]),
        "word": pa.array(["a", None, change.get("word", "c")], change.get("of", pa.string())),
        "many": pa.array([[1.0], [change.get("one", 2.0), 3.0], None]),
        "pair": pa.array([{"a": 1, "b": "x"}] * 3),
        "time": pa.array([1, 2, change.get("time", 3)], pa.timestamp("ns")),
        "raw": pa.array([b"\xff", b"", change.get("raw", b"a")]),
        "flag": pa.array([True, None, change.get("flag", False)]),
    }
    said = {"unit": change["unit"]} if "unit" in change else None
    fields = [pa.field(name, one.type, metadata=said) for name, one in columns.items()]
    if "inner" in change:
        inner = pa.field("item", pa.float64(), metadata={"unit": change["inner"]})
        fields[2] = pa.field("many", pa.list_(inner))
    table = pa.table(columns, schema=pa.schema(fields)).replace_schema_metadata(change.get("notes"))
    out = io.BytesIO()
    pq.write_table(table, out, **change.get("how", {}))
    return out.getvalue()


def test_parquet_layout_and_writer_are_noise_and_named() -> None:
    stored = rows()
    how = {"compression": "gzip", "row_group_size": 2, "data_page_version": "2.0"}
    found = both("a.parquet", stored, rows(how=how))
    assert (found.verdict, kinds(found)) == ("noise-only", {"Parquet layout"})
    assert both("a.parquet", stored, rows(of=pa.large_string())).verdict == "noise-only"
    assert both("a.parquet", stored, rows(of=pa.dictionary(pa.int8(), pa.string()))).passes
    pandas = [{"pandas": f'{{"pandas_version": "{one}", "columns": []}}'} for one in ("2", "3")]
    found = both("a.parquet", rows(notes=pandas[0]), rows(notes=pandas[1]))
    assert (found.verdict, kinds(found)) == ("noise-only", {"Parquet writer"})
    found = both("a.parquet", parquet(VALUES), parquet(VALUES, names=("n", "v")))
    assert (found.verdict, found.text) == (
        "printed-otherwise",
        "the columns are in another order",
    )


@pytest.mark.parametrize(
    "change",
    [
        *({"missing": 0}, {"word": "d"}, {"word": None}, {"one": 2.1}, {"time": 4}, {"raw": b"b"}),
        *({"flag": True}, {"notes": {"unit": "m"}}, {"of": pa.binary()}),
        *({"unit": "m"}, {"inner": "m"}),
    ],
)
def test_parquet_values_types_and_what_is_missing_count(change: dict[str, Any]) -> None:
    assert both("a.parquet", rows(), rows(**change)).verdict == "different"


def tiff(values: Any, mode: str | None = None, **tags: Any) -> bytes:
    info = TiffImagePlugin.ImageFileDirectory_v2()
    for tag, value in tags.items():
        if tag.startswith("t"):
            info[int(tag[1:])] = value
    out = io.BytesIO()
    made = Image.fromarray(np.asarray(values))
    made.convert(mode or made.mode).save(
        out, "TIFF", tiffinfo=info, compression=tags.get("packed", "raw")
    )
    return out.getvalue()


def test_tiff_values_are_data_and_only_writer_and_time_noise() -> None:
    measured = np.array([[1.0, 2.0], [3.0, 4.0]], "f4")
    found = both("a.tif", tiff(measured), tiff(measured, t305="a", t306="2026:01:01 00:00:00"))
    assert (found.verdict, kinds(found)) == ("noise-only", {"TIFF software", "TIFF time"})
    found = both("a.tif", tiff(measured), tiff(measured, packed="tiff_deflate"))
    assert (found.verdict, kinds(found)) == ("noise-only", {"compression"})
    close = measured.copy()
    close[1, 0] = np.nextafter(close[1, 0], np.float32(9))
    found = both("a.tif", tiff(measured), tiff(close))
    assert (found.verdict, found.where) == ("within-tolerance", "frame 1[1, 0]")
    close[1, 0] = 3.1
    assert both("a.tif", tiff(measured), tiff(close)).verdict == "different"
    assert both("a.tif", tiff(measured), tiff(measured, t270="a note")).verdict == "different"
    whole = np.array([[1, 60000]], "u2")
    assert both("a.tif", tiff(whole), tiff(whole + np.uint16(1))).verdict == "different"
    sides = [tiff(whole, t330=8), tiff(whole, t330=8, t305="a")]
    assert "pictures below its pictures" in both("a.tif", *sides).text
    grey = np.array([[1, 200]], "u1")
    assert both("a.tif", tiff(grey), tiff(grey + np.uint8(1))).verdict == "figure-differs"
    assert both("a.tif", tiff(grey), tiff(grey, "RGB")).verdict == "different"
    inks = np.full((1, 2, 4), 255, "u1")  # black whatever else they say, once they are RGB
    others = inks.copy()
    others[0, 0, 0] = 0
    sides = [Image.fromarray(one, "CMYK") for one in (inks, others)]
    for kind in ("TIFF", "JPEG"):
        written = []
        for one in sides:
            out = io.BytesIO()
            one.save(out, kind)
            written.append(out.getvalue())
        assert both("a", *written).verdict in ("different", "figure-differs"), kind


def test_pictures_of_other_kinds_are_compared_by_their_pixels() -> None:
    for kind in ("WEBP", "BMP"):
        sides = []
        for level in (0, 0, 200):
            out = io.BytesIO()
            options = {"lossless": True, "method": 0 if len(sides) else 6} if kind == "WEBP" else {}
            Image.new("RGB", (9, 9), (level, 10, 10)).save(out, kind, **options)
            sides.append(out.getvalue())
        assert both(f"a.{kind.lower()}", sides[0], sides[1]).passes
        assert both(f"a.{kind.lower()}", sides[0], sides[2]).verdict == "figure-differs"


WITHOUT = """
import sys
sys.modules.update({"h5py": None, "astropy": None, "pyarrow": None})
from vaibify_lab.provenance.compare.files import compare_files
from vaibify_lab.provenance.compare.noise import Rules
for head in (b"\\x89HDF\\r\\n\\x1a\\n", b"SIMPLE  =", b"PAR1"):
    found = compare_files("a", head + b"a", head + b"b", Rules())
    print(found.verdict, "|", found.text)
"""


def test_without_the_library_files_are_different_and_the_extra_is_named() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    lines = [
        f"different | the bytes differ, and were not looked into: {kind} is read with {library}; "
        "install vaibify_lab with its extra 'compare'"
        for kind, library in (("HDF5", "h5py"), ("FITS", "astropy"), ("Parquet", "pyarrow"))
    ]
    assert (done.stdout.splitlines(), done.stderr) == (lines, "")
