"""Deterministic mode by real runs of steps: the same bytes twice, and what it does not reach."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.kit import Made
from tests.runs.here import Ran, record, run_here, step
from vaibify_lab.runs.determinism import PREAMBLE

DRAW = """\
import os, random
words = {"a", "b", "c", "d", "e", "f"}
with open("o/o.txt", "w") as out:
    print(random.random(), hash("x"), list(words), file=out)
    print(os.environ["SOURCE_DATE_EPOCH"], file=out)
"""
SCRIBBLE = """\
import importlib.util, os
place = os.environ["PYTHONPATH"].split(":")[0]
with open("o/o.txt", "w") as out:
    print(sorted(os.listdir(place)), file=out)
    for path in (f"{place}/sitecustomize.py", f"{place}/new.py"):
        try:
            open(path, "a").close()
        except OSError as error:
            print("refused", file=out)
"""


def told(ran: Ran, slug: str) -> list[str]:
    """Return the warnings about a step."""
    return ran.texts("warning", slug)


def test_a_step_writes_the_same_twice_with_the_mode_and_not_without(tmp_path: Path) -> None:
    made = Made.new(
        tmp_path / "p", [step("One", "python draw.py", out="o/o.txt")], {"draw.py": DRAW}, iSeed=3
    )
    written = set()
    for _ in range(2):
        run_here(made, "one", deterministic=True)
        written.add(made.read("o/o.txt"))
    assert len(written) == 1
    assert run_here(made, "one", deterministic=True, twice=True).steps == {"one": "passed"}
    other = Made.new(
        tmp_path / "q", [step("One", "python draw.py", out="o/o.txt")], {"draw.py": DRAW}, iSeed=4
    )
    run_here(other, deterministic=True)
    assert other.read("o/o.txt") not in written, "another seed draws others"


@pytest.mark.parametrize("tier", ["bwrap", "landlock"])
def test_no_step_can_write_what_its_pythons_run_first(tmp_path: Path, tier: Any) -> None:
    steps = [step("One", "python scribble.py", out="o/o.txt")]
    made = Made.new(tmp_path / "p", steps, {"scribble.py": SCRIBBLE}, bDeterministic=True)
    ran = run_here(made, tier=tier)
    assert ran.steps == {"one": "passed"}
    assert made.read("o/o.txt").splitlines() == ["['sitecustomize.py']", "refused", "refused"]
    assert os.listdir(PREAMBLE.parent) == [PREAMBLE.name]


def test_what_a_step_takes_out_of_the_mode_is_said(tmp_path: Path) -> None:
    steps = [
        step("Own", "env > o.txt", out="o.txt", dictEnvironment={"TZ": "CET", "LC_ALL": "C.UTF-8"}),
        step("Deaf", "cd . && nice python3 -BI -c 'print(1)' > d.txt", out="d.txt"),
        step("Path", "env > p.txt", out="p.txt", dictEnvironment={"PYTHONPATH": "/mine:/yours"}),
    ]
    made = Made.new(tmp_path / "p", steps, {}, bDeterministic=True)
    ran = run_here(made)
    assert told(ran, "own") == ["its dictEnvironment has TZ=CET, deterministic mode TZ=UTC"]
    (deaf,) = told(ran, "deaf")
    assert "starts Python with -I, -E or -S: its hash order and its seeds are left to" in deaf
    assert told(ran, "path") == []
    assert "TZ=CET" in made.read("o.txt").splitlines()
    (path,) = [one for one in made.read("p.txt").splitlines() if one.startswith("PYTHONPATH=")]
    assert path.endswith(":/mine:/yours"), "the step's own path stays, after ours"
    assert record(made, "path").variables["PYTHONPATH"] == "/mine:/yours"
    made.workflow(steps)
    ran = run_here(made, mode="all")
    assert [told(ran, slug) for slug in ("own", "deaf", "path")] == [[], [], []]
    assert "PYTHONPATH=/mine:/yours" in made.read("p.txt").splitlines()


def test_tests_of_a_step_run_in_the_mode_too(tmp_path: Path) -> None:
    one = step("One", "echo 1 > o/o.txt", out="o/o.txt")
    del one["bNoTests"]
    check = (
        'python -c \'import os; places = os.environ["PYTHONPATH"].split(":"); '
        'assert any(os.path.exists(p + "/sitecustomize.py") for p in places), places\''
    )
    one["dictTests"] = {"dictIntegrity": {"saCommands": [check]}}
    made = Made.new(tmp_path / "p", [one], {}, bDeterministic=True)
    assert run_here(made).steps == {"one": "passed"}


CELL = """\
import random, subprocess, sys, numpy, matplotlib.pyplot as plt
draw = [sys.executable, "-c", "import random; print(random.random())"]
print(random.random(), numpy.random.rand(), numpy.random.default_rng().random(), hash("x"))
print(subprocess.run(draw, capture_output=True, text=True).stdout)
plt.plot([1, 2], marker="o")
plt.savefig("o.svg")
"""


def test_a_notebook_s_kernel_draws_the_same_twice(tmp_path: Path) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL, id="a")])
    one = {"sName": "One", "sNotebook": "n.ipynb", "saOutputFiles": ["done.ipynb", "o.svg"]}
    steps = [{**one, "bNoInputData": True, "bNoTests": True}]
    files = {"n.ipynb": nbformat.writes(notebook)}
    made = Made.new(tmp_path / "p", steps, files, bDeterministic=True)
    written = []
    for _ in range(2):
        assert run_here(made, mode="all").steps == {"one": "passed"}
        written.append([made.read(path) for path in ("done.ipynb", "o.svg")])
    assert written[0] == written[1]
    assert "0." in written[0][0]
