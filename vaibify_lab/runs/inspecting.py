"""Gathers what preflight looks at, for a run and for ``check`` alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from vaibify_lab.core.finding import Finding
from vaibify_lab.core.model import Step
from vaibify_lab.engines.local.engine import LocalEngine
from vaibify_lab.envelope.environment import EnvironmentFile
from vaibify_lab.runs.engine_choice import wants_container
from vaibify_lab.runs.enveloping import SOURCES
from vaibify_lab.runs.look import LOCK
from vaibify_lab.runs.opened import Look, Opened
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.plotonly import without_plots
from vaibify_lab.runs.preflight import preflight
from vaibify_lab.runs.preflight.inspection import EngineFacts, Inspection, facts_of_local
from vaibify_lab.runs.preflight.undeclared import (
    Watched,
    told_of,
    undeclared_in_code,
    undeclared_in_commands,
    watched_by,
)

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


def foreseen(
    opened: Opened,
    look: Look,
    options: RunOptions,
    pinned: EnvironmentFile | None,
    slugs: Sequence[str],
) -> tuple[list[Finding], dict[str, Watched]]:
    """Return what is wrong before a run, and what of each step is to be watched beside.

    Of what is undeclared a sealed run is told everything, for it hides that: nothing is watched.
    """
    inspection = inspect(opened, look, engine_facts(opened, options, pinned), options.steps)
    findings = preflight(inspection, slugs, foretell=options.foretell)
    is_sealed = options.sealed or look.workflow.sealed
    watched = dict.fromkeys(slugs, Watched())
    for step in (look.workflow.by_slug[slug] for slug in slugs):
        found = list(undeclared_in_code(inspection, step))
        findings += told_of(one for one in found if one.certain or is_sealed)
        if not is_sealed:
            watched[step.slug] = watched_by((*found, *undeclared_in_commands(inspection, step)))
        if options.plot_only:
            of_data = _of_data(inspection, opened, step)
            watched[step.slug] = replace(watched[step.slug], of_data=of_data)
    return findings, watched


def _of_data(inspection: Inspection, opened: Opened, step: Step) -> frozenset[str]:
    """Return the undeclared files that the data of a step are made from."""
    data = without_plots(step)
    alone = replace(inspection, code={step.slug: opened.observer.scout.code_of(data)})
    found = (*undeclared_in_code(alone, data), *undeclared_in_commands(alone, data))
    return frozenset(watched_by(found).paths)
