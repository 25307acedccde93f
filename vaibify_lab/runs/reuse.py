"""Whether a run now would put a step's outputs back from the cache, and if not, why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from vaibify_lab.core.differences import undeclared
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.facts import RunRecord
from vaibify_lab.core.fingerprint import Circumstances
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import shown
from vaibify_lab.files.packstore import PackStore
from vaibify_lab.runs.cache import given_to, kept_of, open_store, run_id_of
from vaibify_lab.runs.cachekey import (
    described,
    differences,
    group_of,
    name_of,
    why_not_kept,
)
from vaibify_lab.runs.circumstances import cores
from vaibify_lab.runs.enveloping import EPOCH_WITHOUT_COMMIT, read_environment
from vaibify_lab.runs.opened import Look, Opened


@dataclass(frozen=True, slots=True)
class Reuse:
    """What the cache holds for a step as it is now; ``run_id`` names the run it speaks of."""

    state: Literal["hit", "miss", "never"]
    text: str
    run_id: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        return {"state": self.state, "text": self.text, "run_id": self.run_id}


def would_reuse(opened: Opened, look: Look, slugs: Iterable[str]) -> dict[str, Reuse]:
    """Return for each step what a run would find, as its inputs are now."""
    wanted = [look.workflow.by_slug[slug] for slug in slugs]
    try:
        store = open_store() if wanted else None
    except VaibifyError as error:
        return {step.slug: Reuse("never", f"the cache is not used: {error}") for step in wanted}
    return {step.slug: _of(opened, look, step, store) for step in wanted}


def _of(opened: Opened, look: Look, step: Step, store: PackStore | None) -> Reuse:
    if store is None:
        return Reuse("never", "the cache is turned off")
    if look.world.image is None:
        return Reuse("never", "no image is pinned, and only container runs are cached")
    if step.interactive:
        return Reuse("never", "a person does it, which no cache can")
    missing = [path for path in _read_by(look, step) if look.world.state(path).kind != "file"]
    if missing:
        return Reuse("miss", f"{shown(missing[0])}, which it reads, is not there")
    record = look.facts.records.get(step.slug)
    passed = record.passed if isinstance(record, RunRecord) else None
    reads = undeclared(passed.undeclared_reads, step, look.world) if passed is not None else ()
    for path, _ in reads:
        return Reuse("miss", f"it reads {shown(path)}, which it does not declare")
    now = described_now(opened, look, step)
    kept = kept_of(store, group_of(now))
    for sealed in (True,) if look.workflow.sealed else (False, True):
        if (found := kept.get(name_of(now | {"sealed": sealed}))) is not None:
            run_id = run_id_of(found)
            return Reuse("hit", f"run {run_id} made its outputs, which are cached", run_id)
    return _nearest(passed, step, now, list(kept.values()))


def _nearest(
    passed: RunRecord | None, step: Step, now: Mapping[str, Any], kept: list[Mapping[str, Any]]
) -> Reuse:
    """Return a miss by the first difference from what differs least; the latest of those."""
    if not kept:
        why_not = why_not_kept(step, passed, 0) if passed is not None else None
        return Reuse("miss", "nothing of it is cached" + (f": {why_not}" if why_not else ""))
    by_count = [(list(differences(now, one["description"])), one) for one in reversed(kept)]
    found, nearest = min(by_count, key=lambda pair: len(pair[0]))
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    first = found[0] if found else "it is damaged"
    run_id = run_id_of(nearest)
    text = f"unlike in run {run_id}, the nearest that is cached: {first}{more}"
    return Reuse("miss", text, run_id)


def _read_by(look: Look, step: Step) -> tuple[str, ...]:
    return (*look.world.inputs(step), *look.world.code.get(step.slug, ()))


def described_now(opened: Opened, look: Look, step: Step) -> dict[str, Any]:
    """Return what the outputs of a run would be kept by, in a container, as everything is now."""
    from vaibify_lab.engines.docker.mounts import seen_at

    return described(
        look.workflow,
        step,
        _around_now(opened, look, step),
        root=seen_at(look.project.name),
        cores=cores(look.workflow.cores),
        lock_here=look.world.lock,
        given=given_to(step, deterministic=look.workflow.deterministic),
        sealed=look.workflow.sealed,
    )


def _around_now(opened: Opened, look: Look, step: Step) -> Circumstances:
    world, pinned = look.world, read_environment(opened)
    epoch = pinned.source_date_epoch if pinned is not None else None
    return Circumstances(
        inputs={path: world.state(path).sha256 or "" for path in world.inputs(step)},
        code={path: world.state(path).sha256 or "" for path in world.code.get(step.slug, ())},
        image=world.image,
        lock=pinned.lock_sha256 if pinned is not None else None,
        deterministic=look.workflow.deterministic,
        engine="docker",
        network=not world.network_isolation,
        source_date_epoch=epoch or EPOCH_WITHOUT_COMMIT,
    )
