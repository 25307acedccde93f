"""Numbers as files of many formats hold them, each by two writers."""

from __future__ import annotations

import csv
import gzip
import io
import json
import struct
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
from astropy.io import fits
from pyarrow import parquet as pq


def table(values: Sequence[float], *, quoting: int = csv.QUOTE_MINIMAL, end: str = "\n") -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=quoting, lineterminator=end)
    writer.writerows([["name", "value"], *[[f"a,{at}", repr(v)] for at, v in enumerate(values)]])
    return out.getvalue().encode()


def npy(values: Sequence[float], dtype: str = "<f8", shape: tuple[int, ...] | None = None) -> bytes:
    form = {"f8": "d", "f4": "f", "i8": "q"}[dtype[1:]]
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape or (len(values),)}, }}"
    head = text.encode() + b" " * (-(len(text) + 11) % 64) + b"\n"
    data = struct.pack(f"{dtype[0]}{len(values)}{form}", *values)
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + data


def npz(values: Sequence[float], second: int = 0, *, packed: bool = False) -> bytes:
    return archive({"x.npy": npy(values), "y.npy": npy([1.0])}, second, packed=packed)


def archive(members: dict[str, bytes], second: int = 0, *, packed: bool = False) -> bytes:
    out = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(out, "w", method) as made:
        for name, data in members.items():
            info = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, second))
            made.writestr(info, data, method)
    return out.getvalue()


def hdf5(values: Any, *, order: Sequence[str] = "xy", times: bool = False, **how: Any) -> bytes:
    """One data set with an attribute beside another, in either order."""
    out = io.BytesIO()
    packed = how.pop("packed", None)
    with h5py.File(out, "w", **how) as made:
        for name in order:
            data = np.asarray(values if name == "x" else [1.0])
            one = made.create_dataset(f"g/{name}", data=data, track_times=times, compression=packed)
            one.attrs["unit"] = "m"
    return out.getvalue()


def image(values: Any, **cards: Any) -> bytes:
    """A FITS image with cards of its own."""
    header = fits.Header()
    for keyword, value in {"OBJECT": "M31", "EXPTIME": (1.5, "[s]"), **cards}.items():
        header[keyword] = value
    out = io.BytesIO()
    fits.PrimaryHDU(np.asarray(values), header).writeto(out)
    return out.getvalue()


def parquet(values: Any, *, names: Sequence[str] = ("v", "n"), **how: Any) -> bytes:
    """A table of the values and of their numbers."""
    columns = {"v": pa.array(values), "n": pa.array(range(len(values)))}
    out = io.BytesIO()
    pq.write_table(pa.table({name: columns[name] for name in names}), out, **how)
    return out.getvalue()


Writer = Callable[[list[float]], bytes]
PURE: dict[str, tuple[Writer, Writer]] = {
    "a.csv": (table, lambda v: table(v, quoting=csv.QUOTE_ALL, end="\r\n")),
    "a.json": (
        lambda v: json.dumps({"a": v, "b": 1}).encode(),
        lambda v: json.dumps({"b": 1, "a": v}, indent=1).encode(),
    ),
    "a.jsonl": (
        lambda v: b"".join(json.dumps({"a": x, "b": 1}).encode() + b"\n" for x in v),
        lambda v: b"".join(json.dumps({"b": 1, "a": x}).encode() + b"\n" for x in v),
    ),
    "a.npy": (npy, lambda v: npy(v, ">f8")),
    "a.npz": (npz, lambda v: npz(v, 2, packed=True)),
    "a.csv.gz": (
        lambda v: gzip.compress(table(v), mtime=1),
        lambda v: gzip.compress(table(v), 1, mtime=2),
    ),
}
WRITERS: dict[str, tuple[Writer, Writer]] = {
    **PURE,
    "a.h5": (
        hdf5,
        lambda v: hdf5(v, order="yx", times=True, libver="latest", packed="gzip"),
    ),
    "a.fits": (
        image,
        lambda v: image(v, EXPTIME=(1.5, "[s]"), DATE="2026-01-01", OBJECT="M31"),
    ),
    "a.parquet": (
        parquet,
        lambda v: parquet(v, names=("n", "v"), compression="gzip", use_dictionary=False),
    ),
}
