"""The host's end of ``start.py``: one Python that all supervisors of an engine are forked from."""

from __future__ import annotations

import subprocess
import sys
import threading
import weakref
from contextlib import suppress
from typing import IO

from vaibify_lab.core.errors import DiskFull, ToolFailed, ToolMissing
from vaibify_lab.engines.local import start
from vaibify_lab.engines.local.order import Order, dump
from vaibify_lab.files import frames


class Starter:
    """Starts supervisors, from several threads; its process ends with it, or with ours."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, order: Order) -> bytes:
        """Return the record of a supervisor once it is written; its step begins after that.

        Raises
        ------
        ToolMissing
            Nobody knows which Python this is.
        ToolFailed, DiskFull
            The supervisor could not start.
        """
        with self._lock:
            answer = self._ask(dump(order))
        if answer.startswith(b"{"):
            return answer
        said = answer.removeprefix(start.FAILED).decode("utf-8", "replace")
        if "No space left" in said:
            raise DiskFull("the step's supervisor could not start", where=order.state)
        said = said or "no reason given"
        raise ToolFailed(f"the step's supervisor did not start: {said}", where=order.state)

    def _ask(self, order: bytes) -> bytes:
        """Ask once: whether an order that has no answer was carried out nobody knows."""
        process = self._living()
        entry, out = _ends(process)
        try:
            frames.send(entry.fileno(), order)
            if answer := frames.receive(out.fileno()):
                return answer
        except BrokenPipeError:
            pass
        process.kill()
        return _last_line(process)

    def _living(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._process = _begin()
            weakref.finalize(self, _end, self._process)
        return self._process


def _begin() -> subprocess.Popen[bytes]:
    if not sys.executable:
        raise ToolMissing("the running Python has no path of its own, so no step can be started")
    return subprocess.Popen(
        [sys.executable, "-I", "-S", start.__file__],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={},
        start_new_session=True,
    )


def _ends(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None and process.stdout is not None  # asked for
    return process.stdin, process.stdout


def _last_line(process: subprocess.Popen[bytes]) -> bytes:
    """Return the last thing that a process that failed said."""
    _, said = process.communicate()
    return (said.strip().splitlines() or [b""])[-1]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let a process end that waits for orders, and see it end."""
    with process, suppress(BrokenPipeError):
        frames.send(_ends(process)[0].fileno(), b"")
