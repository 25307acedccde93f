"""A step's output on its way to disk. Supervisor side: few imports."""

from __future__ import annotations

import os

CHUNK = 2**18
PIPE = 2**20
SET_PIPE_SIZE = 1031  # fcntl's F_SETPIPE_SZ


class Stream:
    """One stream of a step: read to its end, kept byte for byte up to a limit.

    A writer is never held up or broken off because we keep no more: what comes after the limit,
    or after the disk is full, is read, counted and dropped.

    Attributes
    ----------
    source, entry : int
        The pipe's two ends; ``entry`` is the step's.
    dropped : int
        Bytes read and not kept.
    problem : str
        Why the log ends early, when writing it failed.
    open : bool
        The pipe has not ended yet.
    """

    def __init__(self, name: str, limit: int) -> None:
        self.name = name
        self.source, self.entry = os.pipe()
        os.set_blocking(self.source, False)
        _widen(self.source)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._log = os.open(name, flags, 0o644)
        self._room = limit
        self.dropped = 0
        self.problem = ""
        self.open = True

    def pump(self) -> bool:
        """Move what is there; return whether anything was."""
        try:
            data = os.read(self.source, CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self.open = False
        self._keep(data)
        return bool(data)

    def close(self) -> None:
        """Stop reading; the log is complete."""
        self.open = False
        os.close(self.source)
        os.close(self._log)

    def _keep(self, data: bytes) -> None:
        piece = memoryview(data)[: self._room]
        self.dropped += len(data) - len(piece)
        while piece:
            try:
                written = os.write(self._log, piece)
            except OSError as error:
                self.problem = f"the log of {self.name} is cut: {error.strerror}"
                self.dropped += len(piece)
                self._room = 0
                return
            self._room -= written
            piece = piece[written:]


def _widen(pipe: int) -> None:
    """Give floods fewer turns; an ordinary pipe does where that is not allowed."""
    import fcntl

    try:
        fcntl.fcntl(pipe, SET_PIPE_SIZE, PIPE)
    except OSError:
        return
