"""A launched step, found by its state folder alone."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.engines.base import Ended
from vaibify_lab.engines.local import processes

SMALL = 2**16


@dataclass(frozen=True, slots=True)
class Supervisor:
    """A supervisor as it recorded itself; never mistaken for a later process of its number."""

    pid: int
    start_time: str
    boot_id: str
    pipes: frozenset[str]

    @classmethod
    def of(cls, state: Path) -> Supervisor | None:
        """Read ``supervisor.json``; None when it is not there or not whole."""
        try:
            values = _read(state / "supervisor.json")
            pid, start_time, boot_id = values["pid"], values["start_time"], values["boot_id"]
            return cls(int(pid), str(start_time), str(boot_id), frozenset(values["pipes"].split()))
        except (OSError, InvalidFile, KeyError, TypeError, ValueError, AttributeError):
            return None

    def same_boot(self) -> bool:
        """Tell whether the machine still runs since then."""
        return self.boot_id == processes.boot_id()

    def alive(self) -> bool:
        """Tell whether it still runs."""
        started = processes.start_time(self.pid)
        return bool(started) and started == self.start_time and self.same_boot()


class LocalHandle:
    """A step of the local engine, whoever launched it.

    Parameters
    ----------
    state : Path
        The folder that the step was launched with.
    """

    def __init__(self, state: Path) -> None:
        self._state = state

    def poll(self) -> Ended | None:
        """Return how it ended, or None while its supervisor runs. Never blocks."""
        supervisor = Supervisor.of(self._state)
        if supervisor is not None and supervisor.alive():
            return None
        return self._ended() or self._lost(supervisor)

    def stop(self, grace: float = 2.0) -> None:
        """Ask the step to end, kill all its processes after ``grace`` seconds. Idempotent."""
        supervisor = Supervisor.of(self._state)
        if supervisor is None or not supervisor.alive():
            return
        request = self._state / "stop.new"
        request.write_text(f"{max(0.0, grace):.3f}", "ascii")
        request.rename(self._state / "stop")
        with suppress(ProcessLookupError):
            os.kill(supervisor.pid, signal.SIGTERM)

    def _ended(self) -> Ended | None:
        try:
            values = _read(self._state / "status.json")
            code = values["returncode"]
            return Ended(
                returncode=None if code is None else int(code),
                stopped=values["stopped"] is True,
                out_of_memory=values["out_of_memory"] is True,
                lost=code is None,
                detail=str(values["detail"]),
                leftover_processes=int(values["leftover_processes"]),
                seconds=float(values["seconds"]),
                dropped_bytes=int(values["dropped_bytes"]),
            )
        except (OSError, InvalidFile, KeyError, TypeError, ValueError):
            return None

    def _lost(self, supervisor: Supervisor | None) -> Ended:
        """Say that nobody knows how it ended, and end what still writes to its output."""
        if supervisor is None:
            return Ended(None, lost=True, detail="the record of the step's supervisor is damaged")
        if not supervisor.same_boot():
            text = "the machine was started anew while the step ran"
            return Ended(None, lost=True, detail=text)
        left = processes.holders(supervisor.pipes) if processes.LINUX else set()
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        text = f"the step's supervisor was killed or failed{self._last_words()}"
        return Ended(None, lost=True, detail=text, leftover_processes=len(left))

    def _last_words(self) -> str:
        try:
            log = (self._state / "supervisor.log").read_text("utf-8", "replace")
        except OSError:
            return ""
        lines = log.strip().splitlines()
        return f": {lines[-1][:200]}" if lines else ""


def _read(path: Path) -> dict[str, Any]:
    """Read one of the supervisor's files; what is there may be half a file, or a step's."""
    with open(path, "rb") as file:
        value = jsonio.loads(file.read(SMALL), path.name)
    if not isinstance(value, dict):
        raise InvalidFile("is not an object", where=path.name)
    return value
