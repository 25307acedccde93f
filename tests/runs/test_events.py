"""Lines of a journal that no runner wrote, and what is said of a run whose journal holds one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.apps.front import vaibify
from tests.kit import CHAIN, CHAIN_FILES, Made
from tests.runs.here import Ran, run_here
from vaibify_lab.core import jsonio
from vaibify_lab.project.running import events_of
from vaibify_lab.runs.events import parse_event
from vaibify_lab.runs.history import summary
from vaibify_lab.runs.journal import RunFolder, damaged_line, read_events
from vaibify_lab.runs.live import is_ended, is_gone
from vaibify_lab.serving.tail import Tail

GOOD = {"event": "stepPass", "sequence": 3, "time": 1.5, "step": "fit", "seconds": 0.5}
BAD: dict[str, Any] = {
    "event": [None, "", 1, "x" * 101],
    "sequence": [None, "3", -1, 1.5, 10**20, True],
    "time": ["now", -1.0, 1e300, True],
    "step": [None, 1, ["fit"]],
    "seconds": [None, "1", 1e300],
    "outputs": ["many", -1],
    "steps": [["fit"], {"fit": 1}],
    "engine": [None, "docker"],
    "plan": [{}, ["fit"], [{"slug": "fit"}], [{"slug": 1, "action": "run"}]],
    "differing": ["fit", [1]],
    "exit_code": ["0", 10**12],
    "identical": ["yes", 1],
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Make a run that passed."""
    folder = tmp_path_factory.mktemp("events")
    ran = run_here(Made.new(folder / "project", CHAIN, CHAIN_FILES), tier="plain")
    assert ran.end["outcome"] == "passed"
    return ran


@pytest.fixture
def damaged(ran: Ran, tmp_path: Path) -> RunFolder:
    """Return the run's journal, of a runner that is gone, to be damaged."""
    folder = RunFolder(tmp_path / ran.folder.run_id)
    folder.path.mkdir()
    lines = [json.loads(line) for line in ran.folder.journal.read_bytes().splitlines()]
    gone = [one | ({"process": one["process"] | {"pid": 0}} if "process" in one else {})
            for one in lines]  # fmt: skip
    folder.journal.write_bytes(b"".join(map(jsonio.line, gone)))
    return folder


def spoil(folder: RunFolder, number: int, line: bytes = b'{"event": 1}') -> None:
    lines = folder.journal.read_bytes().split(b"\n")
    lines[number - 1] = line
    folder.journal.write_bytes(b"\n".join(lines))


def test_what_a_runner_writes_is_read(ran: Ran) -> None:
    lines = ran.folder.journal.read_bytes().splitlines(keepends=True)
    assert [parse_event(line) for line in lines] == [json.loads(line) for line in lines]
    assert damaged_line(ran.folder) is None


@pytest.mark.parametrize("key", BAD)
def test_a_line_with_one_value_of_another_kind_is_no_event(key: str) -> None:
    assert parse_event(jsonio.line(GOOD)) == GOOD
    for value in BAD[key]:
        assert parse_event(jsonio.line(GOOD | {key: value})) is None, value


def test_what_a_step_that_waits_makes_is_a_list_and_not_a_number() -> None:
    waiting = {"event": "stepWaiting", "sequence": 1, "step": "look", "state": "state-1"}
    good = waiting | {"outputs": ["a.txt"], "commands": ["true"]}
    assert parse_event(jsonio.line(good)) == good
    for key, value in (("outputs", 2), ("commands", "true"), ("state", 1), ("step", None)):
        assert parse_event(jsonio.line(good | {key: value})) is None, key


@pytest.mark.parametrize("line", [b"", b"\n", b"[]\n", b"1\n", b"[" * 10**6 + b"\n", b'{"a": 1'])
def test_what_is_no_event_at_all(line: bytes) -> None:
    assert parse_event(line) is None


def test_keys_that_nobody_knows_are_kept() -> None:
    assert parse_event(jsonio.line(GOOD | {"later": [1]})) == GOOD | {"later": [1]}


@pytest.mark.parametrize("number", [1, 2, 4])
def test_a_damaged_line_ends_the_reading_and_is_named(damaged: RunFolder, number: int) -> None:
    spoil(damaged, number)
    text = f"line {number} of its journal cannot be read, nor what follows it"
    assert damaged_line(damaged) == number
    assert len(read_events(damaged)) == number - 1
    assert (summary(damaged).outcome, summary(damaged).text) == ("lost", text)
    assert is_gone(damaged)
    *_, warning, end = (one for one in events_of(damaged) if one is not None)
    assert (warning["event"], warning["text"]) == ("warning", text)
    assert (end["event"], end["outcome"]) == ("runComplete", "interrupted")


def test_a_journal_that_says_nothing_yet_is_waited_for(damaged: RunFolder) -> None:
    damaged.journal.write_bytes(b"")
    assert not is_gone(damaged)
    spoil(damaged, 1, b'{"event": "runAcc')
    assert not is_gone(damaged)


def test_a_tail_ends_where_nobody_can_be_named(
    damaged: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(damaged, 1)
    monkeypatch.setattr("vaibify_lab.serving.tail._ALIVE_SECONDS", 0.0)
    tail = Tail(damaged)
    assert [one["event"] for one in tail.read()] == ["runComplete"]
    assert tail.ended


def test_the_command_says_which_line(ran: Ran) -> None:
    kept = ran.folder.journal.read_bytes()
    spoil(ran.folder, 3)
    text = "line 3 of its journal cannot be read, nor what follows it"
    try:
        told, listed = (vaibify(ran.made.root, verb) for verb in ("log", "runs"))
    finally:
        ran.folder.journal.write_bytes(kept)
    assert (told.code, told.err, listed.code, listed.err) == (0, "", 0, "")
    assert f"warning: {text}\n" in told.out
    assert text in listed.out


def test_the_end_of_a_run_of_very_many_steps_is_seen(damaged: RunFolder) -> None:
    steps = {f"step-{number}": "passed" for number in range(20_000)}
    end = {"event": "runComplete", "sequence": 99, "outcome": "passed", "steps": steps}
    spoil(damaged, len(read_events(damaged)), jsonio.line(end)[:-1])
    assert damaged.journal.stat().st_size > 4 * 64 * 1024
    assert is_ended(damaged)
