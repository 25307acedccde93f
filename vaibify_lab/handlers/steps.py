"""One step whole, and the bytes of its outputs."""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import Callable
from typing import Any

from vaibify_lab.core.errors import BytesChanged, UsageError
from vaibify_lab.core.paths import shown
from vaibify_lab.handlers.base import Common, Handler, allowed
from vaibify_lab.project import Project
from vaibify_lab.project.details import step_details
from vaibify_lab.project.versions import Version, output_now, output_signed

_FOR_EVER = "max-age=31536000, immutable"  # bytes of one hash never change
_BINARY = "application/octet-stream"


class StepHandler(Handler):
    """``projects/<id>/steps/<slug>``."""

    @allowed("read", "steps")
    async def get(self, identity: str, slug: str) -> None:
        """Return everything that is known of a step."""

        def details(project: Project) -> dict[str, Any]:
            return step_details(project.opened, project.look(), project.step(slug))

        self.answer(await self.ask(identity, details))


class PlotHandler(Common):
    """``projects/<id>/steps/<slug>/plots/<path>``: hostile bytes, so they get no rights."""

    @allowed("read", "plots")
    async def get(self, identity: str, slug: str, path: str) -> None:
        """Send an output as it is, or as it was signed."""
        wanted = self.get_query_argument("version", "now")
        finders: dict[str, Callable[..., Version]] = {"now": output_now, "signed": output_signed}
        if wanted not in finders:
            raise UsageError(f"version: expected now or signed, found {wanted[:40]!r}")
        project = (await self.entry(identity)).afresh()

        def find() -> Version:
            step = project.step(slug)
            return finders[wanted](project.opened, project.look(), step, path)

        found = await asyncio.to_thread(find)
        asked = self.get_query_argument("bytes", "")
        if asked not in ("", found.sha256):
            raise BytesChanged("holds other bytes than are asked for", where=shown(path))
        self.set_header("Etag", f'"{found.sha256}"')
        self.set_header("Cache-Control", f"private, {_FOR_EVER if asked else 'no-cache'}")
        if self.check_etag_header():
            self.set_status(304)
            self.finish()
            return
        self.set_header("Content-Type", mimetypes.guess_type(path)[0] or _BINARY)
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header(
            "Content-Security-Policy",
            "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
        )
        self.finish(found.data)
