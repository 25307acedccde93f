"""Our end of the comparison apart: one process for all pairs, watched and not believed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from threading import Timer
from types import TracebackType
from typing import IO, Literal

from vaibify_lab.core import jsonio
from vaibify_lab.engines.local import bubblewrap, landlock
from vaibify_lab.engines.local.python import environment_for
from vaibify_lab.files import frames
from vaibify_lab.provenance.apart import answer, child
from vaibify_lab.provenance.compare.noise import Rules
from vaibify_lab.provenance.compare.verdict import Comparison

Walls = Literal["bubblewrap", "landlock", "none"]

_PATIENCE = 900.0  # seconds for one pair, whatever it does
_GRACE = 2.0  # seconds to end by itself
_MOST_STARTS = 4  # what ends so often ends again
_VARIABLES = {
    "HOME": "/nonexistent",
    "LC_ALL": "C.UTF-8",
    "PATH": "/usr/bin:/bin",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "HDF5_PLUGIN_PRELOAD": "::",  # no filters from anywhere
    "HDF5_USE_FILE_LOCKING": "FALSE",
}


class Apart:
    """Compares pairs of files whose bytes differ, in another process.

    The process starts with the first pair and ends with the block. One that is ended, by a limit
    or by what it read, gives its pair the verdict *different*, with the reason; the next pair gets
    a new one, a few times.

    Parameters
    ----------
    rules : Rules
    walls : {"bubblewrap", "landlock", "none"}, optional
        What is put around it; the strongest that works here.
    program : str
        What runs there.
    patience : float
        Seconds for one pair, whatever it does.
    """

    def __init__(
        self,
        rules: Rules,
        walls: Walls | None = None,
        program: str = child.__file__,
        patience: float = _PATIENCE,
    ) -> None:
        self.starts = 0
        self._rules = rules
        self._walls = walls
        self._program = program
        self._patience = patience
        self._process: subprocess.Popen[bytes] | None = None
        self._is_late = False
        rules.check()

    def __enter__(self) -> Apart:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def compare(self, path: str, stored: bytes, fresh: bytes) -> Comparison:
        """Compare one pair of files whose bytes differ."""
        return self._pair(path.encode("utf-8", "replace"), stored, fresh)

    def compare_pictures(self, stored: bytes, fresh: bytes) -> Comparison:
        """Compare two pictures of a cell's output."""
        if stored == fresh:
            return Comparison("identical")
        return self._pair(child.PICTURES, stored, fresh)

    def _pair(self, path: bytes, stored: bytes, fresh: bytes) -> Comparison:
        if self._process is None and self.starts == _MOST_STARTS:
            return _refused(f"the comparison ended {_MOST_STARTS} times before")
        try:
            data = self._asked(self._living(), path, stored, fresh)
        except OSError as error:
            self._end()
            return _refused(f"the comparison did not start ({error.strerror})")
        if not data:
            return _refused(self._ended())
        try:
            return answer.read(data)
        except answer.NotAnAnswer as error:
            self._end()
            return _refused(f"the comparison gave no usable answer: {error}")

    def _asked(
        self, process: subprocess.Popen[bytes], path: bytes, stored: bytes, fresh: bytes
    ) -> bytes:
        timer = Timer(self._patience, self._give_up, [process])
        timer.daemon = True
        timer.start()
        try:
            return _ask(process, path, stored, fresh)
        finally:
            timer.cancel()

    def _give_up(self, process: subprocess.Popen[bytes]) -> None:
        self._is_late = True
        process.kill()

    def _living(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self.starts += 1
            self._is_late = False
            self._process = _start(self._rules, self._walls or strongest(), self._program)
        return self._process

    def _ended(self) -> str:
        """Say how a process ended that gave no answer."""
        code = self._end()
        number = -code if code < 0 else code - 128  # bubblewrap tells it as a shell does
        if self._is_late or number == signal.SIGXCPU:
            return "the comparison took too long"
        if number > 0:
            return f"the comparison was ended by signal {number}"
        return f"the comparison ended with status {code}"

    def _end(self) -> int:
        """End the process, when there is one; return its status."""
        process, self._process = self._process, None
        if process is None:
            return 0
        with process:
            entry, out = _ends(process)
            with suppress(OSError):
                entry.close()
            out.close()
            try:
                return process.wait(_GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                return process.wait()


def strongest() -> Walls:
    """Return the strongest walls that work here."""
    if sys.platform != "linux":
        return "none"
    if not bubblewrap.problem():
        return "bubblewrap"
    return "landlock" if landlock.version() else "none"


def _start(rules: Rules, walls: Walls, program: str) -> subprocess.Popen[bytes]:
    packages = [
        one for one in sys.path if os.path.basename(one) in ("site-packages", "dist-packages")
    ]
    command = [sys.executable, "-I", "-S", program]
    if walls == "bubblewrap":
        shown = [os.path.join(child.PACKAGES, "vaibify_lab"), program, *packages]
        command = [*bubblewrap.bare(environment_for(None), shown, _VARIABLES), *command]
    process = subprocess.Popen(
        command,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_VARIABLES,
        cwd="/",
        start_new_session=True,
    )
    begin = {
        "packages": packages,
        "rules": answer.rules_as_json(rules),
        "landlock": walls == "landlock",
    }
    with suppress(BrokenPipeError):
        frames.send(_ends(process)[0].fileno(), jsonio.line(begin))
    return process


def _ask(process: subprocess.Popen[bytes], path: bytes, stored: bytes, fresh: bytes) -> bytes:
    entry, out = _ends(process)
    try:
        for part in (path, stored, fresh):
            frames.send(entry.fileno(), part)
    except BrokenPipeError:
        return b""
    return frames.receive(out.fileno(), answer.LONGEST)


def _ends(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None and process.stdout is not None  # asked for
    return process.stdin, process.stdout


def _refused(why: str) -> Comparison:
    return Comparison("different", f"the bytes differ, and could not be compared: {why}")
