"""What building a repository of container.conf needs, and whether requirements.lock has it.

pip builds in an environment of its own and fetches the tools for that without any hash. Where the
lock lists them all, its own packages are used instead.
"""

from __future__ import annotations

import tarfile
import tomllib
from collections.abc import Mapping
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

_LARGEST = 2**20
_USUAL = ("setuptools>=40.8.0",)  # what pip takes where a repository does not say
_SELF_SUFFICIENT = Version("70.1")  # setuptools from then on needs no wheel


def build_tools(tar: Path) -> tuple[str, ...]:
    """Return what an exported repository says that building it needs."""
    try:
        with tarfile.open(tar) as files:
            file = files.extractfile("pyproject.toml")
            text = "" if file is None else file.read(_LARGEST).decode()
        listed = tomllib.loads(text)["build-system"]["requires"]
    except (KeyError, TypeError, ValueError):
        return _USUAL
    return tuple(str(one) for one in listed) if isinstance(listed, list) else _USUAL


def lacking(
    tools: tuple[str, ...], locked: Mapping[str, str], python: str | None = None
) -> tuple[str, ...]:
    """Return those tools that a lock does not list.

    Parameters
    ----------
    tools : tuple of str
        Requirements.
    locked : mapping of str to str
        Version of each package of the lock, by its canonical name.
    python : str, optional
        As ``3.12``, for which it is asked.
    """
    surroundings = {str(key): str(value) for key, value in default_environment().items()}
    if python is not None:
        surroundings |= {"python_version": python, "python_full_version": f"{python}.0"}
    return tuple(one for one in tools if not _is_there(one, locked, surroundings))


def _is_there(tool: str, locked: Mapping[str, str], surroundings: Mapping[str, str]) -> bool:
    try:
        asked = Requirement(tool)
    except InvalidRequirement:
        return False
    if asked.marker is not None and not asked.marker.evaluate(dict(surroundings)):
        return True
    name = canonicalize_name(asked.name)
    found = locked.get(name)
    if not found or asked.extras or not asked.specifier.contains(found, prereleases=True):
        return False
    return name != "setuptools" or "wheel" in locked or Version(found) >= _SELF_SUFFICIENT
