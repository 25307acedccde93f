"""Pins checked and lineage drawn, purely: workflow, facts and files in, an answer out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import pytest

from vaibify_lab.core import workflow_file
from vaibify_lab.core.facts import FactFault, Facts, Pins, RunRecord
from vaibify_lab.core.model import Workflow
from vaibify_lab.core.observed import FileKind, FileState
from vaibify_lab.core.world import World
from vaibify_lab.provenance.lineage import Lineage, lineage
from vaibify_lab.provenance.pins import PinCheck
from vaibify_lab.provenance.versions import Versions

WHEN = "2026-01-01T00:00:00Z"


def content(text: str) -> str:
    return text.encode().hex().ljust(64, "0")


def workflow(**steps: tuple[list[str], list[str]]) -> Workflow:
    """Make a workflow of steps given as what they read and what they write."""
    listed = [
        {
            "sName": name,
            "saDataCommands": ["true"],
            "saInputDataFiles": read,
            "saDataFiles": wrote,
            "bNoTests": True,
        }
        for name, (read, wrote) in steps.items()
    ]
    document = {"sFormat": "vaibify-lab/1", "bNoPythonPackages": True, "listSteps": listed}
    return workflow_file.parse(json.dumps(document).encode(), "workflow.json")


def record(
    slug: str,
    read: Mapping[str, str],
    wrote: Mapping[str, str],
    outcome: Any = "passed",
    **more: Any,
) -> RunRecord:
    hashes = [{path: content(text) for path, text in one.items()} for one in (read, wrote)]
    pins = Pins(hashes[0], {}, hashes[1], {})
    return RunRecord("workflow", slug, slug, outcome, f"run-{slug}", WHEN, WHEN, pins=pins, **more)


def checked(
    flow: Workflow,
    records: Mapping[str, RunRecord | FactFault],
    files: Mapping[str, str | FileKind],
) -> PinCheck:
    known = [one for one in records.values() if isinstance(one, RunRecord)]
    kinds = ("missing", "link", "not-regular", "unreadable", "changing", "lfs-pointer")
    states = {
        path: FileState(cast("FileKind", text))
        if text in kinds
        else FileState("file", content(text))
        for path, text in files.items()
    }
    world = World(
        files=states,
        folders={
            path: tuple(one for one in sorted(states) if one.startswith(path))
            for step in flow.steps
            for path in (*step.inputs, *step.outputs)
            if path.endswith("/")
        },
    )
    return PinCheck(flow, Facts(records=records), world, Versions(lambda: known))


THREE = workflow(a=(["raw"], ["x"]), b=(["x"], ["y"]), c=(["y"], ["z"]))
RAN = {
    "a": record("a", {"raw": "r"}, {"x": "x1"}),
    "b": record("b", {"x": "x1"}, {"y": "y1"}),
    "c": record("c", {"y": "y1"}, {"z": "z1"}),
}
THERE = {"raw": "r", "x": "x1", "y": "y1", "z": "z1"}


def test_a_whole_chain_holds() -> None:
    chain = checked(THREE, RAN, THERE).chain("c")
    assert [one.slug for one in chain.steps] == ["a", "b", "c"]
    assert (chain.status, chain.broken_at, chain.breaks) == ("verified", None, ())


@pytest.mark.parametrize(
    ("path", "now", "status", "breaks"),
    [
        ("raw", "other", "modified", [("a", "raw")]),
        ("x", "other", "modified", [("a", "x"), ("b", "x")]),
        ("y", "missing", "missing", [("b", "y"), ("c", "y")]),
        ("z", "link", "modified", [("c", "z")]),
        ("raw", "not-regular", "modified", [("a", "raw")]),
        ("raw", "unreadable", "unknown", [("a", "raw")]),
        ("raw", "changing", "unknown", [("a", "raw")]),
        ("raw", "lfs-pointer", "missing", [("a", "raw")]),
    ],
)
def test_what_does_not_hold_is_named_where_it_first_breaks(
    path: str, now: str, status: str, breaks: list[tuple[str, str]]
) -> None:
    chain = checked(THREE, RAN, {**THERE, path: now}).chain("c")
    assert chain.status == status
    assert [(one.step, one.path) for one in chain.breaks] == breaks
    assert {one.status for one in chain.breaks} == {status}
    assert chain.broken_at == breaks[0][0]


def test_the_worst_of_several_faults_is_told() -> None:
    faults: list[tuple[str, str]] = [("raw", "unreadable"), ("x", "other"), ("z", "missing")]
    files: dict[str, str] = dict(THERE)
    for (path, now), status in zip(faults, ("unknown", "modified", "missing"), strict=True):
        files[path] = now
        assert checked(THREE, RAN, files).chain("c").status == status
    assert checked(THREE, RAN, files).chain("a").broken_at == "a"


def test_a_step_that_has_not_run_since_its_input_was_made_anew() -> None:
    """Its input is modified, and who made it so is said; what made it holds."""
    ran = {**RAN, "a": record("a", {"raw": "r"}, {"x": "x2"})}
    chain = checked(THREE, ran, {**THERE, "x": "x2"}).chain("c")
    (broken,) = chain.breaks
    assert (broken.step, broken.path, broken.status) == ("b", "x", "modified")
    assert broken.text == "step 'a' has made x anew since"


def test_an_upstream_step_without_a_record_breaks_the_chain() -> None:
    ran = {slug: RAN[slug] for slug in ("b", "c")}
    chain = checked(THREE, ran, THERE).chain("c")
    assert (chain.status, chain.broken_at) == ("unknown", "a")
    assert [one.text for one in chain.breaks] == ["no run of step 'a' that passed is on record"]
    assert [one.status for one in chain.steps] == ["no-pins", "verified", "verified"]


def test_an_upstream_run_that_did_not_make_what_was_read_breaks_the_chain() -> None:
    ran = {**RAN, "a": record("a", {"raw": "r"}, {})}
    (broken,) = checked(THREE, ran, THERE).chain("c").breaks
    assert (broken.step, broken.path, broken.status) == ("a", "x", "unknown")
    assert broken.to_json() == {
        "analysis_id": "a",
        "artifact_id": "x",
        "status": "unknown",
        "text": "its last passed run did not make x",
    }


def test_a_record_that_is_not_believed_is_unknown_never_verified() -> None:
    fault = FactFault("a.json", "a.json is not JSON", "git checkout -- a.json")
    check = checked(THREE, {**RAN, "a": fault}, THERE)
    assert check.of("a").status == "unknown"
    chain = check.chain("c")
    assert (chain.status, chain.broken_at) == ("unknown", "a")
    assert "a.json is not JSON" in chain.breaks[0].text
    alone = check.chain("a")
    assert (alone.status, alone.steps[0].contents) == ("unknown", ())


def test_a_failed_run_pins_nothing_and_the_passed_one_before_it_still_does() -> None:
    failed = record("a", {"raw": "new"}, {}, "failed")
    check = checked(THREE, {"a": failed}, THERE)
    assert (check.of("a").status, check.chain("a").status) == ("no-pins", "no-pins")
    kept = record("a", {"raw": "new"}, {}, "failed", last_passed=RAN["a"])
    check = checked(THREE, {**RAN, "a": kept}, THERE)
    assert check.chain("c").status == "verified"
    assert check.of("a").run_id == "run-a"


def test_a_file_of_a_declared_folder_is_followed_to_its_maker() -> None:
    flow = workflow(a=(["raw"], ["out/"]), b=(["out/deep/"], ["y"]))
    ran = {
        "a": record("a", {"raw": "r"}, {"out/deep/1": "1", "out/2": "2"}),
        "b": record("b", {"out/deep/1": "1"}, {"y": "y"}),
    }
    files = {"raw": "r", "out/deep/1": "1", "out/2": "other", "y": "y"}
    chain = checked(flow, ran, files).chain("b")
    assert [(one.step, one.path) for one in chain.breaks] == [("a", "out/2")]


@pytest.mark.parametrize(
    ("path", "step", "text"),
    [
        ("raw/new", "a", "input added since: raw/new"),
        ("out/new", "a", "output added since: out/new"),
        ("out/deep/new", "a", "output added since: out/deep/new"),
        ("more", "b", "input added since: more"),
    ],
)
def test_a_file_that_was_added_since_the_run_breaks_the_chain(
    path: str, step: str, text: str
) -> None:
    flow = workflow(a=(["raw/"], ["out/"]), b=(["out/deep/", "more"], ["y"]))
    ran = {
        "a": record("a", {"raw/1": "r"}, {"out/deep/1": "1"}),
        "b": record("b", {"out/deep/1": "1"}, {"y": "y"}),
    }
    files = {"raw/1": "r", "out/deep/1": "1", "y": "y"}
    assert checked(flow, ran, files).chain("b").status == "verified"
    check = checked(flow, ran, {**files, path: "new"})
    chain = check.chain("b")
    assert (chain.status, chain.broken_at) == ("modified", step)
    assert chain.breaks[0].text == text
    assert check.of(step).status == "modified"
    assert {one.path for one in check.of(step).added} == {path}
    assert chain.breaks[0].to_json() == {
        "analysis_id": step,
        "artifact_id": path,
        "status": "modified",
        "text": text,
    }


@pytest.mark.parametrize(
    ("now", "status"),
    [("j", "verified"), ("missing", "verified"), ("edited", "modified"), ("unreadable", "unknown")],
)
def test_code_that_a_run_wrote_itself_breaks_the_chain_when_it_is_edited(
    now: str, status: str
) -> None:
    flow = workflow(a=(["in"], ["out"]))
    made = record("a", {"in": "1"}, {"out": "2"}, own_code={"job.sh": content("j")})
    found = checked(flow, {"a": made}, {"in": "1", "out": "2", "job.sh": now})
    assert (found.of("a").status, found.whole().status) == (status, status)


def test_an_output_that_was_withdrawn_or_taken_over_is_not_its_first_makers() -> None:
    flow = workflow(a=(["in"], ["out"]), b=(["in"], ["other"]))
    records = {
        "a": record("a", {"in": "1"}, {"out": "2", "other": "3", "gone": "4"}),
        "b": record("b", {"in": "1"}, {"other": "5"}),
    }
    found = checked(flow, records, {"in": "1", "out": "2", "other": "5"})
    assert found.whole().status == "verified"


def test_a_run_that_pinned_nothing_is_on_record() -> None:
    flow = workflow(a=([], []), b=(["raw"], ["y"]))
    ran = {"a": record("a", {}, {}), "b": record("b", {"raw": "r"}, {"y": "y"})}
    whole = checked(flow, ran, {"raw": "r", "y": "y"}).whole()
    assert (whole.status, whole.breaks) == ("verified", ())


def test_old_records_that_contradict_todays_declarations_end_in_an_answer() -> None:
    """Who read what has turned round since: that is a circle of records, and stops all the same."""
    flow = workflow(a=(["raw"], ["x"]), b=(["x"], ["y"]))
    ran = {"a": record("a", {"y": "y"}, {"x": "x"}), "b": record("b", {"x": "x"}, {"y": "y"})}
    chain = checked(flow, ran, {"x": "x", "y": "y"}).chain("a")
    assert ([one.slug for one in chain.steps], chain.status) == (["a", "b"], "verified")


def test_a_workflow_of_which_some_steps_never_ran() -> None:
    check = checked(THREE, {"a": RAN["a"]}, THERE)
    whole = check.whole()
    assert (whole.status, whole.broken_at) == ("unknown", "b")
    assert checked(THREE, {}, THERE).whole().status == "no-pins"
    assert checked(workflow(), {}, {}).whole().status == "no-pins"


def graph(check: PinCheck, step: str | None = None) -> Lineage:
    return lineage(check, step, WHEN)


def test_two_contents_of_one_path_are_two_nodes() -> None:
    """b read the x that a made before; a has made another since."""
    again = record("a", {"raw": "r"}, {"x": "x2"})
    again = replace(again, pins=replace(again.pins, versions={"x": 2}))
    drawn = graph(checked(THREE, {**RAN, "a": again}, {**THERE, "x": "x2"}), "c")
    of_x = [one for one in drawn.nodes if one.name == "x"]
    before = f"x@{content('x1')[:12]}"
    assert [(one.id, one.status) for one in of_x] == [("x", "verified"), (before, "modified")]
    assert sorted(one.version or 0 for one in of_x) == [1, 2]
    cites = [(one.start, one.end) for one in drawn.edges if one.type == "cites"]
    assert cites == [("raw", "a"), (before, "b"), ("y", "c")]


def test_a_file_that_is_named_as_a_step_is_has_a_node_of_its_own() -> None:
    flow = workflow(a=(["raw"], ["b"]), b=(["b"], ["y"]))
    ran = {"a": record("a", {"raw": "r"}, {"b": "1"}), "b": record("b", {"b": "1"}, {"y": "y"})}
    drawn = graph(checked(flow, ran, {"raw": "r", "b": "1", "y": "y"}), "b")
    names = [one.id for one in drawn.nodes]
    assert len(names) == len(set(names)) == 5
    assert f"b@{content('1')[:12]}" in names
    ends = {name for edge in drawn.edges for name in (edge.start, edge.end)}
    assert ends == set(names)


def test_a_workflow_cites_what_none_of_its_steps_makes() -> None:
    answer = graph(checked(THREE, RAN, THERE)).to_json()
    assert [one["artifact_id"] for one in answer["pinned_artifacts"]] == ["raw"]
    assert [one["artifact_id"] for one in answer["outputs"]] == ["x", "y", "z"]
    assert answer["analysis_id"] == "workflow.json"
    assert {one["id"]: one["role"] for one in answer["nodes"]} == {
        **dict.fromkeys("abc", "center"),
        "raw": "input",
        **dict.fromkeys("xyz", "output"),
    }
