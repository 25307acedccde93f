"""What is listed, and run again, beside what the recorded runs read and wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.apps.front import vaibify
from tests.kit import Made
from tests.runs.here import run_here, step

OFFLINE = ("--skip-tier", "2", "--skip-tier", "3")


@pytest.mark.parametrize("made_as", ["gen/", "gen/x.txt"])
def test_what_another_step_makes_is_no_input_from_outside(tmp_path: Path, made_as: str) -> None:
    """Also by a folder: that step is run again too, and outputs are compared after that."""
    steps = [
        step("Make", "bash make.sh", out=made_as),
        step("Use", "head -1 gen/x.txt > w/b.txt", out="w/b.txt", saInputDataFiles=[made_as]),
    ]
    made = Made.new(tmp_path / "p", steps, {"make.sh": "echo 1 > gen/x.txt\n"})
    run_here(made)
    made.write("make.sh", "echo 1 > gen/x.txt; echo more >> gen/x.txt\n")
    run_here(made, "make", mode="only")
    made.project().envelope("manifest")
    made.commit()
    done = vaibify(made.root, "reproduce", "--rerun", *OFFLINE)
    assert (done.code, "2 of 2 outputs identical" in done.out) == (0, True), done.out + done.err


def test_an_output_that_another_step_took_over_is_that_steps(tmp_path: Path) -> None:
    one = step("One", "echo 1 | tee w/a.txt > w/b.txt", out=["w/a.txt", "w/b.txt"])
    made = Made.new(tmp_path / "p", [one], {})
    run_here(made)
    two = step("Two", "echo 2 > w/b.txt", out="w/b.txt")
    made.workflow([one | {"saDataFiles": ["w/a.txt"]}, two])
    run_here(made)
    assert [one.run for one in made.steps().values()] == ["current", "current"]
    made.project().envelope("manifest")
    assert made.project().not_as_recorded() == []
