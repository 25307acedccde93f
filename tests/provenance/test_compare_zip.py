"""Zip and NPZ files: what lies in no member counts, how the members are packed does not."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np
import pytest

from tests.provenance.test_compare_files import both
from tests.provenance.writers import archive


def spliced(data: bytes, mark: bytes, more: bytes) -> bytes:
    """Put something before a record, with the numbers of the directory's beginning moved."""
    at = data.index(mark)
    end = data.rindex(b"PK\x05\x06")
    began = int.from_bytes(data[end + 16 : end + 20], "little") + len(more)
    moved = data[: end + 16] + began.to_bytes(4, "little") + data[end + 20 :]
    return moved[:at] + more + moved[at:]


@pytest.mark.parametrize("name", ["a.zip", "a.npz", "a.xlsx"])
def test_what_belongs_to_no_member_of_an_archive_counts(name: str) -> None:
    stored, again = (
        archive({"a.csv": b"n\n1.5", "b": b"x" * 99}, at, packed=True) for at in (0, 2)
    )
    assert both(name, stored, again).verdict == "noise-only"
    more = b"n\n99.5"
    wrong = {
        "behind the archive": again + more,
        "after 'b'": spliced(again, b"PK\x01\x02", more),
        "before the first member": again[:40] + again,
    }
    for where, other in wrong.items():
        for pair in ((stored, other), (other, stored)):
            found = both(name, *pair)
            assert (found.verdict, found.where) == ("different", where)
    # the same on both sides is no difference
    assert both(name, stored + more, again + more).verdict == "noise-only"
    assert both(name, stored + more, again + more[:-1]).verdict == "different"


def one_member(field: bytes, behind: bytes = b"") -> bytes:
    """Pack a member with a field in its headers, and bytes behind the end of its packed data."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        info = zipfile.ZipInfo("a", (2026, 1, 1, 0, 0, 0))
        info.extra = field
        made.writestr(info, b"x" * 99, zipfile.ZIP_DEFLATED)
        size = info.compress_size
    data = out.getvalue()
    longer = (size + len(behind)).to_bytes(4, "little")
    entry = data.index(b"PK\x01\x02")
    data = data[:18] + longer + data[22 : entry + 20] + longer + data[entry + 24 :]
    return spliced(data, b"PK\x01\x02", behind)


def test_what_hides_in_a_members_header_or_behind_its_data_counts() -> None:
    times = [b"UT\x05\0\x01" + bytes([at]) * 4 for at in (1, 2)]
    assert both("a.zip", one_member(times[0]), one_member(times[1])).verdict == "noise-only"
    assert (
        both("a.zip", one_member(b"\xff\xee\x01\0a"), one_member(b"\xff\xee\x01\0b")).verdict
        == "different"
    )
    assert both("a.zip", one_member(b""), one_member(b"\xff\xee\x01\0b")).verdict == "different"
    assert both("a.zip", one_member(b""), one_member(b"", b"tail")).where == "in the data of 'a'"


def test_archives_written_without_going_back_are_noise() -> None:
    class Stream(io.RawIOBase):
        def __init__(self) -> None:
            self.data = b""

        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            self.data += bytes(data)
            return len(data)

    out = Stream()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a", b"x" * 99)
        with made.open("b", "w", force_zip64=True) as member:
            member.write(b"y" * 99)
    plain = archive({"a": b"x" * 99, "b": b"y" * 99})
    assert both("a.zip", out.data, plain).verdict == "noise-only"
    saved = [io.BytesIO(), io.BytesIO()]
    np.savez(saved[0], a=np.arange(9.0))
    np.savez_compressed(saved[1], a=np.arange(9.0))
    assert both("a.npz", saved[0].getvalue(), saved[1].getvalue()).verdict == "noise-only"
