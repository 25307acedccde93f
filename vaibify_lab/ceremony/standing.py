"""How a project stands towards its envelope and towards git: what the ladder needs to know."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterable, Iterator, Sequence

from vaibify_lab.core.clashes import Clash, clashes
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.levels import Envelope
from vaibify_lab.core.model import Workflow
from vaibify_lab.core.observed import CloneProblem
from vaibify_lab.envelope.environment import NAME as ENVIRONMENT
from vaibify_lab.envelope.environment import EnvironmentFile
from vaibify_lab.envelope.lock import parse_lock
from vaibify_lab.envelope.manifest import Manifest
from vaibify_lab.files.disk_names import name_clashes
from vaibify_lab.files.hashing import pointers_among
from vaibify_lab.files.other_form import renaming
from vaibify_lab.files.own import PULL, read_own
from vaibify_lab.runs.enveloping import MANIFEST, SOURCES, covered_by, read_environment
from vaibify_lab.runs.look import LOCK, Blobs, States
from vaibify_lab.runs.opened import Look, Opened


def standing(opened: Opened, workflows: Sequence[Workflow], look: Look) -> Envelope:
    """Return the state of the envelope at a look; nothing that was looked at is looked at again."""
    covered, fault = _covered(opened, workflows, look)
    listed, manifest_fault, manifest_action = _listed(opened)
    wrong, lock_action = lock_faults(opened, all(one.no_python_packages for one in workflows))
    gone, differing = _differing(opened, listed, look)
    environment, unread = _environment(opened)
    problems, git_fault = _clone_problems(opened, workflows, covered, look)
    merging = problems is not None and bool(opened.repository.snapshot().unmerged)
    return Envelope(
        manifest_present=opened.tree.lstat(MANIFEST) is not None,
        manifest_fault=manifest_fault or fault,
        manifest_action=manifest_action,
        manifest_missing=() if manifest_action else opened.memory.of(_not_among, covered, listed),
        manifest_gone=gone,
        renamings=_renamings(opened, gone) if problems is not None else {},
        manifest_differing=differing,
        manifest_pointers=_pointers(opened, differing, problems or ()),
        lock_present=opened.tree.lstat(LOCK) is not None,
        lock_faults=wrong,
        lock_action=lock_action,
        environment_present=environment is not None,
        environment_fault=unread.text if unread else "",
        environment_action=(unread.action if unread else None) or "",
        image=environment.config_digest if environment else None,
        registry=environment.registry_digest if environment else None,
        platform=environment.platform if environment else None,
        lock=look.world.lock,
        image_lock=environment.lock_sha256 if environment else None,
        clone_problems=problems,
        git_fault=git_fault,
        merging=merging,
    )


def lock_faults(opened: Opened, declared_none: bool) -> tuple[tuple[str, ...], str]:
    """Return what is wrong with requirements.lock, one sentence each, and what mends that.

    Nothing when it is absent; no remedy where a new lock is it.
    """
    if opened.tree.lstat(LOCK) is None:
        return (), ""
    try:
        lock = parse_lock(read_own(opened.tree, LOCK), declared_none=declared_none)
        source = next((one for one in SOURCES if opened.tree.lstat(one) is not None), None)
        stale = source is not None and lock.matches_source(read_own(opened.tree, source)) is False
    except VaibifyError as error:
        return (f"{error.where or LOCK} {error.text}",), error.action or ""
    faults = [f"line {one.line}: {one.text}" if one.line else one.text for one in lock.problems]
    if stale:
        faults.append(f"is out of date: {source} changed since it was made")
    return tuple(faults), ""


def _covered(
    opened: Opened, workflows: Sequence[Workflow], look: Look
) -> tuple[tuple[str, ...], str]:
    seen = [(one, look.reach if one is look.workflow else opened.reach(one)) for one in workflows]
    try:
        covered = covered_by(opened, seen)
    except VaibifyError as error:
        return (), str(error)
    return covered, next((str(one) for one in _clashes(opened, covered)), "")


def _clashes(opened: Opened, covered: Sequence[str]) -> Sequence[Clash]:
    """Return names for which tier 1 fails, here or in a clone; the disk is asked of odd ones."""
    among = opened.memory.of(clashes, covered)
    odd = opened.memory.of(_not_ascii, covered)
    return among or (name_clashes(opened.tree, odd) if odd else ())


def _not_ascii(paths: Sequence[str]) -> tuple[str, ...]:
    return () if "".join(paths).isascii() else tuple(one for one in paths if not one.isascii())


def _listed(opened: Opened) -> tuple[dict[str, str], str, str]:
    """Return what is listed, what is wrong with the list, and what mends that but a new one."""
    try:
        manifest = opened.manifest()
    except VaibifyError as error:
        return {}, error.text, error.action or ""
    if manifest is None:
        return {}, "", ""
    fault = ""
    if manifest.problems:
        fault = f"line {manifest.problems[0].line}: {manifest.problems[0].text}"
    elif not manifest.entries:
        fault = "lists nothing"
    return opened.memory.of(Manifest.hashes, manifest), fault, ""


def _not_among(paths: Sequence[str], known: Container[str]) -> tuple[str, ...]:
    return tuple(path for path in paths if path not in known)


def _differing(
    opened: Opened, listed: dict[str, str], look: Look
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    seen = look.world.files
    others = opened.cache.observe(opened.memory.of(_not_among, tuple(listed), seen))
    return opened.memory.of(_unlike, listed, seen, others)


def _unlike(
    listed: dict[str, str], seen: States, others: States
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the listed files that are not there, and those that are not as listed."""
    gone, differing = [], []
    for path, sha256 in listed.items():
        state = seen[path] if path in seen else others[path]
        if state.kind == "missing":
            gone.append(path)
        elif state.kind != "file" or state.sha256 != sha256:
            differing.append(path)
    return tuple(gone), tuple(differing)


def _renamings(opened: Opened, gone: Sequence[str]) -> dict[str, str]:
    """Return how those are renamed that lie there under a name of another Unicode form."""
    odd = _not_ascii(gone)
    snapshot = opened.repository.snapshot() if odd else None
    ways = {path: renaming(opened.tree, snapshot, path) for path in odd if snapshot is not None}
    return {path: way for path, way in ways.items() if way is not None}


def _pointers(
    opened: Opened, differing: Sequence[str], problems: Sequence[CloneProblem]
) -> dict[str, str]:
    """Return what gets the content of those of which only a git LFS pointer is here."""
    known = {one.path: one.action for one in problems if one.code == "lfs"}
    return {path: known.get(path) or PULL for path in pointers_among(opened.tree, differing)}


def _environment(opened: Opened) -> tuple[EnvironmentFile | None, VaibifyError | None]:
    try:
        return read_environment(opened), None
    except VaibifyError as error:
        return None, error


def to_be_committed(
    opened: Opened,
    workflows: Sequence[Workflow],
    covered: Sequence[str],
    look: Look | None = None,
) -> tuple[str, ...]:
    """Return every path that a clone needs: what the manifest covers, itself, and all facts."""
    more = [MANIFEST] if opened.tree.lstat(MANIFEST) is not None else []
    for workflow in workflows:
        facts = look.facts if look is not None and workflow is look.workflow else None
        more += opened.facts_of(workflow).paths((step.slug for step in workflow.steps), facts)
    return opened.memory.of(_together, covered, tuple(more))


def _together(some: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*some, *more)))


def _clone_problems(
    opened: Opened, workflows: Sequence[Workflow], covered: Sequence[str], look: Look
) -> tuple[tuple[CloneProblem, ...] | None, str]:
    paths, seen = to_be_committed(opened, workflows, covered, look), look.blobs
    damaged = {one.path for one in look.facts.faults()}
    damaged |= {ENVIRONMENT} if look.world.environment_fault else set()
    try:
        object_format = opened.repository.snapshot().object_format
        unseen = opened.memory.of(_not_among, paths, seen, name="blobs")
        seen_facts = opened.facts_of(look.workflow).seen(look.facts)
        others = opened.cache.blob_ids(unseen, object_format, seen_facts)
        problems = opened.clones.problems(opened.memory.of(_among, paths, seen, others))
        return tuple(_without_adding(problems, damaged)), ""
    except VaibifyError as error:
        return None, str(error)


def _without_adding(
    problems: Iterable[CloneProblem], damaged: Container[str]
) -> Iterator[CloneProblem]:
    """Yield the problems; nobody is told to commit a damaged file, its remedy stands elsewhere."""
    for one in problems:
        yield dataclasses.replace(one, action="") if one.path in damaged else one


def _among(paths: Sequence[str], seen: Blobs, others: Blobs) -> dict[str, str | None]:
    return {path: seen[path] if path in seen else others[path] for path in paths}
