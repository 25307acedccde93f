"""Sign-offs as front doors show them: what would be signed, by whom, what was signed before."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from vaibify_lab.core.errors import UsageError, VaibifyError
from vaibify_lab.core.facts import SignOff, SignOffs
from vaibify_lab.runs.preflight.conflicts import Conflicts
from vaibify_lab.runs.vouching import SignedOff, ToSign

if TYPE_CHECKING:
    from vaibify_lab.core.finding import Finding
    from vaibify_lab.project.facade import Project

__all__ = ["SignedOff", "ToSign", "doubts_about", "name_of", "plain_sign_off", "sign_offs_of"]


def name_of(project: Project, given: str | None) -> str:
    """Return the name that is recorded: the one given, else git's identity.

    Raises
    ------
    UsageError
        When there is none, or it is not one line of text.
    """
    name = project.opened.repository.identity() if given is None else given.strip()
    if not name:
        action = 'give --name "Your Name", or: git config user.name and user.email'
        raise UsageError("signing needs a name: the one of the person who looked", action=action)
    if not name.isprintable() or len(name) > 200:
        raise UsageError("the name must be one line of text, at most 200 characters")
    return name


def doubts_about(project: Project, slug: str) -> list[Finding]:
    """Return what speaks against signing a step: a merge that is not finished in what it read."""
    look = project.look()
    step, code = look.workflow.by_slug[slug], look.reach.code[slug].files
    conflicts = Conflicts(project.opened.tree, project.opened.repository.snapshot())
    return list(conflicts.of(step, [*step.inputs, *code]))


def sign_offs_of(project: Project, name: str) -> dict[str, Any]:
    """Return a step's sign-offs, and what a new one would sign; every byte is read."""
    step = project.step(name)
    to_sign: ToSign | None = None
    refused: VaibifyError | None = None
    try:
        to_sign = project.to_sign(step.slug)
    except VaibifyError as error:
        refused = error
    found = project.look().facts.sign_offs.get(step.slug)
    return {
        "step": step.slug,
        "to_sign": to_sign.to_json(project.opened.tree) if to_sign else None,
        "refused": refused.to_json() if refused else None,
        "name": project.opened.repository.identity(),
        "sign_offs": [plain_sign_off(one) for one in found.entries]
        if isinstance(found, SignOffs)
        else [],
    }


def plain_sign_off(entry: SignOff) -> dict[str, Any]:
    """Return a sign-off for an answer: the signature itself stays in its file."""
    kept = [one.name for one in dataclasses.fields(entry) if one.name not in ("signature", "key")]
    value = {name: getattr(entry, name) for name in kept}
    return {**value, "hashes": dict(entry.hashes), "signed": entry.signature is not None}
