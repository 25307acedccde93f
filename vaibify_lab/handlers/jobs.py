"""What takes long and is no run: started here, followed as a run's journal is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jupyter_server.auth.decorator import ws_authenticated

from vaibify_lab.core.errors import UsageError
from vaibify_lab.core.spec import Either, Flag, Listed, Number, OneOf, Shape, Text
from vaibify_lab.handlers.base import Handler, allowed, require_recording
from vaibify_lab.handlers.journal import JournalHandler
from vaibify_lab.project.jobs import WRITERS, Kind
from vaibify_lab.serving.jobs import JobSource

_PARTS = ("manifest", "lock", "environment")
_NAME = Either((Text(1000, 1),), null=True)
ENVELOPE = Shape({"only": Either((OneOf(_PARTS),), null=True)})
NOTHING = Shape({})
REPRODUCTION = Shape(
    {
        "skip": Listed(Number(1, 3, whole=True), 3),
        "rerun": Flag(),
        "all_workflows": Flag(),
    }
)
RERUN = Shape({"steps": Listed(Text(1000, 1), 1000)}, frozenset({"steps"}))
BUILD = Shape({"no_cache": Flag(), "base_image": _NAME, "push": _NAME})


async def start(handler: Handler, identity: str, kind: Kind, asked: Mapping[str, Any]) -> None:
    """Start a job and answer with its name."""
    if kind in WRITERS:
        require_recording(handler)
    job = await handler.bench.jobs.start(await handler.entry(identity), kind, asked)
    handler.answer({"job": job.id}, 202)


class ReproductionsHandler(Handler):
    """``projects/<id>/reproductions``."""

    @allowed("read", "reproductions")
    async def get(self, identity: str) -> None:
        """List them."""
        jobs = self.bench.jobs.of(await self.entry(identity), "reproduction")
        self.answer({"jobs": [one.to_json() for one in jobs]})

    @allowed("execute", "reproductions")
    async def post(self, identity: str) -> None:
        """Begin one."""
        await start(self, identity, "reproduction", self.body(REPRODUCTION))


class RerunsHandler(Handler):
    """``projects/<id>/reruns``."""

    @allowed("read", "reproductions")
    async def get(self, identity: str) -> None:
        """List them."""
        jobs = self.bench.jobs.of(await self.entry(identity), "rerun")
        self.answer({"jobs": [one.to_json() for one in jobs]})

    @allowed("execute", "reproductions")
    async def post(self, identity: str) -> None:
        """Run steps again on a copy, and compare."""
        asked = self.body(RERUN)
        if not asked["steps"]:
            raise UsageError("steps: expected at least one step")
        await start(self, identity, "rerun", asked)


class JobHandler(Handler):
    """``projects/<id>/jobs/<job>``."""

    _track_activity = False

    @allowed("read", "jobs")
    async def get(self, identity: str, job: str) -> None:
        """Return how it stands."""
        self.answer(self.bench.jobs.find(await self.entry(identity), job).to_json())

    @allowed("execute", "jobs")
    async def delete(self, identity: str, job: str) -> None:
        """Cancel it."""
        found = self.bench.jobs.find(await self.entry(identity), job)
        self.bench.jobs.cancel(found)
        self.answer({"job": found.id}, 202)


class JobJournalHandler(JournalHandler):
    """``projects/<id>/jobs/<job>/journal``."""

    @ws_authenticated
    @allowed("read", "jobs")
    async def get(self, identity: str, job: str) -> None:
        """Answer with lines, or change to a websocket."""
        after = self.number("after")
        found = self.bench.jobs.find(await self.shelf.entry(identity), job)
        hello = {"job": found.id, "after": after, "first": found.first}
        await self.begin(JobSource(found, after), hello)
