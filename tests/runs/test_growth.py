"""Cost grows as the work does: counted at two sizes, never timed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.projects import make_project
from tests.counting import counted
from vaibify_lab.project import Project

SMALL, LARGE = 40, 120
OUTPUTS = 5
FACTS = 2  # a record and a sign-off
FOLDERS = 1.1  # that of its outputs, and every hundredth that of its script


def settled(root: Path, steps: int) -> Project:
    """A project whose facts were earned long ago, and whose files git's rule trusts."""
    make_project(root, steps, OUTPUTS)
    return Project(root, cached=False)


@pytest.fixture(scope="module")
def looks(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[Counter[str]]]:
    """What the first and a later report ask of the machine, at two sizes."""
    found = {}
    for steps in (SMALL, LARGE):
        project = settled(tmp_path_factory.mktemp(f"steps{steps}"), steps)
        found[steps] = []
        for _ in range(3):
            with counted() as counts:
                report = project.report()
            assert [one.run for one in report.steps] == ["current"] * steps
            found[steps].append(counts)
    return found


def per_step(looks: dict[int, list[Counter[str]]], turn: int, what: str) -> float:
    """How often a step more asks for something."""
    small, large = looks[SMALL][turn][what], looks[LARGE][turn][what]
    return (large - small) / (LARGE - SMALL)


def test_a_first_look_opens_each_file_for_what_is_asked_of_it(
    looks: dict[int, list[Counter[str]]],
) -> None:
    # hashed: outputs, script, facts; read besides: script and facts; and folders
    assert per_step(looks, 0, "open") <= (OUTPUTS + 1 + FACTS) + (1 + FACTS) + FOLDERS
    assert looks[SMALL][0]["listdir"] == looks[LARGE][0]["listdir"]


def test_an_unchanged_look_opens_folders_only_and_starts_no_process(
    looks: dict[int, list[Counter[str]]],
) -> None:
    assert per_step(looks, 2, "open") <= FOLDERS
    # each file once; the script also for what it imports, the facts also for their own sake
    assert per_step(looks, 2, "stat") <= (OUTPUTS + 1 + FACTS) + (1 + FACTS)
    assert [looks[steps][2]["processes"] for steps in (SMALL, LARGE)] == [0, 0]


def test_no_look_starts_more_processes_for_more_steps(
    looks: dict[int, list[Counter[str]]],
) -> None:
    for turn in range(3):
        assert looks[SMALL][turn]["processes"] == looks[LARGE][turn]["processes"]


def test_a_looks_calls_grow_with_the_steps(looks: dict[int, list[Counter[str]]]) -> None:
    for turn, most in enumerate((1000, 150, 150)):
        assert per_step(looks, turn, "calls") <= most
