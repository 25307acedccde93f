"""A review as a document to download: made from what this server checked, recorded nowhere."""

from __future__ import annotations

import asyncio
from typing import Any

from vaibify_lab.core.spec import OneOf, Shape, Text
from vaibify_lab.handlers.base import Handler, allowed
from vaibify_lab.project.jobs import Kind
from vaibify_lab.project.reviewing import VERDICTS, about, write_review
from vaibify_lab.serving.shelf import Entry

ASKED = Shape(
    {"verdict": OneOf(VERDICTS), "text": Text(100_000, 1), "by": Text(1000)},
    frozenset({"verdict", "text"}),
)


class ReviewsHandler(Handler):
    """``projects/<id>/reviews``."""

    @allowed("read", "reviews")
    async def get(self, identity: str) -> None:
        """Return what a review would be about, and who writes it."""

        def state() -> dict[str, Any]:
            opened = entry.afresh().opened
            return {"about": about(opened), "name": opened.repository.identity()}

        entry = await self.entry(identity)
        self.answer(await asyncio.to_thread(state))

    @allowed("execute", "reviews")
    async def post(self, identity: str) -> None:
        """Answer with the document."""
        asked = self.body(ASKED)
        entry = await self.entry(identity)
        checks, reruns = self._done(entry, "reproduction"), self._done(entry, "rerun")
        project = entry.afresh()
        found = await asyncio.to_thread(lambda: write_review(project, asked, checks, reruns))
        self.answer(found, 201)

    def _done(self, entry: Entry, kind: Kind) -> list[dict[str, Any]]:
        jobs = self.bench.jobs.of(entry, kind)
        return [one.to_json() for one in jobs if one.state == "done"]
