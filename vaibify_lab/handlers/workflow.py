"""The workflow file, read and written whole."""

from __future__ import annotations

from typing import Any

from vaibify_lab.core.errors import UsageError
from vaibify_lab.core.spec import Anything, Shape, Text
from vaibify_lab.handlers.base import Handler, allowed
from vaibify_lab.project import Project
from vaibify_lab.project.editing import read_workflow

WRITTEN = Shape(
    {
        "sha256": Text(64, 64, r"^[0-9a-f]{64}$", "64 lower-case hex digits"),
        "text": Text(16_000_000),
        "document": Anything(),
    },
    frozenset({"sha256"}),
)


class WorkflowHandler(Handler):
    """``projects/<id>/workflow``."""

    @allowed("read", "workflow")
    async def get(self, identity: str) -> None:
        """Return the file."""
        self.answer(
            await self.ask(identity, lambda project: read_workflow(project.opened, project.path))
        )

    @allowed("write", "workflow")
    async def put(self, identity: str) -> None:
        """Put another in its place, if it is still the one that was read."""
        asked = self.body(WRITTEN)
        if ("text" in asked) == ("document" in asked):
            raise UsageError("give either text or document")
        new = {key: asked[key] for key in ("text", "document") if key in asked}

        def write(project: Project) -> dict[str, Any]:
            return project.write_workflow(asked["sha256"], **new)

        self.answer(await self.ask(identity, write))
