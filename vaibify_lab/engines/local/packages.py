"""What is installed beside a Python, from the names of its metadata; nothing of it is run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.core.paths import shown
from vaibify_lab.engines.local.python import PythonEnvironment

_ENDS = (".dist-info", ".egg-info")


def installed(python: PythonEnvironment) -> tuple[str, ...]:
    """Return one line a distribution, as ``pip freeze --all`` writes them, sorted."""
    return tuple(sorted({line for place in _places(python) for line in _in_folder(place)}))


def _places(python: PythonEnvironment) -> list[str]:
    if python.source == "starter":
        return [place for place in sys.path if place.endswith(("site-packages", "dist-packages"))]
    return [str(place) for place in sorted(python.prefix.glob("lib*/python*/site-packages"))]


def _in_folder(place: str) -> Iterator[str]:
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            stem, end = os.path.splitext(entry.name)
            name, _, version = stem.partition("-")
            if end in _ENDS and version:
                plain = name.replace("_", "-").lower()
                url = _url(Path(entry.path) / "direct_url.json")
                yield shown(f"{plain} @ {url}" if url else f"{plain}=={version}")


def _url(path: Path) -> str:
    try:
        said = jsonio.loads(path.read_bytes(), str(path))
    except (OSError, InvalidFile):
        return ""
    return str(said.get("url", "")) if isinstance(said, dict) else ""
