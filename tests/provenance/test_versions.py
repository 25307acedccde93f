"""Version numbers of contents: counted over what records have seen, kept by them."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.kit import CHAIN, CHAIN_FILES, Made
from vaibify_lab.core.facts import LARGEST_VERSION, Pins, RunRecord
from vaibify_lab.provenance.versions import Versions

A, B, C, D = (digit * 64 for digit in "abcd")


def record(
    pins: Pins, ended: str = "2026-01-01T00:00:00Z", last: RunRecord | None = None
) -> RunRecord:
    outcome = "passed" if last is None else "failed"
    return RunRecord("w", "s", "S", outcome, "r", ended, ended, pins=pins, last_passed=last)


def versions_of(records: list[RunRecord]) -> Versions:
    return Versions(lambda: records)


def test_a_content_that_no_record_knows_gets_the_next_number() -> None:
    versions = Versions(lambda: [record(Pins({"x": A}, {}, {"y": B}, {"y": 4}))])
    assert (versions.of("x", A), versions.of("y", B)) == (1, 4)
    assert (versions.of("y", A), versions.of("y", C), versions.of("y", A)) == (5, 6, 5)
    assert versions.of("never/seen", C) == 1


def test_what_failed_and_what_passed_before_both_count() -> None:
    passed = record(Pins({"x": A}, {}, {"y": A}, {}))
    versions = Versions(lambda: [record(Pins({"x": B}, versions={"x": 2}), last=passed)])
    assert [versions.of("x", one) for one in (A, B, C)] == [1, 2, 3]
    assert [versions.of("y", one) for one in (A, B)] == [1, 2]


def test_records_without_numbers_are_counted_in_the_order_in_which_they_ended() -> None:
    old = [
        record(Pins({"x": C}), "2026-03-01T00:00:00Z"),
        record(Pins({"x": A}), "2026-01-01T00:00:00Z"),
        record(Pins({"x": B}), "2026-02-01T00:00:00Z"),
    ]
    assert [Versions(lambda: old).of("x", one) for one in (A, B, C)] == [1, 2, 3]
    new = record(Pins({"x": D}, versions={"x": 7}), "2026-04-01T00:00:00Z")
    versions = Versions(lambda: [*old, new])
    assert [versions.of("x", one) for one in (D, A, B, C)] == [7, 8, 9, 10]


def test_after_a_merge_two_contents_share_a_number_and_one_may_have_two() -> None:
    ours = record(Pins({"x": A, "z": C}, versions={"x": 2, "z": 3}))
    theirs = record(Pins({"x": B, "z": C}, versions={"x": 2, "z": 5}))
    for records in ([ours, theirs], [theirs, ours]):
        versions = versions_of(records)
        assert [versions.of("x", one) for one in (A, B, C)] == [2, 2, 3]
        assert [versions.of("z", one) for one in (C, D)] == [3, 4]


def test_a_record_that_comes_back_keeps_its_numbers_where_they_are_free() -> None:
    """From the cache: of this repository before, or of another one."""
    back = Pins({"x": A, "y": A}, {}, {"z": A}, {"y": 2, "z": 5})
    versions = Versions(lambda: [record(Pins({"x": B, "y": B, "z": A}, versions={"y": 2}))])
    assert versions.numbered(back).versions == {"x": 2, "y": 3}
    assert Versions(list).numbered(back).versions == back.versions


def test_a_number_that_somebody_wrote_does_not_make_a_record_that_nobody_can_read() -> None:
    high = {"x": LARGEST_VERSION}
    versions = Versions(lambda: [record(Pins({"x": A}, versions=high))])
    assert versions.numbered(Pins({"x": B})).versions == high


@given(st.lists(st.dictionaries(st.sampled_from("xyz"), st.sampled_from([A, B, C, D]))))
def test_numbers_are_kept_by_the_records_that_are_written(runs: list[dict[str, str]]) -> None:
    """As a project lives: each run reads the records before it and replaces the step's own."""
    last: list[RunRecord] = []
    highest: dict[str, int] = {}
    for inputs in runs:
        before = list(last)
        pins = versions_of(before).numbered(Pins(inputs))
        again = versions_of([record(pins)])
        for path, sha256 in inputs.items():
            number = again.of(path, sha256)
            assert number == (pins.versions or {}).get(path, 1)
            known = [one for one in before if path in one.pins.inputs]
            if known and known[0].pins.inputs[path] != sha256:
                assert number == highest[path] + 1
            elif known:
                assert number == highest[path]
            highest[path] = number
        last = [record(pins)]


def test_runs_number_what_they_read_and_wrote(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "made", CHAIN, CHAIN_FILES)

    def numbers(slug: str) -> dict[str, int] | None:
        (found,) = [one for one in made.project().opened.records() if one.step == slug]
        return None if found.pins.versions is None else dict(found.pins.versions)

    made.run()
    assert (numbers("make"), numbers("use")) == ({}, {})
    made.write("data/in.txt", "2\n")
    made.run()
    assert numbers("make") == {"data/in.txt": 2, "out/a.txt": 2}
    # what it makes of the new input has the same bytes as before
    assert numbers("use") == {"out/a.txt": 2}
    made.write("make.sh", "false\n")
    assert made.run()["outcome"] == "failed"
    assert numbers("make") == {"data/in.txt": 2, "make.sh": 2}
    made.write("make.sh", CHAIN_FILES["make.sh"])
    made.run("make", mode="only")
    assert numbers("make") == {"data/in.txt": 2, "out/a.txt": 2}


def test_records_of_other_workflows_and_of_steps_that_are_gone_count(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "made", CHAIN, CHAIN_FILES)
    made.run()
    renamed = [{**CHAIN[0], "sName": "Anew"}]
    made.workflow(renamed, at="other/second.json")
    made.workflow([], at="workflow.json")
    made.commit("other")
    made.write("data/in.txt", "2\n")
    made.run(workflow="other/second.json")
    (found,) = [one for one in made.project("second").opened.records() if one.step == "anew"]
    assert found.pins.versions == {"data/in.txt": 2, "out/a.txt": 2}
