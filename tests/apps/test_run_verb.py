"""``run``, ``test``, ``log``, ``runs``, ``stop-run`` and ``acknowledge``, as they are typed."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.apps.front import Done, on_a_terminal, start, vaibify
from tests.kit import CHAIN, CHAIN_FILES, Made

RUN_ID = re.compile(r"\d{8}T\d{6}-[0-9a-f]{8}")
SECONDS = re.compile(r"\d+\.\d s")
HELD = re.compile(r"run ID of workflow.json, .*not in a container")


def script(name: str, command: str, **more: Any) -> dict[str, Any]:
    """Return a step that runs one line of bash."""
    slug = name.lower()
    return {
        "sName": name,
        "saDataCommands": [command],
        "saDataFiles": [f"{slug}/out.txt"],
        "bNoInputData": True,
        "bNoTests": True,
    } | more


def slow(name: str = "Slow", **more: Any) -> dict[str, Any]:
    """Return a step that waits until somebody writes the file go.txt, at most a minute."""
    wait = "for i in $(seq 600); do [ -e go.txt ] && break; sleep 0.1; done"
    return script(name, f"echo waiting; {wait}; echo new > {name.lower()}/out.txt", **more)


def plain(text: str) -> str:
    """Return what was said without what differs from run to run."""
    return HELD.sub("run ID of workflow.json, held", SECONDS.sub("T", RUN_ID.sub("ID", text)))


def json_lines(done: Done) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.out.splitlines()]


@pytest.fixture
def chain(tmp_path: Path) -> Made:
    return Made.new(tmp_path / "r", CHAIN, CHAIN_FILES)


def test_a_run_is_told_and_the_next_skips(chain: Made) -> None:
    done = vaibify(chain.root, "run")
    assert (done.code, done.err) == (0, "")
    assert [one for one in plain(done.out).splitlines() if "warning" not in one] == [
        "▶ run ID of workflow.json, held",
        "▶ make: started",
        "✓ make: passed in T, 1 output",
        "▶ use: started",
        "✓ use: passed in T, 1 output",
        "✓ run ID passed in T: 2 passed",
    ]
    again = vaibify(chain.root, "run")
    assert again.code == 0
    assert "- make: skipped: is current\n- use: skipped: is current\n" in again.out
    forced = vaibify(chain.root, "run", "--all")
    assert "✓ make: passed in T, 1 output, identical to the last run's" in plain(forced.out)


def test_a_failing_step_is_one_line_and_exit_1(tmp_path: Path) -> None:
    steps = [
        script("Bad", "echo oops >&2; exit 3"),
        script("After", "cat {Step01.out} > after/out.txt"),
    ]
    made = Made.new(tmp_path / "r", steps, {})
    done = vaibify(made.root, "run")
    assert (done.code, done.err) == (
        1,
        "jupyter vaibify run: step 'bad' ended with exit status 3: oops\n",
    )
    lines = plain(done.out).splitlines()
    assert lines[-5:] == [
        "▶ bad: started",
        "oops",
        "✗ bad: FAILED: ended with exit status 3: oops",
        "✗ after: blocked: upstream step 'bad' failed",
        "✗ run ID failed in T: 1 failed, 1 blocked",
    ]
    seen = vaibify(made.root, "acknowledge", "bad")
    assert seen.out == "bad: seen; it shows what its last passed run is worth\n"
    none = vaibify(made.root, "acknowledge", "--json")
    assert (none.code, json.loads(none.out)) == (0, {"acknowledged": []})


def test_json_is_the_journal_line_by_line(chain: Made) -> None:
    done = vaibify(chain.root, "run", "make", "--json")
    lines = json_lines(done)
    assert (done.code, done.err) == (0, "")
    assert [one["sequence"] for one in lines] == list(range(1, len(lines) + 1))
    assert {"runStarted", "stepStarted", "stepPass"} <= {one["event"] for one in lines}
    assert lines[-1]["event"] == "runComplete"
    assert (lines[-1]["outcome"], lines[-1]["steps"]) == ("passed", {"make": "passed"})


def test_a_refused_run_is_an_error_in_both_forms(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "r", [], {})
    done = vaibify(made.root, "run")
    text = "jupyter vaibify run: workflow.json: the workflow has no step; add one to listSteps\n"
    assert (done.code, done.out, done.err) == (2, "", text)
    lines = json_lines(vaibify(made.root, "run", "--json"))
    assert lines[-1]["error"]["text"] == "the workflow has no step"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--all", "make"], "--all takes no other step; name steps, or --all"),
        (["--from", "make", "use"], "--from takes no other step; name steps, or --from"),
        (["--all", "--stale"], "--all and --stale exclude each other; give one of them"),
        (["--only"], "--only needs the steps to run; jupyter vaibify run STEP --only"),
        (["nosuch"], "workflow.json: there is no step 'nosuch' (there are: make, use)"),
    ],
)
def test_conflicting_words_are_refused(words: list[str], text: str, chain: Made) -> None:
    done = vaibify(chain.root, "run", *words)
    assert (done.code, done.out, done.err) == (2, "", f"jupyter vaibify run: {text}\n")


def test_steps_are_named_by_name_number_or_slug(chain: Made) -> None:
    lines = json_lines(vaibify(chain.root, "run", "Step01", "--only", "Use", "--json"))
    assert lines[-1]["steps"] == {"make": "passed", "use": "passed"}
    after = json_lines(vaibify(chain.root, "run", "--from", "make", "--no-tests", "--json"))
    assert after[-1]["steps"] == {"make": "passed", "use": "passed"}
    one = json_lines(vaibify(chain.root, "run", "use", "--json"))
    assert one[-1]["steps"] == {"make": "skipped", "use": "passed"}


def test_the_tier_that_is_asked_for_is_used_and_told(chain: Made) -> None:
    done = vaibify(chain.root, "run", "--tier", "plain", "--jobs", "1", "--no-cache")
    assert done.code == 0
    assert "without isolation, not in a container" in done.out


def test_run_twice_says_whether_it_was_the_same(tmp_path: Path) -> None:
    steps = [
        script("Same", "echo 1 > same/out.txt"),
        script("Other", "head -c 8 /dev/urandom | od > other/out.txt"),
    ]
    made = Made.new(tmp_path / "r", steps, {})
    done = vaibify(made.root, "run", "--twice")
    assert "✓ same: run twice, outputs identical\n" in done.out
    head = "✗ other: run twice, outputs differ: other/out.txt\n    other/out.txt: different ("
    assert head in done.out
    text = "step 'other' gave different outputs when run twice: other/out.txt"
    assert (done.code, done.err) == (1, f"jupyter vaibify run: {text}\n")


def test_what_a_step_writes_is_passed_on_byte_by_byte(tmp_path: Path) -> None:
    made = Made.new(
        tmp_path / "r",
        [script("Loud", "printf 'a\\033[31m\\tb\\r\\377'; touch loud/out.txt")],
        {},
    )
    process = start(made.root, "run")
    assert process.stdout is not None
    out = process.stdout.buffer.read()
    process.communicate()
    assert b"a\x1b[31m\tb\r\xff\n" in out
    seen = on_a_terminal(made.root, "run", "loud")
    assert "a\\x1b[31m\tb\\r\\xff" in seen.out
    assert seen.code == 0


def test_a_terminal_gets_lines_that_fit(chain: Made) -> None:
    done = on_a_terminal(chain.root, "run", env={"NO_COLOR": "1"})
    kept = [line.rpartition("\x1b[K")[2] for line in done.out.split("\r\n")]
    assert done.code == 0
    assert max(map(len, kept)) <= 80
    assert any(line.startswith("✓ make: passed") for line in kept)


def wait_for(process: Any, text: str) -> str:
    """Read a command's output until a line holds a text."""
    said = ""
    for line in process.stdout:
        said += line
        if text in line:
            return said
    raise AssertionError(said + process.stderr.read())


def test_ctrl_c_stops_the_run_and_says_what_it_leaves(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "r", [script("First", "echo 1 > first/out.txt"), slow()], {})
    made.write("go.txt", "")
    assert vaibify(made.root, "run", "--all").code == 0
    (made.root / "go.txt").unlink()
    made.write("slow/out.txt", "old\n")
    process = start(made.root, "run", "first", "slow", "--jobs", "1")
    wait_for(process, "waiting")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == (
        "jupyter vaibify run: stopped on request; not finished, with what they had before: slow; "
        "done and kept: first; go on with: jupyter vaibify run\n"
    )
    assert made.read("slow/out.txt") == "old\n"
    assert made.steps()["slow"].run == "interrupted"


def test_a_hang_up_leaves_the_run_alone_and_log_follows_it(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "r", [slow()], {})
    process = start(made.root, "run")
    wait_for(process, "waiting")
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGHUP
    second = vaibify(made.root, "run")
    assert (second.code, second.err.count("\n")) == (1, 1)
    assert second.err.startswith("jupyter vaibify run: a run is in progress: ")
    for verb in ("pins", "lineage"):
        told = vaibify(made.root, verb, "slow")
        assert told.code == 0
        assert "\nnote: slow is running in run ID\n" in plain(told.out)
    follower = start(made.root, "log", "--follow")
    wait_for(follower, "waiting")
    made.write("go.txt", "")
    out, _ = follower.communicate(timeout=60)
    assert plain(out).splitlines()[-1] == "✓ run ID passed in T: 1 passed"
    assert follower.returncode == 0


def test_detach_then_log_then_stop(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "r", [slow()], {})
    done = vaibify(made.root, "run", "--detach")
    run = RUN_ID.search(done.out)
    assert run is not None
    assert done.out == (
        f"run {run[0]} goes on by itself\n"
        f"  follow it: jupyter vaibify log {run[0]} --follow\n"
        "  stop it:   jupyter vaibify stop-run\n"
    )
    follower = start(made.root, "log", "--follow", "--json")
    wait_for(follower, "stepStarted")
    told = vaibify(made.root, "log", run[0][:12])
    assert told.out.endswith(f"the run goes on: jupyter vaibify log {run[0]} --follow\n")
    stopped = vaibify(made.root, "stop-run", "--json")
    assert json.loads(stopped.out) == {
        "run_id": run[0],
        "outcome": "interrupted",
        "steps": {"slow": "interrupted"},
    }
    out, _ = follower.communicate(timeout=60)
    assert json.loads(out.splitlines()[-1])["event"] == "runComplete"
    none = vaibify(made.root, "stop-run")
    assert (none.code, none.err) == (1, "jupyter vaibify stop-run: there is no run in progress\n")


def test_log_can_be_left_without_ending_the_run(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "r", [slow()], {})
    assert vaibify(made.root, "run", "--detach").code == 0
    follower = start(made.root, "log", "--follow")
    wait_for(follower, "waiting")
    follower.send_signal(signal.SIGINT)
    _, err = follower.communicate(timeout=60)
    assert (follower.returncode, err) == (
        130,
        "jupyter vaibify log: interrupted; the run itself goes on\n",
    )
    made.write("go.txt", "")
    deadline = time.monotonic() + 60
    while made.project().history()[-1].outcome == "running":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert made.project().history()[-1].outcome == "passed"


def test_runs_are_listed_and_logged(chain: Made) -> None:
    none = vaibify(chain.root, "log")
    text = "jupyter vaibify log: no run is kept on this machine; jupyter vaibify run\n"
    assert (none.code, none.out, none.err) == (2, "", text)
    assert vaibify(chain.root, "run").code == 0
    told = vaibify(chain.root, "runs")
    assert re.fullmatch(rf"{RUN_ID.pattern}  passed +\d+\.\d s  2 passed\n", told.out)
    (one,) = json.loads(vaibify(chain.root, "runs", "--json").out)["runs"]
    assert (one["outcome"], one["workflow"]) == ("passed", "workflow.json")
    assert one["steps"] == {"make": "passed", "use": "passed"}
    log = vaibify(chain.root, "log", one["run_id"])
    assert "▶ make: started\n" in log.out
    unknown = vaibify(chain.root, "log", "1999")
    assert unknown.code == 2
    assert "no run of this machine begins with '1999'" in unknown.err


def test_a_journal_that_the_repository_ships_is_not_believed(chain: Made) -> None:
    assert vaibify(chain.root, "run").code == 0
    chain.write(".vaibify/.gitignore", "")
    (chain.root / ".vaibify/local/.gitignore").unlink()
    chain.commit()
    done = vaibify(chain.root, "log")
    assert (done.code, done.err) == (
        1,
        "jupyter vaibify log: .vaibify/local: is tracked by git, so what lies there is not "
        "believed; git rm -r -q .vaibify/local\n",
    )


def test_the_tests_alone(tmp_path: Path) -> None:
    tests = {"dictIntegrity": {"saCommands": ["test -s a/out.txt", "grep -q 1 a/out.txt"]}}
    steps = [script("A", "echo 1 > a/out.txt", dictTests=tests), script("B", "touch b/out.txt")]
    del steps[0]["bNoTests"]
    made = Made.new(tmp_path / "r", steps, {})
    assert vaibify(made.root, "run", "--no-tests").code == 0
    done = vaibify(made.root, "test")
    assert (done.code, done.err) == (0, "")
    assert "✓ a: integrity tests passed (2 tests)\n" in done.out
    assert plain(done.out).splitlines()[-1] == "✓ run ID passed in T: 1 passed"  # b has none
    made.write("a/out.txt", "2\n")
    bad = vaibify(made.root, "test", "a")
    assert bad.code == 1
    assert bad.err.startswith("jupyter vaibify test: step 'a': integrity tests failed (2 tests)")
    nothing = vaibify(made.root, "test", "a", "--category", "qualitative")
    assert nothing.out == ""
    assert (nothing.code, nothing.err) == (
        1,
        "jupyter vaibify test: no test was run: no step asked for has tests of the category "
        "qualitative; declare them in dictTests, or in saTestCommands\n",
    )
