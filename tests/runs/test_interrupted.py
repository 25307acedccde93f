"""Runs that are stopped, killed, or lose their engine: old outputs come back, everybody is told."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.kit import CHAIN, CHAIN_FILES, Made, git
from tests.runs.here import TIERS, Ran, record, request, run_here, step
from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import (
    CannotCheck,
    DiskFull,
    NotPassed,
    RunInProgress,
    ToolFailed,
    VaibifyError,
)
from vaibify_lab.files.factstore import FactStore
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs import start as starting
from vaibify_lab.runs.aside import ASIDE, Aside, left_aside, remove_empty
from vaibify_lab.runs.child import Runner
from vaibify_lab.runs.journal import RUNS, RunFolder, read_events
from vaibify_lab.runs.live import is_ended, runner_in
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.processes import ProcessId


def wait_for(condition: Callable[[], Any], seconds: float = 120.0) -> Any:
    """Wait until a condition holds; return what it gave."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "never came"
        time.sleep(0.02)
    return found


def has(folder: RunFolder, event: str, step: str | None = None) -> bool:
    """Tell whether an event was written."""
    return any(
        one["event"] == event and step in (None, one.get("step")) for one in read_events(folder)
    )


def ended(folder: RunFolder) -> dict[str, Any]:
    """Wait for a run's last event."""
    wait_for(lambda: has(folder, "runComplete") or has(folder, "runRefused"))
    return read_events(folder)[-1]


def alive(marks: list[str]) -> list[str]:
    """Return the command lines of living processes that hold one of the marks."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            found += [line for mark in marks if line.startswith(f"sleep {mark}")]
    return found


def start(made: Made, *steps: str, wait: str | None = None, **options: Any) -> RunFolder:
    """Start a detached run; return once a step has started (its name, or any)."""
    mode = "steps" if steps else "stale"
    asked = RunOptions("workflow.json", mode=mode, steps=steps, **options)  # type: ignore[arg-type]
    folder = made.project().start_run(asked)
    wait_for(lambda: has(folder, "stepStarted", wait) or has(folder, "runRefused"))
    assert has(folder, "stepStarted"), read_events(folder)[-1]
    return folder


def kill_runner(folder: RunFolder) -> None:
    """Kill a run's runner, and see that it is gone."""
    runner = runner_in(folder)
    assert runner is not None
    os.kill(runner.pid, signal.SIGKILL)
    wait_for(lambda: runner.alive() is False)


def dies_at(made: Made, place: type, method: str, options: RunOptions, nth: int = 1) -> RunFolder:
    """Make a run in a process of its own that dies when a method is called the nth time."""
    folder = request(made, options)
    pid = os.fork()
    if pid == 0:
        count = itertools.count(1)
        original = getattr(place, method)

        def dying(*args: Any, **given: Any) -> Any:
            if next(count) == nth:
                os._exit(9)
            return original(*args, **given)

        setattr(place, method, dying)
        try:
            Runner(folder).main()
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9, "it did not come there"
    return folder


@pytest.fixture
def chain(tmp_path: Path) -> Made:
    """Make a chain of two steps, run."""
    made = Made.new(tmp_path / "p", CHAIN, CHAIN_FILES)
    assert run_here(made).steps == {"make": "passed", "use": "passed"}
    return made


def slow(made: Made, mark: str, *, half: bool = True) -> None:
    """Let the first step write half of its output, and then sleep."""
    text = "echo half > out/a.txt\n" if half else ""
    made.write("make.sh", f"{text}sleep {mark}\n{CHAIN_FILES['make.sh']}")


# --- stopped


@pytest.mark.parametrize("tier", TIERS)
def test_a_stopped_step_leaves_nobody_behind_and_loses_nothing(tmp_path: Path, tier: str) -> None:
    marks = [f"10{number}.{os.getpid()}{TIERS.index(tier)}" for number in range(4)]
    script = (
        f"setsid sleep {marks[0]} &\n"
        f"(setsid bash -c '(sleep {marks[1]} &) ; sleep {marks[2]}' & )\n"
        "echo half > out/a.txt\n"
        "trap '' TERM\n"
        f"while true; do sleep {marks[3]}; done\n"
    )
    made = Made.new(tmp_path / "p", CHAIN, CHAIN_FILES)
    run_here(made, tier=tier)
    made.write("make.sh", script)
    folder = start(made, tier=tier)
    wait_for(lambda: len(alive(marks)) == 4)
    project = made.project()
    began = time.monotonic()
    assert project.stop_run() == folder
    end = ended(folder)
    assert time.monotonic() - began < 5
    assert alive(marks) == []
    assert (end["outcome"], end["steps"]) == (
        "interrupted",
        {"make": "interrupted", "use": "interrupted"},
    )
    found = record(made, "make")
    assert (found.outcome, found.reason_code) == ("interrupted", "stopped")
    assert made.read("out/a.txt") == "2\n"
    assert (folder.path / "leftovers/make/out/a.txt").read_text() == "half\n"
    assert made.states()["make"][0] == "interrupted"
    assert project.acknowledge() == ["make"]
    assert made.states()["make"][0] == "stale"  # its script is another
    with pytest.raises(NotPassed, match="no run in progress"):
        project.stop_run()


def test_a_step_that_takes_too_long(chain: Made) -> None:
    chain.workflow([{**CHAIN[0], "fTimeoutSeconds": 0.3}, CHAIN[1]])
    slow(chain, "120")
    ran = run_here(chain)
    assert ran.steps == {"make": "failed", "use": "blocked"}
    found = record(chain, "make")
    assert (found.reason_code, found.reason) == (
        "time-out",
        "was stopped after its time limit of 0.3 seconds; raise fTimeoutSeconds",
    )
    assert chain.read("out/a.txt") == "2\n"


# --- killed


def test_a_runner_that_is_killed_is_seen_and_the_next_run_finishes(chain: Made) -> None:
    mark = f"130.{os.getpid()}"
    slow(chain, mark)
    folder = start(chain)
    wait_for(lambda: alive([mark]) and (chain.root / "out/a.txt").exists())
    assert chain.states()["make"][0] == "running"
    kill_runner(folder)
    report = chain.steps()["make"]
    aside = f".vaibify/local/aside/{folder.run_id}/workflow/make"
    assert (report.run, report.reasons[0].text) == (
        "interrupted",
        f"run {folder.run_id} lost its runner before the step ended;"
        " it still runs, until the next run, or jupyter vaibify stop-run, ends it;"
        f" its old outputs lie in {aside} and the next run restores them",
    )
    assert (chain.root / aside / "old/out/a.txt").read_text() == "2\n"
    assert chain.states()["use"][0] == "stale", "a look restores nothing, and queues nothing"
    assert alive([mark]), "the step goes on under its supervisor"
    chain.write("make.sh", CHAIN_FILES["make.sh"])
    ran = run_here(chain)
    assert alive([mark]) == []
    assert ran.steps == {"make": "passed", "use": "skipped"}
    assert ran.texts("note", "make") == [
        f"ended what run {folder.run_id} left running",
        f"put back the outputs of make that run {folder.run_id} had moved aside;"
        f" what run {folder.run_id} wrote is in .vaibify/local/runs/{folder.run_id}/leftovers/make",
    ]
    assert chain.states()["make"][0] == "current"
    assert (folder.path / "leftovers/make/out/a.txt").read_text() == "half\n"
    assert not (chain.root / ".vaibify/local/aside").joinpath(folder.run_id).exists()


def test_a_first_run_that_is_lost_had_no_old_outputs(tmp_path: Path) -> None:
    mark = f"133.{os.getpid()}"
    made = Made.new(tmp_path / "p", CHAIN, CHAIN_FILES)
    slow(made, mark)
    folder = start(made)
    wait_for(lambda: alive([mark]) and (made.root / "out/a.txt").exists())
    kill_runner(folder)
    lost = f"run {folder.run_id} lost its runner before the step ended"
    on = "; it still runs, until the next run, or jupyter vaibify stop-run, ends it"
    assert made.steps()["make"].reasons[0].text == f"{lost}{on}"
    made.project().stop_run()
    assert (alive([mark]), made.steps()["make"].reasons[0].text) == ([], lost)
    made.write("make.sh", CHAIN_FILES["make.sh"])
    ran = run_here(made)
    assert ran.texts("note", "make") == [
        f"what run {folder.run_id} wrote is in .vaibify/local/runs/{folder.run_id}/leftovers/make"
    ]
    assert ran.steps["make"] == "passed"


def test_a_lost_run_is_recorded_when_the_next_one_does_something_else(chain: Made) -> None:
    mark = f"131.{os.getpid()}"
    chain.write("make.sh", CHAIN_FILES["make.sh"] + f"[ -e stop.txt ] && sleep {mark}; true\n")
    assert run_here(chain, "make").steps == {"make": "passed"}
    good = record(chain, "make")
    chain.write("stop.txt", "")
    folder = start(chain, "make")
    wait_for(lambda: alive([mark]))
    kill_runner(folder)
    assert run_here(chain, "use", mode="only").steps == {"use": "passed"}
    found = record(chain, "make")
    assert (found.outcome, found.reason_code, found.run_id) == (
        "interrupted",
        "runner-lost",
        folder.run_id,
    )
    assert found.passed == good
    assert chain.states()["make"][0] == "interrupted", "though its outputs are as before"
    (chain.root / "stop.txt").unlink()
    assert run_here(chain).steps["make"] == "passed"


def test_a_started_run_is_the_current_one_at_once_however_long_a_lost_one_takes(
    chain: Made,
) -> None:
    mark = f"132.5{os.getpid()}"
    slow(chain, mark)
    lost = start(chain)
    wait_for(lambda: alive([mark]))
    kill_runner(lost)
    with lost.journal.open("ab") as file:
        file.write(b'{"event": "note", "text": "much to read", "sequence": 99}\n' * 100_000)
    chain.write("make.sh", CHAIN_FILES["make.sh"])
    folder = chain.project().start_run(RunOptions("workflow.json"))
    assert chain.project().current_run() == folder
    assert ended(folder)["outcome"] == "passed"


def test_stop_run_ends_what_a_killed_runner_left(chain: Made) -> None:
    mark = f"132.{os.getpid()}"
    slow(chain, mark)
    folder = start(chain)
    wait_for(lambda: alive([mark]))
    kill_runner(folder)
    assert chain.project().stop_run() == folder
    assert alive([mark]) == []
    assert chain.states()["make"][0] == "interrupted"
    with pytest.raises(NotPassed):
        chain.project().stop_run()


def test_a_lost_run_can_be_acknowledged(chain: Made) -> None:
    folder = dies_at(chain, FactStore, "write_record", RunOptions("workflow.json", mode="all"))
    assert chain.states()["make"][0] == "interrupted"
    project = chain.project()
    assert project.acknowledge(["use"]) == []
    assert chain.states()["make"][0] == "interrupted"
    assert project.acknowledge() == ["make"]
    assert chain.states()["make"][0] == "current", "what it made before is worth what it was"
    assert run_here(chain).steps == {"make": "skipped", "use": "skipped"}
    found = record(chain, "make")
    assert (found.outcome, found.run_id, found.acknowledged is not None) == (
        "interrupted",
        folder.run_id,
        True,
    )


def test_killed_after_the_outputs_and_before_the_record(chain: Made) -> None:
    good = record(chain, "make")
    chain.write("data/in.txt", "5\n")
    folder = dies_at(chain, FactStore, "write_record", RunOptions("workflow.json"))
    assert (record(chain, "make"), chain.read("out/a.txt")) == (good, "6\n")
    assert chain.states()["make"][0] == "interrupted"
    chain.write("data/in.txt", "1\n")
    ran = run_here(chain, "use", mode="only")
    assert ran.steps == {"use": "passed"}
    assert chain.read("out/a.txt") == "2\n", "nobody recorded the new ones"
    assert (chain.root / RUNS / folder.run_id / "leftovers/make/out/a.txt").read_text() == "6\n"


def test_killed_after_the_record_and_before_the_old_outputs_go(chain: Made) -> None:
    chain.write("data/in.txt", "5\n")
    dies_at(chain, Aside, "drop", RunOptions("workflow.json"))
    assert record(chain, "make").outcome == "passed"
    ran = run_here(chain)
    assert ran.steps == {"make": "skipped", "use": "passed"}
    assert chain.read("out/a.txt") == "6\n"
    assert list(left_aside(Tree(chain.root))) == []


def test_killed_in_the_second_of_two_runs_of_a_step(chain: Made) -> None:
    """The first one passed and is recorded under the same run: its outputs are the good ones."""
    chain.write("data/in.txt", "5\n")
    options = RunOptions("workflow.json", twice=True)
    dies_at(chain, FactStore, "write_record", options, nth=2)
    (chain.root / "out/a.txt").write_text("half\n")
    run_here(chain, "use", mode="only")
    assert chain.read("out/a.txt") == "6\n"
    assert chain.states()["make"][0] == "current"


OUTPUTS = ["a.txt", "d/", "deep/b.txt", "never.txt"]
OLD = {"a.txt": "1", "d/x.txt": "2", "d/sub/y.txt": "3", "deep/b.txt": "4", "deep/other.txt": "5"}
NEW = {"a.txt": "6", "d/z.txt": "7", "never.txt": "8"}


class Died(BaseException):
    """The process is gone."""


def outputs_tree(root: Path) -> Tree:
    """Return a tree with old outputs."""
    for path, text in OLD.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return Tree(root)


def held(root: Path) -> dict[str, str]:
    """Return every file but the machine's own."""
    files = (one for one in root.rglob("*") if one.is_file())
    names = {str(one.relative_to(root)): one.read_text() for one in files}
    return {path: text for path, text in names.items() if not path.startswith(".vaibify")}


def dying_moves(monkeypatch: pytest.MonkeyPatch, after: int | None) -> Iterator[None]:
    """Let the process die after so many renames."""
    count = itertools.count(1)
    rename = os.rename

    def dying(*args: Any, **given: Any) -> None:
        if after is not None and next(count) > after:
            raise Died
        rename(*args, **given)

    monkeypatch.setattr(os, "rename", dying)
    yield
    monkeypatch.setattr(os, "rename", rename)


@pytest.mark.parametrize("taken", range(6))
def test_moving_aside_and_back_survives_a_death_after_each_rename(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: int
) -> None:
    """``taken`` renames (the list of outputs is one) of moving aside, then any number of back."""
    for returned in range(9):
        root = tmp_path / str(returned)
        tree = outputs_tree(root)
        aside = Aside(tree, "r1", "workflow", "one")
        mending = dying_moves(monkeypatch, taken)
        next(mending)
        died = False
        try:
            aside.take(OUTPUTS)
        except Died:
            died = True
        next(mending, None)
        assert died is (taken < 4)
        if not died:
            for path, text in NEW.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
        mending = dying_moves(monkeypatch, returned)
        next(mending)
        with suppress(Died):
            aside.put_back()
        next(mending, None)
        for left in list(left_aside(tree)):
            assert left == aside
            left.put_back()
        assert held(root) == OLD, (taken, returned)
        assert list(left_aside(tree)) == []


# --- the starter, the lock


def test_the_starter_is_killed_and_the_run_goes_on(chain: Made) -> None:
    chain.write("make.sh", "sleep 1\nexit 3\n")
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from vaibify_lab.project import Project\n"
        "from vaibify_lab.runs.options import RunOptions\n"
        "project = Project(Path(sys.argv[1]))\n"
        "folder = project.start_run(RunOptions('workflow.json'))\n"
        "print(folder.path, flush=True)\n"
        "for event in project.events(folder):\n"
        "    pass\n"
    )
    starter = subprocess.Popen(
        [sys.executable, "-c", script, str(chain.root)], stdout=subprocess.PIPE, text=True
    )
    assert starter.stdout is not None
    folder = RunFolder(Path(starter.stdout.readline().strip()))
    wait_for(lambda: has(folder, "stepStarted"))
    starter.kill()
    starter.wait()
    starter.stdout.close()
    end = ended(folder)
    assert (end["outcome"], end["steps"]) == ("failed", {"make": "failed", "use": "blocked"})
    assert record(chain, "make").exit_code == 3
    numbers = [event["sequence"] for event in read_events(folder)]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_second_run_at_once_is_told_who_runs_since_when(chain: Made) -> None:
    slow(chain, "140")
    folder = start(chain)
    with pytest.raises(VaibifyError) as refused:
        chain.project().start_run(RunOptions("workflow.json"))
    assert refused.value.code == RunInProgress.code
    assert refused.value.exit_code == 1
    assert re.fullmatch(
        rf"a run is in progress: {folder.run_id}, started by Ada Test <ada@example.org> at"
        r" \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",
        refused.value.text,
    )
    assert refused.value.action == "wait for it, or end it with: jupyter vaibify stop-run"
    assert chain.states()["make"][0] == "running", "the run that was refused changes nothing"
    chain.project().stop_run()
    assert ended(folder)["outcome"] == "interrupted"


def test_a_runner_that_cannot_start_says_why(
    chain: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho first >&2\necho no such library >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    with pytest.raises(ToolFailed) as refused:
        chain.project().start_run(RunOptions("workflow.json"))
    assert refused.value.text == "the runner did not start: no such library"
    assert str(refused.value.where).endswith("/runner.log")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    with pytest.raises(CannotCheck, match="cannot start the runner"):
        chain.project().start_run(RunOptions("workflow.json"))
    assert {one.run for one in chain.steps().values()} == {"current"}


def test_a_machines_own_files_are_ignored_whatever_the_other_gitignore_says(chain: Made) -> None:
    chain.write(".vaibify/.gitignore", "")
    (chain.root / ".vaibify/local/.gitignore").unlink(missing_ok=True)
    folder = chain.project().start_run(RunOptions("workflow.json"))
    assert ended(folder)["outcome"] == "passed"
    chain.commit()
    assert not chain.project().opened.local_is_tracked()


def test_what_a_dead_runner_left_of_its_lock_is_no_obstacle(chain: Made) -> None:
    locks = chain.root / ".vaibify/local/locks"
    locks.mkdir(exist_ok=True)
    (locks / "run.lock").write_text("")
    (locks / "run.json").write_text('{"run_id": "x", "person": "Old", "since": "then"')
    assert run_here(chain).end["outcome"] == "passed"


@pytest.mark.parametrize("kind", ["link", "folder"])
def test_a_lock_that_is_no_file_is_refused(chain: Made, tmp_path: Path, kind: str) -> None:
    lock = chain.root / ".vaibify/local/locks/run.lock"
    lock.unlink(missing_ok=True)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    lock.symlink_to(victim) if kind == "link" else lock.mkdir()
    end = run_here(chain).end
    assert (end["event"], end["code"], end["where"]) == (
        "runRefused",
        "unsafe-path",
        ".vaibify/local/locks/run.lock",
    )
    assert victim.read_text() == "precious"


def elsewhere(made: Made) -> RunFolder:
    """Leave the journal of a run that another machine makes."""
    folder = RunFolder(made.root / RUNS / "20200101T000000-00000000")
    folder.path.mkdir(parents=True)
    process = ProcessId(1, "1", "boot", "far.example.org").to_json()
    plan = [{"slug": "make", "action": "run", "why": ""}, {"slug": "use", "action": "run"}]
    events: list[dict[str, Any]] = [
        {"event": "runAccepted", "sequence": 1, "time": 1577836800.0, "process": process},
        {
            "event": "runStarted",
            "sequence": 2,
            "workflow": "workflow.json",
            "stem": "workflow",
            "process": process,
            "plan": plan,
        },
        {"event": "stepStarted", "sequence": 3, "step": "make"},
    ]
    folder.journal.write_bytes(b"".join(map(jsonio.line, events)))
    (made.root / ".vaibify/local/current").write_text(folder.run_id + "\n")
    return folder


def test_a_run_on_another_machine_is_left_alone_until_somebody_vouches_for_its_end(
    chain: Made,
) -> None:
    folder = elsewhere(chain)
    aside = Aside(Tree(chain.root), folder.run_id, "workflow", "make")
    aside.take(["out/a.txt"])
    assert {slug: one.run for slug, one in chain.steps().items()} == {
        "make": "running",
        "use": "queued",
    }
    text = chain.steps()["make"].reasons[0].text
    assert text == f"is running in run {folder.run_id} on far.example.org"
    end = run_here(chain).end
    assert (end["event"], end["code"]) == ("runRefused", "run-in-progress")
    assert end["text"] == (
        f"a run is in progress: {folder.run_id}, since 2020-01-01T00:00:00Z, on far.example.org;"
        " whether it still runs cannot be seen from here"
    )
    assert end["action"] == "if it is gone: jupyter vaibify acknowledge"
    assert not (chain.root / "out/a.txt").exists(), "its outputs are not touched"
    assert chain.project().acknowledge() == ["make"]
    assert run_here(chain).steps == {"make": "skipped", "use": "skipped"}
    assert chain.read("out/a.txt") == "2\n"


def test_a_run_whose_lock_somebody_deleted_is_not_disturbed(chain: Made) -> None:
    slow(chain, "141")
    folder = start(chain)
    (chain.root / ".vaibify/local/locks/run.lock").unlink()
    end = run_here(chain).end
    assert (end["event"], end["code"]) == ("runRefused", "run-in-progress")
    assert folder.run_id in end["text"]
    chain.project().stop_run()
    assert ended(folder)["outcome"] == "interrupted"


# --- the engine


@pytest.mark.parametrize("tier", TIERS)
def test_a_supervisor_that_is_killed_interrupts_its_step(tmp_path: Path, tier: str) -> None:
    mark = f"15{TIERS.index(tier)}.{os.getpid()}"
    made = Made.new(tmp_path / "p", CHAIN, CHAIN_FILES)
    slow(made, mark)
    folder = start(made, tier=tier)
    wait_for(lambda: alive([mark]))
    state = folder.step("make") / "attempt-1"
    os.kill(json.loads((state / "supervisor.json").read_bytes())["pid"], signal.SIGKILL)
    end = ended(folder)
    assert (end["outcome"], end["steps"]) == (
        "interrupted",
        {"make": "interrupted", "use": "blocked"},
    )
    assert record(made, "make").reason_code == "engine-lost"
    wait_for(lambda: alive([mark]) == [])


# --- a full disk


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """Give a file system of two megabytes."""
    place = tmp_path / "tiny"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], check=True)
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def all_whole(made: Made) -> None:
    """Every JSON file parses, every journal ends in a whole line, nothing temporary is left."""
    for path in made.root.joinpath(".vaibify").rglob("*"):
        if path.suffix == ".json":
            json.loads(path.read_bytes())
        if path.name == "journal.jsonl":
            assert [json.loads(line) for line in path.read_bytes().splitlines()]
            assert path.read_bytes().endswith(b"\n")
        assert not path.name.endswith(".tmp"), path


FILL = "head -c 8000000 /dev/zero > out/a.txt"


def test_a_nearly_full_disk_is_said_before_anything_runs(tiny: Path) -> None:
    made = Made.new(tiny / "p", CHAIN, CHAIN_FILES)
    end = run_here(made).end
    assert (end["event"], end["code"]) == ("runRefused", "preflight")
    assert end["text"].startswith("only ") and end["action"] == "free some space"
    made.write("fill", os.urandom(2**17))
    with pytest.raises(OSError, match="No space"):
        made.write("more", os.urandom(2**21))
    with pytest.raises(DiskFull):
        made.project().start_run(RunOptions("workflow.json"))
    all_whole(made)


@pytest.mark.parametrize("ending", ["", " || true"])
def test_a_step_that_fills_the_disk_costs_no_result_and_is_recorded(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """With ``|| true`` it ends well, with half an output and no room for its record."""
    monkeypatch.setattr("vaibify_lab.runs.preflight.surroundings.LOW_DISK", 0)
    made = Made.new(tiny / "p", CHAIN, CHAIN_FILES)
    assert run_here(made).steps == {"make": "passed", "use": "passed"}
    made.write("make.sh", FILL + ending + "\n")
    ran = run_here(made)
    assert ran.steps == {"make": "failed", "use": "blocked"}
    found = record(made, "make")
    assert found.reason_code == ("disk-full" if ending else "exit")
    assert "space" in found.reason
    assert found.passed is not None
    assert made.read("out/a.txt") == "2\n"
    all_whole(made)
    made.write("make.sh", CHAIN_FILES["make.sh"])
    assert run_here(made).steps == {"make": "passed", "use": "skipped"}


def test_no_room_for_a_sealed_tree(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vaibify_lab.runs.preflight.surroundings.LOW_DISK", 0)
    made = Made.new(tiny / "p", CHAIN, CHAIN_FILES)
    assert run_here(made).end["outcome"] == "passed"
    made.write("data/in.txt", b"1" * 1_200_000)
    ran: Ran = run_here(made, "make", sealed=True)
    assert ran.steps == {"make": "failed"}
    found = record(made, "make")
    assert (found.reason_code, "data/in.txt" in found.reason) == ("disk-full", True)
    assert made.read("out/a.txt") == "2\n"
    assert not list(ran.folder.path.glob("steps/*/tree"))
    all_whole(made)


@pytest.mark.parametrize("nth", [1, 2, 3])
def test_no_room_to_move_old_outputs_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nth: int
) -> None:
    """The first thing that is written is the list of them, then two outputs are moved."""
    outputs = ["o/a.txt", "o/b.txt"]
    made = Made.new(tmp_path / "p", [step("One", "echo 1 > o/a.txt", out=outputs)], {})
    for path in outputs:
        made.write(path, "old\n")
    count = itertools.count(1)

    def full(method: str) -> None:
        original = getattr(Tree, method)

        def failing(tree: Tree, path: str, *args: Any, **named: Any) -> Any:
            if ".vaibify/local/aside/" in f"{path}{args[:1]}" and next(count) == nth:
                raise DiskFull("cannot be written: no space is left", where=path)
            return original(tree, path, *args, **named)

        monkeypatch.setattr(Tree, method, failing)

    full("write")
    full("move")
    assert run_here(made).steps == {"one": "failed"}
    assert record(made, "one").reason_code == "disk-full"
    assert [made.read(path) for path in outputs] == ["old\n", "old\n"]
    assert list(left_aside(Tree(made.root))) == []


def test_steps_that_begin_and_end_together_leave_each_others_folders(tmp_path: Path) -> None:
    tree = Tree(tmp_path)

    def begin_and_end(slug: str) -> None:
        for _ in range(300):
            aside = Aside(tree, "r1", "workflow", slug)
            aside.take([f"{slug}.txt"])
            aside.drop()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(begin_and_end, ["a", "b", "c", "d"])) == [None] * 4
    remove_empty(tree)
    assert os.listdir(tmp_path / ASIDE) == []


def test_no_room_to_keep_what_a_failed_run_wrote(
    chain: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it goes: the old output comes back in any case."""
    chain.write("make.sh", "echo half > out/a.txt; exit 1\n")
    move = Tree.move

    def failing(tree: Tree, source: str, target: str, **named: Any) -> None:
        if "/leftovers/" in target:
            raise DiskFull("cannot be written: no space is left", where=target)
        move(tree, source, target, **named)

    monkeypatch.setattr(Tree, "move", failing)
    assert run_here(chain).steps["make"] == "failed"
    assert chain.read("out/a.txt") == "2\n"
    assert record(chain, "make").reason_code == "exit"


# --- what a repository ships


def hostile(made: Made, place: Path) -> None:
    """Plant what could make a recovery move files, and a run that never ended."""
    old = ".vaibify/local/aside/r1/workflow/make/old"
    value = {
        "outputs": [".git/hooks/post-commit", "workflow.json"],
        "existed": [".git/hooks/post-commit"],
        "record": "",
    }
    made.write(".vaibify/local/aside/r1/workflow/make/outputs.json", json.dumps(value))
    made.write(f"{old}/.git/hooks/post-commit", "#!/bin/sh\ntouch /tmp/owned\n")
    made.write(f"{old}/workflow.json", "{}")
    journal = {"event": "runAccepted", "sequence": 1, "process": ProcessId.mine().to_json()}
    made.write(".vaibify/local/runs/r1/journal.jsonl", jsonio.line(journal))
    made.write(".vaibify/local/current", "r1\n")
    victim = place / "victim"
    victim.mkdir()
    (made.root / ".vaibify/local/aside/r2").symlink_to(victim)


def test_nothing_that_a_repository_ships_moves_a_file(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", CHAIN, CHAIN_FILES)
    hostile(made, tmp_path)
    made.write(".vaibify/.gitignore", "")
    git(made.root, "add", "-A", "-f")
    git(made.root, "commit", "-q", "-m", "ships it")
    clone = made.clone(tmp_path / "clone")
    workflow = clone.read("workflow.json")
    assert {one.run for one in clone.steps().values()} == {"never-run"}
    with pytest.raises(NotPassed):
        clone.project().stop_run()
    assert clone.project().acknowledge() == []
    ran = run_here(clone)
    assert ran.steps == {"make": "passed", "use": "passed"}
    assert ran.of("warning")[0]["text"].startswith(".vaibify/local is tracked by git")
    assert clone.read("workflow.json") == workflow
    assert not (clone.root / ".git/hooks/post-commit").exists()
    assert (clone.root / ".vaibify/local/aside/r1").is_dir(), "left where it was"


@pytest.mark.parametrize("entry", [".vaibify/local", ".vaibify"])
def test_a_machines_folder_that_is_a_submodule_or_a_link_is_not_believed(
    tmp_path: Path, entry: str
) -> None:
    made = Made.new(tmp_path / "p", CHAIN, CHAIN_FILES)
    hostile(made, tmp_path)
    head = git(made.root, "rev-parse", "HEAD").strip()
    git(made.root, "rm", "-r", "-q", "--cached", ".vaibify")
    git(made.root, "update-index", "--add", "--cacheinfo", f"160000,{head},{entry}")
    assert made.project().opened.local_is_tracked()
    assert {one.run for one in made.steps().values()} == {"never-run"}
    ran = run_here(made)
    assert ran.end["event"] == "runComplete", ran.end
    assert (made.root / ".vaibify/local/aside/r1").is_dir()


BAD_PATHS = ["../x", "/etc/x", ".git/hooks/post-commit", ".vaibify/records/x", "a/../../x", "", 7]


def test_recovery_believes_no_strange_list_even_where_git_tracks_nothing(
    chain: Made, tmp_path: Path
) -> None:
    tree = Tree(chain.root)
    good = Aside(tree, "r0", "workflow", "use")
    good.take(["out2/b.txt"])
    for number, path in enumerate(BAD_PATHS):
        place = f".vaibify/local/aside/r1/workflow/s{number}"
        value = {"outputs": [path], "existed": [path], "record": ""}
        chain.write(f"{place}/outputs.json", json.dumps(value))
        chain.write(f"{place}/old/.git/hooks/post-commit", "#!/bin/sh\n")
    chain.write(".vaibify/local/aside/r1/workflow/half/outputs.json", '{"outputs": ["ou')
    chain.write(".vaibify/local/aside/r1/workflow/half/old/out/a.txt", "old")
    (chain.root / ".vaibify/local/aside/r1/workflow/nothing").mkdir()
    victim = tmp_path / "victim"
    (victim / "workflow/one/old").mkdir(parents=True)
    (chain.root / ".vaibify/local/aside/r2").symlink_to(victim)
    ran = run_here(chain)
    assert ran.steps == {"make": "skipped", "use": "skipped"}
    warned = [one["path"].rpartition("/")[2] for one in ran.of("warning") if "path" in one]
    assert sorted(warned) == sorted([*(f"s{n}" for n in range(len(BAD_PATHS))), "half"])
    assert chain.read("out2/b.txt") == "2\n", "what is a run's own is put back"
    assert not (chain.root / ".git/hooks/post-commit").exists()
    assert (victim / "workflow/one/old").is_dir()
    kept = chain.root / ".vaibify/local/aside/r1/workflow"
    assert (kept / "half/old/out/a.txt").read_text() == "old", "nothing is deleted unread"
    assert not (kept / "nothing").exists()


def test_who_is_interrupted_while_a_run_begins_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Made.new(tmp_path / "p", [step("Slow", "sleep 60", "touch o.txt", out="o.txt")], {})
    seen: list[RunFolder] = []

    def interrupted(_: Tree, folder: RunFolder) -> bool:
        seen[:] = [folder]
        if any(folder.path.glob("steps/slow/*")):
            raise KeyboardInterrupt
        return False

    monkeypatch.setattr(starting, "_is_seen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made.project().start_run(RunOptions("workflow.json"))
    assert is_ended(seen[0])
    assert made.steps()["slow"].run == "interrupted"
