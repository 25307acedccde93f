"""The Python that steps run in: one made from requirements.lock, else the starter's own."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vaibify_lab.core.errors import ToolFailed
from vaibify_lab.engines.local import venvs
from vaibify_lab.engines.local.uvtool import find_python
from vaibify_lab.files.cachefile import cache_folder

# Our own header, then that of uv (which repeats its command), in the comments that open a lock.
_ASKED = re.compile(r"^# vaibify: python ([\d.]+)\b|^#.*--python-version[= ]([\d.]+)")
_TELL = "import sys; print('.'.join(map(str, sys.version_info[:3])), sys.base_prefix, sep='\\n')"


@dataclass(frozen=True, slots=True)
class PythonEnvironment:
    """A Python with its packages.

    Attributes
    ----------
    prefix : Path
        Its folder; programs are in ``bin``.
    python : Path
        The interpreter.
    lock_hash : str or None
        SHA-256 of the lock that names its packages; None for the starter's.
    source : {"lock", "starter"}
        Where its packages come from.
    version : str
        As ``3.11.7``.
    folders : tuple of Path
        What a sandbox must show for it to work: itself and the Python it stands on.
    links : tuple of (place, target)
        Symbolic links outside those folders through which the interpreter is reached.
    """

    prefix: Path
    python: Path
    lock_hash: str | None
    source: Literal["lock", "starter"]
    version: str
    folders: tuple[Path, ...] = ()
    links: tuple[tuple[str, str], ...] = ()


def environment_for(
    lock: bytes | None,
    *,
    cache: Path | None = None,
    python: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> PythonEnvironment:
    """Return the Python for a lock, made when it is not there yet.

    Parameters
    ----------
    lock : bytes or None
        requirements.lock; None for the Python that runs this.
    cache : Path, optional
        Where environments are kept; ``vaibify_lab/venvs`` in the user's cache folder.
    python : str, optional
        Version to use instead of the one that the lock's header asks for.
    progress : callable, optional
        Told in words what is being done.

    Raises
    ------
    ToolMissing
        uv is not installed.
    ToolFailed
        No such Python here, or a package cannot be installed: the package is named.
    DiskFull
        No space left for it.
    """
    if lock is None:
        return _starter()
    digest = hashlib.sha256(lock).hexdigest()
    interpreter = _interpreter(python or asked_for(lock))
    version, base = _ask(interpreter)
    store = cache or cache_folder() / "vaibify_lab" / "venvs"
    place = store / f"{digest}-{version}-{sys.platform}-{platform.machine()}"
    venvs.ensure(place, lock, interpreter, progress or _silent)
    folders, links = visible(place, Path(base), place / "bin" / "python")
    return PythonEnvironment(
        place, place / "bin" / "python", digest, "lock", version, folders, links
    )


def asked_for(lock: bytes) -> str | None:
    """Return the Python version that the comments at the top of a lock name, if any."""
    for line in lock.decode("utf-8", "replace").split("\n"):
        if line and not line.startswith("#"):
            return None
        if found := _ASKED.match(line):
            return found[1] or found[2]
    return None


def visible(
    prefix: Path, base: Path, python: Path
) -> tuple[tuple[Path, ...], tuple[tuple[str, str], ...]]:
    """Return the folders, and the links outside them, that an interpreter needs to be reached."""
    folders = dict.fromkeys([prefix, base, prefix.resolve(), base.resolve()])
    links = []
    hop = python
    while hop.is_symlink():
        target = os.readlink(hop)
        if not any(hop.is_relative_to(folder) for folder in (*folders, Path("/usr"))):
            links.append((str(hop), target))
        hop = hop.parent / target
    return tuple(folders), tuple(links)


def _starter() -> PythonEnvironment:
    prefix, python = Path(sys.prefix), Path(sys.executable)
    folders, links = visible(prefix, Path(sys.base_prefix), python)
    version = platform.python_version()
    return PythonEnvironment(prefix, python, None, "starter", version, folders, links)


def _interpreter(version: str | None) -> str:
    """Return a Python of that version: ours when it fits, else one that uv finds here."""
    own = platform.python_version()
    if version is None or f"{own}.".startswith(f"{version.rstrip('.')}."):
        return sys.executable
    return find_python(version)


def _ask(interpreter: str) -> tuple[str, str]:
    """Ask an interpreter for its version and its base; its site is not run."""
    command = [interpreter, "-I", "-S", "-c", _TELL]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    lines = done.stdout.splitlines()
    if done.returncode or len(lines) != 2:
        raise ToolFailed("this Python does not run", where=interpreter)
    return lines[0], lines[1]


def _silent(_: str) -> None:
    return None
