"""Virtual environments kept by the hash of their lock: made once, whole, and noticed when not.

Nothing of an installed package runs on the host here: wheels only, no build; byte code is made by
the base Python with ``-S``, because the environment's own would run every ``.pth`` file in it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from packaging.utils import canonicalize_name

from vaibify_lab.core import disk
from vaibify_lab.engines.local import uvtool

MARKER = "vaibify-complete"
_NAME = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)", re.MULTILINE)


def ensure(place: Path, lock: bytes, python: str, progress: Callable[[str], None]) -> None:
    """Make the environment at ``place`` unless it is there and whole.

    It is made at its final path, because virtual environments do not move, under a file lock, and
    counts once a marker with the look of all its files is in it.

    Raises
    ------
    ToolMissing, ToolFailed, DiskFull
        See `environment_for`.
    CannotCheck
        The cache folder cannot be written.
    """
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _alone(place, progress):
            if not whole(place):
                _make(place, lock, python, progress)
    except OSError as error:
        text = "the Python environment cannot be made"
        raise disk.failure(error, text, str(error.filename or place)) from None


def whole(place: Path) -> bool:
    """Tell whether an environment is complete and has not been changed since it was made."""
    try:
        said = (place / MARKER).read_text("ascii")
    except (OSError, UnicodeDecodeError):
        return False
    return (place / "bin" / "python").exists() and said == look(place)


def look(place: Path) -> str:
    """Return a digest of names, sizes, times and link targets of all files but byte code."""
    digest = hashlib.sha256()
    for path, status in _files(str(place)):
        target = os.readlink(path) if stat.S_ISLNK(status.st_mode) else ""
        name = os.path.relpath(path, place)
        line = f"{name}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_mode}\0{target}\n"
        digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


@contextmanager
def _alone(place: Path, progress: Callable[[str], None]) -> Iterator[None]:
    guard = FileLock(f"{place}.lock")
    try:
        guard.acquire(blocking=False)
    except Timeout:
        progress("waiting for another process that makes this Python environment")
        guard.acquire()
    try:
        yield
    finally:
        guard.release()


def _make(place: Path, lock: bytes, python: str, progress: Callable[[str], None]) -> None:
    progress("making the Python environment of requirements.lock")
    if place.exists():
        shutil.rmtree(place)
    venv = ["venv", "--quiet", "--no-project", "--no-python-downloads", "--python", python]
    uvtool.run([*venv, str(place)], place.parent, progress)
    wanted = place / "requirements.lock"
    wanted.write_bytes(lock)
    packages = frozenset(canonicalize_name(name) for name in _NAME.findall(lock.decode("latin-1")))
    if packages:
        install = ["pip", "install", "--python", str(place / "bin" / "python")]
        install += ["--require-hashes", "--no-build", "--strict", "-r", str(wanted)]
        uvtool.run(install, place.parent, progress, packages)
    _compile(place, python)
    (place / MARKER).write_text(look(place), "ascii")


def _compile(place: Path, python: str) -> None:
    """Make the byte code that a sandbox could not keep; a file that is no Python is passed over."""
    command = [python, "-I", "-S", "-m", "compileall", "-q", "-j", "0", str(place / "lib")]
    quiet = subprocess.DEVNULL
    subprocess.run(command, stdin=quiet, stdout=quiet, stderr=quiet, check=False)


def _files(top: str) -> Iterator[tuple[str, os.stat_result]]:
    for folder, names, files in os.walk(top):
        names[:] = sorted(name for name in names if name != "__pycache__")
        for name in sorted([*files, *names]):
            path = os.path.join(folder, name)
            status = os.lstat(path)
            if name != MARKER and not stat.S_ISDIR(status.st_mode):
                yield path, status
