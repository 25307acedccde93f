"""The image and the long-lived container."""

from __future__ import annotations

import asyncio
from typing import Any

from vaibify_lab.core.spec import Flag, Shape
from vaibify_lab.handlers.base import Handler, allowed
from vaibify_lab.handlers.jobs import BUILD, start
from vaibify_lab.project.image_state import container_state, image_state

STARTED = Shape({"with_mounts": Flag()})


class ImageHandler(Handler):
    """``projects/<id>/image``."""

    _track_activity = False

    @allowed("read", "image")
    async def get(self, identity: str) -> None:
        """Return what is pinned, which engine answers, and the newest build."""
        entry = await self.entry(identity)
        state = await asyncio.to_thread(image_state, entry.afresh().opened)
        builds = [one.to_json() for one in self.bench.jobs.of(entry, "build")]
        self.answer({**state, "build": builds[-1] if builds else None})

    @allowed("execute", "image")
    async def post(self, identity: str) -> None:
        """Build it."""
        await start(self, identity, "build", self.body(BUILD))


class ContainerHandler(Handler):
    """``projects/<id>/container``."""

    _track_activity = False

    @allowed("read", "container")
    async def get(self, identity: str) -> None:
        """Return how it is, and what it uses."""
        project = (await self.entry(identity)).afresh()
        self.answer(await asyncio.to_thread(container_state, project.opened))

    @allowed("execute", "container")
    async def post(self, identity: str) -> None:
        """Start it."""
        asked = self.body(STARTED)
        project = (await self.entry(identity)).afresh()

        def begin() -> dict[str, Any]:
            started, left = project.image().start(with_mounts=asked.get("with_mounts", False))
            return {**started.to_json(), "not_mounted": list(left)}

        self.answer(await asyncio.to_thread(begin), 201)

    @allowed("execute", "container")
    async def delete(self, identity: str) -> None:
        """Stop and remove it."""
        project = (await self.entry(identity)).afresh()
        self.answer({"stopped": await asyncio.to_thread(lambda: project.image().stop())})
