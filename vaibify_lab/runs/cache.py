"""Outputs of container runs, kept in the user's cache folder for a run that would make them again.

A step that made the same bytes from the same things before has them put back, with the record of
the run that made them. What is kept lies outside the repository, is the user's own, and is hashed
when it is taken out.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Callable, Mapping
from typing import Any

from vaibify_lab.core import fact_files, jsonio
from vaibify_lab.core.errors import UsageError, VaibifyError
from vaibify_lab.core.facts import RunRecord
from vaibify_lab.core.fingerprint import circumstances_of
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import shown
from vaibify_lab.engines.base import Engine
from vaibify_lab.files.packs import Damaged, Member
from vaibify_lab.files.packstore import PackStore, outputs_folder
from vaibify_lab.notebooks.session import RUNNER
from vaibify_lab.runs.cachekey import described, name_of, why_not_kept
from vaibify_lab.runs.context import RunContext
from vaibify_lab.runs.determinism import PREAMBLE, step_environment
from vaibify_lab.runs.look import LOCK
from vaibify_lab.runs.options import RunOptions

LIMIT = "VAIBIFY_CACHE_GIGABYTES"
DEFAULT_GIGABYTES = 10.0
_LARGEST = 10.0**6


def limit_here() -> int:
    """Return how many bytes the cache may hold; 0 turns it off.

    Raises
    ------
    UsageError
        The environment variable is no number.
    """
    said = os.environ.get(LIMIT, "").strip()
    try:
        gigabytes = float(said) if said else DEFAULT_GIGABYTES
    except ValueError:
        gigabytes = -1.0
    if not 0 <= gigabytes <= _LARGEST:
        raise UsageError(f"{LIMIT} is {said!r}, no number of gigabytes", action="set it to 10")
    return int(gigabytes * 10**9)


def open_store() -> PackStore | None:
    """Return the cache; None where it is turned off.

    Raises
    ------
    UsageError, CannotCheck
        The limit is no number; or the folder is not to be used, and why.
    """
    limit = limit_here()
    return PackStore(outputs_folder(), limit) if limit else None


def cache_of_run(
    options: RunOptions, engine: Engine, warn: Callable[[str], None]
) -> PackStore | None:
    """Return the cache that a run uses; None where it uses none, which is said when it is odd."""
    unused = options.no_cache or options.tests_only or options.twice  # what differs is no cache's
    if unused or engine.isolation != "container":
        return None
    try:
        return open_store()
    except VaibifyError as error:
        warn(f"the cache is not used: {error}")
        return None


def entry_name(context: RunContext, step: Step, record: RunRecord, *, sealed: bool) -> str:
    """Return by which name the outputs of a recorded run are kept."""
    return name_of(describe(context, step, record, sealed=sealed))


def describe(
    context: RunContext, step: Step, record: RunRecord, *, sealed: bool
) -> dict[str, object]:
    """Return what the outputs of a recorded run are kept by."""
    here = context.observer.cache.observe([LOCK])[LOCK].sha256
    return described(
        context.workflow,
        step,
        circumstances_of(record),
        root=context.engine.container_root(context.tree.root, context.project.name),
        cores=context.cores,
        lock_here=here,
        given=given_to(step, deterministic=record.deterministic),
        sealed=sealed,
    )


def given_to(step: Step, *, deterministic: bool) -> str:
    """Return a digest of what this version of ours puts into a step's run beside its own."""
    locale = "C.UTF-8" if deterministic else None  # which one the image has is the image's
    ours = [PREAMBLE] if deterministic else []
    ours += [RUNNER] if step.notebook else []
    bare = dataclasses.replace(step, environment={})
    return jsonio.digest(
        {
            "variables": step_environment(bare, seed=0, epoch=0, locale=locale),
            "files": [hashlib.sha256(one.read_bytes()).hexdigest() for one in ours],
        }
    )


def kept_of(store: PackStore, group: str) -> dict[str, Mapping[str, Any]]:
    """Return what each entry of a step says of itself, the least recently used first."""
    found: dict[str, Mapping[str, Any]] = {}
    for entry in store.entries(group):
        try:
            pack = store.find(entry.name)
        except Damaged:
            continue
        if pack is None:
            continue
        with pack:
            if isinstance(pack.about.get("description"), dict):
                found[entry.name] = pack.about
    return found


def run_id_of(about: Mapping[str, Any]) -> str:
    """Return the run of which an entry says that it made the bytes, to be shown."""
    record = about.get("record")
    return shown(str(record.get("run_id", "?"))) if isinstance(record, dict) else "?"


def keep(context: RunContext, step: Step, record: RunRecord, hidden: int) -> None:
    """Keep what a run made, if it is to be kept; that never fails the run."""
    if context.cache is None or why_not_kept(step, record, hidden) is not None:
        return
    description = describe(context, step, record, sealed=record.sealed)
    about = {
        "description": description,
        "record": jsonio.loads(fact_files.dump_record(record), "record"),
    }
    try:
        members = [_member(context, path, pin) for path, pin in record.pins.outputs.items()]
        why_not = context.cache.keep(
            name_of(description), about, members, lambda one: context.tree.open_file(one.path)
        )
    except VaibifyError as error:
        why_not = str(error)
    if why_not:
        context.journal.write("note", step=step.slug, text=f"was not cached: {why_not}")


def _member(context: RunContext, path: str, sha256: str) -> Member:
    opened = context.tree.open_file(path)
    try:
        seen = os.fstat(opened)
    finally:
        os.close(opened)
    return Member(path, sha256, seen.st_size, seen.st_mode & 0o777)
