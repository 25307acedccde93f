"""Gathers what preflight looks at, for a run and for ``check`` alike."""

from __future__ import annotations

import re
from collections.abc import Iterable

from vaibify_lab.engines.local.engine import LocalEngine
from vaibify_lab.envelope.environment import EnvironmentFile
from vaibify_lab.runs.engine_choice import wants_container
from vaibify_lab.runs.enveloping import SOURCES
from vaibify_lab.runs.look import LOCK
from vaibify_lab.runs.opened import Look, Opened
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.preflight.inspection import EngineFacts, Inspection, facts_of_local

_VERSION = re.compile(r"[0-9]+\.[0-9]+(\.[0-9]+)?")


def engine_facts(
    opened: Opened, options: RunOptions, pinned: EnvironmentFile | None
) -> EngineFacts:
    """Return what is known of the engine that a run would use; nothing is installed or pulled."""
    if wants_container(options, pinned) and pinned is not None:
        found = _VERSION.search(pinned.system_tools.python or "")
        return EngineFacts("docker", "container", python=found[0] if found else None)
    lock = opened.tree.read(LOCK) if opened.tree.lstat(LOCK) is not None else None
    return facts_of_local(LocalEngine(options.tier), lock)


def inspect(opened: Opened, look: Look, engine: EngineFacts, asked: Iterable[str]) -> Inspection:
    """Return everything preflight needs; ``asked`` are the steps somebody named (slugs)."""
    tree = opened.tree
    source = next((one for one in SOURCES if tree.lstat(one) is not None), SOURCES[0])
    return Inspection(
        tree=tree,
        repository=opened.repository,
        workflow=look.workflow,
        project=look.project,
        code=look.reach.code,
        engine=engine,
        lock=tree.read(LOCK) if tree.lstat(LOCK) is not None else None,
        requirements=tree.read(source) if tree.lstat(source) is not None else None,
        source=source,
        asked=frozenset(asked),
    )
