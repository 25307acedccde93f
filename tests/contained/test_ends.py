"""How runs in containers end: well, badly, by a stop, by the loss of runner or engine."""

from __future__ import annotations

import json
import os
import signal
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.apps.front import start, vaibify
from tests.contained.pinned import Image, containers, of, pinned, record, wait_for
from tests.engines.conftest import running
from tests.engines.docker.private import PrivateEngine
from tests.kit import CHAIN, CHAIN_FILES, Made
from tests.others import OTHERS
from tests.runs.here import step
from vaibify_lab.core.errors import NotPassed
from vaibify_lab.engines.docker.client import connect
from vaibify_lab.engines.image.registry import local_image
from vaibify_lab.runs.journal import RunFolder, read_events
from vaibify_lab.runs.options import RunOptions

WAIT = "echo waiting; while [ ! -e go.txt ]; do sleep 0.05; done"


def slow(*before: str) -> list[dict[str, Any]]:
    return [step("Slow", *before, WAIT, "echo new > slow/out.txt", out="slow/out.txt")]


def begun(made: Made) -> RunFolder:
    """Start a run and wait until its step says that it waits."""
    folder = made.project().start_run(RunOptions("workflow.json", "all"))
    wait_for(lambda: of(read_events(folder), "output"))
    return folder


def ended(made: Made, folder: RunFolder) -> dict[str, Any]:
    """Follow a run to its last event."""
    return [event for event in made.project().events(folder) if event is not None][-1]


def test_e06_leftovers_of_older_code_are_gone(tmp_path: Path, image: Image) -> None:
    both = step("Make", "bash make.sh", out="out/")
    files = {"make.sh": "echo 1 > out/a.csv; echo 2 > out/b.csv\n"}
    made = pinned(tmp_path / "p", image, [both], files)
    assert made.run()["steps"] == {"make": "passed"}
    assert sorted(os.listdir(made.root / "out")) == ["a.csv", "b.csv"]
    made.write("make.sh", "echo 1 > out/a.csv\n")
    assert made.run()["steps"] == {"make": "passed"}
    assert os.listdir(made.root / "out") == ["a.csv"]
    assert set(record(made, "make").pins.outputs) == {"out/a.csv"}
    made.write("out/b.csv", "2\n")
    reasons = [one.text for one in made.steps()["make"].reasons]
    assert "output out/b.csv was not produced by the last run" in reasons or (
        "out/b.csv was not produced by the last run" in reasons
    )


def test_out_of_memory_and_out_of_time_fail_with_their_reason(tmp_path: Path, image: Image) -> None:
    eat = """python3 -c "x = b'x' * (400 * 2**20)" """
    steps = [
        step("Eat", eat, out="e/o.txt", dictResources={"iMemoryMegabytes": 64}),
        step("Late", "sleep 100", out="l/o.txt", fTimeoutSeconds=0.5),
        step("Bad", "exit 3", out="b/o.txt"),
        step("Child", "sh -c 'kill -9 $$'; exit 0", out="c/o.txt"),
        step(
            "Hidden",
            f"{eat} | cat; echo 1 > h/o.txt",
            out="h/o.txt",
            dictResources={"iMemoryMegabytes": 64},
        ),
        step(
            "Tested",
            "echo 1 > t/o.txt",
            out="t/o.txt",
            dictResources={"iMemoryMegabytes": 64},
            bNoTests=False,
            dictTests={"dictIntegrity": {"saCommands": [f"{eat} | cat; true"]}},
        ),
    ]
    made = pinned(tmp_path / "p", image, steps, {"e/o.txt": "old\n"})
    assert made.run(jobs=2)["outcome"] == "failed"
    eaten, late, bad = record(made, "eat"), record(made, "late"), record(made, "bad")
    assert (eaten.reason_code, eaten.reason) == (
        "out-of-memory",
        "ran out of memory and was killed",
    )
    assert made.read("e/o.txt") == "old\n"
    hidden = record(made, "hidden")
    assert (hidden.exit_code, hidden.reason_code, hidden.reason) == (
        0,
        "out-of-memory",
        "went on after one of its processes ran out of memory and was killed",
    )
    tested = made.steps()["tested"]
    assert (tested.run, tested.integrity, tested.green) == ("current", "unknown", False)
    assert late.reason_code == "time-out"
    assert late.reason == "was stopped after its time limit of 0.5 seconds; raise fTimeoutSeconds"
    assert (bad.reason_code, bad.exit_code) == ("exit", 3)
    assert record(made, "child").reason_code == "output-missing"


def test_a_kill_for_want_of_memory_is_noted_where_nobody_can_tell_whose_it_was(
    tmp_path: Path, image: Image, client: Any
) -> None:
    """The step passes: no engine of its own says that it lost a child; a person may wonder."""
    made = Made.new(tmp_path / "p", slow(), {})
    folder = begun(made)
    eat = "b = []\nwhile True: b.append(bytearray(10_000_000))"
    limit = client.create_host_config(mem_limit=2**26, memswap_limit=2**26)
    eater = client.create_container(image.digest, ["python3", "-c", eat], host_config=limit)
    client.start(eater["Id"])
    assert client.wait(eater["Id"])["StatusCode"] == 137
    client.remove_container(eater["Id"])
    made.write("go.txt", "")
    events = [event for event in made.project().events(folder) if event is not None]
    assert events[-1]["steps"] == {"slow": "passed"}
    assert OTHERS in [one["text"] for one in events if one["event"] == "warning"]


def test_d05_stop_leaves_no_process_within_five_seconds(
    tmp_path: Path, image: Image, client: Any
) -> None:
    token = f"token-{uuid.uuid4().hex}"
    family = f"setsid bash -c 'trap \"\" TERM; while :; do sleep 1; done' {token} &"
    made = pinned(tmp_path / "p", image, slow(f"{family} trap '' TERM; {WAIT}"), {})
    made.write("slow/out.txt", "old\n")
    folder = begun(made)
    wait_for(lambda: running(token))
    began = time.monotonic()
    made.project().stop_run()
    wait_for(lambda: not running(token) and not containers(client, folder.run_id))
    assert time.monotonic() - began < 5
    assert ended(made, folder)["outcome"] == "interrupted"
    assert record(made, "slow").reason_code == "stopped"
    assert made.read("slow/out.txt") == "old\n"


def test_a_run_whose_runner_was_killed_is_cleared_by_the_next(
    tmp_path: Path, image: Image, client: Any
) -> None:
    made = pinned(tmp_path / "p", image, slow(), {"slow/out.txt": "old\n"})
    lost = begun(made)
    os.kill(read_events(lost)[0]["process"]["pid"], signal.SIGKILL)
    wait_for(lambda: made.steps()["slow"].run == "interrupted")
    assert len(containers(client, lost.run_id)) == 1, "it goes on without its runner"
    assert not (made.root / "slow/out.txt").exists()
    folder = begun(made)
    notes = [one["text"] for one in of(read_events(folder), "note")]
    assert notes[0] == f"ended what run {lost.run_id} left running"
    assert notes[1].startswith(f"put back the outputs of slow that run {lost.run_id} had moved")
    assert containers(client, lost.run_id) == []
    found = record(made, "slow")
    assert (found.run_id, found.outcome, found.reason_code, found.isolation) == (
        lost.run_id,
        "interrupted",
        "runner-lost",
        "container",
    )
    (old,) = (made.root / ".vaibify/local/aside").rglob("slow/out.txt")
    assert old.read_text() == "old\n"
    made.write("go.txt", "")
    assert ended(made, folder)["steps"] == {"slow": "passed"}
    assert made.read("slow/out.txt") == "new\n"


def test_an_engine_that_is_killed_interrupts_the_step(
    tmp_path: Path,
    image: Image,
    private: Callable[..., PrivateEngine],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = private()
    monkeypatch.setenv("DOCKER_HOST", engine.url)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    own = Image(local_image(connect().api, engine.image), image.inside)
    made = pinned(tmp_path / "p", own, slow(), {"slow/out.txt": "old\n"})
    folder = begun(made)
    engine.kill()
    engine.start()
    assert ended(made, folder)["outcome"] == "interrupted"
    found = record(made, "slow")
    assert (found.outcome, found.reason_code, found.exit_code) == (
        "interrupted",
        "engine-lost",
        None,
    )
    assert "the container engine went away while the step ran" in found.reason
    assert made.read("slow/out.txt") == "old\n"
    assert made.steps()["slow"].run == "interrupted"
    made.write("go.txt", "")
    assert made.run()["steps"] == {"slow": "passed"}


def test_s06_a_second_run_is_refused_with_who_and_since_when(tmp_path: Path, image: Image) -> None:
    made = pinned(tmp_path / "p", image, slow(), {})
    folder = begun(made)
    second = vaibify(made.root, "run")
    assert (second.code, second.err.count("\n")) == (1, 1)
    who = f"{folder.run_id}, started by Ada Test <ada@example.org> at 20"
    assert f"a run is in progress: {who}" in second.err
    made.write("go.txt", "")
    assert ended(made, folder)["outcome"] == "passed"
    project = made.project()
    seen = project.to_sign("slow")
    made.write("slow/out.txt", "somebody else's\n")
    with pytest.raises(NotPassed, match=r"slow/out\.txt is not what the last run of 'slow' wrote"):
        project.sign_off(seen, "passed", by="Ada Test")
    assert made.steps()["slow"].user == "untested"


def test_s05_a_front_door_that_is_killed_leaves_run_and_journal_whole(
    tmp_path: Path, image: Image
) -> None:
    made = pinned(tmp_path / "p", image, slow(), {})
    front = start(made.root, "run", "--json")
    folder = wait_for(lambda: made.project().current_run())
    wait_for(lambda: of(read_events(folder), "output"))
    front.kill()
    front.communicate(timeout=60)
    assert made.steps()["slow"].run == "running"
    made.write("go.txt", "")
    assert ended(made, folder)["steps"] == {"slow": "passed"}
    log = vaibify(made.root, "log", "--json")
    events = [json.loads(line) for line in log.out.splitlines()]
    assert [one["sequence"] for one in events] == list(range(1, len(events) + 1))
    assert (events[0]["event"], events[-1]["event"]) == ("runAccepted", "runComplete")
    assert made.steps()["slow"].run == "current"


def test_e08_an_edited_input_is_named_before_anything_runs_again(
    tmp_path: Path, image: Image
) -> None:
    made = pinned(tmp_path / "p", image, CHAIN, CHAIN_FILES)
    assert made.run()["outcome"] == "passed"
    made.project().envelope()
    made.commit("results")
    made.write("data/in.txt", "2\n")
    done = vaibify(made.root, "reproduce", "--rerun")
    assert done.code == 1
    said = "input data/in.txt of 'make' differs from its pin"
    lines = done.out.splitlines()
    begins = next(at for at, line in enumerate(lines) if line.startswith("[4/4]"))
    assert [said in line for line in lines[:begins]].count(True) == 1, done.out
    assert "L3 reproduction confirmed." not in done.out
    assert made.run()["outcome"] == "passed"
    assert record(made, "make").dirty == ("data/in.txt",)
