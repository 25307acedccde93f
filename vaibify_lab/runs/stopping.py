"""Ending a run, and what one left running that lost its runner."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from vaibify_lab.core import disk
from vaibify_lab.core.errors import CannotCheck, NotPassed
from vaibify_lab.engines.base import Handle
from vaibify_lab.runs.engine_choice import engine_of
from vaibify_lab.runs.journal import RunFolder
from vaibify_lab.runs.live import Unfinished, runner_in, unfinished
from vaibify_lab.runs.opened import Opened

_ENDING_SECONDS = 15.0


def stop(opened: Opened, run_id: str | None = None) -> RunFolder:
    """Ask the run in progress to stop; where its runner is lost, end the steps it left.

    Raises
    ------
    NotPassed
        When nothing runs, or another run than the one that is named.
    """
    run = None if opened.local_is_tracked() else unfinished(opened.tree.root)
    if run_id is not None and (run is None or run.folder.run_id != run_id):
        raise NotPassed(f"run {run_id} is not in progress")
    if run is not None and run.alive is not False:
        ask_to_stop(run.folder)
        return run.folder
    if run is None or not end_leftovers(run):
        raise NotPassed("there is no run in progress")
    return run.folder


def ask_to_stop(folder: RunFolder) -> None:
    """Ask a run to stop; where the disk has no room for the request, a signal must do.

    Raises
    ------
    DiskFull, CannotCheck
        It cannot be asked.
    """
    try:
        folder.stop_request.touch()
    except OSError as error:
        runner = runner_in(folder)
        with suppress(OSError):
            if runner is not None and runner.alive():
                os.kill(runner.pid, signal.SIGTERM)
                return
        text = "the run cannot be asked to stop"
        raise disk.failure(error, text, str(folder.stop_request)) from None


def end_leftovers(run: Unfinished) -> list[str]:
    """End what still runs of a run without a runner; return the steps it was of.

    Raises
    ------
    CannotCheck
        When it does not end, or its engine does not answer: it may still write.
    """
    described = run.started.get("engine")
    engine = engine_of(described if isinstance(described, dict) else {})
    ended = []
    for slug, state in _states(run.folder):
        handle = engine.find(state)
        if handle is not None and handle.poll() is None:
            _end(handle, state)
            ended.append(slug)
    return ended


def _end(handle: Handle, state: Path) -> None:
    handle.stop()
    deadline = time.monotonic() + _ENDING_SECONDS
    while handle.poll() is None:
        if time.monotonic() > deadline:
            raise CannotCheck("processes of a lost run do not end", where=str(state))
        time.sleep(0.02)


def _states(folder: RunFolder) -> list[tuple[str, Path]]:
    found = []
    steps = folder.path / "steps"
    for slug in sorted(os.listdir(steps)) if steps.is_dir() else []:
        found += [(slug, state) for state in sorted((steps / slug).iterdir()) if state.is_dir()]
    return found
