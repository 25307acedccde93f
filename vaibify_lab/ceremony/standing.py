"""How a project stands towards its envelope and towards git: what the ladder needs to know."""

from __future__ import annotations

from collections.abc import Sequence

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.levels import Envelope
from vaibify_lab.core.model import Workflow
from vaibify_lab.core.observed import CloneProblem
from vaibify_lab.envelope.environment import EnvironmentFile
from vaibify_lab.envelope.lock import parse_lock
from vaibify_lab.envelope.manifest import parse_manifest
from vaibify_lab.files.clone import missing_from_clone
from vaibify_lab.runs.enveloping import MANIFEST, SOURCES, manifested, read_environment
from vaibify_lab.runs.look import LOCK
from vaibify_lab.runs.opened import Look, Opened


def standing(opened: Opened, workflows: Sequence[Workflow], look: Look) -> Envelope:
    """Return the state of the envelope, just after a look; hashed only where something changed."""
    covered, fault = _covered(opened, workflows, look)
    listed, manifest_fault = _listed(opened)
    differing = _differing(opened, listed)
    environment, environment_fault = _environment(opened)
    problems, git_fault = _clone_problems(opened, workflows, covered)
    return Envelope(
        manifest_present=opened.tree.lstat(MANIFEST) is not None,
        manifest_fault=manifest_fault or fault,
        manifest_missing=tuple(path for path in covered if path not in listed),
        manifest_differing=differing,
        lock_present=opened.tree.lstat(LOCK) is not None,
        lock_faults=lock_faults(opened, all(one.no_python_packages for one in workflows)),
        environment_present=environment is not None,
        environment_fault=environment_fault,
        image=environment.config_digest if environment else None,
        registry=environment.registry_digest if environment else None,
        platform=environment.platform if environment else None,
        lock=opened.cache.observe([LOCK])[LOCK].sha256,
        image_lock=environment.lock_sha256 if environment else None,
        clone_problems=problems,
        git_fault=git_fault,
    )


def lock_faults(opened: Opened, declared_none: bool) -> tuple[str, ...]:
    """Return what is wrong with requirements.lock, one sentence each; nothing when absent."""
    if opened.tree.lstat(LOCK) is None:
        return ()
    try:
        lock = parse_lock(opened.tree.read(LOCK), declared_none=declared_none)
        source = next((one for one in SOURCES if opened.tree.lstat(one) is not None), None)
        stale = source is not None and lock.matches_source(opened.tree.read(source)) is False
    except VaibifyError as error:
        return (str(error),)
    faults = [f"line {one.line}: {one.text}" if one.line else one.text for one in lock.problems]
    if stale:
        faults.append(f"is out of date: {source} changed since it was made")
    return tuple(faults)


def _covered(
    opened: Opened, workflows: Sequence[Workflow], look: Look
) -> tuple[tuple[str, ...], str]:
    try:
        return manifested(opened, workflows, look), ""
    except VaibifyError as error:
        return (), str(error)


def _listed(opened: Opened) -> tuple[dict[str, str], str]:
    if opened.tree.lstat(MANIFEST) is None:
        return {}, ""
    try:
        manifest = parse_manifest(opened.tree.read(MANIFEST))
    except VaibifyError as error:
        return {}, str(error)
    fault = ""
    if manifest.problems:
        fault = f"line {manifest.problems[0].line}: {manifest.problems[0].text}"
    elif not manifest.entries:
        fault = "lists nothing"
    return {entry.path: entry.sha256 for entry in manifest.entries}, fault


def _differing(opened: Opened, listed: dict[str, str]) -> tuple[str, ...]:
    now = opened.cache.observe(listed)
    return tuple(
        path
        for path, sha256 in listed.items()
        if now[path].kind != "file" or now[path].sha256 != sha256
    )


def _environment(opened: Opened) -> tuple[EnvironmentFile | None, str]:
    try:
        return read_environment(opened), ""
    except VaibifyError as error:
        return None, str(error)


def to_be_committed(
    opened: Opened, workflows: Sequence[Workflow], covered: Sequence[str]
) -> tuple[str, ...]:
    """Return every path that a clone needs: what the manifest covers, itself, and all facts."""
    paths = dict.fromkeys(covered)
    if opened.tree.lstat(MANIFEST) is not None:
        paths[MANIFEST] = None
    for workflow in workflows:
        facts = opened.facts_of(workflow)
        paths.update(dict.fromkeys(facts.paths(step.slug for step in workflow.steps)))
    return tuple(paths)


def _clone_problems(
    opened: Opened, workflows: Sequence[Workflow], covered: Sequence[str]
) -> tuple[tuple[CloneProblem, ...] | None, str]:
    paths = to_be_committed(opened, workflows, covered)
    try:
        snapshot = opened.repository.snapshot()
        blobs = opened.cache.blob_ids(paths, snapshot.object_format)
        return tuple(missing_from_clone(opened.repository, blobs)), ""
    except VaibifyError as error:
        return None, str(error)
