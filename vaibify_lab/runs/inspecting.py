"""Gathers what preflight looks at, for a run and for ``check`` alike."""

from __future__ import annotations

from collections.abc import Iterable

from vaibify_lab.engines.local.engine import LocalEngine
from vaibify_lab.runs.enveloping import SOURCES
from vaibify_lab.runs.look import LOCK
from vaibify_lab.runs.opened import Look, Opened
from vaibify_lab.runs.preflight.inspection import Inspection, facts_of_local


def inspect(opened: Opened, look: Look, engine: LocalEngine, asked: Iterable[str]) -> Inspection:
    """Return everything preflight needs; ``asked`` are the steps somebody named (slugs)."""
    tree = opened.tree
    lock = tree.read(LOCK) if tree.lstat(LOCK) is not None else None
    source = next((one for one in SOURCES if tree.lstat(one) is not None), SOURCES[0])
    return Inspection(
        tree=tree,
        repository=opened.repository,
        workflow=look.workflow,
        project=look.project,
        code={step.slug: opened.observer.code_of(step) for step in look.workflow.steps},
        engine=facts_of_local(engine, lock),
        lock=lock,
        requirements=tree.read(source) if tree.lstat(source) is not None else None,
        source=source,
        asked=frozenset(asked),
    )
