"""File systems that keep no time of change: what lies there is read at every look."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.kit import Made
from vaibify_lab.files import hashing, trust
from vaibify_lab.files.hashing import Stamp, hash_file
from vaibify_lab.files.imports import CodeScanner
from vaibify_lab.files.statcache import StatCache
from vaibify_lab.files.tree import Tree
from vaibify_lab.files.trust import ChangeTimes, without_change_times
from vaibify_lab.runs.doctor import doctor

LONG_AGO = (1_600_000_000 * 10**9,) * 2
TABLE = """\
22 27 0:21 / /proc rw,relatime - proc proc rw
67 27 0:42 / /home/ada/far rw,nosuid - fuse.sshfs far:/home rw,user_id=0
68 27 0:43 / /mnt/a\\040b rw shared:1 master:2 - cifs //server/share rw
69 27 8:17 / /media/stick rw - vfat /dev/sdb1 rw
70 27 0:44 / /home rw - nfs4 server:/home rw
71 27 0:45 / /host rw - virtiofs host rw
72 27 259:1 / / rw - ext4 /dev/root rw
73 27 0:46 - fuse
74 27 odd / /odd rw - fuse.odd odd rw

"""


def test_the_list_of_mounts_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(TABLE)
    monkeypatch.setattr(trust, "MOUNTS", table)
    known = {os.makedev(*one) for one in ((0, 42), (0, 43), (8, 17))}
    assert without_change_times() == known
    assert [ChangeTimes().are_kept_on(os.makedev(0, one)) for one in (42, 44, 45)] == [
        False,
        True,
        True,
    ]
    monkeypatch.setattr(trust, "MOUNTS", tmp_path / "none")
    assert without_change_times() == frozenset()


def test_mounts_are_asked_only_where_something_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def ask() -> frozenset[int]:
        asked.append(1)
        return frozenset()

    monkeypatch.setattr(trust, "without_change_times", ask)
    monkeypatch.setattr(trust, "RACY_NS", -(10**12))  # as if all had been there for long
    for name in ("a/x", "b/y", "b/z"):
        Tree(tmp_path).write(name, b"1")
    cache = StatCache(Tree(tmp_path), None)
    cache.observe(["a/x", "b/y", "b/z"])
    assert asked == [1]
    cache.observe(["a/x", "b/y", "b/z"])
    assert asked == [1]


def edit(path: Path, text: str) -> None:
    """Write as many bytes as before, and put the time back."""
    path.write_text(text)
    os.utime(path, ns=LONG_AGO)


@pytest.mark.parametrize("is_told", [True, False])
def test_e09_the_same_size_with_the_time_put_back_is_noticed_where_ctime_is_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_told: bool
) -> None:
    """As over sshfs, whose status holds the mtime twice; without the rule it goes unnoticed."""
    device = tmp_path.stat().st_dev

    def copied(status: os.stat_result) -> Stamp:
        return status.st_size, status.st_mtime_ns, status.st_mtime_ns, status.st_ino

    for module in (hashing, trust):
        monkeypatch.setattr(module, "stamp_of", copied)
    kept = frozenset([device] if is_told else [])
    monkeypatch.setattr(trust, "without_change_times", lambda: kept)
    edit(tmp_path / "f", "one\n")
    store, tree = tmp_path / "store", Tree(tmp_path)
    cache = StatCache(tree, store)
    cache.observe(["f"])
    cache.save()
    edit(tmp_path / "f", "two\n")
    for look in (cache, StatCache(tree, store)):
        assert (look.observe(["f"])["f"] == hash_file(tree, "f")) is is_told
    assert store.exists() is not is_told


def test_doctor_says_why_every_look_takes_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said() -> list[str]:
        return [str(one) for one in doctor(tmp_path) if one.code == "times"]

    assert said() == []
    device = tmp_path.stat().st_dev
    monkeypatch.setattr(trust, "without_change_times", lambda: frozenset([device]))
    assert said() == [
        f"the file system of {tmp_path} keeps no time of change: every look reads every file; "
        "keep the repository on a local disk"
    ]


def test_e09_code_and_facts_are_read_anew_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stamp that says nothing, made so for a file system that is at hand everywhere."""
    device = tmp_path.stat().st_dev
    monkeypatch.setattr(trust, "without_change_times", lambda: frozenset([device]))
    monkeypatch.setattr(trust, "RACY_NS", -(10**18))
    made = Made.new(tmp_path / "r", [STEP], {"a.py": "import b\n", "b.py": "", "c.py": ""})
    assert made.run()["outcome"] == "passed"
    project, scanner = made.project(), CodeScanner(Tree(made.root))
    assert scanner.scan(["a.py"], "").files == ("a.py", "b.py")
    assert project.report().steps[0].run == "current"
    monkeypatch.setattr("vaibify_lab.files.imports.stamp_of", lambda status: (1, 1, 1, 1))
    monkeypatch.setattr("vaibify_lab.files.factstore._stamp_of", lambda status: (1, 1, 1, 1, 1))
    scanner.scan(["a.py"], "")
    project.report()
    made.write("a.py", "import c\n")
    assert scanner.scan(["a.py"], "").files == ("a.py", "c.py")
    made.write(".vaibify/records/workflow/make.json", "{}")
    assert project.report().steps[0].run == "unknown"


STEP = {
    "sName": "Make",
    "saDataCommands": ["python a.py && echo 1 > o.txt"],
    "saDataFiles": ["o.txt"],
    "bNoInputData": True,
    "bNoTests": True,
}
