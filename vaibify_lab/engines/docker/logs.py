"""A step's output on disk: every byte up to a limit, also when heard in two parts."""

from __future__ import annotations

import os
from pathlib import Path


class Log:
    """One stream's file, written from its beginning; what is there already is not written again.

    The engine's copy of the output can be read anew from its start: bytes that the file holds are
    then compared, and only what is new is added. So a log is whole after its first reader died.

    Attributes
    ----------
    dropped : int
        Bytes heard and not kept.
    problem : str
        Why the file is not the whole output, "" when it is.
    """

    def __init__(self, path: Path, limit: int) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        self._name = path.name
        self._limit = limit
        self._kept = os.fstat(self._file).st_size
        self._heard = 0
        self.dropped = 0
        self.problem = ""

    def rewind(self) -> None:
        """Say that the output comes from its beginning once more."""
        self._heard = self.dropped = 0

    def write(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        if self._heard < self._kept:
            data = self._compare(data)
        piece = memoryview(data)[: max(0, self._limit - self._kept)]
        self.dropped += len(data) - len(piece)
        while piece:
            try:
                written = os.pwrite(self._file, piece, self._kept)
            except OSError as error:
                self.problem = f"the log of {self._name} is cut: {error.strerror}"
                self.dropped += len(piece)
                self._limit = self._kept
                return
            self._kept += written
            self._heard += written
            piece = piece[written:]

    def close(self) -> None:
        """The log is complete."""
        os.close(self._file)

    def _compare(self, data: bytes) -> bytes:
        """Pass over what the file holds; return what is new."""
        size = min(len(data), self._kept - self._heard)
        if os.pread(self._file, size, self._heard) == data[:size]:
            self._heard += size
            return data[size:]
        self._heard = self._kept
        self.problem = f"the log of {self._name} lacks a part: the engine kept the end of it only"
        return data
