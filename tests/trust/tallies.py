"""Each tier's projects from a seed: made, damaged, asked about twice, compared."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from tests.containers import Registry
from tests.trust import images, inside, integrity, packages
from tests.trust.verdicts import Damage, Tally, reproduced


def chosen(
    damages: Sequence[Damage], seed: int, count: int
) -> Iterator[tuple[int, Damage, Random]]:
    """Yield that many damages, each as often as any other, the clean project first."""
    others = list(damages[1:])
    Random(seed).shuffle(others)
    for number, damage in enumerate(
        itertools.islice(itertools.cycle([damages[0], *others]), count)
    ):
        yield number, damage, Random(f"{seed}-{number}")


def of_files(folder: Path, seed: int, count: int) -> Tally:
    """Compare tier 1 with coreutils."""
    tally = Tally()
    for number, damage, rng in chosen(integrity.DAMAGES, seed, count):
        root = integrity.spoilt(folder / "files", rng, damage).root
        theirs = integrity.by_hand(root)
        tally.add(number, damage, reproduced(root, 1), theirs, names="sha256sum")
    return tally


def of_packages(folder: Path, seed: int, count: int) -> Tally:
    """Compare tier 2, by the index, with pip."""
    tally = Tally()
    projects: dict[str, packages.Project] = {}
    made: list[tuple[int, Damage, packages.Project]] = []
    with packages.index_for(projects) as address:
        for number, damage, rng in chosen(packages.DAMAGES, seed, count):
            made.append((number, damage, packages.spoilt(folder, address, projects, rng, damage)))
        theirs = packages.by_hand([(one.root, one.index) for _, _, one in made])
        for number, damage, project in made:
            with packages.asking(project):
                tally.add(number, damage, reproduced(project.root, 2), theirs[project.root])
    return tally


def of_packages_inside(folder: Path, seed: int, count: int, room: inside.Room) -> Tally:
    """Compare tier 2, inside the pinned image, with pip of this machine."""
    tally = Tally()
    made = []
    for number, damage, rng in chosen(inside.DAMAGES, seed, count):
        project = inside.make(folder / f"inside-{number}", room)
        damage.spoil(project, rng)
        made.append((number, damage, project.root))
    theirs = packages.by_hand([(root, None) for _, _, root in made])
    for number, damage, root in made:
        tally.add(number, damage, reproduced(root, 2), theirs[root])
    return tally


def of_images(folder: Path, seed: int, count: int, client: Any, registry: Registry) -> Tally:
    """Compare tier 3 with docker."""
    tally = Tally()
    for number, damage, rng in chosen(images.DAMAGES, seed, count):
        project = images.spoilt(folder / f"image-{number}", client, registry, rng, damage)
        ours = reproduced(project.root, 3)
        if "here" not in damage.name:
            project.forget()
        tally.add(number, damage, ours, images.by_hand(project))
        project.forget()
    return tally
