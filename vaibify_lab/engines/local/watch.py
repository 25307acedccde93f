"""A step while it runs, and how its end is brought about. Supervisor side: few imports."""

from __future__ import annotations

import os
import select
import time

from vaibify_lab.engines.local import notes, processes
from vaibify_lab.engines.local.child import Child
from vaibify_lab.engines.local.freezer import Freezer
from vaibify_lab.engines.local.signals import signal
from vaibify_lab.engines.local.streams import Stream

GRACE = 2.0  # seconds, for a SIGTERM to the supervisor, which names none
LOOK = 0.25  # seconds between looks for a stop file, which a signal usually announces
HURRY = 0.02  # seconds between looks while a stop is under way
KILLING = 10.0  # seconds after which processes that do not die are given up and said


class Watch:
    """What was seen of a step, and what is still to be done to it.

    Parameters
    ----------
    child : Child
        The step, not yet released.
    streams : list of Stream
        Its output.
    sandboxed : bool
        The child is bubblewrap, and the step runs below it.
    """

    def __init__(self, child: Child, streams: list[Stream], *, sandboxed: bool) -> None:
        self._child = child
        self._streams = streams
        self._sandboxed = sandboxed
        self._sandbox_said = b""
        self._status: int | None = None  # as waitpid gives it
        self._signalled = self._termed = False
        self._deadline: float | None = None
        self._leftover: set[int] = set()
        self._freezer = Freezer()
        self._began = time.monotonic()
        self._kills = processes.out_of_memory_kills()
        self._wakeup = _wake_on_signals()
        signal.signal(signal.SIGTERM, self._hear)

    def until_end(self) -> notes.Scalars:
        """Watch until no process of the step is left; return how it ended."""
        while self._status is None and not self._out_of_time():
            self._turn()
        seconds = time.monotonic() - self._began
        self._kill_all()
        for stream in self._streams:
            while stream.pump():
                pass
            stream.close()
        return {**self._verdict(), "seconds": round(seconds, 3)}

    def _turn(self) -> None:
        """Wait for output, an ended process or a request, and take care of what came."""
        poller = select.poll()
        poller.register(self._wakeup, select.POLLIN)
        for stream in self._streams:
            if stream.open:
                poller.register(stream.source, select.POLLIN)
        poller.poll((LOOK if self._deadline is None else HURRY) * 1000)
        drain(self._wakeup)
        for stream in self._streams:
            if stream.open:
                stream.pump()
        self._reap()
        if self._status is None and self._deadline is None:
            self._freezer.look()
        if self._status is None:
            self._look_for_stop()

    def _reap(self) -> bool:
        """Collect ended processes; return whether any child is left."""
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return True
                if pid == self._child.pid:
                    self._status = status
        except ChildProcessError:
            return False

    def _hear(self, *_: object) -> None:
        self._signalled = True

    def _out_of_time(self) -> bool:
        return self._deadline is not None and time.monotonic() >= self._deadline

    def _look_for_stop(self) -> None:
        grace = notes.grace_asked()
        if grace is None and self._signalled:
            grace = GRACE
        if grace is None:
            return
        deadline = time.monotonic() + grace
        self._deadline = min(self._deadline or deadline, deadline)
        self._freezer.thaw()
        if not self._termed:
            self._termed = self._terminate()

    def _terminate(self) -> bool:
        """Send SIGTERM to the step's process group; False while bubblewrap has not made it."""
        group = self._group()
        return bool(group) and _signal_group(group, signal.SIGTERM)

    def _group(self) -> int:
        """Return the step's process group; inside bubblewrap its init leads it (0: not yet)."""
        if not self._sandboxed:
            return self._child.pid
        self._sandbox_said += drain(self._child.sandbox_report)
        rest = self._sandbox_said.partition(b'"child-pid": ')[2]
        return int(rest.partition(b",")[0] or b"0")

    def _kill_all(self) -> None:
        """Kill what is left of the step, also what left its group or its session.

        As subreaper we inherit every orphan: no child to wait for means that none is left.
        """
        own = {self._child.pid, self._group()}
        until = time.monotonic() + KILLING
        if not processes.LINUX:
            _signal_group(self._child.pid, signal.SIGKILL)
        while self._reap() and time.monotonic() < until:
            below = processes.descendants(os.getpid()) if processes.LINUX else []
            self._leftover |= {*below} - own
            for pid in below:
                processes.send(pid, signal.SIGKILL)
            select.select([self._wakeup], [], [], 0.01)
            drain(self._wakeup)

    def _verdict(self) -> notes.Scalars:
        code, detail = self._code()
        starved = processes.out_of_memory_kills() > self._kills
        killed = code == 128 + signal.SIGKILL and self._deadline is None
        said = [detail, *(stream.problem for stream in self._streams)]
        if starved and not killed:  # a pipe or a shell may have hidden it; it may be another's
            said.append("meanwhile this machine killed a process for want of memory")
        if self._reap():
            said.append("some of its processes could not be killed")
        return {
            "returncode": code,
            "stopped": self._deadline is not None,
            "out_of_memory": starved and killed,
            "leftover_processes": len(self._leftover),
            "dropped_bytes": sum(stream.dropped for stream in self._streams),
            "detail": "; ".join(one for one in said if one),
        }

    def _code(self) -> tuple[int | None, str]:
        """Return the exit status and words; no status for a step that never began."""
        failure = drain(self._child.report).decode("utf-8", "replace")
        if failure:
            return None, f"the step could not be started: {failure}"
        if self._status is None:
            return None, "its first process could not be killed"
        code = os.waitstatus_to_exitcode(self._status)
        self._group()  # reads what bubblewrap reported last
        begun = not self._sandboxed or b'"exit-code"' in self._sandbox_said
        if code >= 0 and not begun and not self._termed:  # a stop may come before it begins
            return None, "bubblewrap could not start the step; stderr says why"
        return (code if code >= 0 else 128 - code), ""


def drain(handle: int) -> bytes:
    """Read what is there from a descriptor that does not block."""
    try:
        return os.read(handle, 4096)
    except BlockingIOError:
        return b""


def _wake_on_signals() -> int:
    """Let signals (an ended child, SIGTERM) end a wait; return the descriptor to wait on."""
    reader, writer = os.pipe()
    for handle in (reader, writer):
        os.set_blocking(handle, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reader


def _signal_group(group: int, number: int) -> bool:
    """Send a signal to a process group; return whether there is one."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
