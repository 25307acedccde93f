"""The engine's API, and its errors as ours. ``docker`` is imported when an engine is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from vaibify_lab.core.errors import (
    CannotCheck,
    DiskFull,
    EngineLost,
    ImageRefused,
    RegistryUnreachable,
    VaibifyError,
)
from vaibify_lab.core.paths import shown

if TYPE_CHECKING:
    from docker import APIClient

SECONDS = 900
_UNREACHABLE = re.compile(
    r"connection refused|no such host|i/o timeout|network is unreachable|no route to host"
    r"|handshake|connection reset|broken pipe|deadline exceeded|temporary failure|\bEOF\b"
    r"|server gave HTTP response to HTTPS|x509:|toomanyrequests|received unexpected HTTP status: 5"
    r"|name resolution|bad gateway|service unavailable|closed network connection",
    re.IGNORECASE,
)


def connect(base_url: str | None = None) -> APIClient:
    """Return a client that waits as long as a silent step of a build may take.

    Raises
    ------
    EngineMissing, EngineUnfit, ToolMissing
        As `vaibify_lab.engines.docker.client.connect` does.
    """
    from vaibify_lab.engines.docker.client import connect as knock

    client = knock(base_url).api
    client.timeout = SECONDS
    return client


@contextmanager
def asking(what: str, *, where: str | None = None) -> Iterator[None]:
    """Turn what the engine's client raises into our errors; ``what`` begins the sentence.

    Raises
    ------
    ImageRefused, RegistryUnreachable, DiskFull
        By what the engine says.
    EngineLost
        When it went away.
    """
    from docker.errors import APIError, DockerException
    from urllib3.exceptions import HTTPError

    try:
        yield
    except APIError as error:
        raise failure(what, str(error.explanation or error), where=where) from None
    except (DockerException, HTTPError, OSError) as error:
        reason = shown(" ".join(str(error).split()))[:200] or type(error).__name__
        text = f"{what}: the container engine does not answer any more ({reason})"
        raise EngineLost(text, where=where) from None


def failure(what: str, said: str, *, where: str | None = None) -> VaibifyError:
    """Return the error for what an engine or a registry said."""
    words = shown(" ".join(said.split()))[:600]
    if "no space left on device" in words:
        return DiskFull(f"{what}: the engine has no space left", where=where, action="free some")
    if "Cannot overwrite digest" in words:
        text = f"{what}: the engine holds the variant for another platform under this digest"
        return CannotCheck(text, where=where, action="take it away with docker rmi, and try again")
    if _UNREACHABLE.search(words):
        text = f"{what}: the registry does not answer ({words})"
        return RegistryUnreachable(text, where=where)
    return ImageRefused(f"{what}: {words}", where=where)
