"""Dependencies that no step declares: one reads what another makes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.core.facts import Facts, RunRecord
from vaibify_lab.core.graph import workflow_order
from vaibify_lab.core.model import Workflow
from vaibify_lab.core.rules import Producers


def with_readers(workflow: Workflow, facts: Facts) -> Workflow:
    """Return a workflow whose steps also rest on what their last passed runs read undeclared."""
    records = ((slug, one) for slug, one in facts.records.items() if isinstance(one, RunRecord))
    passed = ((slug, record.passed) for slug, record in records)
    return with_makers(
        workflow, {slug: one.undeclared_reads for slug, one in passed if one is not None}
    )


def with_makers(workflow: Workflow, reads: Mapping[str, Iterable[str]]) -> Workflow:
    """Return a workflow whose steps also rest on the makers of these files, by slug.

    Where they would then rest on each other in a circle, on those alone that are listed before.
    """
    wanted = {slug: tuple(paths) for slug, paths in reads.items() if paths}
    if not wanted:
        return workflow
    producers = Producers.among(workflow.steps)
    more: dict[str, list[str]] = {}
    for step in workflow.steps:
        makers = dict.fromkeys(producers.of(wanted.get(step.slug, ())))
        more[step.slug] = [one for one in makers if one not in (step.slug, *step.parents)]
    rank = {step.slug: at for at, step in enumerate(workflow.steps)}
    earlier = {
        slug: [one for one in makers if rank[one] < rank[slug]] for slug, makers in more.items()
    }
    for edges in (more, earlier):
        found = _with(workflow, edges) if any(edges.values()) else workflow
        if _has_order(found):
            return found
    return workflow


def _with(workflow: Workflow, more: Mapping[str, list[str]]) -> Workflow:
    steps = (
        dataclasses.replace(step, parents=(*step.parents, *more[step.slug]))
        if more.get(step.slug)
        else step
        for step in workflow.steps
    )
    return dataclasses.replace(workflow, steps=tuple(steps))


def _has_order(workflow: Workflow) -> bool:
    try:
        workflow_order(workflow)
    except InvalidFile:
        return False
    return True
