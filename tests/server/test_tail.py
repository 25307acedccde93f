"""A journal read on: what is gathered, what is left out, where a reader goes on (case S04)."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaibify_lab.runs.journal import JournalWriter, RunFolder
from vaibify_lab.runs.processes import ProcessId
from vaibify_lab.serving.tail import AT_ONCE, BACKLOG, PIECE, Tail


class Writing:
    """A run that a test makes line by line."""

    def __init__(self, place: Path) -> None:
        self.folder = RunFolder(place)
        place.mkdir(parents=True)
        self.journal = JournalWriter(self.folder)
        self.journal.write("runAccepted", run_id="r", process=ProcessId.mine().to_json())

    def says(self, data: bytes, step: str = "make", log: str = "run-1/stdout") -> None:
        """Write bytes to a log and tell of them."""
        place = self.folder.step(step) / log
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("ab") as file:
            offset = file.tell()
            file.write(data)
        self.tells(step, log, offset, len(data))

    def tells(self, step: str, log: str, offset: int, length: int) -> None:
        self.journal.write(
            "output", step=step, log=log, stream="stdout", offset=offset, length=length
        )

    def ends(self) -> None:
        self.journal.write("runComplete", outcome="passed", steps={})


@pytest.fixture
def run(tmp_path: Path) -> Writing:
    return Writing(tmp_path / "run")


def _texts(events: list[dict[str, Any]], step: str = "make") -> str:
    return "".join(one["text"] for one in events if one.get("step") == step and "text" in one)


def test_output_is_gathered_between_other_events(run: Writing) -> None:
    run.says(b"one\n")
    run.says(b"two\n")
    run.says(b"other\n", step="use")
    run.journal.write("stepPass", step="make")
    run.says(b"three\n")
    run.ends()
    tail = Tail(run.folder)
    events = tail.read()
    assert [(one["event"], one["sequence"], one.get("text")) for one in events] == [
        ("runAccepted", 1, None),
        ("output", 3, "one\ntwo\n"),
        ("output", 4, "other\n"),
        ("stepPass", 5, None),
        ("output", 6, "three\n"),
        ("runComplete", 7, None),
    ]
    assert tail.ended and (events[1]["offset"], events[1]["length"]) == (0, 8)
    assert [one["sequence"] for one in Tail(run.folder, 4).read()] == [5, 6, 7]


def test_a_small_log_is_replayed_whole(run: Writing) -> None:
    written = os.urandom(200_000).hex().encode()
    run.says(written)
    events = Tail(run.folder).read()
    assert _texts(events) == written.decode()
    pieces = [one for one in events if one["event"] == "output"]
    assert all(len(one["text"]) <= PIECE and one["not_shown"] == 0 for one in pieces)
    assert [one["sequence"] for one in pieces[-2:]] == [1, 2]


def test_of_a_large_log_the_newest_part_is_shown(run: Writing) -> None:
    size = 40 * 2**20
    place = run.folder.step("make") / "run-1/stdout"
    place.parent.mkdir(parents=True)
    with place.open("wb") as file:
        file.truncate(size)
        file.seek(-4, os.SEEK_END)
        file.write(b"end\n")
    run.tells("make", "run-1/stdout", 0, size)
    tracemalloc.start()
    events = Tail(run.folder).read()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    pieces = [one for one in events if one["event"] == "output"]
    assert _texts(events).endswith("end\n") and pieces[0]["not_shown"] == size - BACKLOG
    assert sum(one["length"] for one in pieces) == size
    assert peak < 16 * BACKLOG


def test_what_comes_at_once_later_is_cut_shorter(run: Writing) -> None:
    tail = Tail(run.folder)
    tail.read()
    run.says(b"x" * (3 * AT_ONCE))
    pieces = tail.read()
    assert pieces[0]["not_shown"] == 2 * AT_ONCE
    assert sum(len(one["text"]) for one in pieces) == AT_ONCE


def test_characters_are_not_torn(run: Writing) -> None:
    tail = Tail(run.folder)
    tail.read()
    data = "é€𝄞".encode()
    for byte in data:
        run.says(bytes([byte]))
    assert _texts(tail.read()) == "é€𝄞"
    for byte in data:
        run.says(bytes([byte]))
        tail_text = _texts(tail.read())
        assert "\ufffd" not in tail_text
    run.says(b"\xff\xfe\x00")
    assert _texts(tail.read()) == "\ufffd\ufffd\x00"


@given(st.lists(st.binary(max_size=40), max_size=12), st.integers(1, 5))
@settings(max_examples=40)
def test_any_reader_gets_every_byte(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], each: int
) -> None:
    run = Writing(tmp_path_factory.mktemp("run") / "r")
    tail = Tail(run.folder)
    events = []
    for number, part in enumerate(parts):
        run.says(part)
        if number % each == 0:
            events += tail.read()
    run.ends()
    events += tail.read()
    assert sum(one["length"] for one in events if one["event"] == "output") == len(b"".join(parts))
    assert _texts(Tail(run.folder).read()).rstrip("\ufffd") == _texts(events).rstrip("\ufffd")


def test_nothing_but_the_logs_of_the_run_is_read(run: Writing, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    folder = run.folder.step("make") / "run-1"
    folder.mkdir(parents=True)
    (folder / "stdout").symlink_to(secret)
    os.mkfifo(folder / "stderr")
    run.tells("make", "run-1/stdout", 0, 6)
    run.tells("make", "run-1/stderr", 0, 6)
    run.tells("make", "../../../secret", 0, 6)
    run.tells("../make", "run-1/stdout", 0, 6)
    run.ends()
    events = Tail(run.folder).read()
    assert "secret" not in _texts(events).replace("cannot be read", "")
    assert events[-1]["event"] == "runComplete"


def test_a_run_that_lost_its_runner_ends(run: Writing, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = ProcessId.mine().to_json() | {"pid": 2**22 - 1}
    lost = Writing(run.folder.path.parent / "lost")
    lost.folder.journal.write_bytes(b"")
    other = JournalWriter(lost.folder)
    other.write("runAccepted", run_id="r", process=gone)
    tail = Tail(lost.folder)
    assert [one["event"] for one in tail.read()] == ["runAccepted"]
    tail._checked -= 10
    (end,) = tail.read()
    assert (end["event"], end["outcome"], end["lost"], tail.ended) == (
        "runComplete",
        "interrupted",
        True,
        True,
    )
