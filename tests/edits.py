"""Random edits of a project: what people and accidents do to it between two looks."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.kit import DIAMOND, DIAMOND_FILES, Made
from vaibify_lab.core.errors import VaibifyError


def diamond(root: Path, kept: Path) -> Made:
    """Make a project that ran and is signed off in part, and a copy of it in ``kept``."""
    made = Made.new(root, DIAMOND, DIAMOND_FILES)
    made.run()
    made.sign("top", "left")
    shutil.copytree(made.root, kept)
    return made


class Edits:
    """What people and accidents do to a project."""

    def __init__(self, made: Made, kept: Path, chance: random.Random) -> None:
        self.made, self.kept, self.chance = made, kept, chance
        self.all: list[Callable[[], None]] = [
            *(self.write, self.remove, self.link, self.touch, self.restore, self.spoil_a_fact),
            *(self.change_the_workflow, self.commit, self.list_again, self.start_again),
        ]

    def any_file(self) -> str:
        sources = ["data/in.txt", "top.sh", "left.sh", "right.sh"]
        outputs = ["top/t.txt", "left/l.txt", "right/r.txt", "end/e.txt"]
        return self.chance.choice([*sources, *outputs])

    def write(self) -> None:
        path = self.any_file()
        self.remove(path)
        self.made.write(path, f"{self.chance.random()}\n")

    def remove(self, path: str | None = None) -> None:
        (self.made.root / (path or self.any_file())).unlink(missing_ok=True)

    def link(self) -> None:
        path = self.any_file()
        self.remove(path)
        (self.made.root / path).symlink_to("/etc/hostname")

    def touch(self) -> None:
        path = self.any_file()
        if (self.made.root / path).is_file() and not (self.made.root / path).is_symlink():
            self.made.retouch(path)

    def restore(self) -> None:
        path = self.any_file()
        self.remove(path)
        self.made.write(path, (self.kept / path).read_bytes())

    def spoil_a_fact(self) -> None:
        records = sorted((self.made.root / ".vaibify/records/workflow").iterdir())
        self.chance.choice(records).write_text("{")

    def change_the_workflow(self) -> None:
        steps = [dict(one) for one in DIAMOND]
        self.chance.choice(steps)["bEnabled"] = self.chance.random() < 0.5
        self.made.workflow(steps)

    def commit(self) -> None:
        self.made.commit()

    def list_again(self) -> None:
        with suppress(VaibifyError):  # of a project with a missing file there is no manifest
            self.made.project().envelope("manifest")

    def start_again(self) -> None:
        shutil.rmtree(self.made.root)
        shutil.copytree(self.kept, self.made.root)
