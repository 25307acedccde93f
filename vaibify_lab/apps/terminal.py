"""This terminal passed on to a shell inside a step: bytes both ways, nothing obeyed here."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

from vaibify_lab.core.errors import VaibifyError

if TYPE_CHECKING:
    from vaibify_lab.engines.base import Terminal

LEAVE = b"\x1d"  # Ctrl-], three times in a row, leaves a shell that answers no more
LEAVE_TIMES = 3
_CHUNK = 2**16


def size_here() -> os.terminal_size:
    """Return the size of this terminal."""
    try:
        return os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        return os.terminal_size((80, 24))


def pass_on(terminal: Terminal) -> None:
    """Be the terminal of a shell until it ends, or until its person leaves."""
    keyboard, screen = sys.stdin.fileno(), sys.stdout.fileno()
    with _closing(terminal), _raw(keyboard), _signals(terminal), suppress(OSError):
        _Passing(terminal, keyboard, screen).run()


class _Passing:
    def __init__(self, terminal: Terminal, keyboard: int, screen: int) -> None:
        self._terminal = terminal
        self._keyboard = keyboard
        self._screen = screen
        self._typed = b""
        self._in_a_row = 0

    def run(self) -> None:
        while True:
            shell = self._terminal.fileno()
            writing = [shell] if self._typed else []
            ready, can_write, _ = select.select([shell, self._keyboard], writing, [])
            if shell in ready and not self._show():
                return
            if self._keyboard in ready and not self._hear():
                return
            if can_write:
                self._typed = self._typed[self._terminal.write(self._typed) :]

    def _show(self) -> bool:
        """Show what the shell wrote; False once it has ended."""
        data = self._terminal.read()
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._screen, rest) :]
        return bool(data)

    def _hear(self) -> bool:
        """Take what was typed; False when nobody types any more, or wants to leave."""
        data = os.read(self._keyboard, _CHUNK)
        self._typed += data
        for key in data:
            self._in_a_row = self._in_a_row + 1 if key == LEAVE[0] else 0
            if self._in_a_row == LEAVE_TIMES:
                return False
        return bool(data)


@contextmanager
def _closing(terminal: Terminal) -> Iterator[None]:
    try:
        yield
    finally:
        terminal.close()


@contextmanager
def _raw(keyboard: int) -> Iterator[None]:
    """Let every key reach the shell; afterwards everything is as it was."""
    before = termios.tcgetattr(keyboard)
    tty.setraw(keyboard)
    try:
        yield
    finally:
        with suppress(termios.error):  # it was closed
            termios.tcsetattr(keyboard, termios.TCSADRAIN, before)


@contextmanager
def _signals(terminal: Terminal) -> Iterator[None]:
    """Follow a change of size; end in an orderly way when this terminal is closed."""

    def resize(*_: object) -> None:
        with suppress(OSError, VaibifyError):
            terminal.resize(size_here())

    def leave(number: int, _: object) -> NoReturn:
        raise SystemExit(128 + number)

    before = {signal.SIGWINCH: signal.signal(signal.SIGWINCH, resize)}
    before |= {one: signal.signal(one, leave) for one in (signal.SIGHUP, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
