"""The real command, started as a person or a script would."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


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
    env: Mapping[str, str] | None = None,
) -> Done:
    """Run the command on a terminal; both streams come back as ``out``."""
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
    )
    os.close(theirs)
    if typed:
        os.write(ours, typed.encode())
    said = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        said += piece
    os.close(ours)
    return Done(process.wait(60), said.decode("utf-8", "surrogateescape"), "")
