"""Tier 2 inside the pinned image beside pip outside it: the real index, the smallest packages."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tests.containers import holding, unique
from tests.kit import git
from tests.trust.verdicts import Damage
from vaibify_lab.engines.image.registry import local_image, push
from vaibify_lab.envelope.environment import NAME, EnvironmentFile

INICONFIG = "9deba5723312380e77435581c6bf4935c94cbfab9b1ed33ef8d238ea168eb760"
PYTEST = "a6853c7375b2663155079443d2e45de913a911a11d669df02a50814944db57b2"
HELD = "iniconfig==2.1.0"
GOOD = f"{HELD} --hash=sha256:{INICONFIG}\n"
WRONG = "0" * 64


@dataclass(frozen=True)
class Room:
    """An engine, a base image that has pip, and a registry that has the base's layers."""

    client: Any
    base: str
    registry: str

    def pinning(self, package: str) -> EnvironmentFile:
        """Return what pins an image that holds one package."""
        image = holding(self.client, self.base, package)
        name = f"{self.registry}/{unique('trust')}:v1"
        digest = push(self.client, image, name)
        return EnvironmentFile(
            name, image, digest, local_image(self.client, image).platform, "pushed"
        )


@dataclass(frozen=True)
class Project:
    """A project, and where its image is made."""

    root: Path
    room: Room


def locked(lock: str, held: str = HELD) -> object:
    """Return a damage: the project has this lock, and its image holds this package."""

    def spoil(project: Project, rng: Random) -> None:
        (project.root / "requirements.lock").write_text(lock)
        (project.root / NAME).write_bytes(project.room.pinning(held).to_bytes())

    return spoil


DAMAGES = (
    Damage("clean", locked(GOOD), True, says="hashes verified OK"),
    Damage("for another platform", locked(
           f"{GOOD}no-such==1 ; sys_platform == 'win32' --hash=sha256:{WRONG}\n"), True),
    Damage("wrong hash", locked(GOOD.replace("9deb", "0000")), False, says="hash-mismatch"),
    Damage("one of two hashes wrong", locked(GOOD.replace(" --", f" --hash=sha256:{WRONG} --")),
           True),
    Damage("version absent", locked(GOOD.replace("2.1.0", "2.1.99"), "iniconfig==2.1.99"), False,
           says="not-offered"),
    Damage("dependency missing", locked(f"pytest==8.3.3 --hash=sha256:{PYTEST}\n", "pytest==8.3.3"),
           False, says="not-listed"),
    Damage("no hash", locked("iniconfig==2.1.0\n"), False, says="no-hash"),
    Damage("another version in the image", locked(GOOD, "iniconfig==2.1.1"), True,
           differs="not-in-the-image"),
    Damage("not in the image", locked(GOOD, "pluggy==1.5.0"), True, differs="not-in-the-image"),
)  # fmt: skip


def make(root: Path, room: Room) -> Project:
    """Make a project."""
    root.mkdir(parents=True)
    git(root, "init", "-q", "--template=")
    steps = [{"sName": "A", "saDataCommands": ["true"], "bNoTests": True}]
    (root / "workflow.json").write_text(
        json.dumps({"sFormat": "vaibify-lab/1", "listSteps": steps})
    )
    (root / NAME).parent.mkdir()
    return Project(root, room)
