"""The files that a test session says decided what it said, beside those that can be read off it."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterable

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import fault_of, is_protected
from vaibify_lab.runs.context import RunContext

_TICK = 20_000_000  # ns: a file's times come from a clock that may lag so much


def in_repository(context: RunContext, step: Step, seen: Iterable[str]) -> tuple[str, ...]:
    """Return the repository's own files among absolute paths of the tests' side, sorted.

    The tests' word: what is no plain path of a regular file here is passed over, and so is what
    the step makes itself.
    """
    root = context.engine.container_root(context.tree.root, context.project.name)
    roots = tuple({f"{root}/", f"{os.path.realpath(root)}/"})
    paths = {
        posixpath.normpath(one.removeprefix(here))
        for one in seen
        for here in roots
        if one.startswith(here)
    }
    found = sorted(one for one in paths if _is_file(context, one))
    made = step.made_among(found)
    return tuple(one for one in found if one not in made)


def touched_since(context: RunContext, paths: Iterable[str], began: int) -> str | None:
    """Return a file that somebody changed since a time (ns): who was told of it is not known."""
    for path in paths:
        try:
            status = context.tree.lstat(path)
        except VaibifyError:
            return path
        if status is None or max(status.st_ctime_ns, status.st_mtime_ns) >= began - _TICK:
            return path
    return None


def _is_file(context: RunContext, path: str) -> bool:
    if fault_of(path) is not None or is_protected(path):
        return False
    try:
        status = context.tree.lstat(path)
    except VaibifyError:
        return False
    return status is not None and stat.S_ISREG(status.st_mode)
