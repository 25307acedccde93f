"""Everything that the server keeps: projects, their polls, the runs that it watches, settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from vaibify_lab.core.report import StepReport
from vaibify_lab.events import Emitter
from vaibify_lab.runs.journal import RUNS, RunFolder
from vaibify_lab.serving.jobs import Jobs
from vaibify_lab.serving.poll import Answer, Poll
from vaibify_lab.serving.shelf import Entry, Shelf
from vaibify_lab.serving.watch import Watches


@dataclass(frozen=True, slots=True)
class Settings:
    """What the extension was configured with.

    Attributes
    ----------
    poll_seconds : float
        How often a client should poll.
    reviewer : bool
        Nothing is recorded in a project.
    run_defaults : mapping
        Options of a run that a request does not give.
    """

    poll_seconds: float = 5.0
    reviewer: bool = False
    run_defaults: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return what a client is told."""
        return {"poll_seconds": self.poll_seconds, "reviewer": self.reviewer}


class Bench:
    """What the handlers work at."""

    def __init__(
        self, shelf: Shelf, settings: Settings, emitter: Emitter, log: Callable[[str], None]
    ) -> None:
        self.shelf = shelf
        self.settings = settings
        self.emitter = emitter
        self.watches = Watches(emitter)
        self.jobs = Jobs(log)
        self._polls: dict[str, Poll] = {}

    def poll(self, entry: Entry) -> Poll:
        """Return a project's poll."""
        kept = self._polls.get(entry.id)
        if kept is None or kept.entry.shelved is not entry.shelved:
            kept = self._polls[entry.id] = Poll(self.shelf, entry, self._changed)
        return kept

    async def close(self) -> None:
        """Let go of what belongs to the server; runs go on."""
        await self.watches.close()
        await self.jobs.close()

    async def saved(self, contents: str) -> None:
        """Tell the bus that a notebook of a project was saved."""
        here = await self.shelf.here(contents)
        for entry in here.entries:
            self.emitter.notebook(entry.id, here.contents, here.path or "")

    def _changed(self, entry: Entry, answer: Answer, steps: list[StepReport]) -> None:
        for step in steps:
            self.emitter.step(entry.id, step.slug, "changed", run=step.run, green=step.green)
        current = answer.status.current
        if current is not None and current.alive is not False:
            self.watches.follow(entry, RunFolder(entry.root / RUNS / current.run_id))
