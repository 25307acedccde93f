"""What is advised can be done: of steps that are disabled, and of steps that were renamed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.apps.front import vaibify
from tests.kit import CHAIN, CHAIN_FILES, Made


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def steps(**first: Any) -> list[dict[str, Any]]:
    return [CHAIN[0] | first, CHAIN[1]]


def actions(made: Made) -> list[str]:
    """Return every command that status advises, whatever else it says."""
    reports = made.steps().values()
    return [reason.action for one in reports for reason in one.reasons if reason.action]


def test_nothing_that_runs_a_disabled_step_is_advised_before_it_is_enabled(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", steps(bEnabled=False), CHAIN_FILES)
    first = "set bEnabled of 'make' to true, then: jupyter vaibify run make"
    for verb in (["run"], ["check"], ["run", "use"]):
        done = vaibify(made.root, *verb)
        said = f"input 'out/a.txt' does not exist: step 'make' makes it; {first}\n"
        assert (done.code, done.err.endswith(said)) == (1, True), verb
    assert vaibify(made.root, "sign-off", "make", "--pass").err.endswith(f"; {first}\n")
    sign = "{}, look at what it wrote, then: jupyter vaibify sign-off {} --pass"
    assert [one for one in actions(made) if "run" in one] == [
        sign.format(first, "make"),
        "jupyter vaibify run",
        sign.format("jupyter vaibify run use", "use"),
        first,
    ]
    made.workflow(steps())
    assert vaibify(made.root, "run", "make").code == 0
    made.workflow(steps(bEnabled=False))
    made.write("data/in.txt", "3\n")
    reports = made.steps()
    assert [one.action for one in reports["make"].reasons if one.code == "input-changed"] == [None]
    assert [one.action for one in reports["use"].reasons if one.code == "upstream-stale"] == [first]


def test_a_renamed_step_is_told_how_it_keeps_its_facts(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", steps(), CHAIN_FILES)
    made.run()
    made.sign("make")
    assert made.states()["make"][1] == "passed"
    made.workflow(steps(sName="Make it anew"))
    assert made.states()["make-it-anew"][:2] == ("never-run", "untested")
    text = (
        "warning: there is no step 'make', but facts of one: .vaibify/records/workflow/make.json, "
        '.vaibify/sign_offs/workflow/make.json; if it was renamed, give it "sStepId": "make", '
        "and they count again\n"
    )
    assert text in vaibify(made.root, "status").out
    made.workflow(steps(sName="Make it anew", sStepId="make"))
    assert made.states()["make"][:2] == ("current", "passed")
    assert json.loads(vaibify(made.root, "status", "--json").out)["warnings"] == []
