"""The processes that a round kills: found by what they wrote of themselves, killed by number."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.engines.docker.private import PrivateEngine
from tests.kills.truth import Truth
from vaibify_lab.engines.local.handle import Supervisor
from vaibify_lab.runs.journal import RUNS, RunFolder
from vaibify_lab.runs.live import runner_in

VICTIMS = ("front", "runner", "supervisors", "runner+supervisors", "front+runner", "all")


class Victims:
    """One project in which something goes on: the front door that began it, and all it began."""

    def __init__(self, truth: Truth, front: int, engine: PrivateEngine | None) -> None:
        self._truth = truth
        self._front = front
        self._engine = engine

    def kill(self, victims: str) -> None:
        """Kill those that are there, and wait until they are gone."""
        names = ["front", "runner", "supervisors"] if victims == "all" else victims.split("+")
        pids = [pid for name in names for pid in self._found(name)]
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in pids:
            _gone(pid)
        if "engine" in names and self._engine is not None:
            self._engine.kill()

    def _found(self, name: str) -> Iterator[int]:
        if name == "front":
            yield self._front
        if name == "runner":
            yield from self._runners()
        if name == "supervisors":
            yield from self._supervisors()

    def _runners(self) -> Iterator[int]:
        for folder in self._folders():
            runner = runner_in(folder)
            if runner is not None and runner.alive():
                yield runner.pid

    def _supervisors(self) -> Iterator[int]:
        for folder in self._folders():
            for path in folder.path.glob("steps/*/*/supervisor.json"):
                found = Supervisor.parse(path.read_bytes())
                if found is not None and found.alive():
                    yield found.pid

    def _folders(self) -> list[RunFolder]:
        place = self._truth.made.root / RUNS
        return [RunFolder(one) for one in sorted(place.glob("*")) if one.is_dir()]


def _gone(pid: int) -> None:
    until = time.monotonic() + 30
    while _runs(pid):
        assert time.monotonic() < until, f"{pid} does not die"
        time.sleep(0.005)


def _runs(pid: int) -> bool:
    with suppress(OSError):
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
        return state not in b"ZX"
    return False
