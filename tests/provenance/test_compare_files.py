"""Comparison of whole files: no false identical, no false different, nothing hostile."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import struct
import zlib
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from tests.provenance.writers import PURE, archive, npy
from tests.rubbish import spoilt
from vaibify_lab.provenance.compare.files import LARGEST, compare_files
from vaibify_lab.provenance.compare.noise import Own, Rules
from vaibify_lab.provenance.compare.verdict import Comparison

RULES = Rules()
STEADY = settings(deadline=None, max_examples=100, derandomize=True)
floats = st.floats(width=64)


def both(path: str, one: str | bytes, other: str | bytes, rules: Rules = RULES) -> Comparison:
    sides = [side.encode() if isinstance(side, str) else side for side in (one, other)]
    return compare_files(path, sides[0], sides[1], rules)


def kinds(found: Comparison) -> set[str]:
    return {one.kind for one in found.ignored}


@pytest.mark.parametrize(
    ("path", "stored", "fresh", "verdict"),
    [
        ("a.csv", "n,m\n1,2.0\n", "n,m\n1,2.0\n", "identical"),
        ("a.csv", "n,m\n1,2.0\n", 'n,m\r\n"1","2.0"\r\n', "printed-otherwise"),
        ("a.csv", "n,m\n1,2.0\n", "n,m\n1,2.0", "printed-otherwise"),
        ("a.csv", "n,m\n1,2.0\n", "\ufeffn,m\n1,2.0\n", "printed-otherwise"),
        ("a.csv", "n,m\n1,2.0\n", "n,m\n1,2.00\n", "printed-otherwise"),
        ("a.csv", "n,m\n1,2.0\n", "n,m\n1,2.0000001\n", "within-tolerance"),
        ("a.csv", "n,m\n1,2.0\n", "n,m\n1,2.00001\n", "different"),
        ("a.csv", "n,m\n1000000,2\n", "n,m\n1000001,2\n", "different"),
        ("a.csv", "n\n1\n2\n", "n\n2\n1\n", "different"),
        ("a.csv", "n\n1\n", "n\n1\n1\n", "different"),
        ("a.csv", "n\n1\n", "n,\n1,\n", "different"),
        ("a.csv", "zip\n00123\n", "zip\n123\n", "different"),
        ("a.csv", "d\n2020-01-01 10:00:00\n", "d\n2020-01-01 10:00:01\n", "different"),
        ("a.csv", "d\n12:30:45\n", "d\n12:30:46\n", "different"),
        ("a.csv", "m\nnan\n", "m\nNaN\n", "printed-otherwise"),
        ("a.csv", "m\nnan\n", "m\n\n", "different"),
        ("a.csv", "m\n0.0\n", "m\n-0.0\n", "within-tolerance"),
        ("a.csv", "m\ninf\n", "m\n-inf\n", "different"),
        ("a.csv", "m\n'a\nb\n", "m\n'a\nc\n", "different"),
        ("a.csv", '"a"b\n', "ab\n", "different"),
        ("a.csv", "a;b\n1,5;2\n", "a;b\n1,5;3\n", "different"),
        ("a.tsv", "a\tb\n1.5\t2\n", "a\tb\n1.5000001\t2\n", "within-tolerance"),
        ("a.json", '{"a":1,"b":[2]}', '{"b": [2], "a": 1}\n', "printed-otherwise"),
        ("a.json", '{"a":1.0}', '{"a":1.0000001}', "within-tolerance"),
        ("a.json", '{"t":"2020-01-01 10:00:00"}', '{"t":"2020-01-01 10:00:01"}', "different"),
        ("a.json", '{"t":"took 3 s"}', '{"t":"took 4 s"}', "different"),
        ("a.json", '{"t":"a"}', '{"t":"a\\n"}', "different"),
        ("a.json", '{"a":NaN}', '{"a": NaN}', "printed-otherwise"),
        ("a.json", '{"a":1,"a":2}', '{"a":2}', "different"),
        ("a.jsonl", '{"a":1,"b":2}\n', '{"b":2,"a":1}\n', "printed-otherwise"),
        ("a.jsonl", '{"a":1.0}\n{"a":2.0}\n', '{"a":1.0}\n{"a":2.0000001}\n', "within-tolerance"),
        ("a.jsonl", '{"a":1}\n', '{"a":1}\n{"a":2}\n', "different"),
        ("a.txt", "a 1.0\n", "a 1.0000001\n", "within-tolerance"),
        ("a.txt", "a\nb\n", "a\r\nb\r\n", "noise-only"),
        ("a.txt", "a\n", "a", "noise-only"),
        ("a.txt", "took 3.1 s", "took 4.2 s", "different"),  # may be a result
        ("a.txt", "at 2020-01-01 10:00:00", "at 2020-01-01 10:00:01", "different"),
        ("a.txt", "12:30:45.1", "12:30:46.1", "different"),
        ("a.txt", "<f at 0x7f12ab34cd50>", "<f at 0x7f99ab34cd50>", "noise-only"),
        ("a.txt", "abc", "ab\0", "different"),
        ("a.csv", b"n\n\xe9\n", b"n\n\xe8\n", "different"),
        ("a.csv", b"n,m\n\xe9,1\n", b"n,m\n\xe9,1", "printed-otherwise"),
        ("a.json", b'["\xe9"]', b'["\xe8"]', "different"),
        ("a.dat", b"\0\1", b"\0\2", "different"),
        ("a.json", "{}", "\x89PNG\r\n\x1a\n", "different"),
    ],
)
def test_texts(path: str, stored: str | bytes, fresh: str | bytes, verdict: str) -> None:
    assert both(path, stored, fresh).verdict == verdict
    assert both(path, fresh, stored).verdict == verdict


def test_what_was_found_is_said_with_its_place() -> None:
    found = both("r/a.csv", "id,mass\nx,1.5\ny,200.0\n", "id,mass\nx,1.5000003\ny,200.0001\n")
    assert found.absolute is not None and found.relative is not None
    assert (found.absolute.where, found.relative.where) == ("row 3, column mass",) * 2
    assert (f"{found.absolute.absolute:.3g}", f"{found.relative.relative:.2g}") == (
        "0.0001",
        "5.0e-7",
    )
    found = both("a.jsonl", '1\n{"a":[1]}\n', '1\n{"a":[2]}\n')
    assert (found.where, found.text) == ("line 2 $.a[0]", "1 is now 2")
    found = both("a.bin", b"\0" * 70_000 + b"\1", b"\0" * 70_000 + b"\2\3")
    assert (found.text, found.where) == (
        "the bytes differ, 70001 bytes are now 70002",
        "byte 70001",
    )


def test_a_clock_in_a_text_is_noise_only_when_it_was_read_in_the_run() -> None:
    now = datetime(2026, 11, 28, 11, tzinfo=UTC)
    rules = Rules(ran=(now, now + timedelta(hours=3)))
    assert both("log", "at 2026-10-01 10:00:00", "at 2026-11-28 12:00:01", rules).passes
    assert not both("log", "at 2026-10-01 10:00:00", "at 2026-10-01 10:00:01", rules).passes
    assert not both("log", "RA 12:30:45.12", "RA 12:30:46.12", rules).passes
    assert not both("a.csv", "t\n2026-10-01", "t\n2026-11-28", rules).passes


def test_the_projects_own_expressions_hold_in_files() -> None:
    rules = Rules(own=(Own("host", r"node\d+"),))
    for path, text in (("a.txt", "on {}\n"), ("a.csv", "h,n\n{},1\n"), ("a.json", '["{}"]')):
        found = both(path, text.format("node1"), text.format("node27"), rules)
        assert (found.verdict, kinds(found)) == ("noise-only", {"host"})
    assert both("a.txt", "on node1", "on node2", Rules(own=rules.own, ignore=False)).verdict == (
        "different"
    )


@STEADY
@given(st.lists(st.lists(st.text(max_size=5), min_size=1, max_size=3), max_size=4), st.data())
def test_generated_tables_of_words(rows: list[list[str]], data: st.DataObject) -> None:
    def written(rows: list[list[str]], quoting: int) -> str:
        out = io.StringIO(newline="")
        csv.writer(out, quoting=quoting).writerows(rows)
        return out.getvalue()

    words = [[cell.replace("\r", "") for cell in row] for row in rows]
    assert both("a.csv", written(words, 1), written(words, 1)).verdict == "identical"
    if words:
        at = data.draw(st.integers(0, len(words) - 1))
        other = [*words[:at], [words[at][0] + "x", *words[at][1:]], *words[at + 1 :]]
        assert both("a.csv", written(words, 1), written(other, 1)).verdict == "different"


def test_arrays() -> None:
    stored = npy([1.0, 2.0, 3.0, 4.0], shape=(2, 2))
    found = both("a", stored, npy([1.0, 2.0, 3.0000001, 4.0], shape=(2, 2)))
    assert found.absolute is not None
    assert (found.verdict, found.absolute.where) == ("within-tolerance", "[1, 0]")
    assert "shape" in both("a", stored, npy([1.0, 2.0, 3.0, 4.0])).text
    assert "type" in both("a", npy([1.0]), npy([1.0], "<f4")).text
    assert both("a", npy([1.0, 2.5], "<f4"), npy([1.0, 2.5000002], "<f4")).passes
    big = 10**9  # whole numbers count things, in whatever order they come
    found = both("a", npy([1, big], "<i8"), npy([2, big + 1], "<i8"))
    assert found.verdict == "different"
    assert both("a", npy([big], "<i8"), npy([big + 1], "<i8")).verdict == "different"
    other_nan = stored[:-32] + struct.pack("<Q", 0x7FF8000000000001) + stored[-24:]
    nan = npy([math.nan, 2.0, 3.0, 4.0], shape=(2, 2))
    assert both("a", nan, other_nan).verdict == "printed-otherwise"
    words = stored.replace(b"'<f8'", b"'<U2'")
    found = both("a", words, words[:-1] + b"\1")
    assert "not looked into" in found.text and not found.passes
    assert not both("a", stored, stored[:-1]).passes
    many = [float(at) for at in range(1, 40_000)]
    found = both("a", npy(many), npy([one * (1 + 1e-9 * (at % 7)) for at, one in enumerate(many)]))
    assert found.verdict == "within-tolerance" and found.relative is not None
    assert 5.9e-9 < float(found.relative.relative) < 6.1e-9


# pictures and documents


def png(level: int = 0, note: str = "", *, dpi: int = 72, time: bytes = b"") -> bytes:
    info = PngImagePlugin.PngInfo()
    if note:
        info.add_text("Software", note)
    if time:
        info.add(b"tIME", time)
    out = io.BytesIO()
    Image.new("RGB", (9, 9), (level, 0, 0)).save(out, "PNG", pnginfo=info, dpi=(dpi, dpi))
    return out.getvalue()


def test_png() -> None:
    found = both("a.png", png(note="a"), png(note="b"))
    assert (found.verdict, kinds(found)) == ("noise-only", {"PNG text"})
    found = both("a.png", png(), png(note="b", time=bytes(7)))
    assert (found.verdict, kinds(found)) == ("noise-only", {"PNG text", "PNG time"})
    assert both("a.png", png(), png(level=1)).verdict == "figure-differs"
    assert both("a.png", png(), png(dpi=100)).text == "the chunk 'pHYs' is another, gone or new"
    packed = png()
    at = packed.index(b"IDAT") - 4
    size = struct.unpack_from(">I", packed, at)[0]
    body = b"IDAT" + zlib.compress(zlib.decompress(packed[at + 8 : at + 8 + size]), 0)
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    again = packed[:at] + chunk + packed[at + 12 + size :]
    found = both("a.png", packed, again)
    assert (found.verdict, kinds(found)) == ("noise-only", {"compression"})
    for other in (packed + b"x", packed[:-9], packed.replace(b"IDAT", b"IDAU")):
        assert not both("a.png", packed, other).passes


def test_gif_that_moves_at_another_speed_is_another() -> None:
    def gif(duration: int) -> bytes:
        out = io.BytesIO()
        frames = [Image.new("L", (4, 4), level) for level in (0, 99)]
        frames[0].save(out, "GIF", save_all=True, append_images=frames[1:], duration=duration)
        return out.getvalue()

    assert both("a.gif", gif(100), gif(200)).verdict == "figure-differs"


def test_svg() -> None:
    text = '<svg><dc:date>{}</dc:date><g id="{}"/><path d="M 1.0 {}" clip="url(#{})"/>{}</svg>'
    stored = text.format("2026-01-01T00:00:00", "p1a2b3", "2.0", "p1a2b3", "2026-01-01")
    again = text.format("2026-02-02T00:00:00", "p9z8y7", "2.0", "p9z8y7", "2026-01-01")
    found = both("a.svg", stored, again)
    assert (found.verdict, kinds(found)) == ("noise-only", {"SVG date", "element id"})
    assert not both("a.svg", stored, again.replace("M 1.0", "M 1.1")).passes
    assert not both("a.svg", stored, again.replace("url(#p9z8y7", "url(#p9z8y8")).passes
    assert not both("a.svg", stored, again.replace("2026-01-01</svg", "2026-01-02</svg")).passes


def pdf(date: str = "D:20260101", name: str = "aa", draw: str = "0 0 m", more: str = "") -> bytes:
    stream = f"{draw} S".encode()
    objects = [
        b"<< /Type /Catalog >>",
        f"<< /CreationDate ({date}) /Title (t{more}) >>".encode(),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    data, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer << /Root 1 0 R /Info 2 0 R /ID [<%s> <%s>] >>\n" % ((name.encode(),) * 2)
    return data + b"xref\n0 4\n%sstartxref\n%d\n" % (table + end, len(data)) + b"%%EOF\n"


def test_pdf() -> None:
    stored = pdf()
    found = both("a.pdf", stored, pdf("D:20270202093000+01'00'", "bb"))
    assert (found.verdict, kinds(found)) == ("noise-only", {"PDF date", "PDF id"})
    assert not both("a.pdf", stored, pdf(draw="0 1 m")).passes
    assert not both("a.pdf", stored, pdf(more="u")).passes
    assert not both("a.pdf", stored, stored.replace(b"0000000009 ", b"0000000044 ")).passes
    assert not both("a.pdf", stored, stored[:-40]).passes
    twice = stored + b"2 0 obj\n<< /Title (x) >>\nendobj\n"
    assert not both("a.pdf", stored, twice).passes


def test_archives() -> None:
    assert kinds(both("a.gz", gzip.compress(b"a", mtime=1), gzip.compress(b"a", mtime=2))) == {
        "gzip header"
    }
    found = both("t.csv.gz", gzip.compress(b"n\n1.5", mtime=1), gzip.compress(b"n\n1.6", mtime=2))
    assert (found.verdict, found.where) == ("different", "row 2, column n")
    stored = archive({"a.csv": b"n\n1.5", "b": b"x"})
    found = both("a.zip", stored, archive({"a.csv": b"n\n1.5", "b": b"x"}, 2))
    assert (found.verdict, kinds(found)) == ("noise-only", {"zip time", "compression"})
    found = both("a.zip", stored, archive({"b": b"x", "a.csv": b"n\n1.50000001"}))
    assert (found.verdict, found.where) == ("within-tolerance", "a.csv, row 2, column n")
    assert both("a.zip", stored, archive({"a.csv": b"n\n1.5"})).text == "the member is gone"
    assert both("a.zip", stored, archive({"a.csv": b"n\n1.5", "b": b"y"})).where == "b, line 1"


def test_office_files() -> None:
    core = "<c><dcterms:created x='y'>{}</dcterms:created><dc:creator>{}</dc:creator></c>"
    sheet = "<row><c><v>{}</v></c></row>"

    def book(date: str, who: str, value: str) -> bytes:
        return archive(
            {
                "docProps/core.xml": core.format(date, who).encode(),
                "xl/worksheets/sheet1.xml": sheet.format(value).encode(),
            }
        )

    stored = book("2026-01-01T00:00:00Z", "me", "1.5")
    found = both("a.xlsx", stored, book("2026-02-02T11:00:00Z", "me", "1.5"))
    assert (found.verdict, "core properties" in kinds(found)) == ("noise-only", True)
    assert not both("a.xlsx", stored, book("2026-01-01T00:00:00Z", "you", "1.5")).passes
    elsewhere = [core.format(f"2026-01-0{day}", "me") for day in (1, 2)]
    assert not both("meta.xml", *elsewhere).passes
    close = both("a.xlsx", stored, book("2026-01-01T00:00:00Z", "me", "1.50000001"))
    assert close.verdict == "within-tolerance"
    assert not both("a.xlsx", stored, book("2026-01-01T00:00:00Z", "me", "1.6")).passes


def notebook(text: str = "# t", out: str = "1.5\n", version: str = "3.11") -> bytes:
    code = {
        "cell_type": "code",
        "id": "a",
        "execution_count": 1,
        "metadata": {},
        "source": "f()",
        "outputs": [{"output_type": "stream", "name": "stdout", "text": out}],
    }
    words = {"cell_type": "markdown", "id": "b", "metadata": {}, "source": text}
    language = {"language_info": {"name": "python", "version": version}}
    return json.dumps(
        {"nbformat": 4, "nbformat_minor": 5, "metadata": language, "cells": [words, code]}
    ).encode()


def test_notebooks() -> None:
    found = both("a.ipynb", notebook(), notebook(version="3.12"))
    assert (found.verdict, kinds(found)) == ("noise-only", {"notebook metadata"})
    assert both("a.ipynb", notebook(), notebook(out="1.50000001\n")).verdict == "within-tolerance"
    assert both("a.ipynb", notebook(), notebook(out="1.6\n")).verdict == "different"
    assert both("a.ipynb", notebook(), notebook(text="# u")).verdict == "different"
    assert both("a.ipynb", notebook(), b"{}").verdict == "different"


# made to hurt


def bomb(size: int) -> bytes:
    return gzip.compress(b"\0" * size, mtime=0)


def nested(times: int, end: bytes) -> bytes:
    data = end
    for _ in range(times):
        data = gzip.compress(data, mtime=0)
    return data


def lies(data: bytes) -> bytes:
    """Say of every member that it holds one byte."""
    at = data.rindex(b"PK\x01\x02")
    return data[: at + 24] + struct.pack("<I", 1) + data[at + 28 :]


HOSTILE = {
    "gzip bomb": lambda: ("a.gz", bomb(200 * 2**20), bomb(201 * 2**20)),
    "zip bomb": lambda: (
        "a.zip",
        archive({"a": bytes(140 * 2**20)}, packed=True),
        archive({"a": bytes(140 * 2**20)}, 2, packed=True),
    ),
    "nested": lambda: ("a.gz", nested(6, b"a"), nested(6, b"b")),
    "wrong size": lambda: ("a.zip", archive({"a": b"xx"}), lies(archive({"a": b"xy"}))),
    "many members": lambda: ("a.zip", b"PK\x03\x04" + b"PK\x01\x02" * 20_000, b"PK\x03\x04"),
    "deep JSON": lambda: ("a.json", b"[" * 2_000_000, b"[" * 2_000_001),
    "deep JSON lines": lambda: ("a.jsonl", b"[" * 200_000, b"[" * 200_001),
    "many laughs": lambda: (
        "a.xml",
        b'<!DOCTYPE l [<!ENTITY a "ha">' + b'<!ENTITY b "&a;&a;">' * 50 + b"]><l>&b;</l>",
        b'<!DOCTYPE l [<!ENTITY a "ho">' + b'<!ENTITY b "&a;&a;">' * 50 + b"]><l>&b;</l>",
    ),
    "no lines": lambda: ("a.txt", b"\n" * 2_000_000, b"\n" * 2_000_001),
    "tags": lambda: ("a.svg", b"<" * 900_000, b"<" * 900_001),
    "huge field": lambda: ("a.csv", b'"' + b"a" * 300_000, b'"' + b"b" * 300_000),
    "many cells": lambda: ("a.csv", b"," * 3_000_000 + b"1", b"," * 3_000_000 + b"2"),
    "NPY of no end": lambda: (
        "a.npy",
        npy([1.0], shape=(10**12, 10**12)),
        npy([1.0], shape=(10**13, 1)),
    ),
    "NPY header": lambda: ("a.npy", b"\x93NUMPY\2\0\xff\xff\xff\xff" + b"{" * 99, npy([1.0])),
    "PDF": lambda: ("a.pdf", b"%PDF-" + b">>stream\n" * 90_000, b"%PDF-" + b">>stream\n" * 90_001),
    "PDF blanks": lambda: ("a.pdf", b"%PDF-/ID" + b" " * 900_000, b"%PDF-/ID [" + b" " * 900_001),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_differ_and_take_little(name: str) -> None:
    found = both(*HOSTILE[name]())
    assert found.verdict in ("different", "figure-differs") and len(found.text) < 500


def test_a_file_that_is_too_large_is_said_to_be_that() -> None:
    found = both("a.txt", bytes(LARGEST + 1), bytes(LARGEST + 2))
    assert found.text == "the bytes differ, and were not looked into: larger than 67,108,864 bytes"


@pytest.mark.parametrize("path", [*PURE, "a.png", "a.pdf", "a.ipynb", "a.svg"])
def test_spoilt_files_are_never_identical_and_raise_nothing(path: str) -> None:
    rng, own = Random(path), Rules(own=(Own("host", r"node\d+"),))
    others = {"a.png": png(), "a.pdf": pdf(), "a.ipynb": notebook(), "a.svg": b"<svg><a/></svg>"}
    data = others[path] if path in others else PURE[path][0]([1.5, 2.5, -0.0])
    for _ in range(150):
        broken = spoilt(data, rng)
        found = both(path, data, broken, own)
        assert (found.verdict == "identical") is (broken == data)
        assert json.dumps(found.as_json())


@pytest.mark.parametrize(
    ("stored", "fresh"),
    [
        ("bandwidth 3.2 MB/s", "bandwidth 9.9 MB/s"),
        ("rate: 12.5 it/s", "rate: 99.5 it/s"),
        ("cost 3.1 s/step", "cost 9.1 s/step"),
        ("7 ms/loop", "9 ms/loop"),
        ("lag - 3s", "lag - 9s"),
        ("10/10 - 3s - loss: 0.5", "10/10 - 9s - loss: 0.5"),
        ("[fit] 3s", "[fit] 9s"),
        ("observed [10:30, 3.2m/s]", "observed [10:30, 9.2m/s]"),
        ("10 m [10:30, 3.2 m/s]", "10 m [10:30, 9.2 m/s]"),
        ("[00:00<00:10, loss=0.1]", "[00:00<00:10, loss=0.9]"),
        ("5/10 [00:00<00:01, 9.3it/s, loss=0.1]", "5/10 [00:00<00:01, 9.3it/s, loss=0.9]"),
        ("10/10 [====] - 1s 2ms/step - loss: 0.1", "10/10 [====] - 1s 2ms/step - loss: 0.9"),
        ("5/10 [00:00<00:01, 9.3it/s]", "6/10 [00:00<00:01, 9.3it/s]"),
        ("pid 211", "pid 321"),  # particles, patients
        ("entry at 0x401000", "entry at 0x402000"),
        ("key 0x7f12ab34cd50", "key 0x7f99ab34cd50"),
        ("best: /tmp/model_3", "best: /tmp/model_4"),
        ("best: /tmp/tmpabcd1234/fold2", "best: /tmp/tmpefgh5678/fold3"),
        ("run 123e4567-e89b-12d3-a456-426614174000", "run 223e4567-e89b-12d3-a456-426614174000"),
        ("CPU times: user 3 ms", "CPU times: user 9 ms"),
        ("1.0\r2.0\r3.0\r", "9.0\r2.0\r3.0\r"),  # lines that end so
        ("1.0\r2.0\r3.0", "9.0\r2.0\r3.0"),
        ("a\r\rb", "a\rb"),
        ("a\rb", "b"),
        ("1.0\r5/10 [00:00<00:01, 9it/s]\r2.0", "9.0\r5/10 [00:00<00:01, 9it/s]\r2.0"),
    ],
)
@pytest.mark.parametrize(
    "path", ["r.txt", "r.md", "r.log", "r", "torn.csv", "torn.jsonl", "r.json"]
)
def test_what_looks_like_noise_may_be_a_result_in_a_file(
    stored: str, fresh: str, path: str
) -> None:
    torn = '"a"b ' if path == "torn.csv" else ""  # no table, so compared as text
    for one, other in ((stored, fresh), (fresh, stored)):
        assert both(path, f"{torn}{one}\nend\n", f"{torn}{other}\nend\n").verdict == "different"


@pytest.mark.parametrize(
    ("stored", "fresh", "kind"),
    [
        ("100%|███| 9/9 [00:00<00:00, 12.3it/s]", "100%|███| 9/9 [01:02<00:00, 1.20s/it]", "bar"),
        ("fit: 50% 5/10 [00:01<?, ?it/s]", "fit: 50% 5/10 [00:00<00:01, 9it/s]", "bar"),
        ("1.2M/1.2M [00:00<00:00, 3.4MB/s]", "1.2M/1.2M [00:01<00:00, 900kB/s]", "bar"),
        ("5/5 [00:00<00:00, 9.3it/s, n=1]", "5/5 [00:03<00:00, 1.3it/s, n=1]", "bar"),
        ("10it [00:00, 12.3it/s]", "10it [00:09, 1.20s/it]", "bar"),
        ("10/10 [======] - 1s 2ms/step - n: 1", "10/10 [======] - 9s 9s/step - n: 1", "bar"),
        ("10/10 ━━━━━━━━ 1s 12ms/step - n: 1", "10/10 ━━━━━━━━ 0s 900us/step - n: 1", "bar"),
        ("   ━━━━━━ 1.2/1.2 MB 12.3 MB/s eta 0:00:00", "   ━━━━━━ 1.2/1.2 MB 800 kB/s", "bar"),
        ("|█████| 1.1 MB 5.2 MB/s", "|█████| 1.1 MB 900 kB/s", "bar"),
        ("\r 0/9 [00:00<?, ?it/s]\r9/9 [00:01<00:00, 9it/s]", "9/9 [00:03<00:00, 3it/s]", "bar"),
        ("<a.B object at 0x7f12ab34cd50>", "<a.B object at 0x10a2b3c4d>", "address"),
        ("/tmp/tmpab_c1234.csv", "/tmp/tmpzz_c9876.csv", "temporary path"),
        ("/tmp/tmp.aB3dE6gH9j/x", "/tmp/tmp.zB3dE6gH9k/x", "temporary path"),
        (
            "/var/folders/a1/b_c2/T/tmpab_c1234/x",
            "/var/folders/a9/d/T/tmpzz_c1234/x",
            "temporary path",
        ),
        ("a\r\nb\nc", "a\nb\r\nc", "line ends"),
    ],
)
def test_what_is_noise_by_its_form_is_so_in_a_file(stored: str, fresh: str, kind: str) -> None:
    found = both("r.txt", stored, fresh)
    assert (found.verdict, kinds(found)) == ("noise-only", {"progress" if kind == "bar" else kind})
    assert both("r.txt", f"{stored} x", f"{fresh} y").verdict == "different"
    assert both("r.csv", stored, fresh).verdict == "different" or kind == "line ends"


_RATES = st.sampled_from(["MB/s", "kB/s", "it/s", "s/it", "s/step", "ms/epoch", "s", "steps/s"])
_AMOUNTS = st.integers(1, 10**6).map(lambda one: f"{one / 1000}")


@STEADY
@given(st.from_regex(r"[a-z =:|\-]{0,12}", fullmatch=True), _AMOUNTS, _AMOUNTS, _RATES)
def test_generated_measurements_are_never_noise(
    words: str, one: str, other: str, unit: str
) -> None:
    lines = [f"{words} {value} {unit}\n" for value in (one, other)]
    near = abs(float(one) - float(other)) <= 1e-6 * max(float(one), float(other))
    assert both("r.txt", *lines).verdict == ("different" if not near else "identical")
