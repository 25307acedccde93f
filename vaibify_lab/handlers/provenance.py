"""Pins of a step, and the graph of what produced what: of a step, of a workflow."""

from __future__ import annotations

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
        self.answer(await self.ask(identity, lambda project: project.lineage(slug).to_json()))


class ProvenanceHandler(Handler):
    """``projects/<id>/provenance``."""

    @allowed("read", "provenance")
    async def get(self, identity: str) -> None:
        """Return the graph of the workflow."""
        self.answer(await self.ask(identity, lambda project: project.lineage().to_json()))
