"""A project, and steps of it on the local engine, watched with the operating system's own eyes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.others import OTHERS
from vaibify_lab.engines.base import Ended, Handle, Launch
from vaibify_lab.engines.local.engine import LocalEngine

TIERS = ("bwrap", "landlock", "plain")
PATIENCE = 60.0  # seconds; the machine may be busy with other tests


def wait_for(happened: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Return the first truth that ``happened`` gives; fail when there is none in time."""
    until = time.monotonic() + seconds
    while not (answer := happened()):
        assert time.monotonic() < until, f"nothing within {seconds} s"
        time.sleep(0.005)
    return answer


def plain(ended: Ended | None) -> Ended | None:
    """Return it without the note that another test had this machine kill for want of memory."""
    if ended is None:
        return None
    return replace(ended, detail=ended.detail.removesuffix(OTHERS).removesuffix("; "))


def supervisor_of(state: Path) -> int:
    """Return the process that watches a step, as it recorded itself."""
    return int(json.loads((state / "supervisor.json").read_bytes())["pid"])


def running(token: str) -> list[int]:
    """Return the processes of this machine that have ``token`` in their command line."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            command = Path("/proc", name, "cmdline").read_bytes()
        except OSError:
            continue
        if token.encode() in command:
            found.append(int(name))
    return found


@dataclass(frozen=True)
class Ran:
    """A step that ended."""

    ended: Ended
    state: Path

    @property
    def out(self) -> bytes:
        return (self.state / "stdout").read_bytes()

    @property
    def err(self) -> bytes:
        return (self.state / "stderr").read_bytes()


@dataclass
class Lab:
    """Steps of one project on one tier."""

    engine: LocalEngine
    base: Path
    tree: Path = field(init=False)
    count: int = 0

    def __post_init__(self) -> None:
        self.tree = self.base / "project"
        for folder in (".git/hooks", ".vaibify/records", "out", "data"):
            (self.tree / folder).mkdir(parents=True)
        (self.tree / ".git/config").write_text("[core]\n")
        (self.tree / ".vaibify/marker.json").write_text("{}\n")
        (self.tree / "data/in.csv").write_text("1,2\n")

    def launch(self, script: str, **changes: Any) -> tuple[Handle, Path]:
        self.count += 1
        state = self.base / f"state{self.count}"
        state.mkdir()
        asked: dict[str, Any] = {
            "run_id": "run",
            "slug": f"step{self.count}",
            "tree": self.tree,
            "project_name": "project",
            "directory": "",
            "script": script,
            "writable": ("out",),
            "environment": {},
            "network": False,
            "state": state,
        }
        return self.engine.launch(Launch(**(asked | changes))), state

    def run(self, script: str, **changes: Any) -> Ran:
        handle, state = self.launch(script, **changes)
        return Ran(wait_for(handle.poll), state)


@pytest.fixture(params=TIERS)
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> Lab:
    """Return a project on each tier in turn."""
    return Lab(LocalEngine(request.param), tmp_path)


@pytest.fixture
def walled(tmp_path: Path) -> Lab:
    """Return a project on the bubblewrap tier."""
    return Lab(LocalEngine("bwrap"), tmp_path)


@pytest.fixture
def bare(tmp_path: Path) -> Lab:
    """Return a project on the plain tier."""
    return Lab(LocalEngine("plain"), tmp_path)
