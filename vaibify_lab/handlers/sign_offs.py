"""A person's word on exactly the bytes that were shown."""

from __future__ import annotations

import asyncio

from vaibify_lab.core.spec import Mapped, OneOf, Shape, Text
from vaibify_lab.handlers.base import Handler, allowed
from vaibify_lab.handlers.runs import person_of
from vaibify_lab.project import Project
from vaibify_lab.project.signing import SignedOff, ToSign, name_of, plain_sign_off, sign_offs_of

ASKED = Shape(
    {
        "verdict": OneOf(("passed", "failed")),
        "run_id": Text(100, 1),
        "hashes": Mapped(Text(64, 64, r"^[0-9a-f]{64}$", "64 lower-case hex digits")),
        "by": Text(1000),
        "note": Text(10_000),
    },
    frozenset({"verdict", "run_id", "hashes"}),
)


class SignOffsHandler(Handler):
    """``projects/<id>/steps/<slug>/sign-offs``."""

    @allowed("read", "sign-offs")
    async def get(self, identity: str, slug: str) -> None:
        """Return what would be signed, who signs, and what was signed before."""
        entry = await self.entry(identity)
        self.answer(await asyncio.to_thread(lambda: sign_offs_of(entry.afresh(), slug)))

    @allowed("write", "sign-offs")
    async def post(self, identity: str, slug: str) -> None:
        """Sign what was seen."""
        asked = self.body(ASKED)
        entry = await self.entry(identity)
        who = self.current_user.username if person_of(self.current_user) else None

        def sign() -> tuple[str, SignedOff]:
            project: Project = entry.afresh()
            step = project.step(slug)
            seen = ToSign(step.slug, asked["run_id"], asked["hashes"])
            by = name_of(project, asked.get("by"))
            note = asked.get("note", "")
            signed = project.sign_off(seen, asked["verdict"], by=by, note=note, server_identity=who)
            return step.slug, signed

        name, signed = await asyncio.to_thread(sign)
        self.bench.emitter.step(entry.id, name, "signed")
        fault = signed.envelope_fault and signed.envelope_fault.to_json()
        self.answer({"sign_off": plain_sign_off(signed.entry), "envelope_fault": fault}, 201)
