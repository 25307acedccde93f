"""The moment everything turns green: then, and only here, the envelope writes itself."""

from __future__ import annotations

from contextlib import suppress

from vaibify_lab.core.disk import of_the_disk
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.report import all_green
from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.runs import enveloping
from vaibify_lab.runs.opened import Opened

TURNING = f"{LOCAL}/turning"


def were_green(opened: Opened) -> bool:
    """Tell whether all was green before what is about to be done, envelope and all."""
    return _all_are_green(opened) and not _was_cut_off(opened)


def begin(opened: Opened, before: bool) -> None:
    """Note that all may turn green now: after a death the next to come here writes the envelope."""
    if not before:
        opened.tree.write(TURNING, b"")


def _was_cut_off(opened: Opened) -> bool:
    """Tell whether somebody died between the last turn to green and the envelope."""
    return not opened.local_is_tracked() and opened.tree.lstat(TURNING) is not None


def _all_are_green(opened: Opened) -> bool:
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
    turned = not before and _all_are_green(opened)
    if turned:
        enveloping.write_environment(opened)
        enveloping.write_manifest(opened)
    if not before:
        with suppress(VaibifyError):
            opened.tree.remove(TURNING)
    return turned


def fault_of_the_envelope(opened: Opened, before: bool) -> VaibifyError | None:
    """Do the same where what comes before it is done and stands; return what failed."""
    try:
        envelope_if_turned_green(opened, before)
    except VaibifyError as error:
        return error
    except OSError as error:
        if (told := of_the_disk(error)) is None:
            raise
        return told
    return None
