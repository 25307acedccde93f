"""requirements.lock made by ``uv pip compile --generate-hashes``, with a header of ours.

A source may come from a stranger. To learn what a package without a wheel needs, uv would run code
of that package (or of the repository, for a dynamic pyproject.toml) on this machine: it may not,
unless the person who asks says so. Settings for uv that lie in the repository are not looked at.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from vaibify_lab.core.errors import InvalidFile, MissingFile, QuestionError, ToolFailed, UsageError
from vaibify_lab.core.paths import shown
from vaibify_lab.envelope.lock import NAME, LockedPackage, parse_lock, source_digest
from vaibify_lab.files import uvprogram

SOURCES = ("requirements.in", "pyproject.toml")
_ARGUMENTS = (
    "--generate-hashes",
    "--no-header",
    "--no-annotate",
    "--no-progress",
    "--no-python-downloads",
    "--color=never",
)
_BUILD_REFUSED = re.compile(r"(?i)building (?:from source|source distributions)\b.* is disabled")
_ALLOW = "jupyter vaibify envelope --only lock --allow-build"


def compile_lock(
    root: Path,
    source: str,
    python_version: str | None = None,
    *,
    keep: bytes | None = None,
    progress: Callable[[str], None] | None = None,
    allow_build: bool = False,
) -> bytes:
    """Resolve ``source`` for this platform and return the lock; nothing is written.

    Parameters
    ----------
    root : Path
        The project's root.
    source : str
        ``requirements.in`` or ``pyproject.toml``.
    python_version : str, optional
        As ``3.11``; the running interpreter's when absent.
    keep : bytes, optional
        An earlier lock whose versions are kept where the source still allows them. Its hashes are
        not: a wrong one would live on.
    progress : callable, optional
        Told each line that uv says.
    allow_build : bool
        Let packages that have no wheel run their build's code on this machine.

    Raises
    ------
    QuestionError
        When uv is not installed; also `UsageError`, `MissingFile`, and `InvalidFile` when the
        source asks for what no lock can hold.
    ToolFailed
        No set of versions fits, or the index cannot be reached.
    """
    if source not in SOURCES:
        raise UsageError(f"a lock is made from {' or '.join(SOURCES)}", where=source)
    if not (root / source).is_file():
        raise MissingFile("does not exist", where=source, action="write it; it may be empty")
    digest = source_digest((root / source).read_bytes())
    version = python_version or f"{sys.version_info.major}.{sys.version_info.minor}"
    with _draft(keep) as draft:
        command = [find_uv(), "pip", "compile", str(root.absolute() / source), *_ARGUMENTS]
        command += [] if allow_build else ["--no-build"]
        command += ["-o", str(draft), "--python", sys.executable, "--python-version", version]
        _run(command, draft.parent, source, progress)
        body = draft.read_bytes()
    header = (
        f"# vaibify: python {version} {this_platform()}\n"
        f"# source-sha256: {digest}\n"
        f"# made from {source} by: jupyter vaibify envelope --only lock\n"
    )
    lock = header.encode("ascii") + body
    _require_usable(lock, source)
    return lock


def this_platform() -> str:
    """Return the platform as a lock's header names it, as ``linux-x86_64``."""
    return f"{sys.platform}-{platform.machine()}"


def find_uv() -> str:
    """Return the path of the uv program.

    Raises
    ------
    QuestionError
        When there is neither; reading and verifying a lock needs none.
    """
    found = uvprogram.program()
    if found is None:
        text = f"uv is not installed, and only uv makes {NAME}"
        raise QuestionError(text, action="python -m pip install uv")
    return found


@contextmanager
def _draft(keep: bytes | None) -> Iterator[Path]:
    """Give the path that uv writes to; what stands there before is what uv prefers."""
    with tempfile.TemporaryDirectory(prefix="vaibify-lock-") as folder:
        draft = Path(folder, NAME)
        pins = [_pin(one) for one in parse_lock(keep or b"").packages if one.url is None]
        draft.write_text("".join(pins), encoding="utf-8")
        yield draft


def _pin(package: LockedPackage) -> str:
    marker = f" ; {package.marker}" if package.marker else ""
    return f"{package.name}=={package.version}{marker}\n"


def _run(
    command: list[str], folder: Path, source: str, progress: Callable[[str], None] | None
) -> None:
    """Run uv in ``folder``: it takes settings from there, and from the folders above."""
    said: list[str] = []
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="backslashreplace",
        env={**os.environ, **uvprogram.TRUST},
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            said = [*said[-20:], shown(line.strip())]
            if progress:
                progress(said[-1])
    if process.returncode != 0:
        reason = " ".join(line for line in said if line)[-1000:]
        refused = _BUILD_REFUSED.search(reason)
        action = f"name one that has a wheel, or run its build code here: {_ALLOW}"
        text = f"uv could not make the lock: {reason}"
        raise ToolFailed(text, where=source, action=action if refused else None)


def _require_usable(lock: bytes, source: str) -> None:
    """Refuse a lock that its own reader refuses, naming what the source asks for."""
    for problem in parse_lock(lock, declared_none=True).problems:
        text = f"asks for what a lock cannot hold: {problem.text}"
        raise InvalidFile(text, where=source, action="name a released version from an index")
