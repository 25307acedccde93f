"""The stat cache: an unchanged look reads nothing, and no change goes unnoticed."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from vaibify_lab.core.observed import MISSING, FileState
from vaibify_lab.files import statcache
from vaibify_lab.files.hashing import Reading, hash_both, stamp_of
from vaibify_lab.files.statcache import StatCache, default_store
from vaibify_lab.files.tree import Tree

NAMES = ("top", "a/one", "a/two", "a/deep/three", "b/four", "b/five")


def content(name: str) -> bytes:
    return name.encode() * 7


def state(data: bytes) -> FileState:
    return FileState("file", hashlib.sha256(data).hexdigest(), len(data))


EXPECTED = {name: state(content(name)) for name in NAMES}


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty equal trees whose stamps are old enough to be trusted: one wait for all tests."""
    top = tmp_path_factory.mktemp("old")
    for number in range(24):
        for name in NAMES:
            Tree(top).write(f"{number}/{name}", content(name))
    time.sleep(2.1)
    return top


@pytest.fixture
def tree(old: Path) -> Iterator[Tree]:
    """The next unused one of them."""
    folder = min(old.iterdir(), key=lambda one: int(one.name))
    yield Tree(folder)
    shutil.rmtree(folder)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that the cache reads from now on."""
    names: list[str] = []
    real = statcache.read_at

    def count(directory: int, name: str, object_format: str | None) -> Reading:
        names.append(name)
        return real(directory, name, object_format)

    monkeypatch.setattr(statcache, "read_at", count)
    return names


def test_unchanged_look_reads_nothing(tree: Tree, reads: list[str]) -> None:
    cache = StatCache(tree, None)
    assert cache.observe(NAMES) == EXPECTED
    assert len(reads) == len(NAMES)
    for wanted in (NAMES, NAMES[::-1], NAMES[2:4], ("top", "top")):
        assert cache.observe(wanted) == {name: EXPECTED[name] for name in wanted}
        assert list(cache.observe(wanted)) == list(dict.fromkeys(wanted))
    assert len(reads) == len(NAMES)


def test_e09_touch_changes_nothing(tree: Tree, reads: list[str]) -> None:
    cache = StatCache(tree, None)
    cache.observe(NAMES)
    (tree.root / "top").touch()
    reads.clear()
    assert cache.observe(NAMES) == EXPECTED
    assert reads == ["top"]


def test_e09_checkout_resets_every_mtime(tree: Tree) -> None:
    cache = StatCache(tree, None)
    cache.observe(NAMES)
    for name in NAMES:
        os.utime(tree.root / name, (0, 0))
    assert cache.observe(NAMES) == EXPECTED


def test_change_with_the_old_mtime_put_back(tree: Tree) -> None:
    cache = StatCache(tree, None)
    cache.observe(NAMES)
    target = tree.root / "a/one"
    before = target.stat()
    target.write_bytes(content("a/one").swapcase())
    os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = target.stat()
    assert (before.st_size, before.st_mtime_ns, before.st_ino) == (
        after.st_size,
        after.st_mtime_ns,
        after.st_ino,
    )
    assert cache.observe(NAMES) == EXPECTED | {"a/one": state(content("a/one").swapcase())}


def test_another_inode_put_in_place(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files of equal size and mtime change places."""
    for name in ("b/four", "b/five"):
        os.utime(tree.root / name, ns=(10**18, 10**18))
    four, five = tree.root / "b/four", tree.root / "b/five"
    # As if both had been as they are now for long.
    monkeypatch.setattr(statcache, "is_settled", lambda stamp, started: True)
    cache = StatCache(tree, None)
    cache.observe(NAMES)
    link = tree.root / "link"
    os.link(four, link)
    five.replace(four)
    link.replace(five)
    swapped = {"b/four": EXPECTED["b/five"], "b/five": EXPECTED["b/four"]}
    assert cache.observe(NAMES) == EXPECTED | swapped


SWAP = """
import os
from vaibify_lab.files import statcache
from vaibify_lab.files.hashing import hash_many
from vaibify_lab.files.tree import Tree

statcache.is_settled = lambda stamp, started: True  # as if all had been there for long
tree = Tree(here)
missed = alike = 0
for number in range(300):
    names = [f"{number}a", f"{number}b"]
    for name in names:
        (here / name).write_bytes(name[-1:].encode())
        os.utime(here / name, ns=(10**18, 10**18))
    before = [os.lstat(here / name) for name in names]
    cache = statcache.StatCache(tree, None)
    cache.observe(names)
    (here / names[0]).rename(here / "aside")
    (here / names[1]).rename(here / names[0])
    (here / "aside").rename(here / names[1])
    after = [os.lstat(here / name) for name in names]
    alike += [one.st_ctime_ns for one in before] == [one.st_ctime_ns for one in after]
    missed += cache.observe(names) != hash_many(tree, names)
print(missed, alike > 0)
"""


def test_only_the_inode_tells_two_files_apart(on_mount) -> None:
    assert on_mount(SWAP, "-t", "ramfs") == "0 True\n"


def test_delete_and_restore(tree: Tree) -> None:
    cache = StatCache(tree, None)
    cache.observe(NAMES)
    (tree.root / "a/one").rename(tree.root / "aside")
    assert cache.observe(NAMES) == EXPECTED | {"a/one": MISSING}
    (tree.root / "aside").rename(tree.root / "a/one")
    assert cache.observe(NAMES) == EXPECTED
    shutil.rmtree(tree.root / "a")
    gone = dict.fromkeys(("a/one", "a/two", "a/deep/three"), MISSING)
    assert cache.observe(NAMES) == EXPECTED | gone


def test_parent_or_file_becomes_a_link(tree: Tree) -> None:
    cache = StatCache(tree, None)
    cache.observe(NAMES)
    (tree.root / "a").rename(tree.root / "elsewhere")
    (tree.root / "a").symlink_to("elsewhere")
    (tree.root / "top").unlink()
    (tree.root / "top").symlink_to("b/four")
    below = FileState("link", detail="a is a symbolic link")
    assert cache.observe(NAMES) == EXPECTED | {
        "a/one": below,
        "a/two": below,
        "a/deep/three": below,
        "top": FileState("link", detail="a symbolic link to b/four"),
    }


def test_e09_stamps_of_this_moment_are_not_trusted(tree: Tree, reads: list[str]) -> None:
    """Also when the clock was set back since: a stamp of the future is no old one."""
    cache = StatCache(tree, None)
    tree.write("fresh", b"1")
    os.utime(tree.root / "top", (time.time() + 3600,) * 2)
    names = ("fresh", "top", "b/four")
    for _ in range(3):
        assert cache.observe(names) == {
            "fresh": state(b"1"),
            "top": EXPECTED["top"],
            "b/four": EXPECTED["b/four"],
        }
    assert sorted(reads) == ["four", *["fresh"] * 3, *["top"] * 3]


def test_rule_of_two_seconds() -> None:
    second = 10**9
    now = 100 * second
    cases = {(97, 97): True, (98, 97): False, (97, 98): False, (99, 99): False, (101, 50): False}
    found = {
        (mtime, ctime): statcache.is_settled((1, mtime * second, ctime * second, 1), now)
        for mtime, ctime in cases
    }
    assert found == cases


def test_blob_ids(tree: Tree, git: Callable[..., str], reads: list[str]) -> None:
    cache = StatCache(tree, None)
    cache.observe(NAMES)
    for object_format in ("sha1", "sha256"):
        reads.clear()
        expected = {name: hash_both(tree, name, object_format)[1] for name in NAMES}
        assert cache.blob_ids((*NAMES, "none"), object_format) == {**expected, "none": None}
        assert len(reads) == len(NAMES) + 1
        assert cache.observe_both(NAMES, object_format) == (EXPECTED, expected)
        assert len(reads) == len(NAMES) + 1
    (tree.root / "top").write_bytes(b"changed")
    cache.observe(NAMES)
    assert cache.blob_ids(["top"], "sha256") == {"top": hash_both(tree, "top", "sha256")[1]}


def test_lfs_pointer_is_remembered_as_one(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.write(
        "data",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 5\n" % (b"0" * 64),
    )
    cache = StatCache(tree, None)
    assert [cache.observe(["data"])["data"].kind for _ in range(2)] == ["lfs-pointer"] * 2


def test_next_process_reads_nothing(tree: Tree, own_cache: Path, reads: list[str]) -> None:
    store = default_store(tree.root)
    name = hashlib.sha256(os.fsencode(tree.root)).hexdigest()[:16]
    assert store == own_cache / "vaibify_lab" / "stat" / name
    first = StatCache(tree, store)
    tree.write("fresh\udce9", b"1")
    first.blob_ids((*NAMES, "fresh\udce9"), "sha1")
    first.save()
    reads.clear()
    second = StatCache(tree, store)
    assert second.observe(NAMES) == EXPECTED
    assert reads == []
    assert second.blob_ids(["top"], "sha1") == {"top": hash_both(tree, "top", "sha1")[1]}
    assert reads == []
    assert second.observe(["fresh\udce9"]) == {"fresh\udce9": state(b"1")}
    assert reads == ["fresh\udce9"]  # not trusted yet, so not kept


def test_store_is_written_only_when_something_changed(tree: Tree) -> None:
    store = default_store(tree.root)
    first = StatCache(tree, store)
    first.save()
    assert not store.exists()
    first.observe(NAMES)
    first.save()
    before = store.stat()
    for cache in (first, StatCache(tree, store)):
        cache.observe(NAMES)
        cache.save()
    assert store.stat().st_ino == before.st_ino
    (tree.root / "top").unlink()
    first.observe(NAMES)
    first.save()
    assert store.stat().st_ino != before.st_ino


def damage(store: Path, way: str) -> None:
    data = store.read_bytes()
    if way == "flipped digit":
        digest = EXPECTED["top"].sha256
        assert digest is not None
        at = data.index(digest.encode())
        store.write_bytes(
            data[:at] + (b"0" if data[at : at + 1] != b"0" else b"1") + data[at + 1 :]
        )
    elif way == "cut":
        store.write_bytes(data[:-20])
    elif way == "garbage":
        store.write_bytes(b"\0\xff" * 100)
    elif way == "empty":
        store.write_bytes(b"")
    elif way == "another user's":
        os.chown(store, 1234, 1234)
    elif way == "a link":
        store.rename(store.with_name("other"))
        store.symlink_to("other")
    elif way == "a FIFO":
        store.unlink()
        os.mkfifo(store)


@pytest.mark.parametrize(
    "way",
    ["flipped digit", "cut", "garbage", "empty", "another user's", "a link", "a FIFO"],
)
def test_damaged_or_foreign_store_is_ignored(tree: Tree, way: str, reads: list[str]) -> None:
    store = default_store(tree.root)
    first = StatCache(tree, store)
    first.observe(NAMES)
    first.save()
    damage(store, way)
    reads.clear()
    second = StatCache(tree, store)
    assert second.observe(NAMES) == EXPECTED
    assert len(reads) == len(NAMES)
    second.save()
    reads.clear()
    assert StatCache(tree, store).observe(NAMES) == EXPECTED
    assert reads == []


def test_store_of_another_root_is_ignored(tree: Tree, tmp_path: Path, reads: list[str]) -> None:
    first = StatCache(tree, tmp_path / "store")
    first.observe(NAMES)
    first.save()
    copy = tmp_path / "copy"
    shutil.copytree(tree.root, copy)
    reads.clear()
    assert StatCache(Tree(copy), tmp_path / "store").observe(NAMES) == EXPECTED
    assert len(reads) == len(NAMES)


def test_cache_folder_that_cannot_be_written_is_harmless(
    tree: Tree, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_cache / "vaibify_lab").write_bytes(b"a file in the way")
    cache = StatCache(tree, default_store(tree.root))
    assert cache.observe(NAMES) == EXPECTED
    cache.save()
    assert [one.name for one in own_cache.iterdir()] == ["vaibify_lab"]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/c/vaibify_lab/stat"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/vaibify_lab/stat"),
        ({"HOME": "/h"}, "/h/.cache/vaibify_lab/stat"),
    ],
)
def test_where_the_cache_lies(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert str(default_store(Path("/")).parent) == expected
    monkeypatch.setattr("sys.platform", "darwin")
    mac = expected.replace(".cache", "Library/Caches")
    assert str(default_store(Path("/")).parent) == mac


COARSE = """
import os
from vaibify_lab.files.hashing import hash_file
from vaibify_lab.files.statcache import StatCache
from vaibify_lab.files.tree import Tree

tree = Tree(here)
tree.write("file", b"0000")
shared = StatCache(tree, None)
opened = os.open(here / "file", os.O_RDWR)
missed = alike = 0
before = None
for number in range(3000):
    os.pwrite(opened, b"%04d" % number, 0)
    status = os.lstat(here / "file")
    stamp = status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
    alike += stamp == before
    before = stamp
    # Also through the store, as the next process would.
    cache = shared if number % 10 else StatCache(tree, here / "store")
    missed += cache.observe(["file"])["file"] != hash_file(tree, "file")
    cache.save()
print(missed, alike > 1000)
"""


def test_rewrites_on_a_file_system_with_coarse_times_are_all_noticed(on_mount) -> None:
    """ramfs stamps in ticks of 4 ms: most rewrites leave all four values as they were."""
    assert on_mount(COARSE, "-t", "ramfs") == "0 True\n"


def test_coarse_times_across_the_two_seconds(on_mount) -> None:
    """A file is looked at when it has become old enough, and rewritten at once."""
    script = """
import os, time
from vaibify_lab.files.statcache import StatCache
from vaibify_lab.files.hashing import hash_many
from vaibify_lab.files.tree import Tree

tree = Tree(here)
names = [f"f{number}" for number in range(200)]
for name in names:
    tree.write(name, b"a")
cache = StatCache(tree, None)
missed = 0
until = time.monotonic() + 2.3
turn = 0
while time.monotonic() < until:
    turn += 1
    for name in names[turn % 7 :: 7]:
        with open(here / name, "r+b") as file:
            file.write(b"ab"[turn % 2 :][:1])
    missed += cache.observe(names) != hash_many(tree, names)
    time.sleep(0.05)
print(missed)
"""
    assert on_mount(script, "-t", "ramfs") == "0\n"


def test_unchanged_look_opens_folders_only(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = StatCache(tree, None)
    cache.observe(NAMES)
    opened: list[tuple[str, bool]] = []
    real = os.open

    def record(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        opened.append((str(path), bool(flags & os.O_DIRECTORY)))
        return real(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", record)
    assert cache.observe(NAMES) == EXPECTED
    folders = [str(tree.root), "a", "deep", "b"]
    assert opened == [(name, True) for name in folders]


def test_where_the_caller_looked_just_now_it_is_looked_again_only_if_that_differs(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = StatCache(tree, None)
    before = cache.blob_ids(NAMES, "sha1")
    swept: list[str] = []
    real = statcache.stamps_in

    def sweep(directory: int, names: Iterable[str]) -> object:
        swept.extend(names)
        return real(directory, names)

    monkeypatch.setattr(statcache, "stamps_in", sweep)
    seen = {"a": [stamp_of((tree.root / "a" / name).stat()) for name in ("one", "two")]}
    assert cache.blob_ids(NAMES, "sha1", seen) == before
    assert sorted(swept) == ["five", "four", "three", "top"]
    other = {"a": [*seen["a"][:1], (0, 0, 0, 0)], "b": seen["a"]}
    (tree.root / "a/two").write_bytes(b"changed")
    changed = cache.blob_ids(NAMES, "sha1", other)
    assert changed == before | {"a/two": hash_both(tree, "a/two", "sha1")[1]}
