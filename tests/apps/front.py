"""The real command, started as a person or a script would."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.others import plain

SCRIPT = Path(sys.executable).parent / "jupyter-vaibify"


@dataclass(frozen=True)
class Done:
    """What a command came to."""

    code: int
    out: str
    err: str


def surroundings(**more: str) -> dict[str, str]:
    """Return an environment in which nothing of this machine's git configuration counts."""
    kept = {
        k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "COLUMNS", "NO_COLOR"))
    }
    path = f"{SCRIPT.parent}{os.pathsep}{os.environ['PATH']}"
    own = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "PATH": path}
    return kept | own | {"LC_ALL": "C.UTF-8"} | more


def vaibify(
    place: Path, *words: str, env: Mapping[str, str] | None = None, stdin: str | None = None
) -> Done:
    """Run ``jupyter-vaibify`` in a folder, its output into pipes."""
    done = subprocess.run(
        [str(SCRIPT), *words],
        cwd=place,
        env=surroundings(**(env or {})),
        input=stdin.encode() if stdin is not None else None,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        timeout=120,
        check=False,
    )
    return Done(done.returncode, plain(done.stdout.decode()), plain(done.stderr.decode()))


def start(place: Path, *words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start the command and return at once."""
    return subprocess.Popen(
        [str(SCRIPT), *words],
        cwd=place,
        env=surroundings(**(env or {})),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def on_a_terminal(
    place: Path,
    *words: str,
    columns: int = 80,
    typed: str = "",
    after: str = "",
    env: Mapping[str, str] | None = None,
) -> Done:
    """Run the command on a terminal of its own; both streams come back as ``out``.

    ``typed`` is typed as soon as ``after`` was said.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [str(SCRIPT), *words],
        cwd=place,
        env=surroundings(TERM="xterm", **(env or {})),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    said, pending = b"", typed.encode()
    while piece := _read(ours):
        said += piece
        if pending and after.encode() in said:
            os.write(ours, pending)
            pending = b""
    os.close(ours)
    return Done(process.wait(60), said.decode("utf-8", "surrogateescape"), "")


def _read(terminal: int) -> bytes:
    """Return what was said next; nothing once the other side is closed."""
    if not select.select([terminal], [], [], 120)[0]:
        raise TimeoutError("nothing was said for two minutes")
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


class Person:
    """Somebody at a terminal of their own, with one command that they started there."""

    def __init__(self, place: Path, *command: str, size: tuple[int, int] = (24, 80)) -> None:
        self._ours, theirs = pty.openpty()
        self.resize(*size)
        self.process = subprocess.Popen(
            command,
            cwd=place,
            env=surroundings(TERM="xterm"),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        self._said = b""

    def resize(self, rows: int, columns: int) -> None:
        """Change the size of the window."""
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        """Type, as fast as it is taken."""
        data = text.encode()
        while data:
            ready, can_write, _ = select.select([self._ours], [self._ours], [], 60)
            if self._ours in ready:
                self._said += _read(self._ours)
            if can_write:
                data = data[os.write(self._ours, data[:512]) :]

    def until(self, text: str) -> str:
        """Wait until something is shown; return what was shown before it, since the last wait."""
        while text.encode() not in self._said:
            piece = _read(self._ours)
            assert piece, (text, self._said)
            self._said += piece
        before, _, self._said = self._said.partition(text.encode())
        return before.decode("utf-8", "surrogateescape")

    def end(self) -> Done:
        """Wait until the command has ended; return what it said since the last wait."""
        while piece := _read(self._ours):
            self._said += piece
        os.close(self._ours)
        said = self._said.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
        return Done(self.process.wait(60), said, "")

    def close(self) -> int:
        """Close the window; return how the command ended."""
        os.close(self._ours)
        return self.process.wait(60)


def paste(folder: Path, command: str, editor: str = "true") -> None:
    """Type a remedy into a real shell, which must take it; ``editor`` is git's."""
    done = subprocess.run(
        ["bash", "-ec", command],
        cwd=folder,
        env=surroundings(GIT_EDITOR=editor),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, (command, done.stdout, done.stderr)
