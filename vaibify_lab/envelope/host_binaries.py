"""What a project's declared host programs are: their bytes and what they say of their version.

They are run, so none may be a file of the repository: that may come from a stranger.
"""

from __future__ import annotations

import hashlib
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from vaibify_lab.core.errors import MissingFile, UnsafePath
from vaibify_lab.core.paths import shown
from vaibify_lab.envelope.environment import HostBinary

_SECONDS = 10.0
_LONGEST = 4096


def capture_host_binaries(
    paths: Iterable[str], root: Path, *, seconds: float = _SECONDS
) -> list[HostBinary]:
    """Hash each program and ask it for its version.

    Parameters
    ----------
    paths : iterable of str
        As declared: absolute paths, or names found on PATH.
    root : Path
        The project, of which no file is run.
    seconds : float
        How long one may take to answer ``--version``; then its version is None.

    Raises
    ------
    MissingFile
        Naming the one that is not there.
    UnsafePath
        Naming the one that is a file of the project, or a path relative to who knows what.
    """
    return [_capture(path, root.resolve(), seconds) for path in paths]


def _capture(path: str, root: Path, seconds: float) -> HostBinary:
    if "/" in path and not path.startswith("/"):
        text = "is neither an absolute path nor a name on PATH"
        raise UnsafePath(text, where=shown(path), action="correct saHostBinaries")
    found = shutil.which(path)
    if found is not None and Path(found).resolve().is_relative_to(root):
        text = "is a file of the repository, which is never run outside a step"
        action = "take it out of saHostBinaries, and declare it in saScripts"
        raise UnsafePath(text, where=shown(path), action=action)
    if found is None:
        text = "a declared host binary is not there, or cannot be run"
        raise MissingFile(text, where=shown(path), action="install it or correct saHostBinaries")
    with Path(found).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return HostBinary(path, digest, _version(found, seconds))


def _version(program: str, seconds: float) -> str | None:
    """Return the first line that ``--version`` prints, or None.

    The program gets no input; it and what it started end with this call.
    """
    try:
        process = subprocess.Popen(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "LC_ALL": "C"},
            start_new_session=True,
        )
    except OSError:  # no program of this machine's kind, or a script without its first line
        return None
    with process:
        assert process.stdout is not None
        said = _first_line(process.stdout.fileno(), time.monotonic() + seconds)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    return shown(said.decode("utf-8", "surrogateescape").strip()) or None


def _first_line(stream: int, deadline: float) -> bytes:
    data = b""
    while b"\n" not in data.lstrip() and len(data) < _LONGEST:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([stream], [], [], left)[0]:
            return b""
        piece = os.read(stream, _LONGEST - len(data))
        if not piece:
            break
        data += piece
    return data.lstrip().split(b"\n", 1)[0]
