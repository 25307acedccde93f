"""Runs watched while they go on, so that everybody on Jupyter's bus hears when a step changed."""

from __future__ import annotations

import asyncio
from typing import Any

from vaibify_lab.events import Emitter
from vaibify_lab.runs.journal import RunFolder
from vaibify_lab.serving.shelf import Entry
from vaibify_lab.serving.tail import Event, Tail

_SECONDS = 0.25
_STEPS = {
    "stepStarted": "started",
    "stepPass": "passed",
    "stepCached": "passed",
    "stepFail": "failed",
    "stepBlocked": "blocked",
    "stepSkipped": "skipped",
    "tests": "tested",
}
_REFUSED = "runRefused"


class Watches:
    """One task a run that goes on."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def follow(self, entry: Entry, folder: RunFolder) -> None:
        """Follow a run to its end; one that is followed already is left alone."""
        if folder.run_id in self._tasks:
            return
        task = asyncio.create_task(self._watch(entry, folder))
        self._tasks[folder.run_id] = task
        task.add_done_callback(lambda _: self._tasks.pop(folder.run_id, None))

    async def close(self) -> None:
        """Stop watching; the runs themselves go on."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self, entry: Entry, folder: RunFolder) -> None:
        tail = Tail(folder, with_output=False)
        self._emitter.run(entry.id, folder.run_id, "started")
        while not tail.ended:
            for event in await asyncio.to_thread(tail.read):
                self._tell(entry, folder, event)
            if not tail.ended:
                await asyncio.sleep(_SECONDS)

    def _tell(self, entry: Entry, folder: RunFolder, event: Event) -> None:
        name = str(event["event"])
        if name in _STEPS:
            self._emitter.step(entry.id, str(event.get("step")), _STEPS[name])
        elif name in ("runComplete", _REFUSED):
            outcome: Any = "refused" if name == _REFUSED else event.get("outcome")
            self._emitter.run(entry.id, folder.run_id, "ended", outcome=outcome)
