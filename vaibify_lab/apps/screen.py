"""Where a verb speaks: lines for people, or JSON for machines; never both on standard output.

Nothing that came from a repository reaches a terminal unescaped: every line passes `shown`, and of
a step's output only line feeds and tabs keep their meaning there.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from typing import Any, Literal, TextIO

from vaibify_lab.apps.text import NARROWEST, cut, wrap
from vaibify_lab.core.errors import CannotCheck
from vaibify_lab.core.paths import shown

Colour = Literal["green", "red", "yellow", "dim", "bold"]
_CODES = {"green": "32", "red": "31", "yellow": "33", "dim": "2", "bold": "1"}
_SPECIAL = re.compile(r"[^\n\t -~]")
_CLEAR = "\r\x1b[K"


class Screen:
    """Standard output and standard error of one command.

    Parameters
    ----------
    as_json : bool
        Say nothing to people.
    out, err : text streams, optional
        Standard output and standard error by default.
    """

    def __init__(
        self, *, as_json: bool = False, out: TextIO | None = None, err: TextIO | None = None
    ) -> None:
        self.as_json = as_json
        self._out = out or sys.stdout or _nowhere()
        self._err = err or sys.stderr or _nowhere()
        for stream in (self._out, self._err):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        self.is_terminal = self._out.isatty() and os.environ.get("TERM") != "dumb"
        self.width = _width(self._out)
        self._paints = self.is_terminal and not os.environ.get("NO_COLOR")
        self._is_unicode = (self._out.encoding or "").lower().startswith("utf")
        self._progress = ""
        self._at_line_start = True

    def of_one_document(self) -> Screen:
        """Return what a stream may speak to while the answer is one document: nobody, in JSON."""
        return Screen(out=_nowhere(), err=self._err) if self.as_json else self

    def symbol(self, fancy: str, plain: str) -> str:
        """Return a symbol, or its stand-in where the terminal's encoding lacks it."""
        return fancy if self._is_unicode else plain

    def paint(self, text: str, colour: Colour | None) -> str:
        """Return text in a colour, on a terminal that wants colours."""
        if colour is None or not self._paints:
            return text
        return f"\x1b[{_CODES[colour]}m{text}\x1b[0m"

    def line(self, text: str = "", *, hang: int = 0, colour: Colour | None = None) -> None:
        """Say one line to people, wrapped to the terminal's width."""
        for one in wrap(shown(text), self.width, hang):
            self.painted(self.paint(one, colour))

    def painted(self, text: str) -> None:
        """Say one line that is safe and fits already."""
        if self.as_json:
            return
        start = "" if self._at_line_start else "\n"
        self._write(f"{start}{text}\n")
        self._at_line_start = True

    def begin(self, text: str) -> None:
        """Begin a line that `finish` ends; progress may stand behind it meanwhile."""
        if not self.as_json and not self.is_terminal:
            self._write(shown(text))
            self._at_line_start = False

    def finish(self, begun: str, text: str, *, colour: Colour | None = None) -> None:
        """End the line that was begun."""
        if self.is_terminal:
            self.line(begun + text, hang=6, colour=colour)
        elif not self.as_json:
            self._write(f"{shown(text)}\n")
            self._at_line_start = True

    def progress(self, text: str) -> None:
        """Show on a terminal what goes on now; the next line takes its place."""
        short = cut(shown(text), (self.width or 80) - 1)
        can = self.is_terminal and not self.as_json and self._at_line_start
        if can and short != self._progress:
            self._write(short)
            self._progress = short

    def output(self, data: bytes) -> None:
        """Pass on what a step wrote: its exact bytes, or on a terminal what is safe of them."""
        if self.as_json or not data:
            return
        if self.is_terminal:
            self._write(harmless(data))
        else:
            self._send(data)
        self._at_line_start = data.endswith(b"\n")

    def document(self, value: Any) -> None:
        """Give machines the one answer."""
        if self.as_json:
            self.one_document(value)

    def one_document(self, value: Any) -> None:
        """Give the one answer to whoever asks, because JSON is what was asked for."""
        self._write(json.dumps(value, indent=2) + "\n")

    def picture(self, svg: str) -> None:
        """Give a picture as SVG text."""
        self._write(svg)

    def json_line(self, value: Any) -> None:
        """Give machines one line of a stream."""
        if self.as_json:
            self._write(json.dumps(value) + "\n")

    def complain(self, text: str) -> None:
        """Say one line on standard error."""
        self._write("" if self._at_line_start else "\n")
        self._at_line_start = True
        self._err.write(shown(text) + "\n")
        self._err.flush()

    def failed(self, text: str) -> None:
        """Say on standard error, to people, why the answer is no; machines have the answer."""
        if not self.as_json:
            self.complain(text)

    def agrees(self, question: str) -> bool:
        """Ask yes or no; no answer is no."""
        self._write(f"{shown(question)} [y/N] ")
        answer = sys.stdin.readline()
        if not answer.endswith("\n"):
            self._write("\n")
        return answer.strip().lower() in ("y", "yes")

    def can_ask(self) -> bool:
        """Tell whether somebody is there to be asked."""
        stdin = sys.stdin
        return not self.as_json and self._out.isatty() and stdin is not None and stdin.isatty()

    def _write(self, text: str) -> None:
        start = _CLEAR if self._progress else ""
        self._progress = ""
        self._send(start + text)

    def _send(self, what: str | bytes) -> None:
        if not what:
            return
        try:
            if isinstance(what, str):
                self._out.write(what)
            else:
                self._out.buffer.write(what)
            self._out.flush()
        except BrokenPipeError:
            self.forget()
            raise
        except OSError as error:
            self.forget()
            text = f"the answer cannot be written: {error.strerror}"
            raise CannotCheck(text, where="standard output") from None

    def forget(self) -> None:
        """Keep the interpreter from complaining, when it ends, of output that nobody took."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._out.fileno())
        os.close(nowhere)


def _nowhere() -> TextIO:
    """Return a stream for who closed standard output or standard error."""
    return open(os.devnull, "w", encoding="utf-8")


def harmless(data: bytes) -> str:
    """Return bytes as text in which a terminal obeys nothing but line feeds and tabs."""
    text = data.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
    return _SPECIAL.sub(lambda found: shown(found[0]), text)


def _width(out: TextIO) -> int | None:
    """Return the columns to fit into; None where nobody looks at columns."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isascii() and asked.isdigit() and int(asked) > 0:
        return max(NARROWEST, int(asked))
    if not out.isatty():
        return None
    try:
        found = os.get_terminal_size(out.fileno()).columns
    except (OSError, ValueError):
        return 80
    return max(NARROWEST, found) if found > 0 else 80
