"""The byte-exact logs that a journal's ``output`` events speak of; nothing from anywhere else."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from vaibify_lab.core.errors import MissingFile
from vaibify_lab.runs.journal import RunFolder

_SLUG = re.compile(r"[A-Za-z0-9_.-]*[A-Za-z0-9_-]")
_LOG = re.compile(r"[a-z]+-[0-9]{1,9}/(?:stdout|stderr)")


@dataclass(frozen=True, slots=True)
class Written:
    """The bytes of one log that an event tells of."""

    slug: str
    log: str
    offset: int
    length: int

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> Written | None:
        """Read an ``output`` event; None when it names anything but a log of the run."""
        slug, log = event.get("step"), event.get("log")
        offset, length = event.get("offset"), event.get("length")
        if not isinstance(slug, str) or not isinstance(log, str) or not is_log(slug, log):
            return None
        if not isinstance(offset, int) or not isinstance(length, int) or min(offset, length) < 0:
            return None
        return cls(slug, log, offset, length)


def is_log(slug: str, log: str) -> bool:
    """Tell whether these name a log below a run's folder."""
    return bool(_SLUG.fullmatch(slug) and _LOG.fullmatch(log))


def open_named(folder: RunFolder, slug: str, log: str) -> BinaryIO:
    """Open a log that somebody asks for by its name.

    Raises
    ------
    MissingFile
    """
    try:
        if is_log(slug, log):
            return open_log(folder, slug, log)
    except OSError:
        pass
    raise MissingFile(f"there is no log {log!r} of {slug!r} in run {folder.run_id}")


def open_log(folder: RunFolder, slug: str, log: str) -> BinaryIO:
    """Open a log; no link at its end is followed and nothing but a file is read.

    Raises
    ------
    OSError
    """
    place: Path = folder.step(slug) / log
    opened = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    file = os.fdopen(opened, "rb")
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        file.close()
        raise FileNotFoundError(f"{log} is not a file")
    return file
