"""A person at a step's terminal: types, waits for what is shown, looks."""

from __future__ import annotations

import os
import re
import select
import time

from vaibify_lab.engines.base import Terminal

from .conftest import PATIENCE

SIZE = os.terminal_size((91, 33))
# Writes a line to out/n again and again, until Ctrl-C (which a loop of the shell may miss).
TICKING = """python3 -c 'import itertools, time
for _ in itertools.count():
    with open("out/n", "a") as file:
        file.write("\\n")
    time.sleep(0.01)'
"""
_ANSWERED = re.compile(rb"<<(.*?)>>(\d+)<<", re.DOTALL)


class Shell:
    """A shell behind a terminal."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.shown = b""

    def type(self, text: str) -> None:
        """Type, and do not wait."""
        data = text.encode()
        while data:
            data = data[self.terminal.write(data) :]

    def until(self, text: str, seconds: float = PATIENCE) -> str:
        """Wait until something is shown; return what was shown since the last wait."""
        end = time.monotonic() + seconds
        while text.encode() not in self.shown:
            assert time.monotonic() < end, (text, self.shown)
            if select.select([self.terminal], [], [], 0.1)[0]:
                data = self.terminal.read()
                assert data, (text, self.shown)
                self.shown += data
        before, _, self.shown = self.shown.partition(text.encode())
        return before.decode()

    def answer(self, command: str) -> tuple[str, int]:
        """Run a command; return what it printed, and its exit status."""
        self.type(f"printf '<%s' '<'; {{ {command}\n}}; echo '>''>'$?'<''<'\n")
        end = time.monotonic() + PATIENCE
        while (found := _ANSWERED.search(self.shown)) is None:
            assert time.monotonic() < end, (command, self.shown)
            if select.select([self.terminal], [], [], 0.1)[0]:
                self.shown += self.terminal.read()
        self.shown = self.shown[found.end() :]
        return _plain(found[1]), int(found[2])

    def rest(self) -> str:
        """Return everything that is shown until the shell ends."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if select.select([self.terminal], [], [], 0.1)[0]:
                data = self.terminal.read()
                if not data:
                    return self.shown.decode()
                self.shown += data
        raise AssertionError(self.shown)


def _plain(shown: bytes) -> str:
    """Return what a command printed, without what the shell does round it."""
    text = re.sub(rb"\x1b\[\?2004[hl]\r?", b"", shown)
    return text.decode().replace("\r\n", "\n").removeprefix("> ").strip()
