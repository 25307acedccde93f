"""Where a hostile step is let loose: in containers, as two users, and on this machine's tiers.

A whole run is made each time, so that what counts is what its record and journal say afterwards.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.contained.pinned import Image, pinned
from tests.kit import Made
from tests.runs.here import Ran, record, run_here

CONTAINERS = ("docker-user", "docker-root")
TIERS = ("bwrap", "landlock", "plain")
GROUNDS = (*CONTAINERS, *TIERS)
MOUNTED = (*CONTAINERS, "bwrap")  # what lays folders read-only over others
UID = 1500
DONE = "echo 1 > o.txt"


@dataclass(frozen=True, slots=True)
class Ground:
    """One place to attack from."""

    name: str
    base: Path
    image: Image | None

    @property
    def mounts(self) -> bool:
        """Whether it lays folders read-only over others."""
        return self.name in MOUNTED

    @property
    def denies(self) -> bool:
        """Whether it confines a step's writing at all."""
        return self.name != "plain"

    def made(self, steps: Sequence[Mapping[str, Any]], files: Mapping[str, str | bytes]) -> Made:
        """Return a project that runs here."""
        root = self.base / "p"
        if self.image is None:
            return Made.new(root, steps, files)
        return pinned(root, self.image, steps, files)

    def run(self, made: Made, *steps: str, **options: Any) -> Ran:
        """Run to the end, with as much trust in the project as its user would need."""
        self.hand_over(made)
        tier = "auto" if self.image else self.name
        return run_here(made, *steps, tier=tier, jobs=options.pop("jobs", 2), **options)

    def hand_over(self, made: Made) -> None:
        """Let the project belong to whom its steps are to run as."""
        if self.name == "docker-user":
            subprocess.run(["chown", "-R", f"{UID}:{UID}", str(made.root)], check=True)


def grounds(*names: str) -> pytest.MarkDecorator:
    """Ask for some grounds only."""
    return pytest.mark.parametrize("ground", names, indirect=True)


def told(made: Made, ran: Ran, slug: str) -> str:
    """Return all that a run says of a step that is not well: its record's reason, its warnings."""
    found = record(made, slug)
    return "\n".join([found.reason or "", *ran.texts("warning", slug)])


def content(root: Path, *tops: str) -> dict[str, object]:
    """Return bytes, time, mode and owner of all below some folders; links are not followed."""
    seen: dict[str, object] = {}
    for top in tops:
        for here, names, files in os.walk(root / top):
            for name in [*names, *files]:
                path = Path(here, name)
                status = path.lstat()
                plain = stat.S_ISREG(status.st_mode)
                data = (path.read_bytes(), status.st_mtime_ns) if plain else None
                seen[str(path.relative_to(root))] = (data, status.st_mode, status.st_uid)
    return seen
