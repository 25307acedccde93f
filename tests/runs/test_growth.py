"""Cost grows as the work does: counted at three sizes, never timed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.projects import make_project
from tests.counting import counted
from tests.kit import Made
from tests.runs.here import run_here, step
from vaibify_lab.project import Project
from vaibify_lab.runs.plan import Selection, plan
from vaibify_lab.runs.ready import ReadySteps

OUTPUTS = 5
FACTS = 2  # a record and a sign-off
FOLDERS = 1.1  # that of its outputs, and every hundredth that of its script
EVEN = 1.15  # a step more costs what one costs, however many there are

Counts = Mapping[int, Counter[str]]


def per_step(counts: Counts, what: str) -> tuple[float, float]:
    """How often a step more asks for something: among few, and among many."""
    few, some, many = sorted(counts)
    return (
        (counts[some][what] - counts[few][what]) / (some - few),
        (counts[many][what] - counts[some][what]) / (many - some),
    )


def assert_even(counts: Counts, *names: str) -> None:
    """Require that a step among many costs no more than one among few."""
    for what in names:
        few, many = per_step(counts, what)
        assert many <= EVEN * few + 0.1, (what, few, many)


@pytest.fixture(scope="module")
def looks(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[Counter[str]]]:
    """What a first, a second and a third report ask of the machine, at three sizes."""
    projects = {}
    for steps in (40, 80, 160):
        root = tmp_path_factory.mktemp(f"steps{steps}")
        make_project(root, steps, OUTPUTS)
        projects[steps] = Project(root, cached=False)
    time.sleep(2.1)  # younger files are read again at each look: git's rule does not trust them
    found: dict[int, list[Counter[str]]] = {}
    for steps, project in projects.items():
        for _ in range(3):
            with counted() as counts:
                report = project.report()
            assert [one.run for one in report.steps] == ["current"] * steps
            found.setdefault(steps, []).append(counts)
    return found


@pytest.mark.parametrize("turn", range(3))
def test_a_step_more_costs_a_look_the_same_among_few_and_among_many(
    looks: dict[int, list[Counter[str]]], turn: int
) -> None:
    counts = {steps: turns[turn] for steps, turns in looks.items()}
    assert_even(counts, "calls", "stat", "open")
    assert len({one["processes"] for one in counts.values()}) == 1
    assert len({one["listdir"] for one in counts.values()}) == 1


def test_a_first_look_opens_each_file_for_what_is_asked_of_it(
    looks: dict[int, list[Counter[str]]],
) -> None:
    counts = {steps: turns[0] for steps, turns in looks.items()}
    # hashed: outputs, script, facts; read besides: script and facts; and folders
    assert max(per_step(counts, "open")) <= (OUTPUTS + 1 + FACTS) + (1 + FACTS) + FOLDERS
    assert max(per_step(counts, "calls")) <= 1100


def test_an_unchanged_look_opens_folders_only_and_starts_no_process(
    looks: dict[int, list[Counter[str]]],
) -> None:
    counts = {steps: turns[2] for steps, turns in looks.items()}
    assert max(per_step(counts, "open")) <= FOLDERS
    # each file once; the script also for what it imports
    assert max(per_step(counts, "stat")) <= (OUTPUTS + 1 + FACTS) + 1
    assert max(per_step(counts, "calls")) <= 150
    assert [one["processes"] for one in counts.values()] == [0, 0, 0]


def test_a_step_more_costs_a_plan_the_same(tmp_path: Path) -> None:
    counts = {}
    for steps in (120, 160, 240):  # each step more has a parent
        make_project(tmp_path / str(steps), steps, 1, recorded=False)
        look = Project(tmp_path / str(steps), cached=False).look()
        with counted() as counts[steps]:
            planned = plan(look.workflow, look.reports, Selection("all"))
        assert [one.action for one in planned] == ["run"] * steps
    assert_even(counts, "calls")


def test_a_step_more_costs_a_run_the_same(tmp_path: Path) -> None:
    """Steps in folders of their own, of which each is ready at once.

    Waiting for a step takes more calls where the machine does much else, so the least of a few runs
    of each size counts.
    """
    counts = {}
    for steps in (4, 10, 22):
        folders = [f"w/{number:03d}" for number in range(steps)]
        listed = [
            step(f"Step {one[2:]}", "echo 1 > o.txt", out=f"{one}/o.txt", sDirectory=one)
            for one in folders
        ]
        made = Made.new(tmp_path / str(steps), listed, {f"{one}/.keep": "" for one in folders})
        assert set(run_here(made).steps.values()) == {"passed"}
        for _ in range(3):
            with counted() as found:
                ran = run_here(made, mode="all", jobs=1, tier="bwrap")
            assert set(ran.steps.values()) == {"passed"}
            if steps not in counts or found["calls"] < counts[steps]["calls"]:
                counts[steps] = found
    assert_even(counts, "calls", "stat", "lstat", "open", "listdir", "scandir", "fsync")


@pytest.mark.parametrize("shared", [False, True])
def test_steps_that_wait_for_their_turn_are_not_looked_at_again_and_again(*, shared: bool) -> None:
    """Also where all of them write one folder, so that none may start beside another."""
    counts = {}
    for steps in (100, 200, 400):
        folders = {f"s{number}": ("out" if shared else f"o{number}",) for number in range(steps)}
        ready = ReadySteps(folders)
        taken = []
        with counted() as counts[steps]:
            for slug in reversed(folders):
                ready.add(slug)
            while (slug := ready.take()) is not None:
                taken.append(slug)
                ready.ended(slug)
        first = [taken.pop(0)] if shared else []  # it was there before the others
        assert (first + taken) == ([f"s{steps - 1}"] if shared else []) + [
            f"s{number}" for number in range(steps - shared)
        ]
    assert_even(counts, "calls")
