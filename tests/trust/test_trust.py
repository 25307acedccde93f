"""A sample of ``python -m tests.trust``, another one each time."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.containers import Registry
from tests.trust import images, inside, integrity, packages, tallies
from tests.trust.verdicts import Tally, variables


@pytest.fixture
def seed() -> int:
    """Return where this sample begins."""
    return Random().randrange(10**9)


def assert_agree(tally: Tally, seed: int, count: int) -> None:
    assert tally.faults == [], f"seed {seed}"
    assert sum(tally.seen.values()) == count
    assert tally.seen["clean"] >= 1


def test_fifty_projects_and_sha256sum(tmp_path: Path, seed: int) -> None:
    assert_agree(tallies.of_files(tmp_path, seed, 50), seed, 50)


def test_ten_projects_and_pip(tmp_path: Path, seed: int) -> None:
    assert_agree(tallies.of_packages(tmp_path, seed, 10), seed, 10)


def test_ten_projects_and_docker(
    tmp_path: Path, seed: int, client: Any, registry: Registry
) -> None:
    assert_agree(tallies.of_images(tmp_path, seed, 10, client, registry), seed, 10)


def test_three_projects_and_pip_inside_the_image(
    tmp_path: Path, seed: int, client: Any, base: str, shared: str
) -> None:
    room = inside.Room(client, base, shared)
    with variables(PIP_NO_INDEX=None):
        assert_agree(tallies.of_packages_inside(tmp_path, seed, 3, room), seed, 3)


@pytest.mark.parametrize("module", [integrity, packages, images, inside])
def test_every_damage_has_a_name_of_its_own(module: Any) -> None:
    names = [damage.name for damage in module.DAMAGES]
    assert names[0] == "clean"
    assert len(set(names)) == len(names)
