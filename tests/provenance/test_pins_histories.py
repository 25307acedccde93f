"""Random workflows and histories: pins say what the log and the bytes say, and status agrees."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings

from tests.core.simulator import Lab, _last_passed, _makes
from tests.core.test_histories import any_lab, happen, seeds
from vaibify_lab.core.facts import RunRecord
from vaibify_lab.provenance.lineage import lineage
from vaibify_lab.provenance.picture.svg import svg
from vaibify_lab.provenance.pins import PinCheck
from vaibify_lab.provenance.versions import Versions


def check_of(lab: Lab) -> PinCheck:
    records = [one for one in lab.records.values() if isinstance(one, RunRecord)]
    return PinCheck(lab.workflow, lab.facts(), lab.world(), Versions(lambda: records))


def expected_of(lab: Lab, slug: str) -> list[tuple[str, str]]:
    """What a step's pins are now, from the log and the bytes alone."""
    last = _last_passed(lab, slug)
    found = []
    for group in (last.inputs, last.code, last.outputs) if last else ():
        for path, then in sorted(group.items()):
            now = lab.files.get(path)
            if then is not None:
                status = "missing" if now is None else "verified" if now == then else "modified"
                found.append((path, status))
    return found


def beyond(lab: Lab, slug: str) -> set[str]:
    """What is there for a step, of each kind, that its last passed run did not have."""
    last, world, step = _last_passed(lab, slug), lab.world(), lab.workflow.by_slug[slug]
    if last is None:
        return set()
    now = (
        (world.inputs(step), last.inputs),
        (world.code.get(slug, ()), last.code),
        (world.outputs(step), last.outputs),
    )
    return {
        path
        for paths, then in now
        for path in paths
        if then.get(path) is None and lab.files.get(path) is not None
    }


def behind(lab: Lab, slug: str) -> set[str]:
    """The step, and the whole way back the steps that make what the last passed runs read."""
    found, todo = {slug}, [slug]
    while todo:
        last = _last_passed(lab, todo.pop())
        read = {**last.inputs, **last.code} if last else {}
        paths = [path for path, data in read.items() if data is not None]
        for step in lab.workflow.steps:
            if step.slug not in found and any(_makes(step, path) for path in paths):
                found.add(step.slug)
                todo.append(step.slug)
    return found


def assert_true(lab: Lab) -> None:
    check, reports = check_of(lab), lab.reports()
    for step in lab.workflow.steps:
        pins = check.of(step.slug)
        assert [(one.path, one.status) for one in pins.contents] == expected_of(lab, step.slug)
        chain = check.chain(step.slug)
        assert {one.slug for one in chain.steps} == behind(lab, step.slug)
        all_of_it = [expected_of(lab, slug) for slug in behind(lab, step.slug)]
        holds = all(status == "verified" for one in all_of_it for _, status in one)
        if chain.status == "verified":
            assert holds and all(all_of_it)
            assert not any(beyond(lab, slug) for slug in behind(lab, step.slug))
        if _last_passed(lab, step.slug):
            assert {one.path for one in pins.added} == beyond(lab, step.slug)
        elif chain.status != "no-pins":
            assert chain.breaks
            assert chain.broken_at in behind(lab, step.slug)
        report = reports[step.slug]
        if report.run == "current" and not report.upstream_modified:
            assert chain.status == "verified"


@settings(max_examples=80, deadline=None)
@given(seeds)
def test_the_pins_of_any_history_are_true(seed: int) -> None:
    rng = Random(seed)
    lab = any_lab(rng)
    seen = [dict(lab.files)]
    for _ in range(rng.randrange(1, 14)):
        happen(lab, seen, rng)
        assert_true(lab)


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_the_graph_of_any_history_hangs_together(seed: int) -> None:
    rng = Random(seed)
    lab = any_lab(rng)
    seen = [dict(lab.files)]
    for _ in range(rng.randrange(1, 14)):
        happen(lab, seen, rng)
    check = check_of(lab)
    for slug in (None, *lab.workflow.by_slug):
        drawn = lineage(check, slug, "2026-01-01T00:00:00Z")
        names = [one.id for one in drawn.nodes]
        assert len(names) == len(set(names))
        assert {end for one in drawn.edges for end in (one.start, one.end)} <= set(names)
        produced = {(one.start, one.end) for one in drawn.edges if one.type == "produces"}
        back = {(one.end, one.start) for one in drawn.edges if one.type == "derives_from"}
        assert produced == back
        assert svg(drawn) == svg(drawn)
