"""The files that tests are about: those that can be read off a step, and those a session names."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import fault_of, is_protected
from vaibify_lab.files.stamps import Stamp
from vaibify_lab.runs.context import RunContext
from vaibify_lab.runs.writes import stamps

_TICK = 20_000_000  # ns: a file's times come from a clock that may lag so much


@dataclass(frozen=True, slots=True)
class Hashes:
    """What the tests were about: hashes of outputs, inputs and test files before they began.

    ``stamps`` are those of all these files, taken before they were hashed.
    """

    outputs: Mapping[str, str]
    inputs: Mapping[str, str]
    tests: Mapping[str, str]
    stamps: Mapping[str, Stamp | None]


def hashes_of(context: RunContext, step: Step) -> Hashes:
    """Stamp, then hash, what the tests of a step are about."""
    observer = context.observer
    groups = (
        observer.expand(step.outputs),
        observer.expand((*step.inputs, *step.test_inputs)),
        observer.scout.test_files(step),
    )
    before = stamps(context.tree, dict.fromkeys(path for group in groups for path in group))
    states = observer.cache.observe(before)
    outputs, inputs, tests = (
        {path: states[path].sha256 or "" for path in group if states[path].kind == "file"}
        for group in groups
    )
    return Hashes(outputs, inputs, tests, before)


def changed_since(context: RunContext, hashes: Hashes) -> str | None:
    """Return a file that is not as it was before the tests were told what they are about."""
    now = stamps(context.tree, hashes.stamps)
    return next((path for path, seen in hashes.stamps.items() if now[path] != seen), None)


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
