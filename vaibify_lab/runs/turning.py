"""The moment everything turns green: then, and only here, the envelope writes itself."""

from __future__ import annotations

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.report import all_green
from vaibify_lab.runs import enveloping
from vaibify_lab.runs.opened import Opened


def all_are_green(opened: Opened) -> bool:
    """Tell whether every step of every workflow of the repository is green."""
    paths = opened.workflow_paths()
    return bool(paths) and all(_is_green(opened, path) for path in paths)


def _is_green(opened: Opened, path: str) -> bool:
    """Tell whether every step is green; of a workflow that cannot be read, none is."""
    try:
        return all_green(opened.look(path).reports)
    except VaibifyError:
        return False


def envelope_if_turned_green(opened: Opened, before: bool) -> bool:
    """Bring environment and manifest up to date when what was not all green now is.

    Called at the end of a run or a sign-off *made here*. The lock is left alone: making it anew
    would make stale what has just become green. Returns whether the envelope was written.
    """
    if before or not all_are_green(opened):
        return False
    enveloping.write_environment(opened)
    enveloping.write_manifest(opened)
    return True
