"""Hashing agrees with sha256sum and git, and says what it could not read."""

from __future__ import annotations

import hashlib
import os
import socket
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vaibify_lab.core.errors import MissingFile, UnsafePath
from vaibify_lab.core.observed import MISSING, FileState
from vaibify_lab.files import hashing
from vaibify_lab.files.hashing import hash_both, hash_file, hash_many
from vaibify_lab.files.tree import Tree

SIZES = [0, 1, 9000, 2**20 - 1, 2**20, 2**20 + 1, 3 * 2**20 + 17]
NOT_READABLE = (
    *("none", "real/file/x", "no/ne", "link", "odd", "folder/file"),
    *("fifo", "device", "socket", "real"),
)
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 12345\n" % (b"4d" * 32)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    (tmp_path / "root").mkdir()
    return Tree(tmp_path / "root")


def test_the_same_as_sha256sum_and_git(tree: Tree, git: Callable[..., str]) -> None:
    names = [f"d{size % 3}/{size}" for size in SIZES]
    for name, size in zip(names, SIZES, strict=True):
        tree.write(name, os.urandom(size))
    summed = subprocess.check_output(["sha256sum", *names], cwd=tree.root, text=True)
    expected = {
        line[66:]: FileState("file", line[:64], int(line[66:].rpartition("/")[2]))
        for line in summed.splitlines()
    }
    assert hash_many(tree, names) == expected
    assert list(hash_many(tree, reversed(names))) == names[::-1]
    for object_format in ("sha1", "sha256"):
        bare = tree.root.parent / object_format
        git(tree.root, "init", "-q", "--bare", f"--object-format={object_format}", str(bare))
        blobs = git(bare, "hash-object", "--no-filters", *(str(tree.root / one) for one in names))
        found = [hash_both(tree, name, object_format) for name in names]
        assert found == list(zip(expected.values(), blobs.split(), strict=True))


def test_what_is_not_a_readable_regular_file(tree: Tree, public: Path, as_nobody) -> None:
    root = tree.root
    tree.write("real/file", b"1")
    (root / "link").symlink_to("real/file")
    (root / "odd").symlink_to(b"/tmp/caf\xe9\n")
    (root / "folder").symlink_to("real")
    os.mkfifo(root / "fifo")
    os.mknod(root / "device", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(root / "socket"))
        before = len(os.listdir("/proc/self/fd"))
        started = time.monotonic()
        found = hash_many(tree, NOT_READABLE)
        assert time.monotonic() - started < 30
        assert len(os.listdir("/proc/self/fd")) == before
    assert found == {
        "none": MISSING,
        "real/file/x": MISSING,
        "no/ne": MISSING,
        "link": FileState("link", detail="a symbolic link to real/file"),
        "odd": FileState("link", detail="a symbolic link to /tmp/caf\\xe9\\n"),
        "folder/file": FileState("link", detail="folder is a symbolic link"),
        "fifo": FileState("not-regular", detail="a FIFO"),
        "device": FileState("not-regular", detail="a device"),
        "socket": FileState("not-regular", detail="a socket"),
        "real": FileState("not-regular", detail="a directory"),
    }
    closed = Tree(public)
    closed.write("file", b"1", mode=0o600)
    with as_nobody():
        assert hash_file(closed, "file") == FileState("unreadable", detail="Permission denied")


def test_path_or_root_that_is_no_such_thing(tree: Tree, tmp_path: Path) -> None:
    for path in ("../x", "/etc/hostname", "a//b", ""):
        with pytest.raises(UnsafePath):
            hash_many(tree, ["a", path])
    with pytest.raises(MissingFile, match="does not exist"):
        hash_file(Tree(tmp_path / "none"), "a")


def test_file_that_keeps_changing(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody appends to it each time between its opening and the end of the reading."""
    tree.write("log", b"x")
    opened: list[str] = []

    def append(directory: int, name: str) -> int:
        opened.append(name)
        descriptor = os.open(name, os.O_RDONLY, dir_fd=directory)
        with open(tree.root / "log", "ab") as file:
            file.write(b"y")
        return descriptor

    monkeypatch.setattr(hashing, "open_regular", append)
    changing = FileState("changing", detail="changed while it was read")
    assert hash_both(tree, "log", "sha1") == (changing, None)
    assert opened == ["log"] * 3


@pytest.mark.parametrize("size", [10, 2**20 + 10])
@pytest.mark.parametrize("way", ["same size", "grown", "cut", "replaced", "times put back"])
def test_one_change_while_it_is_read_is_read_again(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, way: str, size: int
) -> None:
    """The first reading meets a change just after the file was opened."""
    tree.write("file", b"a" * size)
    target = tree.root / "file"
    new = {"grown": b"a" * (size + 1), "cut": b"a" * (size - 1)}.get(way, b"b" * size)
    opened: list[str] = []

    def change(directory: int, name: str) -> int:
        descriptor = os.open(name, os.O_RDONLY, dir_fd=directory)
        if not opened:
            times = target.stat()
            time.sleep(0.02)  # more than one tick of a coarse clock
            if way == "replaced":
                target.unlink()
            target.write_bytes(new)
            if way == "times put back":
                os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
        opened.append(name)
        return descriptor

    monkeypatch.setattr(hashing, "open_regular", change)
    found = hash_file(tree, "file")
    digest = hashlib.sha256(new).hexdigest()
    assert found == FileState("file", digest, len(new))
    assert len(opened) == 2


def test_hole_of_a_terabyte_is_not_read(tree: Tree) -> None:
    tree.write("data", b"")
    os.truncate(tree.root / "data", 2**40)
    text = "1099511627776 bytes, nearly all of them a hole: not read"
    assert hash_file(tree, "data") == FileState("unreadable", size=2**40, detail=text)


def test_lfs_pointer(tree: Tree) -> None:
    extended = POINTER.replace(b"\noid", b"\next-0-foo sha256:%s\noid" % (b"0" * 64))
    near = {
        "crlf": POINTER.replace(b"\n", b"\r\n"),
        "short": POINTER.replace(b"4d4d", b"4d"),
        "more": POINTER + b"more\n",
        "padded": POINTER + b"\n" * 1000,
        "text": b"version 1\n",
    }
    for name, data in {"pointer": POINTER, "extended": extended, **near}.items():
        tree.write(name, data)
    found = hash_many(tree, ["pointer", "extended", *near])
    digests = {name: hashlib.sha256(tree.read(name)).hexdigest() for name in found}
    for name in ("pointer", "extended"):
        size = len(tree.read(name))
        assert found[name] == FileState("lfs-pointer", digests[name], size, "4d" * 32)
    assert {name: found[name] for name in near} == {
        name: FileState("file", digests[name], len(data)) for name, data in near.items()
    }


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    names=st.lists(st.text("ab-/\u00e9\udce9\n", min_size=1, max_size=9), max_size=8, unique=True)
)
def test_any_set_of_paths_in_any_order(tmp_path: Path, names: list[str]) -> None:
    """Directories are shared from one path to the next; nobody gets another's hash."""
    tree = Tree(tmp_path)
    plain = [f"f/{name}x" for name in names if not set(name.split("/")) & {"", ".", ".."}]
    for name in plain:
        tree.write(name, os.fsencode(name))
    found = hash_many(tree, plain)
    assert found == {
        name: FileState(
            "file", hashlib.sha256(os.fsencode(name)).hexdigest(), len(os.fsencode(name))
        )
        for name in plain
    }
    assert list(found) == plain
