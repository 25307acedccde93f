"""A screen that is a cell's output: text alone, bounded; the last complaint is the cell's error."""

from __future__ import annotations

import codecs
import io
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, TextIO, cast

from vaibify_lab.apps.screen import Colour, Screen
from vaibify_lab.core.paths import shown

_MOST = 2**20  # more than that of one run makes a notebook heavy
_LAST = 8 * 1024


class CellScreen(Screen):
    """Speaks into the cell that runs.

    Attributes
    ----------
    complaint : str
        What was said last of why the answer is no; told by the error that the cell ends with.
    on_progress : callable, optional
        Shows what goes on now; a cell's text cannot be taken back.
    """

    def __init__(self, *, as_json: bool = False) -> None:
        out = sys.stdout if _has_bytes(sys.stdout) else cast(TextIO, _Stream(sys.stdout))
        super().__init__(as_json=as_json, out=out, err=sys.stderr)
        self.complaint = ""
        self.on_progress: Callable[[str], None] | None = None
        self._room = _MOST
        self._kept = b""
        self._hidden = 0

    def output(self, data: bytes) -> None:
        """Pass on what a step wrote, up to what a notebook bears."""
        super().output(data[: self._room])
        rest = data[self._room :]
        self._room -= len(data) - len(rest)
        if rest:
            self._hidden += len(rest)
            self._kept = (self._kept + rest)[-_LAST:]

    def line(self, text: str = "", *, hang: int = 0, colour: Colour | None = None) -> None:
        """Say one line; what was held back of a step's output comes first, its end alone."""
        hidden, kept = self._hidden - len(self._kept), self._kept
        self._hidden, self._kept = 0, b""
        if hidden > 0:
            super().line(f"... {hidden} bytes not shown here: %vaibify log")
        if kept:
            super().output(kept)
        super().line(text, hang=hang, colour=colour)

    def picture(self, svg: str) -> None:
        """Show a picture."""
        display: Any = import_module("IPython.display").display  # typed nowhere
        display({"text/plain": "[picture]", "image/svg+xml": svg}, raw=True)

    def progress(self, text: str) -> None:
        """Show what goes on now, where something can."""
        if self.on_progress is not None:
            self.on_progress(shown(text.strip()))

    def complain(self, text: str) -> None:
        """Keep it for the cell's error; one before it is said."""
        if self.complaint:
            super().complain(self.complaint)
        self.complaint = text


class _Stream(io.TextIOBase):
    """A kernel's standard output, which takes text alone, as one that takes bytes too."""

    encoding = "utf-8"

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self.buffer = _Bytes(self)

    def write(self, text: str) -> int:
        """Pass text on."""
        return self._out.write(text)

    def flush(self) -> None:
        """Leave it to the kernel, which sends several times a second, not line by line."""

    def isatty(self) -> bool:
        """Return False: no terminal is a cell."""
        return False


class _Bytes:
    """The bytes of such a stream; half a character waits for its other half."""

    def __init__(self, stream: _Stream) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def write(self, data: bytes) -> None:
        """Pass bytes on as text."""
        self._stream.write(self._decoder.decode(data))


def _has_bytes(out: TextIO) -> bool:
    return isinstance(out, io.TextIOWrapper)
