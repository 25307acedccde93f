"""Packs: one file a result; whole or not there, and never a byte that was not kept."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaibify_lab.core.errors import CannotCheck, MissingFile
from vaibify_lab.files.packs import Damaged, Member, Pack
from vaibify_lab.files.packstore import Entry, PackStore, too_many

NAME = "0123456789abcdef" * 5
CONTENTS = {
    "a": b"", "b": b"small\n", "d/c": b"x" * 4096, "d/e": b"y" * 9000, "f": b"z" * 300,
}  # fmt: skip


def members(contents: Mapping[str, bytes]) -> list[Member]:
    return [
        Member(path, hashlib.sha256(data).hexdigest(), len(data), 0o644)
        for path, data in contents.items()
    ]


def keep(
    store: PackStore, folder: Path, contents: Mapping[str, bytes], name: str = NAME, about: Any = ()
) -> str:
    for number, data in enumerate(contents.values()):
        (folder / f"source-{number}").write_bytes(data)
    places = {path: folder / f"source-{number}" for number, path in enumerate(contents)}
    return store.keep(
        name, dict(about), members(contents), lambda one: os.open(places[one.path], os.O_RDONLY)
    )


def taken(pack: Pack, folder: Path) -> dict[str, bytes]:
    """Take everything out into a folder; return it by path."""
    folder.mkdir(exist_ok=True)
    places: dict[str, Path] = {}

    def create(one: Member) -> int:
        places[one.path] = folder / str(len(places))
        return os.open(places[one.path], os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)

    with pack:
        pack.take_out(create)
    return {path: place.read_bytes() for path, place in places.items()}


def found(store: PackStore, name: str = NAME) -> Pack:
    pack = store.find(name)
    assert pack is not None
    return pack


@pytest.fixture
def store(tmp_path: Path) -> PackStore:
    return PackStore(tmp_path / "store", 10**6)


def test_what_was_kept_comes_out_again(store: PackStore, tmp_path: Path) -> None:
    assert store.find(NAME) is None
    assert keep(store, tmp_path, CONTENTS, about={"run": "1"}) == ""
    pack = found(store)
    assert pack.about == {"run": "1"}
    assert list(pack.members) == members(CONTENTS)
    assert taken(pack, tmp_path / "out") == CONTENTS
    place = store.folder / NAME
    assert place.stat().st_mode & 0o777 == 0o600
    assert store.folder.stat().st_mode & 0o777 == 0o700
    assert [one.name for one in store.folder.iterdir()] == [NAME]


def test_it_is_found_by_its_own_name_alone(store: PackStore, tmp_path: Path) -> None:
    keep(store, tmp_path, CONTENTS)
    other = NAME[::-1]
    (store.folder / NAME).rename(store.folder / other)
    with pytest.raises(Damaged):
        store.find(other)
    assert store.entries() == []


@given(
    contents=st.dictionaries(
        st.text("abc", min_size=1, max_size=3), st.binary(max_size=9000), max_size=4
    ),
    place=st.floats(0, 1, exclude_max=True),
    cut=st.booleans(),
    mask=st.integers(1, 255),
)
def test_a_pack_that_was_cut_or_flipped_anywhere_gives_no_wrong_byte(
    tmp_path_factory: pytest.TempPathFactory,
    contents: dict[str, bytes],
    place: float,
    cut: bool,
    mask: int,
) -> None:
    folder = tmp_path_factory.mktemp("pack")
    store = PackStore(folder / "store", 10**6)
    keep(store, folder, contents)
    file = store.folder / NAME
    data = bytearray(file.read_bytes())
    index = int(place * len(data))
    if cut:
        del data[index:]
    else:
        data[index] ^= mask
    file.write_bytes(data)
    try:
        pack = store.find(NAME)
        out = taken(pack, folder / "out") if pack is not None else None
    except Damaged:
        return
    assert not cut
    assert out == contents  # what was flipped lies between the files


@pytest.mark.parametrize(
    "harm",
    [
        lambda place: place.write_bytes(b""),
        lambda place: place.write_bytes(os.urandom(5000)),
        lambda place: place.write_bytes(place.read_bytes() + b"x"),
        lambda place: place.chmod(0o622),
        lambda place: os.chown(place, 12345, 12345),
        lambda place: (place.unlink(), place.symlink_to("/etc/passwd")),
        lambda place: (place.unlink(), os.mkfifo(place)),
    ],
    ids=["empty", "noise", "longer", "writable", "owned", "link", "fifo"],
)
def test_what_is_no_pack_of_ours_is_dropped(store: PackStore, tmp_path: Path, harm: Any) -> None:
    keep(store, tmp_path, CONTENTS)
    harm(store.folder / NAME)
    with pytest.raises(Damaged):
        store.find(NAME)
    assert list(store.folder.iterdir()) == []
    assert store.find(NAME) is None


def test_a_head_of_a_strange_shape_is_damage(store: PackStore, tmp_path: Path) -> None:
    strange = [
        [["a", "0" * 64, -1, 0o644]], [["a", "0" * 63, 0, 0o644]], [["a", "0" * 64, 0, 0o4755]],
        [["a", "0" * 64, True, 0]], [[1, "0" * 64, 0, 0]], [["a"]], {"a": 1}, 5, None,
        [["a", "0" * 64, 2**59, 0]],
    ]  # fmt: skip
    for rows in strange:
        head = json.dumps({"about": {}, "members": rows}).encode()
        digest = hashlib.sha256(NAME.encode() + b"\0" + head).hexdigest().encode()
        place = store.folder / NAME
        place.write_bytes(b"vaibify_lab pack 1 %s %d\n%s" % (digest, len(head), head))
        place.chmod(0o600)
        with pytest.raises(Damaged):
            store.find(NAME)


def test_a_reader_keeps_what_it_has_open(store: PackStore, tmp_path: Path) -> None:
    keep(store, tmp_path, CONTENTS)
    pack = found(store)
    keep(store, tmp_path, {"other": b"1"})
    assert store.clear()[0] == 1
    assert taken(pack, tmp_path / "out") == CONTENTS


def test_a_damaged_pack_that_was_replaced_meanwhile_stays(store: PackStore, tmp_path: Path) -> None:
    keep(store, tmp_path, CONTENTS)
    old = found(store)
    keep(store, tmp_path, {"other": b"1"})
    with old:
        store.drop(NAME, old.opened)
    assert taken(found(store), tmp_path / "out") == {"other": b"1"}


def test_the_least_recently_used_goes_first(tmp_path: Path) -> None:
    store = PackStore(tmp_path / "store", 22_000)
    names = [f"{number:016x}" for number in range(5)]
    for number, name in enumerate(names[:4]):
        assert keep(store, tmp_path, {"a": bytes(4000)}, name) == ""
        os.utime(store.folder / name, (1000 + number, 1000 + number))
    with found(store, names[0]) as pack:
        store.used(pack)
    assert keep(store, tmp_path, {"a": bytes(8192)}, names[4]) == ""
    assert {one.name for one in store.entries()} == {names[0], names[3], names[4]}
    assert "more than the cache may hold" in keep(store, tmp_path, {"a": bytes(22_001)}, names[1])


def test_what_goes_is_told_from_sizes_and_order_alone() -> None:
    entries = [Entry(str(size), size, size) for size in (3, 4, 5)]
    gone = {limit: [one.size for one in too_many(entries, limit)] for limit in (12, 11, 9, 5, 4, 0)}
    assert gone == {12: [], 11: [3], 9: [3], 5: [3, 4], 4: [3, 4, 5], 0: [3, 4, 5]}


def test_a_source_that_fails_or_shrinks_leaves_nothing(store: PackStore, tmp_path: Path) -> None:
    (tmp_path / "short").write_bytes(b"1")

    def missing(one: Member) -> int:
        raise MissingFile("is gone", where=one.path)

    with pytest.raises(MissingFile):
        store.keep(NAME, {}, members(CONTENTS), missing)
    said = store.keep(
        NAME, {}, members({"a": b"22"}), lambda one: os.open(tmp_path / "short", os.O_RDONLY)
    )
    assert "ends before" in said
    assert list(store.folder.iterdir()) == []


def test_drafts_of_the_dead_are_swept_and_those_of_the_living_stay(
    store: PackStore, tmp_path: Path
) -> None:
    dead, living = (store.folder / f".{digit * 16}.tmp" for digit in "ab")
    other = store.folder / "notes.txt"
    for place in (dead, living, other):
        place.write_bytes(b"half")
    with living.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        keep(store, tmp_path, CONTENTS)
        assert {one.name for one in store.folder.iterdir()} == {living.name, other.name, NAME}
    size = (store.folder / NAME).stat().st_size
    assert store.clear() == (1, size)
    assert {one.name for one in store.folder.iterdir()} == {other.name}


@pytest.mark.parametrize("how", ["mode", "owner", "link", "file"])
def test_a_folder_that_is_not_the_users_own_is_refused(tmp_path: Path, how: str) -> None:
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    if how == "mode":
        folder.chmod(0o770)
    elif how == "owner":
        os.chown(folder, 12345, 12345)
    else:
        folder.rmdir()
        folder.symlink_to(tmp_path) if how == "link" else folder.write_bytes(b"")
    with pytest.raises(CannotCheck) as caught:
        PackStore(folder, 10)
    assert str(folder) in str(caught.value)
