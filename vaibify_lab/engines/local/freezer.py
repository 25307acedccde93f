"""A step's processes, stopped and let go on again (Linux). Supervisor side: few imports."""

from __future__ import annotations

import os
import time

from vaibify_lab.engines.local import processes
from vaibify_lab.engines.local.signals import signal

WANTED = "pause"  # the file in the state folder whose presence asks for it
STOPPING = 0.05  # seconds after which a process that does not stop (it waits for a disk) is left


class Freezer:
    """Freezes all processes below this one while a file asks for it.

    Parents are stopped before their children and go on after them: a shell that saw a program of
    its own stopped would take its terminal from it.
    """

    def __init__(self) -> None:
        self._stopped: dict[int, None] = {}

    def look(self) -> None:
        """Do what the file asks for; again, since a process may have forked just before."""
        if os.path.exists(WANTED):
            self._freeze()
        else:
            self.thaw()

    def thaw(self) -> None:
        """Let go on what was stopped here; what a person had stopped stays so."""
        for pid in reversed(self._stopped):
            processes.send(pid, signal.SIGCONT)
        self._stopped.clear()

    def _freeze(self) -> None:
        for pid in processes.descendants(os.getpid()):
            if pid not in self._stopped and processes.stat_fields(pid)[:1] != ["T"]:
                self._stopped[pid] = None
                processes.send(pid, signal.SIGSTOP)
                _wait_for_stop(pid)


def _wait_for_stop(pid: int) -> None:
    """Wait until it stands: else it could still see a child of its own stop after it."""
    until = time.monotonic() + STOPPING
    while processes.stat_fields(pid)[:1] not in ([], ["T"]) and time.monotonic() < until:
        time.sleep(0.0005)
