"""Steps that a person does: the run waits at them, and goes on with what they say."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engines.conftest import supervisor_of
from tests.engines.shells import SIZE, Shell
from tests.kit import Made, git
from tests.others import but_others
from tests.runs.here import TIERS, by_hand, record, run_here, step
from tests.runs.test_interrupted import ended, has, wait_for
from vaibify_lab.ceremony.rerun import rerun
from vaibify_lab.core.errors import NotPassed
from vaibify_lab.engines.local.processes import out_of_memory_kills
from vaibify_lab.runs.journal import RunFolder, read_events
from vaibify_lab.runs.live import runner_in
from vaibify_lab.runs.options import RunOptions

LOOK = by_hand("python3 mark.py {Step01.a}")
STEPS = [
    step("Make", "echo 1 > made/a.txt", out="made/a.txt"),
    LOOK,
    step("Use", "cat {Step02.m} > used/u.txt", out="used/u.txt"),
    step("Apart", "echo 2 > apart/x.txt", out="apart/x.txt"),
]
FILES = {"mark.py": "print()\n"}
ADA = "Ada Test <ada@example.org>"

Begin = Callable[..., RunFolder]


@pytest.fixture
def begin() -> Iterator[Begin]:
    """Return what starts a run and waits until its step waits; none outlives the test."""
    begun: list[tuple[Made, RunFolder]] = []

    def start(made: Made, *slugs: str, until: str = "look", **options: Any) -> RunFolder:
        options = {"interactive": True, "mode": "steps" if slugs else "stale", **options}
        folder = made.project().start_run(RunOptions("workflow.json", steps=slugs, **options))
        begun.append((made, folder))
        wait_for(lambda: has(folder, "stepWaiting", until) or has(folder, "runRefused"))
        return folder

    yield start
    for _, folder in begun:
        folder.stop_request.touch()
        runner = runner_in(folder)
        wait_for(lambda: runner is None or not runner.alive())  # noqa: B023  at once


def shell(made: Made, slug: str = "look") -> Shell:
    return Shell(made.project().open_terminal(slug, "xterm", SIZE))


def over(folder: RunFolder) -> dict[str, Any]:
    """Wait for a run's last event, and until its runner has let go of the lock."""
    end, runner = ended(folder), runner_in(folder)
    wait_for(lambda: runner is None or not runner.alive())
    return end


def of(folder: RunFolder, step: str) -> list[str]:
    """Return the names of a step's events."""
    return [one["event"] for one in but_others(read_events(folder)) if one.get("step") == step]


@pytest.mark.parametrize("tier", TIERS)
def test_the_run_waits_others_go_on_and_what_was_done_is_recorded(
    tmp_path: Path, begin: Begin, tier: str
) -> None:
    made = Made.new(tmp_path / "p", STEPS, FILES)
    folder = begin(made, tier=tier, jobs=1)
    wait_for(lambda: has(folder, "stepSettled", "apart"))  # one job, and it is not taken
    assert {slug: one.run for slug, one in made.steps().items()} == {
        "make": "current",
        "look": "waiting",
        "use": "queued",
        "apart": "current",
    }
    (reason,) = [one for one in made.steps()["look"].reasons if one.code == "waiting"]
    assert reason.text == f"waits for a person in run {folder.run_id}"
    assert reason.action == "jupyter vaibify attach look"
    (told,) = [one for one in read_events(folder) if one["event"] == "stepWaiting"]
    root = "/workspace/p" if tier == "bwrap" else str(made.root)
    assert told["description"] == "Mark the outliers."
    assert told["commands"] == [f"python3 mark.py {root}/made/a.txt"]
    assert told["outputs"] == ["marks/m.txt"]
    (waiting,) = made.project().waiting()
    assert waiting.to_json() == {
        "slug": "look",
        "run_id": folder.run_id,
        "paused": False,
        "since": told["time"],
        "description": told["description"],
        "commands": told["commands"],
        "outputs": told["outputs"],
    }
    one = shell(made)
    assert one.answer("pwd; echo $VAIBIFY_STEP")[0] == f"{root}\nlook"
    assert one.answer("cat made/a.txt > marks/m.txt; sleep 600 & echo $!")[1] == 0
    assert made.project().speak("look", "complete").folder.path == folder.path
    end = over(folder)
    assert (end["outcome"], set(end["steps"].values())) == ("passed", {"passed"})
    one.rest()
    assert of(folder, "look") == [
        "stepStarted",
        "stepWaiting",
        "stepCompleted",
        "stepPass",
        "stepSettled",
    ]
    kept = record(made, "look")
    assert (kept.done_by, kept.person, kept.commands_run) == (ADA, ADA, ())
    assert (kept.fingerprint, kept.exit_code) == (None, 0)
    assert record(made, "make").done_by is None
    assert made.read("used/u.txt") == "1\n"
    report = made.steps()["look"]
    assert (report.run, report.kind) == ("current", "interactive")
    assert [one.text for one in report.notes if one.code == "done-by-hand"] == [
        f"done by a person, {ADA}"
    ]
    l3 = made.project().report().levels[2]
    assert "done by a person, so nobody can run it again: look" in [one.text for one in l3.missing]
    assert made.project().waiting() == ()
    with pytest.raises(NotPassed, match="step 'look' does not wait for anybody"):
        made.project().speak("look", "complete")


def test_what_a_person_says_is_done_is_judged_all_the_same(tmp_path: Path, begin: Begin) -> None:
    made = Made.new(tmp_path / "p", STEPS, FILES)
    folder = begin(made)
    made.project().speak("look", "complete", "Bea Other")
    end = over(folder)
    assert end["steps"] == {"make": "passed", "look": "failed", "use": "blocked", "apart": "passed"}
    kept = record(made, "look")
    assert (kept.outcome, kept.reason_code, kept.done_by) == (
        "failed",
        "output-missing",
        "Bea Other",
    )

    folder = begin(made)
    one = shell(made)
    assert one.answer("echo x > marks/m.txt; echo other > mark.py")[1] == 0
    made.project().speak("look", "complete")
    over(folder)
    assert record(made, "look").reason_code == "changed-while-running"
    assert not (made.root / "marks/m.txt").exists(), "and what it left is set apart"
    left = folder.path / "leftovers/look/marks/m.txt"
    assert left.read_text() == "x\n"


def test_a_step_that_is_given_up_leaves_what_was_there(tmp_path: Path, begin: Begin) -> None:
    made = Made.new(tmp_path / "p", STEPS, FILES)
    folder = begin(made)
    shell(made).answer("echo good > marks/m.txt")
    made.project().speak("look", "complete")
    assert over(folder)["outcome"] == "passed"
    folder = begin(made, "look")
    assert not (made.root / "marks/m.txt").exists()
    shell(made).answer("echo bad > marks/m.txt")
    made.project().speak("look", "abandon")
    end = over(folder)
    assert (end["outcome"], end["steps"]["look"]) == ("interrupted", "interrupted")
    assert made.read("marks/m.txt") == "good\n"
    kept = record(made, "look")
    assert (kept.outcome, kept.reason_code) == ("interrupted", "abandoned")
    assert kept.reason == f"was given up by {ADA}"
    assert kept.done_by is None
    assert kept.passed is not None
    assert kept.passed.done_by == ADA
    assert made.steps()["look"].run == "interrupted"


def test_a_step_that_is_paused_stands_still_and_says_so(tmp_path: Path, begin: Begin) -> None:
    made = Made.new(tmp_path / "p", [LOOK | {"fTimeoutSeconds": 12, "saDataCommands": []}], FILES)
    folder = begin(made)
    one = shell(made)
    with pytest.raises(NotPassed, match="step 'look' is not paused"):
        made.project().speak("look", "resume")
    made.project().speak("look", "pause")
    wait_for(lambda: has(folder, "stepPaused"))
    report = made.steps()["look"]
    assert (report.run, report.reasons[0].code) == ("waiting", "paused")
    assert report.reasons[0].action == "jupyter vaibify resume look"
    assert made.project().waiting()[0].paused
    with pytest.raises(NotPassed, match="is paused already"):
        made.project().speak("look", "pause")
    with pytest.raises(NotPassed, match=r"is paused; jupyter vaibify resume look"):
        shell(made)
    time.sleep(12.5)
    assert not has(folder, "stepFail"), "its time limit does not count that"
    made.project().speak("look", "resume")
    wait_for(lambda: has(folder, "stepResumed"))
    assert one.answer("echo x > marks/m.txt")[1] == 0
    made.project().speak("look", "pause")
    wait_for(lambda: len([1 for x in of(folder, "look") if x == "stepPaused"]) == 2)
    made.project().speak("look", "complete")  # also while it stands still
    assert over(folder)["outcome"] == "passed"
    assert record(made, "look").done_by == ADA


def test_a_person_has_the_time_that_is_declared_and_else_any(tmp_path: Path, begin: Begin) -> None:
    made = Made.new(tmp_path / "p", [LOOK | {"fTimeoutSeconds": 1, "saDataCommands": []}], FILES)
    folder = begin(made)
    assert over(folder)["steps"] == {"look": "failed"}
    assert record(made, "look").reason_code == "time-out"
    with pytest.raises(NotPassed, match="does not wait for anybody"):
        made.project().attach_command("look")


def test_a_run_that_is_stopped_ends_the_step_and_its_shells(tmp_path: Path, begin: Begin) -> None:
    made = Made.new(tmp_path / "p", STEPS, FILES)
    folder = begin(made)
    one = shell(made)
    assert one.answer("echo x > marks/m.txt")[1] == 0
    made.project().stop_run()
    assert over(folder)["steps"]["look"] == "interrupted"
    one.rest()
    kept = record(made, "look")
    assert (kept.reason_code, kept.done_by) == ("stopped", None)


def test_a_runner_that_is_killed_leaves_nothing_that_looks_done(
    tmp_path: Path, begin: Begin
) -> None:
    made = Made.new(tmp_path / "p", STEPS, FILES)
    folder = begin(made)
    one = shell(made)
    assert one.answer("echo half > marks/m.txt")[1] == 0
    runner = runner_in(folder)
    assert runner is not None
    os.kill(runner.pid, signal.SIGKILL)
    wait_for(lambda: not runner.alive())
    assert made.steps()["look"].run == "interrupted"
    assert made.project().waiting() == ()
    with pytest.raises(NotPassed, match="lost its runner, so it was interrupted"):
        made.project().speak("look", "complete")
    again = begin(made)
    one.rest()
    assert (folder.path / "leftovers/look/marks/m.txt").read_text() == "half\n"
    shell(made).answer("echo whole > marks/m.txt")
    made.project().speak("look", "complete")
    assert over(again)["outcome"] == "passed"
    assert made.read("used/u.txt") == "whole\n"


@pytest.mark.parametrize("end", ["kill -9 $PPID", "kill -9 -1"])
def test_a_step_that_ends_by_itself_is_not_done(tmp_path: Path, begin: Begin, end: str) -> None:
    made = Made.new(tmp_path / "p", STEPS, FILES)
    kills = out_of_memory_kills()
    folder = begin(made, tier="bwrap")
    one = shell(made)
    one.type(f"echo x > marks/m.txt; {end}\n")
    assert over(folder)["steps"]["look"] == "failed"
    kept = record(made, "look")
    told = {("ended-unasked", "ended before anybody said that it was done")}
    if out_of_memory_kills() > kills:  # of another test, which nobody can tell from the step's
        told.add(("out-of-memory", "ran out of memory and was killed"))
    assert any(kept.reason_code == code and kept.reason.startswith(text) for code, text in told), (
        kept
    )
    assert kept.done_by is None


def test_a_supervisor_that_is_killed_is_an_engine_that_was_lost(
    tmp_path: Path, begin: Begin
) -> None:
    made = Made.new(tmp_path / "p", STEPS, FILES)
    folder = begin(made, tier="plain")
    shell(made)
    state = folder.step("look") / "attempt-1"
    os.kill(supervisor_of(state), signal.SIGKILL)
    assert over(folder)["steps"]["look"] == "interrupted"
    assert record(made, "look").reason_code == "engine-lost"


def test_a_sealed_step_sees_what_it_declares(tmp_path: Path, begin: Begin) -> None:
    look = LOOK | {"saInputDataFiles": ["data/in.txt"], "saDataCommands": []}
    made = Made.new(tmp_path / "p", [look], FILES | {"data/in.txt": "1\n", "data/no.txt": "2\n"})
    folder = begin(made, sealed=True)
    one = shell(made)
    assert one.answer("cat data/in.txt; ls data")[0] == "1\nin.txt"
    assert one.answer("cp data/in.txt marks/m.txt")[1] == 0
    made.project().speak("look", "complete")
    assert over(folder)["outcome"] == "passed"
    assert made.read("marks/m.txt") == "1\n"
    assert record(made, "look").sealed


def test_tests_of_what_a_person_did_need_no_person(tmp_path: Path, begin: Begin) -> None:
    look = LOOK | {"saTestCommands": ["grep -q x marks/m.txt"], "saDataCommands": []}
    del look["bNoTests"]
    made = Made.new(tmp_path / "p", [look], FILES)
    folder = begin(made)
    shell(made).answer("echo x > marks/m.txt")
    made.project().speak("look", "complete")
    assert over(folder)["steps"] == {"look": "passed"}
    ran = run_here(made, mode="all", tests_only=True)
    assert ran.steps == {"look": "passed"}
    assert ran.of("tests", "look")[0]["outcome"] == "passed"


# --- nobody there


def test_without_a_person_what_needs_one_is_not_run_and_nothing_after_it(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", STEPS, FILES)
    ran = run_here(made)
    assert ran.end["outcome"] == "failed"
    assert ran.steps == {"make": "passed", "look": "blocked", "use": "blocked", "apart": "passed"}
    (blocked,) = ran.of("stepBlocked", "look")
    assert blocked["code"] == "needs-person"
    assert blocked["text"] == (
        "needs a person, and nobody is there; on a terminal: jupyter vaibify run look"
    )
    assert ran.texts("stepBlocked", "use") == ["upstream step 'look' is blocked"]
    for mode in ("steps", "only", "from"):
        end = run_here(made, "look", mode=mode).end
        assert (end["event"], end["exit_code"]) == ("runRefused", 2)
        assert end["text"] == "step 'look' is done by a person, and nobody is there"


def test_a_person_is_not_needed_again_for_what_is_current(tmp_path: Path, begin: Begin) -> None:
    made = Made.new(tmp_path / "p", STEPS, FILES)
    folder = begin(made)
    shell(made).answer("echo x > marks/m.txt")
    made.project().speak("look", "complete")
    assert over(folder)["outcome"] == "passed"
    assert set(run_here(made).steps.values()) == {"skipped"}
    for mode, steps in (("all", ()), ("from", ("make",))):
        ran = run_here(made, *steps, mode=mode)
        assert ran.end["outcome"] == "passed"
        assert (ran.steps["make"], ran.steps["look"], ran.steps["use"]) == (
            "passed",
            "skipped",
            "passed",
        )
    made.workflow([STEPS[0] | {"saDataCommands": ["echo 3 > made/a.txt"]}, *STEPS[1:]])
    ran = run_here(made)
    assert ran.end["outcome"] == "failed"
    assert (ran.steps["make"], ran.steps["look"], ran.steps["use"]) == (
        "passed",
        "blocked",
        "blocked",
    )
    made.workflow([STEPS[0], LOOK | {"bInteractive": False}, *STEPS[2:]])
    assert "now-automatic" in made.codes()["look"]


def test_the_command_that_attaches_is_this_python_and_what_is_shipped_is_not_believed(
    tmp_path: Path, begin: Begin
) -> None:
    made = Made.new(tmp_path / "p", STEPS, FILES)
    begin(made)
    words = [sys.executable, "-P", "-m", "vaibify_lab.apps", "attach", "look"]
    place = ["--repo", str(made.root), "--workflow", "workflow.json"]
    assert made.project().attach_command("look") == [*words, *place]
    made.write(".vaibify/.gitignore", "")
    (made.root / ".vaibify/local/.gitignore").unlink()
    made.write(".vaibify/local/x", "")
    git(made.root, "add", "-f", ".vaibify/local/x")
    assert made.project().waiting() == ()
    with pytest.raises(NotPassed, match="is tracked by git"):
        made.project().open_terminal("look", "xterm", SIZE)


def test_nobody_runs_it_again_for_a_verdict(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", STEPS, FILES)
    project = made.project()
    again = rerun(project.opened, project.opened.workflow("workflow.json"), ADA)
    assert not again.passed
    assert again.problems == ("step 'look' is interactive and cannot be run again by itself",)


def test_plots_alone_are_no_persons_work(tmp_path: Path) -> None:
    plots = {"saDataCommands": [], "saPlotCommands": ["true"], "saPlotFiles": ["p.svg"]}
    made = Made.new(tmp_path / "p", [LOOK | plots], FILES)
    end = run_here(made, "look", plot_only=True, interactive=True).end
    assert (end["code"], end["text"]) == (
        "usage",
        "step 'look' is done by a person, who makes all its files",
    )
