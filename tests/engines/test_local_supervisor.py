"""The supervisor's parts by themselves."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vaibify_lab
from vaibify_lab.engines.local import landlock, notes, places, processes
from vaibify_lab.engines.local.order import Order, dump, load
from vaibify_lab.engines.local.streams import Stream
from vaibify_lab.engines.scratch import remove_tree

LIGHT = f"""
import sys
sys.path.append({str(Path(vaibify_lab.__file__).parents[1])!r})
from vaibify_lab.engines.local import child, landlock, notes, order, places, supervisor, watch
import ctypes, fcntl, resource
print(*sorted(name for name in sys.modules if not name.startswith("vaibify_lab")))
"""


def test_the_supervisor_loads_no_more_than_it_needs() -> None:
    """Every module here is paid for by every step."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", LIGHT], capture_output=True, text=True, check=True
    )
    heavy = {
        "enum",
        "json",
        "re",
        "collections",
        "functools",
        "dataclasses",
        "typing",
        "subprocess",
    }
    heavy |= {"signal", "pathlib", "contextlib", "shutil", "inspect", "threading", "site"}
    assert heavy & set(done.stdout.split()) == set()


scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text())


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.from_regex(r"[a-z_]{1,9}", fullmatch=True), scalars, max_size=6))
def test_what_it_writes_is_json(values: dict[str, object]) -> None:
    finite = {k: v for k, v in values.items() if not isinstance(v, float) or abs(v) < 1e308}
    lines = {key: json.loads(notes._json(value)) for key, value in finite.items()}  # type: ignore[arg-type]
    assert lines == finite


def test_status_is_whole_although_it_is_shorter_than_its_reserve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    notes.reserve()
    assert (tmp_path / "status.json.new").stat().st_size == notes.RESERVE
    notes.write_status({"returncode": None, "detail": 'a "b"\n\\ ü \ud800', "stopped": True})
    assert os.listdir(tmp_path) == ["status.json"]
    read = json.loads((tmp_path / "status.json").read_bytes())
    assert read == {"returncode": None, "detail": 'a "b"\n\\ ü ?', "stopped": True}


@pytest.mark.parametrize(
    ("words", "grace"), [("1.500", 1.5), ("-3", 0.0), ("soon", None), (None, None), ("\xff", None)]
)
def test_grace_asked(
    words: str | None, grace: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if words is not None:
        (tmp_path / "stop").write_text(words, "latin-1")
    assert notes.grace_asked() == grace


def test_an_order_crosses_whole() -> None:
    order = Order(
        program=["/bin/bash", "-c", "echo 'é' \udcff"],
        environment={"A": "b"},
        directory="/x",
        tree="/t",
        writable=["", "a/b"],
        state="/r",
        scratch="/s",
        log_limit=2**33,
        memory=5,
        sandbox=["bwrap"],
        bash="/bin/bash",
        landlock=["/l"],
        deny_tcp=True,
    )
    again = load(dump(order))
    assert [getattr(again, name) for name in Order.__slots__] == [
        getattr(order, name) for name in Order.__slots__
    ]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.binary(max_size=3000), max_size=12), st.integers(0, 9000))
def test_a_stream_keeps_the_front_and_counts_the_rest(pieces: list[bytes], limit: int) -> None:
    with_limit = Path(os.environ["PYTEST_STREAMS"])
    log = with_limit / "log"
    log.unlink(missing_ok=True)
    stream = Stream(str(log), limit)
    for piece in pieces:
        os.write(stream.entry, piece)
        while stream.pump():
            pass
    os.close(stream.entry)
    while stream.open:
        stream.pump()
    stream.close()
    told = b"".join(pieces)
    assert log.read_bytes() == told[:limit]
    assert stream.dropped == max(0, len(told) - limit)
    assert stream.problem == ""


@pytest.fixture(autouse=True)
def streams_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_STREAMS", str(tmp_path))


def test_a_folder_is_opened_without_following_links(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/file").touch()
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "a/up").symlink_to("..")
    handle = places.open_folder(str(tmp_path), "a/b")
    assert os.fstat(handle).st_ino == (tmp_path / "a/b").stat().st_ino
    os.close(handle)
    for path, where in (("link/b", "link"), ("a/up/a", "a/up"), ("a/file", "a/file"), ("x", "x")):
        with pytest.raises(OSError, match=r"Not a directory|No such file|symbolic links") as caught:
            places.open_folder(str(tmp_path), path)
        assert caught.value.filename == where


def test_start_time_names_a_process_and_not_its_remains() -> None:
    process = subprocess.Popen(["sleep", "600"])
    started = processes.start_time(process.pid)
    assert started == processes.start_time(process.pid) != processes.start_time(os.getpid())
    assert process.pid in processes.descendants(os.getpid())
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert processes.start_time(process.pid) == ""  # a zombie
    process.wait()
    assert processes.start_time(process.pid) == ""


def test_descendants_are_found_without_the_kernel_s_lists() -> None:
    process = subprocess.Popen(["sh", "-c", "sleep 600 & echo; wait"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    by_lists = processes._children(process.pid)
    assert len(by_lists) == 1
    assert processes._children_by_parent(process.pid) == by_lists
    os.kill(by_lists[0], 9)
    process.communicate()


def test_holders_are_those_that_hold_the_pipe() -> None:
    reader, writer = os.pipe()
    link = frozenset({os.readlink(f"/proc/self/fd/{writer}")})
    assert processes.holders(link) == {os.getpid()}
    os.close(reader)
    os.close(writer)
    assert processes.holders(link) == set()


def test_removing_takes_what_lost_its_rights_and_nothing_outside(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    top = tmp_path / "top"
    (top / "a/b/c").mkdir(parents=True)
    (top / "a/b/c/file").touch()
    (top / "a/link").symlink_to(outside)
    os.mkfifo(top / "a/fifo")
    (top / "a/b").chmod(0)
    remove_tree(str(top))
    assert sorted(os.listdir(tmp_path)) == ["outside"]
    assert os.listdir(outside) == ["kept"]
    remove_tree(str(top))


STARVING = f"""
import os, sys
sys.path.append({str(Path(vaibify_lab.__file__).parents[1])!r})
from vaibify_lab.engines.local import processes
from vaibify_lab.engines.local.child import Child
from vaibify_lab.engines.local.order import Order
from vaibify_lab.engines.local.streams import Stream
from vaibify_lab.engines.local.watch import Watch
counts = iter([3, int(sys.argv[1])])
processes.out_of_memory_kills = lambda: next(counts)
order = Order(program=["/bin/sh", "-c", sys.argv[2]], environment={{}}, directory="/", tree="/",
              writable=[], state="", scratch="", log_limit=10, sandbox=[], landlock=[])
streams = [Stream(name, 10) for name in ("stdout", "stderr")]
child = Child(order, streams[0].entry, streams[1].entry)
watch = Watch(child, streams, sandboxed=False)
child.release()
ended = watch.until_end()
print(ended["returncode"], ended["out_of_memory"], ended["detail"])
"""
HIDDEN = "meanwhile this machine killed a process for want of memory"


@pytest.mark.parametrize(
    ("kills", "script", "told"),
    [
        (4, "kill -9 $$", "137 True "),
        (3, "kill -9 $$", "137 False "),
        (4, "exit 0", f"0 False {HIDDEN}"),
        (3, "exit 0", "0 False "),
    ],
)
def test_d09_killed_for_want_of_memory(kills: int, script: str, told: str, tmp_path: Path) -> None:
    """With the kernel's counter played; see the kernel's own in the next test."""
    command = [sys.executable, "-c", STARVING, str(kills), script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == f"{told}\n"


def test_the_kernel_s_counter_is_read() -> None:
    lines = dict(line.split() for line in Path("/proc/vmstat").read_text().splitlines())
    before = int(lines["oom_kill"])
    assert before <= processes.out_of_memory_kills() <= before + 100


def test_this_kernel_offers_landlock() -> None:
    assert landlock.version() >= 1


def test_a_process_that_ends_while_it_is_looked_at_has_no_children(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    listed = os.listdir

    def gone(path: str) -> list[str]:  # as /proc answers in that moment
        if path == f"/proc/{ended.pid}/task":
            raise ProcessLookupError(errno.ESRCH, "No such process", path)
        return listed(path)

    monkeypatch.setattr(os, "listdir", gone)
    assert processes.descendants(ended.pid) == []
