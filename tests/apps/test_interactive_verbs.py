"""Interactive steps from the command line: at terminals, and where there is none."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engines.conftest import running
from tests.kit import Made
from tests.runs.here import by_hand, record, step
from tests.runs.test_interrupted import has, wait_for
from vaibify_lab.runs.live import runner_in, unfinished

from .front import SCRIPT, Done, Person, vaibify

LOOK = by_hand("python3 mark.py {Step01.a}")
STEPS = [
    step("Make", "echo 1 > made/a.txt", out="made/a.txt"),
    LOOK,
    step("Use", "cat {Step02.m} > used/u.txt", out="used/u.txt"),
]
ADA = "Ada Test <ada@example.org>"


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    """Return the project; no run of it outlives the test."""
    made = Made.new(tmp_path / "p", STEPS, {"mark.py": "print()\n"})
    yield made
    run = unfinished(made.root)
    if run is not None:
        run.folder.stop_request.touch()
        runner = runner_in(run.folder)
        wait_for(lambda: runner is None or not runner.alive())


def detached(made: Made) -> None:
    """Start a run and leave it, once its step waits."""
    done = vaibify(made.root, "run", "--interactive", "--detach", "--tier", "bwrap")
    assert done.code == 0, done.err
    folder = made.project().current_run()
    assert folder is not None
    wait_for(lambda: has(folder, "stepWaiting"))


def person(made: Made, *words: str, **more: Any) -> Person:
    return Person(made.root, str(SCRIPT), *words, **more)


def json_of(done: Done) -> Any:
    return json.loads(done.out)


def test_a_run_on_a_terminal_offers_one_and_goes_on_when_it_is_done(made: Made) -> None:
    ada = person(made, "run", "--tier", "bwrap", size=(31, 90))
    told = ada.until("Open a terminal in step 'look' now? [y/N] ")
    for text in ("Mark the outliers.", "python3 mark.py /workspace/p/made/a.txt", "marks/m.txt"):
        assert text in told
    ada.type("y\n")
    ada.until("[look] /workspace/p")
    ada.type("stty size; cp made/a.txt marks/m.txt\n")
    ada.until("31 90")
    ada.resize(40, 100)
    ada.type("sleep 0.2; stty size\n")
    ada.until("40 100")
    ada.type("exit\n")
    ada.until("Is step 'look' done? Its outputs are then judged and recorded. [y/N] ")
    ada.type("y\n")
    done = ada.end()
    assert done.code == 0, done.out
    assert f"look: done, says {ADA}" in done.out
    assert "3 passed" in done.out
    assert made.read("used/u.txt") == "1\n"
    assert record(made, "look").done_by == ADA
    assert "done by a person" in vaibify(made.root, "status", "look", "--why").out
    assert f"look: done, says {ADA}" in vaibify(made.root, "log").out
    assert vaibify(made.root, "run", "look").code == 2, "again needs a person again"


def test_ctrl_c_at_the_question_stops_the_run(made: Made) -> None:
    ada = person(made, "run")
    ada.until("now? [y/N] ")
    ada.type("\x03")
    done = ada.end()
    assert done.code == 130
    assert "stopped on request; not finished, with what they had before: look, use" in done.out


def test_where_nobody_is_a_run_says_what_it_left_out(made: Made) -> None:
    done = vaibify(made.root, "run")
    assert done.code == 1
    assert done.err == (
        "jupyter vaibify run: nobody was there for 'look', which a person does; not run because "
        "of that: use; on a terminal: jupyter vaibify run look\n"
    )
    done = vaibify(made.root, "run", "--json")
    *_, last = [json.loads(line) for line in done.out.splitlines()]
    assert (done.code, last["steps"]["look"], last["steps"]["use"]) == (1, "blocked", "blocked")
    ada = person(made, "run", "--no-interactive")
    assert "nobody was there for 'look'" in ada.end().out.replace("\n", " ")


def test_terminals_are_opened_left_and_closed_while_the_step_waits(made: Made) -> None:
    detached(made)
    status = json_of(vaibify(made.root, "status", "--json"))
    assert [one["run"] for one in status["steps"]] == ["current", "waiting", "queued"]
    command = made.project().attach_command("look")
    one = Person(made.root.parent, *command)
    one.until("[look] /workspace/p")
    number = random.randrange(10**8, 10**9)
    one.type(f"sleep {number}\n")
    wait_for(lambda: running(f"sleep\x00{number}"))
    one.type("\x03")
    one.until("^C")
    wait_for(lambda: not running(f"sleep\x00{number}"))
    one.type("cat > marks/big.txt\n")
    wait_for(lambda: (made.root / "marks/big.txt").exists())
    lines = "".join(f"{count:060d}\n" for count in range(2000))
    one.type(lines)  # what is pasted at once, and echoed, and more than any buffer
    one.type("\x04")
    one.type("wc -c < marks/big.txt\n")
    one.until(f"{len(lines)}\r\n")  # somebody has to read the screen, or all stands still
    assert made.read("marks/big.txt") == lines
    one.type("stty raw -echo; echo re''ady; cat > marks/bytes\n")
    one.until("ready")
    wait_for(lambda: (made.root / "marks/bytes").exists())
    one.type("\x1d\x1dx\x1d\x1d\x1d")  # three in a row leave, whatever runs there
    one.until("Is step 'look' done?")
    one.type("n\n")
    done = one.end()
    assert done.code == 0
    assert "step 'look' goes on waiting" in done.out
    two = person(made, "attach", "Look")
    two.until("[look] /workspace/p")
    two.type(f"sleep {number}\n")
    wait_for(lambda: running(f"sleep\x00{number}"))
    assert two.close() == 129
    wait_for(lambda: not running(f"sleep\x00{number}"))
    assert made.steps()["look"].run == "waiting"
    three = person(made, "attach", "look")
    three.until("[look] /workspace/p")
    done = vaibify(made.root, "complete", "look", "--abandon", "--json")
    assert (done.code, json_of(done)["outcome"]) == (0, "interrupted")
    assert "step 'look' does not wait any more" in three.end().out


def test_pause_resume_and_complete_say_what_came_of_them(made: Made) -> None:
    detached(made)
    done = vaibify(made.root, "pause", "look")
    assert done.out == "step 'look' is paused; go on with: jupyter vaibify resume look\n"
    again = vaibify(made.root, "pause", "look")
    assert (again.code, again.err) == (
        1,
        "jupyter vaibify pause: step 'look' is paused already; jupyter vaibify resume look\n",
    )
    ada = person(made, "attach", "look")
    assert "step 'look' is paused; jupyter vaibify resume look" in ada.end().out
    assert json_of(vaibify(made.root, "resume", "look", "--json"))["paused"] is False
    done = vaibify(made.root, "complete", "look")
    assert done.code == 1
    assert "look: done, says Ada Test" in done.out
    assert done.err == (
        "jupyter vaibify complete: step 'look' did not write its output marks/m.txt; "
        "write it, or correct the declaration\n"
    )
    done = vaibify(made.root, "complete", "look")
    assert (done.code, done.err) == (
        1,
        "jupyter vaibify complete: step 'look' does not wait for anybody; "
        "jupyter vaibify run look\n",
    )


def test_attach_needs_a_person_and_a_step_that_waits(made: Made) -> None:
    done = vaibify(made.root, "attach", "look")
    assert (done.code, done.err) == (
        2,
        "jupyter vaibify attach: attach is for a person at a terminal; "
        "type it on one: jupyter vaibify attach look\n",
    )
    ada = person(made, "attach", "look")
    done = ada.end()
    assert (done.code, done.out) == (
        1,
        "jupyter vaibify attach: step 'look' does not wait for anybody; jupyter vaibify run look\n",
    )
