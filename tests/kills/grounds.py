"""Where rounds are played: on this machine's processes, on a very small disk, in containers."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import time
import uuid
from pathlib import Path
from typing import Self

import docker

from tests.contained.pinned import Image, pin
from tests.engines.docker.conftest import SMALL, archive
from tests.engines.docker.private import PrivateEngine
from tests.kills import checks
from tests.kills.apart import apart
from tests.kills.scenes import run_of
from tests.kills.truth import Truth
from vaibify_lab.engines.docker.config import STATE
from vaibify_lab.engines.image.client import connect
from vaibify_lab.engines.image.inside import Inside
from vaibify_lab.engines.image.registry import local_image

TOOLS = (*SMALL, "od", "tr", "sha256sum", "grep", "tail")
DISK = 3 * 2**20


class Ground:
    """Processes of this machine.

    Attributes
    ----------
    length : float
        Seconds within which somebody is killed: a little more than a run takes here and now.
    ways, victims : tuple of str
        What can happen besides what can happen everywhere.
    """

    length = 3.0
    ways: tuple[str, ...] = ()
    victims: tuple[str, ...] = ()
    engine: PrivateEngine | None = None

    def __init__(self, place: Path) -> None:
        place.mkdir(exist_ok=True)
        self.place = place
        self.env: dict[str, str] = {}
        self._templates: dict[str, Truth] = {}

    def project(self, chance: random.Random, name: str) -> Truth:
        """Return a project with some history."""
        template = self._template(chance.choice(("new", "run", "run", "signed")))
        return template.copied(self.place / f"{name}-{uuid.uuid4().hex[:6]}")

    def options(self, chance: random.Random) -> tuple[str, ...]:
        """Return options of a run that have to do with the ground."""
        return chance.choice(((), ("--tier", "plain"), ("--tier", "landlock")))

    def fill(self, chance: random.Random) -> int:
        """Fill the disk; return how many bytes are free."""
        return 0

    def mend(self) -> None:
        """Bring back what was taken away: space, or an engine."""

    def containers(self, truth: Truth) -> list[str]:
        """Return the containers that have to do with a project."""
        return []

    def close(self) -> None:
        """Leave nothing behind."""

    def _template(self, kind: str) -> Truth:
        if kind not in self._templates:
            place = self.place.parent / f"{self.place.name}-{kind}"
            self._templates[kind] = {"new": self._new, "run": self._run, "signed": self._signed}[
                kind
            ](place)
        return self._templates[kind]

    def _new(self, place: Path) -> Truth:
        truth = Truth.new(place, steps=3, lines=10, pause="sleep 0.01")
        self._pin(truth)
        return truth

    def _run(self, place: Path) -> Truth:
        truth = self._template("new").copied(place)
        began = time.monotonic()
        assert apart(truth, run_of(jobs=2)(truth)) == 0
        self.length = 1.0 + 1.2 * (time.monotonic() - began)  # a front door starts as well
        checks.after_the_last(truth)
        return truth

    def _signed(self, place: Path) -> Truth:
        truth = self._template("run").copied(place)
        truth.made.project().envelope("manifest")
        for step in truth.steps[1:]:
            truth.sign(step.slug)
            truth.made.sign(step.slug)
        return truth

    def _pin(self, truth: Truth) -> None:
        """Pin an image, where there is one."""


class SmallDisk(Ground):
    """A file system of three megabytes, in a mount namespace of our own."""

    ways = ("disk",)

    def __init__(self, place: Path) -> None:
        place.mkdir()
        options = ["-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(place)]
        subprocess.run(["mount", *options], check=True)
        super().__init__(place)
        self._fill = place / "fill"

    def fill(self, chance: random.Random) -> int:
        """Fill the disk but for some blocks."""
        left = 4096 * chance.choice((0, 0, 1, 2, 4, 8, 16, 32))
        with self._fill.open("wb") as file:
            while (free := shutil.disk_usage(self.place).free) > left:
                try:
                    os.posix_fallocate(file.fileno(), 0, free - left)
                except OSError as problem:  # the run took what was free a moment ago
                    if problem.errno != errno.ENOSPC:
                        raise
        return left

    def mend(self) -> None:
        """Free the space."""
        self._fill.unlink(missing_ok=True)

    def close(self) -> None:
        """Unmount it."""
        subprocess.run(["umount", "-l", str(self.place)], check=True)


class Contained(Ground):
    """Containers of an engine that may be killed as well."""

    victims = ("engine", "engine", "engine+runner", "engine+front")

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        self.engine = PrivateEngine(archive(_tools()))
        self.env = {"DOCKER_HOST": self.engine.url}
        os.environ["DOCKER_HOST"] = self.engine.url

    def options(self, chance: random.Random) -> tuple[str, ...]:
        """Return none: the pinned image decides."""
        return ()

    def mend(self) -> None:
        """Start the engine anew, if it was killed."""
        assert self.engine is not None
        if not self.engine.answers():
            self.engine.start()

    def containers(self, truth: Truth) -> list[str]:
        """Return the names of steps' containers, and of any that is nobody's."""
        client = docker.DockerClient(base_url=self.env["DOCKER_HOST"])
        found = client.containers.list(all=True)
        client.close()
        return [f"{one.name} {one.labels.get(STATE)}" for one in found]

    def close(self) -> None:
        """End the engine and all that it started."""
        assert self.engine is not None
        self.engine.close()

    def _pin(self, truth: Truth) -> None:
        assert self.engine is not None
        image = local_image(connect(), self.engine.image)
        pin(truth.made, Image(image, Inside()))


class Grounds:
    """All of them, each made when it is first needed; which one a round has its number decides."""

    TURNS = ("processes", "disk", "processes", "disk", "containers", "processes", "disk")

    def __init__(self, place: Path, kind: str) -> None:
        self._place = place
        self._turns = self.TURNS if kind == "all" else (kind,)
        self._made: dict[str, Ground] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for ground in self._made.values():
            ground.close()

    def of(self, number: int) -> Ground:
        """Return the ground of a round."""
        kind = self._turns[number % len(self._turns)]
        if kind not in self._made:
            kinds = {"processes": Ground, "disk": SmallDisk, "containers": Contained}
            self._made[kind] = kinds[kind](self._place / kind)
        return self._made[kind]


def _tools() -> dict[str, bytes]:
    paths = {shutil.which(one) or one for one in TOOLS}
    files = {path: Path(path).read_bytes() for path in paths}
    for path in sorted(paths):
        said = subprocess.check_output(["ldd", path], text=True)
        libraries = [word for word in said.split() if word.startswith("/")]
        files |= {library: Path(library).read_bytes() for library in libraries}
    return {name.removeprefix("/"): content for name, content in files.items()}
