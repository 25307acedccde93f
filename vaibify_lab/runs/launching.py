"""Launching something in a step's place and seeing it to its end: shared by steps and tests."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from vaibify_lab.core.model import Step
from vaibify_lab.engines.base import Ended, Handle, Launch, Resources
from vaibify_lab.runs.context import RunContext
from vaibify_lab.runs.hostfiles import os_errors
from vaibify_lab.runs.waiting import Wait

_POLL_SECONDS = (0.005, 0.1)
_TELL_SECONDS = 2.0  # at most this long until a long-running step's new output is told of
_TELL_SHARE = 200  # ... and at least this fraction of its time


def launch_and_wait(
    context: RunContext,
    launch: Launch,
    slug: str,
    seconds: float | None,
    person: Wait | None = None,
) -> tuple[Ended, bool]:
    """Launch, wait to the end; end it when its time is up, or the run or its person says so.

    Returns how it ended, and whether its time ran out.
    """
    handle = context.engine.launch(launch)
    if person is not None:
        person.begin(launch.state)
    tell = _teller(context, slug, launch.state)
    end = None if seconds is None else time.monotonic() + seconds
    pause, timed_out, asked = _POLL_SECONDS[0], False, False
    while True:
        ended = handle.poll()
        tell(ended is not None)
        if ended is not None:
            return ended, timed_out
        late = end is not None and time.monotonic() > end
        done = False
        if person is not None:
            done = person.look(handle)
            late = end is not None and time.monotonic() > end + person.still_seconds()
        if not asked and (late or done or context.stopping.is_set()):
            timed_out = not (done or context.stopping.is_set())
            asked = True
            _stop(handle, launch.state)
        handle.wait(pause)
        pause = min(pause * 1.5, _POLL_SECONDS[1])


def _stop(handle: Handle, state: Path) -> None:
    with os_errors(str(state)):
        handle.stop()


def _teller(context: RunContext, slug: str, state: Path) -> Callable[[bool], None]:
    """Return what tells the journal of new output: stream, offset and length, never the bytes.

    The longer a step runs the rarer it tells, so that a week's journal is still read in no time.
    """
    told = {"stdout": 0, "stderr": 0}
    began = last = time.monotonic()

    def tell(at_once: bool) -> None:
        nonlocal last
        now = time.monotonic()
        if not at_once and now - last < min((now - began) / _TELL_SHARE, _TELL_SECONDS):
            return
        for stream, offset in told.items():
            size = _size(state / stream)
            if size > offset:
                last = now
                context.journal.write(
                    "output",
                    step=slug,
                    stream=stream,
                    offset=offset,
                    length=size - offset,
                    log=f"{state.name}/{stream}",
                )
                told[stream] = size

    return tell


def fresh_state(folder: Path, kind: str = "attempt") -> Path:
    """Return a new, empty folder for an engine's state: a run may launch a step more than once."""
    with os_errors(str(folder)):
        folder.mkdir(parents=True, exist_ok=True)
        count = 1
        while (state := folder / f"{kind}-{count}").exists():
            count += 1
        state.mkdir()
    return state


def resources_of(step: Step) -> Resources:
    """Return what a step asks of the machine, as engines take it."""
    asked = step.resources
    return Resources(asked.cpus, asked.memory_megabytes, asked.gpus, asked.shm_megabytes)


def _size(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
