"""The envelope: what is there, written anew, verified, and what a clone would lack."""

from __future__ import annotations

import asyncio

from vaibify_lab.core.errors import UsageError
from vaibify_lab.handlers.base import Handler, allowed
from vaibify_lab.handlers.jobs import ENVELOPE, NOTHING, start
from vaibify_lab.project.envelope_state import envelope_state, manifest_state
from vaibify_lab.runs.preflight import fails_check


class EnvelopeHandler(Handler):
    """``projects/<id>/envelope``."""

    @allowed("read", "envelope")
    async def get(self, identity: str) -> None:
        """Return the three files as they are."""
        self.answer(await self.ask(identity, lambda project: envelope_state(project.opened)))

    @allowed("write", "envelope")
    async def post(self, identity: str) -> None:
        """Write it, or a part."""
        await start(self, identity, "envelope", self.body(ENVELOPE))


class ManifestHandler(Handler):
    """``projects/<id>/manifest``."""

    @allowed("read", "manifest")
    async def get(self, identity: str) -> None:
        """Return what it lists."""
        self.answer(await self.ask(identity, lambda project: manifest_state(project.opened)))

    @allowed("write", "manifest")
    async def post(self, identity: str) -> None:
        """Write it."""
        self.body(NOTHING)
        await start(self, identity, "envelope", {"only": "manifest"})


class VerifyHandler(Handler):
    """``projects/<id>/manifest/verify``."""

    @allowed("execute", "manifest")
    async def post(self, identity: str) -> None:
        """Read every byte that it lists."""
        self.body(NOTHING)
        await start(self, identity, "verify", {})


class LookHandler(Handler):
    """``projects/<id>/verify``."""

    @allowed("execute", "verify")
    async def post(self, identity: str) -> None:
        """Read every byte of the steps anew."""
        self.body(NOTHING)
        await start(self, identity, "look", {})


class CheckHandler(Handler):
    """``projects/<id>/check``."""

    @allowed("read", "check")
    async def get(self, identity: str) -> None:
        """Return what is wrong before anything runs."""
        publish = self.get_query_argument("publish", "0")
        if publish not in ("0", "1"):
            raise UsageError(f"publish: expected 0 or 1, found {publish[:40]!r}")
        project = (await self.entry(identity)).afresh()
        findings = await asyncio.to_thread(project.check, publish=publish == "1")
        found = [one.to_json() for one in findings]
        self.answer({"passed": not fails_check(findings), "findings": found})
