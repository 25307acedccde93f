"""The engine's errors as ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from vaibify_lab.core.errors import EngineLost, EngineUnfit

AWAY = "the container engine does not answer any more"


class NotThere(EngineUnfit):
    """The engine does not have what was asked for."""

    code = "not-there"


@contextmanager
def asking(what: str) -> Iterator[None]:
    """Turn what a call raises into errors of ours; ``what`` begins the sentence.

    Raises
    ------
    NotThere
        There is no such container or image.
    EngineUnfit
        The engine refused, with its reason.
    EngineLost
        It does not answer, or broke off.
    """
    from docker.errors import APIError, NotFound
    from urllib3.exceptions import HTTPError

    try:
        yield
    except APIError as error:
        reason = " ".join(str(error.explanation or error).split())[:600]
        kind = NotThere if isinstance(error, NotFound) else EngineUnfit
        raise kind(f"{what}: {reason}") from None
    except (OSError, HTTPError) as error:
        reason = type(error).__name__ if not str(error) else str(error).splitlines()[0][:200]
        raise EngineLost(AWAY, where=f"{what}: {reason}") from None
