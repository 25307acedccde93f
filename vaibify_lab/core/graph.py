"""Order, ancestors and descendants of a workflow's steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter

from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.core.model import Workflow


def order(parents: Mapping[str, Iterable[str]], where: str) -> tuple[str, ...]:
    """Return the slugs so that parents come first; among equals, in the order given.

    Raises
    ------
    InvalidFile
        When steps depend on each other in a circle, which is named.
    """
    sorter = TopologicalSorter(parents)
    try:
        sorter.prepare()
    except CycleError as error:
        names = list(reversed(error.args[1]))
        shown = names if len(names) <= 12 else [*names[:6], "...", *names[-5:]]
        circle = " -> ".join(shown)
        raise InvalidFile(
            f"steps depend on each other in a circle: {circle}",
            where=where,
            action="remove one of these dependencies",
        ) from None
    rank = {slug: index for index, slug in enumerate(parents)}
    result: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=rank.__getitem__)
        result.extend(ready)
        sorter.done(*ready)
    return tuple(result)


def workflow_order(workflow: Workflow) -> tuple[str, ...]:
    """Return the slugs of a workflow, parents first."""
    return order({step.slug: step.parents for step in workflow.steps}, workflow.path)


def ancestors(workflow: Workflow, slugs: Iterable[str]) -> frozenset[str]:
    """Return every step that the given ones rest on, the whole way back, without themselves."""
    return _closure(slugs, {step.slug: step.parents for step in workflow.steps})


def descendants(workflow: Workflow, slugs: Iterable[str]) -> frozenset[str]:
    """Return every step that rests on the given ones, without themselves."""
    return _closure(slugs, workflow.children)


def _closure(start: Iterable[str], edges: Mapping[str, Iterable[str]]) -> frozenset[str]:
    first = set(start)
    seen: set[str] = set()
    todo = list(first)
    while todo:
        for following in edges[todo.pop()]:
            if following not in seen:
                seen.add(following)
                todo.append(following)
    return frozenset(seen - first)
