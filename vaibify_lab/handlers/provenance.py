"""Pins of a step, and the graph of what produced what: of a step, of a workflow."""

from __future__ import annotations

import asyncio

from vaibify_lab.core.errors import UsageError
from vaibify_lab.handlers.base import Handler, allowed


class StepPinsHandler(Handler):
    """``projects/<id>/steps/<slug>/pins``."""

    @allowed("read", "provenance")
    async def get(self, identity: str, slug: str) -> None:
        """Return what a step's last passed run pinned, each content checked."""
        self.answer(await self.ask(identity, lambda project: project.pins(slug).to_json()))


class StepProvenanceHandler(Handler):
    """``projects/<id>/steps/<slug>/provenance``."""

    @allowed("read", "provenance")
    async def get(self, identity: str, slug: str) -> None:
        """Return the graph of a step, the whole way back."""
        await answer_graph(self, identity, slug)


class ProvenanceHandler(Handler):
    """``projects/<id>/provenance``."""

    @allowed("read", "provenance")
    async def get(self, identity: str) -> None:
        """Return the graph of the workflow."""
        await answer_graph(self, identity, None)


async def answer_graph(handler: Handler, identity: str, slug: str | None) -> None:
    """Send a graph as JSON, or as a picture to keep."""
    wanted = handler.get_query_argument("format", "json")
    if wanted not in ("json", "svg"):
        raise UsageError(f"format: expected json or svg, found {wanted[:40]!r}")
    found = await handler.ask(identity, lambda project: project.lineage(slug))
    if wanted == "json":
        handler.answer(found.to_json())
        return
    from vaibify_lab.provenance.picture.svg import svg

    picture = await asyncio.to_thread(svg, found)
    handler.set_header("X-Content-Type-Options", "nosniff")
    handler.set_header("Content-Security-Policy", "sandbox; default-src 'none'")
    handler.set_header("Content-Disposition", 'attachment; filename="lineage.svg"')
    handler.finish(picture, set_content_type="image/svg+xml")
