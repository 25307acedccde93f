"""The tree: no link is followed, nothing blocks, files are replaced whole or not at all."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.counting import counted
from vaibify_lab.core.errors import CannotCheck, DiskFull, InvalidFile, MissingFile, UnsafePath
from vaibify_lab.files.tree import Tree

UNSAFE = [
    "",
    "/etc/hostname",
    "../x",
    "a/../b",
    "a//b",
    "./a",
    "a/.",
    "a/",
    "a\0b",
    "d/" * 256 + "x",
]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    (tmp_path / "root").mkdir()
    return Tree(tmp_path / "root")


def everything(root: Path) -> dict[str, bytes | None]:
    return {
        str(one.relative_to(root)): one.read_bytes() if one.is_file() else None
        for one in sorted(root.rglob("*"))
    }


def read_all(tree: Tree, path: str) -> bytes:
    opened = tree.open_file(path)
    with os.fdopen(opened, "rb") as file:
        return file.read()


@pytest.mark.parametrize("path", UNSAFE)
@pytest.mark.parametrize("call", ["open_file", "lstat", "read", "remove"])
def test_path_that_is_not_plain(tree: Tree, call: str, path: str) -> None:
    with pytest.raises(UnsafePath):
        getattr(tree, call)(path)


@pytest.mark.parametrize("path", UNSAFE)
def test_path_that_is_not_plain_is_not_written(tree: Tree, path: str) -> None:
    tree.write("here", b"1")
    for call in (
        lambda: tree.write(path, b"x"),
        lambda: tree.move("here", path),
        lambda: tree.move(path, "there"),
    ):
        with pytest.raises(UnsafePath):
            call()
    assert everything(tree.root) == {"here": b"1"}


def test_open_file_reads_and_leaks_nothing(tree: Tree) -> None:
    tree.write("a/b/c.txt", b"hello")
    before = len(os.listdir("/proc/self/fd"))
    assert read_all(tree, "a/b/c.txt") == b"hello"
    for path in ("a/b/none", "a/none/c", "a/b/c.txt/d"):
        with pytest.raises(MissingFile, match="does not exist"):
            tree.open_file(path)
    with pytest.raises(UnsafePath, match="a/b: is not a regular file"):
        tree.open_file("a/b")
    assert len(os.listdir("/proc/self/fd")) == before


def test_fifo_socket_and_device_are_refused_at_once(tree: Tree) -> None:
    os.mkfifo(tree.root / "fifo")
    os.mknod(tree.root / "device", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    with socket.socket(socket.AF_UNIX) as listener:
        folder = os.open(tree.root, os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{folder}/socket")
        os.close(folder)
        started = time.monotonic()
        for path in ("fifo", "device", "socket"):
            with pytest.raises(UnsafePath, match=f"{path}: is not a regular file"):
                tree.open_file(path)
            with pytest.raises(UnsafePath, match=f"{path}: is not a regular file"):
                tree.write(path, b"x")
        assert time.monotonic() - started < 30


def test_m11_symlinked_files(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "secret").write_bytes(b"s")
    tree.write("real/file", b"1")
    root = tree.root
    (root / "inside").symlink_to("real/file")
    (root / "outside").symlink_to(tmp_path / "home" / "secret")
    (root / "dangling").symlink_to("nowhere")
    (root / "to_folder").symlink_to("real")
    before = everything(root)
    for path in ("inside", "outside", "dangling", "to_folder"):
        for call in (tree.open_file, tree.read, lambda p: tree.write(p, b"x")):
            with pytest.raises(UnsafePath) as caught:
                call(path)
            assert str(caught.value) == f"{path}: is a symbolic link"
    for call in (
        tree.open_file,
        tree.read,
        tree.lstat,
        tree.remove,
        lambda p: tree.write(p, b"x"),
        lambda p: tree.move(p, "elsewhere"),
        lambda p: tree.move("real/file", p),
    ):
        with pytest.raises(UnsafePath) as caught:
            call("to_folder/file")
        assert str(caught.value) == "to_folder/file: goes through the symbolic link to_folder"
    for call in (tree.make_directory, tree.list_files):
        with pytest.raises(UnsafePath, match=r"to_folder/?: is a symbolic link"):
            call("to_folder/")
    assert everything(root) == before
    assert (tmp_path / "home" / "secret").read_bytes() == b"s"


def test_link_is_never_followed_while_it_is_swapped_in(tree: Tree, tmp_path: Path) -> None:
    """Somebody exchanges a folder for a link to the outside, again and again."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(b"outside")
    tree.write("folder/file", b"inside")
    (tree.root / "link").symlink_to(outside)
    done = threading.Event()

    def swap() -> None:
        exchange = ctypes.CDLL(None).renameat2
        folder, link = (os.fsencode(tree.root / name) for name in ("folder", "link"))
        while not done.is_set():
            assert exchange(-100, folder, -100, link, 2) == 0  # AT_FDCWD, RENAME_EXCHANGE

    swapper = threading.Thread(target=swap)
    swapper.start()
    read: set[bytes] = set()
    refused = 0
    try:
        started = time.monotonic()
        while time.monotonic() < started + (1 if read and refused else 20):
            for call in (
                lambda: read.add(tree.read("folder/file")),
                lambda: tree.write("folder/file", b"inside"),
                lambda: tree.write("folder/new", b"inside"),
            ):
                try:
                    call()
                except (UnsafePath, MissingFile):
                    refused += 1
    finally:
        done.set()
        swapper.join()
    assert read == {b"inside"}
    assert refused > 0
    assert everything(outside) == {"file": b"outside"}


def test_lstat(tree: Tree) -> None:
    tree.write("a/file", b"123")
    (tree.root / "link").symlink_to("a/file")
    found, link = tree.lstat("a/file"), tree.lstat("link")
    assert found is not None and link is not None
    assert (found.st_size, stat.S_ISLNK(link.st_mode)) == (3, True)
    assert [tree.lstat(path) for path in ("b", "b/c", "a/file/d")] == [None, None, None]


def test_read_limit(tree: Tree) -> None:
    tree.write("file", b"x" * 10)
    assert tree.read("file", limit=10) == b"x" * 10
    with pytest.raises(InvalidFile, match="file: is larger than the 9 bytes"):
        tree.read("file", limit=9)


def test_unreadable(public: Path, as_nobody) -> None:
    tree = Tree(public)
    tree.write("file", b"x", mode=0o600)
    tree.write("closed/file", b"x")
    (public / "closed").chmod(0o700)
    with as_nobody():
        for path in ("file", "closed/file"):
            with pytest.raises(MissingFile) as caught:
                tree.open_file(path)
            assert str(caught.value) == f"{path}: cannot be read: Permission denied"
        with pytest.raises(CannotCheck) as refused:
            tree.write("new", b"x")
        assert str(refused.value) == "new: cannot be written: Permission denied"
    assert everything(public) == {"closed": None, "closed/file": b"x", "file": b"x"}


def test_folder_that_may_be_searched_but_not_listed(public: Path, as_nobody) -> None:
    tree = Tree(public)
    tree.write("folder/file", b"x")
    (public / "folder").chmod(0o711)
    with as_nobody():
        assert tree.read("folder/file") == b"x"
        with pytest.raises(MissingFile, match="cannot be read: Permission denied"):
            tree.list_files("folder")


def test_write_replaces_makes_folders_and_keeps_to_its_mode(tree: Tree) -> None:
    old_mask = os.umask(0o022)
    try:
        tree.write("a/b/c", b"1")
        tree.write("a/b/c", b"2" * 100_000)
        tree.write("script", b"#!", mode=0o755)
    finally:
        os.umask(old_mask)
    big = b"2" * 100_000
    assert everything(tree.root) == {"a": None, "a/b": None, "a/b/c": big, "script": b"#!"}
    modes = [(tree.root / name).stat().st_mode & 0o777 for name in ("a/b/c", "script")]
    assert modes == [0o644, 0o755]


def test_write_breaks_hard_links(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "outside").write_bytes(b"old")
    os.link(tmp_path / "outside", tree.root / "file")
    tree.write("file", b"new")
    assert (tmp_path / "outside").read_bytes() == b"old"


def test_write_where_a_folder_or_a_file_is_in_the_way(tree: Tree) -> None:
    tree.write("folder/file", b"1")
    with pytest.raises(UnsafePath, match="folder: is not a regular file"):
        tree.write("folder", b"x")
    with pytest.raises(UnsafePath, match="lies below folder/file, which is not a folder"):
        tree.write("folder/file/deeper/x", b"x")
    with pytest.raises(UnsafePath, match="too long"):
        tree.write("new/" + "n" * 256, b"x")
    assert everything(tree.root) == {"folder": None, "folder/file": b"1"}


def test_full_disk_leaves_the_old_file_and_nothing_else(on_mount) -> None:
    said = on_mount(
        """
from vaibify_lab.core.errors import DiskFull
from vaibify_lab.files.tree import Tree
tree = Tree(here)
tree.write("old", b"old")
for path in ("old", "new/folder/file"):
    try:
        tree.write(path, b"x" * 1_000_000)
    except DiskFull as error:
        print(error)
print(sorted(str(one.relative_to(here)) for one in here.rglob("*")), tree.read("old"))
""",
        *("-t", "tmpfs", "-o", "size=128k"),
    )
    text = "cannot be written: no space is left; what was there before is untouched"
    assert said.splitlines() == [
        f"old: {text}; free some space",
        f"new/folder/file: {text}; free some space",
        "['old'] b'old'",
    ]


@pytest.mark.parametrize("number", [errno.EDQUOT, errno.ENOSPC])
def test_no_space_found_out_late(tree: Tree, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    tree.write("file", b"old")

    def full(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull):
        tree.write("file", b"new")
    assert everything(tree.root) == {"file": b"old"}


def test_read_only_file_system(on_mount) -> None:
    said = on_mount(
        """
from vaibify_lab.core.errors import CannotCheck
from vaibify_lab.files.tree import Tree
try:
    Tree(here).write("a/b", b"x")
except CannotCheck as error:
    print(type(error).__name__, error)
""",
        *("-t", "tmpfs", "-o", "ro"),
    )
    assert said == "CannotCheck a/b: cannot be written: Read-only file system\n"


def test_killed_at_any_moment_the_file_is_whole(tree: Tree) -> None:
    """A process that rewrites one file without end is killed twelve times."""
    program = (
        "import sys; from pathlib import Path; from vaibify_lab.files.tree import Tree\n"
        "tree = Tree(Path(sys.argv[1]))\n"
        "print('ready', flush=True)\n"
        "while True:\n"
        "    tree.write('file', b'a' * 50_000); tree.write('file', b'b' * 70_000)\n"
    )
    tree.write("file", b"a" * 50_000)
    seen: set[tuple[bytes, int]] = set()
    for turn in range(12):
        writer = subprocess.Popen(
            [sys.executable, "-c", program, str(tree.root)], stdout=subprocess.PIPE
        )
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(0.01 + 0.004 * turn)
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        data = tree.read("file")
        seen.add((data[:1], len(data)))
        assert len(set(data)) == 1
    assert seen <= {(b"a", 50_000), (b"b", 70_000)}


def test_make_directory(tree: Tree) -> None:
    tree.make_directory("a/b/c/")
    tree.make_directory("a/b/c")
    tree.make_directory("")
    tree.write("file", b"")
    with pytest.raises(UnsafePath, match="not a folder"):
        tree.make_directory("file/x")
    assert everything(tree.root) == {"a": None, "a/b": None, "a/b/c": None, "file": b""}


def test_exists_as_directory(tree: Tree) -> None:
    tree.write("a/file", b"")
    (tree.root / "link").symlink_to("a")
    names = ("", "a", "a/", "a/file", "none", "link")
    found = [tree.exists_as_directory(name) for name in names]
    assert found == [True, True, True, False, False, False]


def test_remove(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"t")
    (tree.root / "link").symlink_to(tmp_path / "target")
    tree.write("folder/file", b"1")
    tree.remove("link")
    tree.remove("folder/file")
    with pytest.raises(MissingFile, match="folder/file: does not exist"):
        tree.remove("folder/file")
    with pytest.raises(UnsafePath, match="folder: is a directory"):
        tree.remove("folder")
    assert everything(tree.root) == {"folder": None}
    assert (tmp_path / "target").read_bytes() == b"t"


def test_move(tree: Tree) -> None:
    tree.write("a/file", b"1")
    tree.write("a/b/file", b"2")
    (tree.root / "link").symlink_to("nowhere")
    tree.move("a/file", "new/place/file")
    tree.move("a/b", "new/b")
    tree.move("new/b/file", "new/place/file")
    tree.move("link", "moved")
    with pytest.raises(MissingFile, match="none: does not exist"):
        tree.move("none", "made/for/nothing")
    assert sorted(everything(tree.root)) == [
        "a",
        "moved",
        "new",
        "new/b",
        "new/place",
        "new/place/file",
    ]
    assert tree.read("new/place/file") == b"2"
    assert os.readlink(tree.root / "moved") == "nowhere"


def test_what_keeps_a_file_from_being_moved_is_named(public: Path, as_nobody) -> None:
    home = Tree(public)
    home.write("out/a.txt", b"1")
    home.make_directory("aside")
    (public / "aside").chmod(0o777)
    with as_nobody(), pytest.raises(CannotCheck) as caught:
        home.move("out/a.txt", "aside/a.txt")
    assert str(caught.value) == (
        "out/a.txt: cannot be replaced: you may not write in its folder; chmod u+w out"
    )
    (public / "out").chmod(0o777)
    (public / "aside").chmod(0o755)
    with as_nobody(), pytest.raises(CannotCheck, match=r"^aside/a\.txt: cannot be written"):
        home.move("out/a.txt", "aside/a.txt")
    assert home.read("out/a.txt") == b"1"


def test_list_files_sorted_by_bytes(tree: Tree) -> None:
    names = [
        "out/b",
        "out/a-b/x",
        "out/a/x",
        "out/B",
        "out/é",
        "out/a\nb",
        "out/a\\b",
        "out/.hidden",
    ]
    for name in names:
        tree.write(name, b"")
    tree.make_directory("out/empty")
    expected = sorted(names, key=os.fsencode)
    assert tree.list_files("out/") == expected
    assert tree.list_files("out", strict=False) == expected
    with pytest.raises(MissingFile, match="none: does not exist"):
        tree.list_files("none/")
    with pytest.raises(UnsafePath, match="out/b: is not a folder"):
        tree.list_files("out/b")


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (lambda out: (out / "bad").symlink_to("ok"), "out/bad: is a symbolic link"),
        (lambda out: (out / "bad").symlink_to("."), "out/bad: is a symbolic link"),
        (lambda out: os.mkfifo(out / "bad"), "out/bad: is not a regular file"),
        (lambda out: (out / "sub" / ".git").mkdir(parents=True), "out/sub/.git: is a nested repo"),
        (lambda out: (out / ".git").write_text("gitdir: x"), "out/.git: is a nested repository"),
    ],
)
def test_list_files_strict_names_what_is_not_plain(tree: Tree, plant, said: str) -> None:
    tree.write("out/ok", b"")
    plant(tree.root / "out")
    with pytest.raises(UnsafePath) as caught:
        tree.list_files("out")
    assert str(caught.value).startswith(said)
    assert tree.list_files("out", strict=False) == ["out/ok"]


def test_list_files_never_enters_git(tree: Tree) -> None:
    for name in (".git/config", "sub/.git/config", "sub/inner", "top"):
        tree.write(name, b"")
    assert tree.list_files("", strict=False) == ["sub/inner", "top"]
    with pytest.raises(UnsafePath, match="sub/\\.git: is a nested repository"):
        tree.list_files("")


def test_m05_name_that_is_not_utf8(tree: Tree) -> None:
    tree.make_directory("out")
    odd = os.path.join(os.fsencode(tree.root), b"out", b"caf\xe9.csv")
    with open(odd, "wb") as file:
        file.write(b"1")
    with pytest.raises(UnsafePath) as caught:
        tree.list_files("out")
    assert str(caught.value) == "out/caf\\xe9.csv: has a name that is not UTF-8; rename it"
    assert tree.list_files("out", strict=False) == ["out/caf\udce9.csv"]
    assert tree.read("out/caf\udce9.csv") == b"1"


def test_folder_that_cannot_be_listed_is_no_empty_one(public: Path, as_nobody) -> None:
    tree = Tree(public)
    tree.write("out/closed/file", b"")
    tree.write("out/file", b"")
    (public / "out" / "closed").chmod(0o700)
    with as_nobody():
        with pytest.raises(MissingFile, match="out/closed: cannot be read: Permission denied"):
            tree.list_files("out")
        assert tree.list_files("out", strict=False) == ["out/file"]


def test_what_is_written_is_made_durable_with_the_folders_made_for_it(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    works = (
        (lambda: tree.write("a/b/c.txt", b"1"), 4),  # the file; a/b, a, and the root that names it
        (lambda: tree.write("a/b/c.txt", b"2"), 2),
        (lambda: tree.move("a/b/c.txt", "d/c.txt"), 3),  # d, the root, a/b
        (lambda: tree.move("d/c.txt", "e/c.txt", durable=False), 0),
        (lambda: tree.remove("e/c.txt"), 1),
    )
    for work, synced in works:
        with counted() as counts:
            work()
        assert counts["fsync"] == synced
    assert not (tmp_path / "e/c.txt").exists()
