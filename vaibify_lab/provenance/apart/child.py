"""The process apart: ``python -I -S child.py``, pairs of files in, comparisons out.

Before it reads the first byte that a step wrote it gives up what it can: memory and time have
limits, it writes no file, and where no sandbox is around it the kernel's Landlock forbids writing
and TCP.
"""

from __future__ import annotations

import base64
import json
import os
import resource
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vaibify_lab.provenance.compare.verdict import Picture

PACKAGES = os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
)
MEMORY = 4 * 2**30  # bytes of address space
SECONDS = 120  # of processor time for one pair
PICTURES = b"/"  # in place of a path: two pictures of a cell's output
_TEXT = 1_000
_LARGEST = 8 * 2**20  # bytes of a picture that is shown


def main() -> None:
    """Answer pairs until there are no more."""
    answers = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no answer
    sys.path.append(PACKAGES)
    from vaibify_lab.files import frames

    begin = json.loads(frames.receive(0))
    sys.path += begin["packages"]
    _limit()
    if begin["landlock"]:
        _confine()
    from vaibify_lab.provenance.apart.answer import rules_from_json
    from vaibify_lab.provenance.compare.files import compare_files
    from vaibify_lab.provenance.compare.pictures import compare_pictures

    rules = rules_from_json(begin["rules"])
    while path := frames.receive(0):
        stored, fresh = frames.receive(0), frames.receive(0)
        _take_time()
        if path == PICTURES:
            found = compare_pictures(stored, fresh)
        else:
            found = compare_files(path.decode("utf-8", "replace"), stored, fresh, rules)
        value = _cut(found.as_json()) | {"pictures": [_shown(one) for one in found.pictures]}
        frames.send(answers, json.dumps(value).encode())
    os._exit(0)


def _limit() -> None:
    for kind, most in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 64),
    ):
        hard = resource.getrlimit(kind)[1]
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with suppress(OSError, ValueError):  # not every system has every limit
            resource.setrlimit(kind, (limit, limit))


def _take_time() -> None:
    """Let the kernel end us when this pair takes too long."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = int(used.ru_utime + used.ru_stime) + 1 + SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _confine() -> None:
    from vaibify_lab.engines.local import landlock

    with suppress(OSError):  # this kernel has none: the limits alone hold
        landlock.restrict([], [], deny_tcp=True)


def _shown(picture: Picture) -> dict[str, str]:
    shown = picture.shown if picture.shown and len(picture.shown) <= _LARGEST else b""
    return {"text": picture.text[:_TEXT], "shown": base64.b64encode(shown).decode()}


def _cut(value: Any) -> Any:
    """Shorten texts, and let no half character through: both would be refused."""
    if isinstance(value, dict):
        return {key: _cut(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_cut(one) for one in value]
    if isinstance(value, str):
        return value[:_TEXT].encode("utf-8", "replace").decode("utf-8")
    return value


if __name__ == "__main__":
    main()
