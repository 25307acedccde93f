"""What others see of a run that goes on: states, nothing written, journals that are whole."""

from __future__ import annotations

import errno
import json
import os
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.kit import DIAMOND, DIAMOND_FILES, Made
from tests.runs.here import run_here, step
from tests.runs.test_interrupted import ended, has, start, wait_for
from vaibify_lab.core.errors import DiskFull, NotPassed, RunInProgress
from vaibify_lab.runs.journal import (
    JournalWriter,
    RunFolder,
    each_event,
    follow,
    new_run_id,
    read_events,
    run_folders,
)
from vaibify_lab.runs.live import current_run, is_ended, live_of, unfinished
from vaibify_lab.runs.processes import ProcessId


def everything(root: Path) -> dict[str, tuple[int, int, int]]:
    """Return size, time of change and inode of every file and folder but the run's own."""
    found = {}
    for here, _, files in os.walk(root):
        for path in (here, *(os.path.join(here, name) for name in files)):
            if "/.vaibify/local/runs/" not in path and "/top" not in path:
                seen = os.lstat(path)
                found[path] = (seen.st_size, seen.st_ctime_ns, seen.st_ino)
    return found


def test_a_look_during_a_run_tells_its_states_and_writes_nothing(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", DIAMOND, DIAMOND_FILES)
    assert run_here(made).end["outcome"] == "passed"
    made.write("top.sh", "until [ -e go.txt ]; do sleep 0.05; done\n" + DIAMOND_FILES["top.sh"])
    made.commit()
    folder = start(made, "top", "left", "end", wait="top")
    before = everything(made.root)
    project = made.project()
    for _ in range(3):
        states = {one.slug: one.run for one in project.report().steps}
        assert states == {"top": "running", "left": "queued", "right": "queued", "end": "queued"}
    report = made.steps()
    assert report["top"].reasons[0].text == f"is running in run {folder.run_id}"
    assert report["left"].reasons[0].text == f"is queued in run {folder.run_id}"
    assert not any(one.green for one in report.values())
    with pytest.raises(NotPassed, match="is running; sign it when the run has ended"):
        project.to_sign("top")
    with pytest.raises(RunInProgress):
        project.acknowledge()
    assert everything(made.root) == before
    made.write("go.txt", "")
    assert ended(folder)["outcome"] == "passed"
    assert {one.run for one in made.steps().values()} == {"current"}


def test_a_step_is_settled_when_its_tests_are_and_others_go_on(tmp_path: Path) -> None:
    quick = step("Quick", "echo 1 > q/o.txt", out="q/o.txt")
    del quick["bNoTests"]
    wait = "until [ -e go.txt ]; do sleep 0.05; done; "
    steps = [
        quick | {"saTestCommands": [f"{wait.replace('go', 'tested')} true"]},
        step("Slow", f"{wait} echo 1 > s/o.txt", out="s/o.txt", saInputDataFiles=["q/o.txt"]),
    ]
    made = Made.new(tmp_path / "p", steps, {})
    folder = start(made)
    wait_for(lambda: has(folder, "testsStarted"))
    assert {slug: state[0] for slug, state in made.states().items()} == {
        "quick": "running",
        "slow": "queued",
    }
    made.write("tested.txt", "")
    wait_for(lambda: has(folder, "stepStarted", "slow"))
    assert {slug: state[0] for slug, state in made.states().items()} == {
        "quick": "current",
        "slow": "running",
    }
    made.write("go.txt", "")
    assert ended(folder)["outcome"] == "passed"


def journal(root: Path, *events: dict[str, Any]) -> RunFolder:
    """Leave a journal, as the latest run's."""
    folder = RunFolder(root / ".vaibify/local/runs/20200101T000000-00000000")
    folder.path.mkdir(parents=True)
    numbered = [{"sequence": n, "time": 1.0, **one} for n, one in enumerate(events, 1)]
    folder.journal.write_text("".join(json.dumps(one) + "\n" for one in numbered))
    (root / ".vaibify/local/current").write_text(folder.run_id + "\n")
    return folder


def begun(process: ProcessId, stem: str = "workflow") -> list[dict[str, Any]]:
    """Return the beginning of a run of three steps, the first of which runs."""
    plan = [{"slug": "a", "action": "run"}, {"slug": "b", "action": "run"}]
    plan += [{"slug": "c", "action": "skip"}]
    return [
        {"event": "runAccepted", "process": process.to_json()},
        {"event": "runStarted", "process": process.to_json(), "stem": stem, "plan": plan},
        {"event": "stepStarted", "step": "a"},
    ]


MINE = ProcessId.mine()
DEAD = ProcessId(MINE.pid, "another start", MINE.boot, MINE.host)
BEFORE_BOOT = ProcessId(MINE.pid, MINE.started, "another boot", MINE.host)
FAR = ProcessId(1, "1", "another boot", "far.example.org")


@pytest.mark.parametrize(
    ("process", "states"),
    [
        (MINE, {"a": "running", "b": "queued"}),
        (DEAD, {"a": "interrupted"}),
        (BEFORE_BOOT, {"a": "interrupted"}),
        (FAR, {"a": "running", "b": "queued"}),
    ],
)
def test_the_states_of_a_run_without_an_end(
    tmp_path: Path, process: ProcessId, states: dict[str, str]
) -> None:
    folder = journal(tmp_path, *begun(process))
    found = live_of(tmp_path, "workflow")
    assert {slug: one.state for slug, one in found.items()} == states
    assert live_of(tmp_path, "other") == {}
    if process is FAR:
        assert found["a"].text.endswith(" on far.example.org"), "not declared dead"
    (folder.path / "acknowledged").touch()
    assert live_of(tmp_path, "workflow") == {}


@pytest.mark.parametrize(
    ("later", "state"),
    [
        ([{"event": "stepPass", "step": "a"}], None),
        ([{"event": "stepFail", "step": "a"}], None),
        ([{"event": "stepPass", "step": "a"}, {"event": "testsStarted", "step": "a"}], "running"),
        (
            [
                {"event": "stepPass", "step": "a"},
                {"event": "testsStarted", "step": "a"},
                {"event": "stepSettled", "step": "a"},
            ],
            None,
        ),
        ([{"event": "stepPass", "step": "a"}, {"event": "stepStarted", "step": "a"}], "running"),
        ([{"event": "output", "step": "a"}], "running"),
    ],
)
def test_how_far_a_step_came(tmp_path: Path, later: list[dict[str, Any]], state: str) -> None:
    journal(tmp_path, *begun(MINE), *later)
    found = live_of(tmp_path, "workflow").get("a")
    assert (found.state if found else None) == state


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "\0", "x" * 300, "é"])
def test_a_pointer_that_names_no_run(tmp_path: Path, name: str) -> None:
    journal(tmp_path, *begun(MINE))
    (tmp_path / ".vaibify/local/current").write_text(name + "\n")
    assert current_run(tmp_path) is None
    assert unfinished(tmp_path) is None
    assert live_of(tmp_path, "workflow") == {}


def test_an_ended_run_is_seen_by_its_last_line(tmp_path: Path) -> None:
    folder = journal(tmp_path, *begun(MINE), {"event": "runComplete", "outcome": "passed"})
    assert is_ended(folder)
    assert unfinished(tmp_path) is None
    whole = folder.journal.read_bytes()
    folder.journal.write_bytes(whole[:-1])
    assert not is_ended(folder), "a line without its end was not written"
    folder.journal.write_bytes(whole + b'{"event": "outp')
    assert not is_ended(folder)
    folder.journal.write_bytes(b"")
    assert not is_ended(folder)


def test_a_torn_or_foreign_line_ends_the_reading(tmp_path: Path) -> None:
    folder = journal(tmp_path, *begun(MINE))
    assert [one["sequence"] for one in read_events(folder, after=1)] == [2, 3]
    good = folder.journal.read_bytes()
    for line in (
        b'{"event": "x"',
        b"no json\n",
        b"[]\n",
        b'{"event": "x"}\n',
        b'{"sequence": 4}\n',
    ):
        folder.journal.write_bytes(good + line)
        assert [one["sequence"] for one in read_events(folder)] == [1, 2, 3], line
    events = each_event(folder)
    assert next(events)["event"] == "runAccepted"


def test_following_takes_lines_as_they_become_whole(tmp_path: Path) -> None:
    folder = journal(tmp_path, *begun(MINE))
    events = follow(folder, poll=0.001)
    assert [next(events)["sequence"] for _ in range(3)] == [1, 2, 3]  # type: ignore[index]
    assert next(events) is None
    with folder.journal.open("ab") as file:
        file.write(b'{"event": "no')
        file.flush()
        assert next(events) is None
        file.write(b'te", "sequence": 4}\n')
    assert next(events) == {"event": "note", "sequence": 4}


def test_many_threads_write_one_journal(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    writer = JournalWriter(folder)

    def write(number: int) -> None:
        for _ in range(50):
            writer.write("note", text="x" * 500, number=number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    assert [one["sequence"] for one in read_events(folder)] == list(range(1, 401))
    assert os.listdir(tmp_path) == ["journal.jsonl"]


def test_on_a_full_disk_no_line_is_torn_and_the_reserve_lets_the_run_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = RunFolder(tmp_path)
    writer = JournalWriter(folder)
    writer.write("runAccepted")
    room, freed = [100], [2000]
    write = os.write

    def full(handle: int, data: bytes) -> int:
        if not (tmp_path / "journal.reserve").exists() and freed:
            room[0] += freed.pop()
        if room[0] == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = write(handle, bytes(data)[: room[0]])
        room[0] -= done
        return done

    monkeypatch.setattr(os, "write", full)
    writer.write("output", step="a", log="x" * 300)
    assert [one["event"] for one in read_events(folder)] == ["runAccepted"], "told later, or not"
    writer.write("runComplete", outcome="failed")
    assert [one["event"] for one in read_events(folder)] == ["runAccepted", "runComplete"]
    assert [one["sequence"] for one in read_events(folder)] == [1, 2]
    with pytest.raises(DiskFull) as refused:
        writer.write("note", text="x" * 5000)
    assert refused.value.where == str(folder.journal)
    assert is_ended(folder)


def test_old_runs_go_and_the_newest_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vaibify_lab.runs.child.KEPT_RUNS", 3)
    made = Made.new(tmp_path / "p", [step("One", "echo 1 > o", out="o")], {})
    folders = [run_here(made, mode="all").folder for _ in range(5)]
    kept = [one.run_id for one in run_folders(made.root)]
    assert kept == [one.run_id for one in folders[2:]]


def test_names_of_runs_sort_by_time() -> None:
    names = []
    for _ in range(40):
        names.append(new_run_id())
        time.sleep(0.001)
    assert names == sorted(names) and len(set(names)) == 40
    assert all(re.fullmatch(r"\d{8}T\d{6}-[0-9a-f]{8}", name) for name in names)


def test_a_journal_of_a_long_and_noisy_step_stays_short(tmp_path: Path) -> None:
    command = "for i in $(seq 60); do echo $i; sleep 0.02; done; echo 1 > o"
    made = Made.new(tmp_path / "p", [step("One", command, out="o")], {})
    ran = run_here(made)
    told = ran.of("output", "one")
    assert (
        sum(one["length"] for one in told)
        == (ran.folder.step("one") / told[0]["log"]).stat().st_size
    )
    assert [one["offset"] for one in told] == sorted({one["offset"] for one in told})
    assert 1 <= len(told) <= 60


def test_another_workflow_that_is_broken_stops_no_run(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", [step("One", "echo 1 > o", out="o")], {})
    assert run_here(made).end["outcome"] == "passed"
    made.write(".vaibify/workflows/second.json", "{broken")
    began = time.monotonic()
    assert run_here(made, mode="all").steps == {"one": "passed"}
    assert time.monotonic() - began < 30
