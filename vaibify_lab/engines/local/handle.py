"""A launched step, found by its state folder alone."""

from __future__ import annotations

import os
import select
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vaibify_lab.core.errors import CannotCheck, InvalidFile
from vaibify_lab.engines import state_files
from vaibify_lab.engines.base import Ended
from vaibify_lab.engines.local import freezer, processes
from vaibify_lab.engines.scratch import remove_tree

SCRIPT = b"/engines/local/start.py\0"
ROUNDS = 20  # of killing: a process may have forked while we looked


@dataclass(frozen=True, slots=True)
class Supervisor:
    """A supervisor as it recorded itself; never mistaken for a later process of its number."""

    pid: int
    start_time: str
    boot_id: str
    pipes: frozenset[str]

    @classmethod
    def parse(cls, data: bytes) -> Supervisor | None:
        """Read a record; None when it is not whole."""
        try:
            values = state_files.parsed(data, "supervisor.json")
            pid, start_time, boot_id = values["pid"], values["start_time"], values["boot_id"]
            return cls(int(pid), str(start_time), str(boot_id), frozenset(values["pipes"].split()))
        except (InvalidFile, KeyError, TypeError, ValueError, AttributeError):
            return None

    def same_boot(self) -> bool:
        """Tell whether the machine still runs since then."""
        return self.boot_id == processes.boot_id()

    def alive(self) -> bool:
        """Tell whether it still runs, and is a supervisor."""
        started = processes.start_time(self.pid)
        if not started or started != self.start_time or not self.same_boot():
            return False
        return not processes.LINUX or SCRIPT in processes.command(self.pid)


def scratch_of(state: Path) -> Path:
    """Return the folder beside a step's state that holds its /tmp; no other step has that one."""
    return state.with_name(f"{state.name}.scratch")


class LocalHandle:
    """A step of the local engine.

    Parameters
    ----------
    state : Path
        The folder that the step was launched with.
    supervisor : Supervisor or None
        Who watches it; None when the record is damaged.
    trusted : bool
        The record is the supervisor's: by its pipes processes are known that may be killed.
    """

    def __init__(self, state: Path, supervisor: Supervisor | None, *, trusted: bool) -> None:
        self._state = state
        self._supervisor = supervisor
        self._trusted = trusted

    @classmethod
    def found(cls, state: Path) -> LocalHandle:
        """Return the handle of a step that another process launched.

        Where nothing keeps a step from writing its own record, it can kill whatever that could
        name anyway, for it runs as the same user; another user's record is not trusted.
        """
        record = state / "supervisor.json"
        supervisor = Supervisor.parse(state_files.small(record))
        return cls(state, supervisor, trusted=_is_own(record))

    def poll(self) -> Ended | None:
        """Return how it ended, or None while its supervisor runs. Never blocks."""
        if self._supervisor is not None and self._supervisor.alive():
            return None
        return state_files.ended(self._state) or self._lost()

    def wait(self, seconds: float) -> None:
        """Return after so long, or as soon as its supervisor is gone, where the system tells."""
        if self._supervisor is not None:
            _wait_for_end(self._supervisor.pid, seconds)

    def stop(self, grace: float = 2.0) -> None:
        """Ask the step to end, kill all its processes after ``grace`` seconds. Idempotent."""
        if self._supervisor is None or not self._supervisor.alive():
            return
        request = self._state / "stop.new"
        with suppress(OSError):  # on a full disk the signal alone must do
            request.write_text(f"{max(0.0, grace):.3f}", "ascii")
            request.rename(self._state / "stop")
        with suppress(ProcessLookupError):
            os.kill(self._supervisor.pid, signal.SIGTERM)

    def pause(self) -> None:
        """Freeze all its processes, a moment after this returns.

        Raises
        ------
        CannotCheck
            Not Linux: it cannot be known which they are.
        """
        if not processes.LINUX:
            raise CannotCheck("only Linux says which processes are a step's, to freeze them")
        (self._state / freezer.WANTED).touch()

    def resume(self) -> None:
        """Let frozen processes go on."""
        (self._state / freezer.WANTED).unlink(missing_ok=True)

    def _lost(self) -> Ended:
        """Say that nobody knows how it ended, and end what still writes to its output."""
        if self._supervisor is None:
            return Ended(None, lost=True, detail="the record of the step's supervisor is damaged")
        if not self._supervisor.same_boot():
            text = "the machine was started anew while the step ran"
            return Ended(None, lost=True, detail=text)
        killed = 0
        if self._trusted and processes.LINUX:
            killed = _kill_all(self._supervisor.pipes, scratch_of(self._state))
        remove_tree(str(scratch_of(self._state)))
        text = f"the step's supervisor was killed or failed{self._last_words()}"
        return Ended(None, lost=True, detail=text, leftover_processes=killed)

    def _last_words(self) -> str:
        try:
            log = (self._state / "supervisor.log").read_text("utf-8", "replace")
        except OSError:
            return ""
        lines = log.strip().splitlines()
        return f": {lines[-1][:200]}" if lines else ""


def _is_own(path: Path) -> bool:
    try:
        return path.lstat().st_uid == os.geteuid()
    except OSError:
        return False


def _wait_for_end(pid: int, seconds: float) -> None:
    """Return after so long, or as soon as a process ends, where the system tells of that."""
    try:
        opened = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    except (AttributeError, OSError):  # not Linux, an old kernel, or a sandbox forbids it
        time.sleep(seconds)
        return
    try:
        ended = select.poll()
        ended.register(opened, select.POLLIN)
        ended.poll(seconds * 1000)
    finally:
        os.close(opened)


def _kill_all(pipes: frozenset[str], scratch: Path) -> int:
    """Kill the processes of a step that nobody watches any more; return how many there were.

    They hold its output open, or have its temporary folder in their environment. A supervisor
    among them goes first, or it would record that the step failed, which it did not.
    """
    killed: set[int] = set()
    for _ in range(ROUNDS):
        left = processes.holders(pipes) | processes.with_variable(f"TMPDIR={scratch / 'tmp'}")
        left -= {os.getpid()}
        killed |= left
        for pid in sorted(left, key=lambda one: SCRIPT not in processes.command(one)):
            processes.send(pid, signal.SIGKILL)
        if not left:
            break
    return len(killed)
