"""A person's word: sign-offs over exactly the bytes that were seen, and runs marked as seen."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from vaibify_lab.core.differences import describe
from vaibify_lab.core.errors import (
    BytesChanged,
    NotPassed,
    ToolFailed,
    ToolMissing,
    UsageError,
    VaibifyError,
)
from vaibify_lab.core.facts import RunRecord, SignOff, SignOffs
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import is_within
from vaibify_lab.files import keeping, signing
from vaibify_lab.files.hashing import hash_many
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs import turning
from vaibify_lab.runs.journal import now
from vaibify_lab.runs.live import ACKNOWLEDGED, unfinished
from vaibify_lab.runs.opened import Opened

_RECORDED = "the sign-off is recorded; an envelope that was due is written by what is done next"


@dataclass(frozen=True, slots=True)
class ToSign:
    """What a sign-off would sign: the run and the hashes of everything looked at."""

    slug: str
    run_id: str
    hashes: dict[str, str]

    def to_json(self, tree: Tree) -> dict[str, Any]:
        """Return the JSON answer's form, with the sizes of the files."""
        sizes = {path: tree.lstat(path) for path in self.hashes}
        return {
            "run_id": self.run_id,
            "hashes": self.hashes,
            "bytes": {path: one.st_size if one else None for path, one in sizes.items()},
        }


@dataclass(frozen=True, slots=True)
class SignedOff:
    """A sign-off that is recorded, and what kept the envelope from being written after it."""

    entry: SignOff
    envelope_fault: VaibifyError | None = None

    @property
    def warning(self) -> str | None:
        """What to tell the person who signed, who has nothing to sign again."""
        if self.envelope_fault is None:
            return None
        return f"the sign-off is recorded, but the envelope was not written: {self.envelope_fault}"


def to_sign(opened: Opened, workflow_path: str, slug: str) -> ToSign:
    """Return what a sign-off of a step would sign now; every byte is read.

    Raises
    ------
    NotPassed
        When no run has passed, the step runs, or its outputs are not those of that run.
    """
    look = opened.look(workflow_path)
    report = next(one for one in look.reports if one.slug == slug)
    record = look.facts.records.get(slug)
    passed = record.passed if isinstance(record, RunRecord) else None
    run = look.workflow.by_slug[slug].how_to_run
    if report.run in ("running", "queued", "waiting"):
        raise NotPassed(f"step {slug!r} is {report.run}; sign it when the run has ended")
    if passed is None:
        raise NotPassed(f"step {slug!r} has no passed run to sign", action=run)
    paths = look.world.outputs(look.workflow.by_slug[slug])
    hashes = {}
    for path, state in hash_many(opened.tree, paths).items():
        if state.sha256 is None or state.kind != "file":
            action = "git lfs pull" if state.kind == "lfs-pointer" else run
            raise NotPassed(f"{describe(path, state)}, so it cannot be signed", action=action)
        if passed.pins.outputs.get(path) != state.sha256:
            raise NotPassed(f"{path} is not what the last run of {slug!r} wrote", action=run)
        hashes[path] = state.sha256
    return ToSign(slug, passed.run_id, hashes)


def sign_off(
    opened: Opened,
    workflow_path: str,
    seen: ToSign,
    verdict: Literal["passed", "failed"],
    *,
    by: str,
    note: str = "",
    server_identity: str | None = None,
) -> SignedOff:
    """Record a person's word over exactly the bytes that were seen.

    What fails once it is recorded is in the answer and raises nothing.

    Raises
    ------
    UsageError
        Without a name.
    BytesChanged
        When the bytes are not those that were seen.
    """
    if not by.strip():
        raise UsageError("a sign-off needs the name of the person who looked")
    _require_seen(opened, workflow_path, seen)
    before = turning.were_green(opened)
    workflow = opened.workflow(workflow_path)
    entry = SignOff(verdict, by, now(), seen.run_id, seen.hashes, note, server_identity)
    entry = _signed(opened, entry, workflow.stem, seen.slug)
    store = opened.facts_of(workflow)
    old = store.load([seen.slug]).sign_offs.get(seen.slug)
    earlier = old.entries if isinstance(old, SignOffs) else ()
    turning.begin(opened, before)
    try:
        store.write_sign_offs(SignOffs(workflow.stem, seen.slug, (*earlier, entry)))
        _keep_plots(opened, workflow.by_slug[seen.slug], seen.hashes)
        return SignedOff(entry, turning.fault_of_the_envelope(opened, before))
    except KeyboardInterrupt:
        there = store.load([seen.slug]).sign_offs.get(seen.slug)
        if isinstance(there, SignOffs) and there.entries[len(earlier) :]:
            raise KeyboardInterrupt(_RECORDED) from None
        raise


def _keep_plots(opened: Opened, step: Step, hashes: Mapping[str, str]) -> None:
    """Keep the plots that were signed, so that they can be shown beside later ones."""
    for path, sha256 in hashes.items():
        if not any(is_within(path, one) for one in step.plot_files):
            continue
        with suppress(VaibifyError):  # too large, or gone meanwhile: it is a view and no fact
            data = opened.tree.read(path, keeping.LARGEST)
            if hashlib.sha256(data).hexdigest() == sha256:
                keeping.keep(data)


def _require_seen(opened: Opened, workflow_path: str, seen: ToSign) -> None:
    """Refuse bytes that are not those that were seen, and say which are there now."""
    try:
        there = to_sign(opened, workflow_path, seen.slug)
    except NotPassed as error:
        look = opened.look(workflow_path)
        outputs = look.world.outputs(look.workflow.by_slug[seen.slug])
        now = {path: one.sha256 for path, one in hash_many(opened.tree, outputs).items()}
        if now == seen.hashes:
            raise
        details = {"to_sign": None, "now": now}
        raise BytesChanged(error.text, action=error.action, details=details) from None
    if there != seen:
        text = f"the outputs of {seen.slug!r} changed since they were shown"
        details = {"to_sign": there.to_json(opened.tree)}
        raise BytesChanged(text, action="look at them again", details=details)


def acknowledge(opened: Opened, workflow_path: str, slugs: Sequence[str] = ()) -> list[str]:
    """Mark interrupted and failed steps as seen; return which were.

    Without slugs: all of them. The step then shows what its last passed run is worth. The latest
    run counts as lost, so the caller has made sure that it does not go on here; acknowledging one
    of another machine vouches that it does not go on there.
    """
    look = opened.look(workflow_path)
    store = opened.facts_of(look.workflow)
    seen = []
    for slug, record in look.facts.records.items():
        if slugs and slug not in slugs:
            continue
        if not isinstance(record, RunRecord) or record.outcome == "passed":
            continue
        if record.acknowledged is None:
            store.write_record(dataclasses.replace(record, acknowledged=now()))
            seen.append(slug)
    lost = [slug for slug, one in look.world.live.items() if one.state != "queued"]
    run = None if opened.local_is_tracked() else unfinished(opened.tree.root)
    if run is not None and (not slugs or not set(slugs).isdisjoint(lost)):
        (run.folder.path / ACKNOWLEDGED).touch()
        seen += [slug for slug in lost if slug not in seen]
    return seen


def _signed(opened: Opened, entry: SignOff, stem: str, slug: str) -> SignOff:
    """Sign the entry where git has an SSH signing key; else say why it is not signed."""
    key = opened.repository.signing_key()
    if key is None:
        return dataclasses.replace(entry, unsigned_reason="git has no SSH signing key")
    try:
        signed = signing.sign(entry.signed_content(stem, slug), key, root=opened.tree.root)
    except (ToolFailed, ToolMissing) as error:
        return dataclasses.replace(entry, unsigned_reason=str(error))
    return dataclasses.replace(
        entry, signature=signed.signature, key=signed.key, signature_state="valid"
    )
