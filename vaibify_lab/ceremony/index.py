"""What a Python package index offers: the hashes of each version's files, nothing downloaded.

pypi-simple speaks both forms of the simple repository API (HTML and JSON) and knows the default
index, so that no host stands here. It takes a second to import, so only who asks imports it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from packaging.version import InvalidVersion, Version

from vaibify_lab.core.errors import CannotCheck

if TYPE_CHECKING:
    from pypi_simple import DistributionPackage, PyPISimple

SECONDS = 15.0
_WORKERS = 8
_DEFAULTS = ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL")
_EXTRAS = ("PIP_EXTRA_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_INDEX")
_NONE = ("PIP_NO_INDEX", "UV_NO_INDEX")
_NAMED = re.compile(r"[\w-]+=(?=\w+:)")  # uv also takes NAME=URL


@dataclass(frozen=True, slots=True)
class OfferedFile:
    """One file of one version; ``sha256`` and ``size`` are None where the index gives none."""

    version: Version
    sha256: str | None
    yanked: bool
    size: int | None = None


def configured_indexes(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the indexes that pip and uv would ask, by their environment variables.

    Empty when they are told to ask none. Folders (``file:``) are left out: they are places of one
    machine.
    """
    from pypi_simple import PYPI_SIMPLE_ENDPOINT

    if any(environ.get(key, "").lower() in ("1", "true", "yes", "on") for key in _NONE):
        return ()
    default = next((environ[key] for key in _DEFAULTS if environ.get(key)), PYPI_SIMPLE_ENDPOINT)
    extras = [url for key in _EXTRAS for url in environ.get(key, "").split()]
    urls = [_NAMED.sub("", url, count=1) for url in (default, *extras)]
    return tuple(dict.fromkeys(url for url in urls if _is_web(url)))


def host_of(url: str) -> str:
    """Return what may be shown of an index: never the user and token that its URL can hold."""
    try:
        return urlsplit(url).hostname or "the index"
    except ValueError:  # no URL at all: a bracket that is never closed
        return "the index"


def _is_web(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))


def ask(
    names: Sequence[str], urls: Sequence[str], *, seconds: float = SECONDS
) -> dict[str, tuple[OfferedFile, ...]]:
    """Ask every index for every project, a few at a time.

    Returns
    -------
    dict
        The files of each project, of all indexes together; none for one that nobody knows.

    Raises
    ------
    CannotCheck
        As soon as one index cannot be asked.
    """
    groups = [names[at::_WORKERS] for at in range(min(_WORKERS, len(names)))]
    stop = Event()
    with ThreadPoolExecutor(_WORKERS) as pool:
        answers = pool.map(partial(_ask_group, urls, seconds, stop), groups)
        return {name: files for answer in answers for name, files in answer.items()}


def _ask_group(
    urls: Sequence[str], seconds: float, stop: Event, names: Sequence[str]
) -> dict[str, tuple[OfferedFile, ...]]:
    from pypi_simple import PyPISimple

    from vaibify_lab.ceremony.trust import session

    found: dict[str, tuple[OfferedFile, ...]] = {}
    with ExitStack() as stack:
        clients = [stack.enter_context(PyPISimple(url, session=session())) for url in urls]
        for name in names:
            if stop.is_set():
                break
            try:
                found[name] = tuple(
                    file for client in clients for file in _files(client, name, seconds)
                )
            except CannotCheck:
                stop.set()
                raise
    return found


def _files(client: PyPISimple, name: str, seconds: float) -> Iterator[OfferedFile]:
    from pypi_simple import NoSuchProjectError, UnsupportedRepoVersionError

    try:
        page = client.get_project_page(name, timeout=seconds)
    except NoSuchProjectError:
        return
    except (ValueError, UnsupportedRepoVersionError):
        text = f"{host_of(client.endpoint)} does not answer as a package index"
        raise CannotCheck(text) from None
    except OSError as error:  # every error of the transport is one
        status = getattr(getattr(error, "response", None), "status_code", None)
        reason = f"answered {status}" if status else f"cannot be reached ({type(error).__name__})"
        raise CannotCheck(f"{host_of(client.endpoint)} {reason}") from None
    for package in page.packages:
        if (version := _version(package)) is not None:
            sha256 = package.digests.get("sha256")
            digest = sha256.lower() if sha256 else None
            yield OfferedFile(version, digest, package.is_yanked, package.size)


def _version(package: DistributionPackage) -> Version | None:
    try:
        return Version(package.version or "")
    except InvalidVersion:
        return None
