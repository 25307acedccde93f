"""Random workflows and random histories: what is reported is what the log and the bytes say."""

from __future__ import annotations

import copy
import dataclasses
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from vaibify_lab.core.graph import descendants, workflow_order
from vaibify_lab.core.report import StepReport

from .builders import document
from .simulator import Lab, truth

seeds = st.integers(0, 2**32)
RAW = ["raw/a.csv", "raw/b.csv"]


def any_lab(rng: Random) -> Lab:
    """A workflow of one to six steps in any order in its file."""
    files = {path: path.encode() + b"\n" for path in RAW}
    steps: list[dict[str, Any]] = []
    made: list[tuple[str, str]] = []
    for number in range(rng.randrange(1, 7)):
        steps.append(_step(number, made, rng))
        files |= {path: path.encode() + b"\n" for path in steps[-1]["saScripts"]}
        made += [(f"s{number}", path) for path in steps[-1]["saDataFiles"]]
    files |= {f"tests/t{number}.py": b"test\n" for number in range(6)}
    rng.shuffle(steps)
    return Lab(document(*steps, bKeepSignOffIfIdentical=rng.random() < 0.3), files)


def _step(number: int, made: list[tuple[str, str]], rng: Random) -> dict[str, Any]:
    name = f"s{number}"
    outputs = rng.sample([f"out/{name}/x{number}.csv", f"out/{name}/y{number}/", f"z{number}"],
                         rng.randrange(1, 4))  # fmt: skip
    known = rng.sample(made, min(len(made), rng.randrange(3)))
    referred = [f"{{step:{slug}.{_stem(path)}}}" for slug, path in known if rng.random() < 0.4]
    step: dict[str, Any] = {
        "sName": name,
        "saDataCommands": [" ".join(["make", *referred])],
        "saDataFiles": outputs,
        "saInputDataFiles": rng.sample(RAW, rng.randrange(3)) + [path for _, path in known],
        "saScripts": rng.sample([f"code/{name}.py", "code/lib.py"], rng.randrange(3)),
        "bNoInputData": True,
    }
    if made and rng.random() < 0.2:
        step["saDependencies"] = [rng.choice(made)[0]]
    if rng.random() < 0.5:
        step["bNoTests"] = True
    else:
        kinds = rng.sample(["dictIntegrity", "dictQualitative", "dictQuantitative"],
                           rng.randrange(1, 3))  # fmt: skip
        suite = {"saCommands": ["pytest"], "sFilePath": f"tests/t{number}.py"}
        if made and rng.random() < 0.3:
            slug, path = rng.choice(made)
            suite["saCommands"] = [f"pytest {{step:{slug}.{_stem(path)}}}"]
        step["dictTests"] = dict.fromkeys(kinds, suite)
    return step


def _stem(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1].partition(".")[0]


def happen(lab: Lab, seen: list[dict[str, bytes]], rng: Random) -> None:
    """One thing that somebody or something does."""
    slug = rng.choice(lab.workflow.steps).slug
    path = rng.choice(sorted(lab.files) or ["none"])
    match rng.randrange(17):
        case 0 | 1:
            lab.edit(path, rng.choice(["edited", "# a comment"]))
        case 2:
            lab.delete(path)
        case 3 | 4:
            past = rng.choice(seen)
            if path in past:
                lab.files[path] = past[path]
        case 5:
            lab.files = dict(rng.choice(seen))
        case 6:
            lab.touch(path)
        case 7:
            lab.run(slug, passes=rng.random() < 0.6, flag=rng.random() < 0.3)
        case 8:
            lab.test(slug, passes=rng.random() < 0.7)
        case 9:
            lab.sign(slug, rng.choice(["passed", "passed", "failed"]))
        case 10:
            lab.declared(slug)["dictEnvironment"] = {"A": rng.choice("12")}
        case 11:
            lab.image = rng.choice([None, "sha256:" + "0" * 64])
        case 12:
            lab.document["bDeterministic"] = rng.random() < 0.5
        case 13:
            lab.document["iSeed"] = rng.randrange(2)
        case 14:
            lab.document.pop("iSeed", None)
        case _:
            lab.finish(workflow_order(lab.workflow))
    seen.append(dict(lab.files))


def assert_true(lab: Lab) -> None:
    for slug, report in lab.reports().items():
        expected = truth(lab, slug)
        assert report.run == expected.run, slug
        assert report.upstream_modified == expected.upstream, slug
        for category in ("integrity", "qualitative", "quantitative"):
            assert getattr(report, category) == expected.tests.get(category, "none"), slug
        assert report.user == expected.user, slug
        assert report.green == expected.green, slug
        assert set(report.modified_files) == expected.modified, slug
        assert len(set(report.modified_files)) == len(report.modified_files)
        assert report.green != bool(report.reasons), slug


@settings(max_examples=100)
@given(seeds)
def test_every_report_of_any_history_is_true(seed):
    """Green exactly when the bytes are those that were run, tested and signed; never else."""
    rng = Random(seed)
    lab = any_lab(rng)
    seen = [dict(lab.files)]
    for _ in range(rng.randrange(1, 14)):
        happen(lab, seen, rng)
        assert_true(lab)


def green_lab(rng: Random) -> Lab:
    lab = any_lab(rng)
    lab.finish(workflow_order(lab.workflow))
    assert all(report.green for report in lab.reports().values())
    return lab


@settings(max_examples=40)
@given(seeds)
def test_restoring_the_bytes_restores_the_exact_report(seed):
    rng = Random(seed)
    lab = green_lab(rng)
    for _ in range(rng.randrange(6)):
        happen(lab, [dict(lab.files)], rng)
    files, reports = dict(lab.files), lab.reports()
    for path in rng.sample([*files, "new.csv", "out/s0/y0/new.csv"], 3):
        lab.edit(path) if rng.random() < 0.7 else lab.delete(path)
    lab.files = dict(reversed(list(files.items())))
    assert lab.reports() == reports


@settings(max_examples=40)
@given(seeds)
def test_a_change_shows_at_every_descendant_and_nowhere_else(seed):
    rng = Random(seed)
    lab = green_lab(rng)
    before = lab.reports()
    slug = rng.choice(lab.workflow.steps).slug
    lab.declared(slug)["dictEnvironment"] = {"NEW": "1"}
    after = lab.reports()
    below = descendants(lab.workflow, [slug])
    assert {one for one in after if after[one].upstream_modified} == below
    assert [after[one].run for one in below] == ["current"] * len(below)
    assert (after[slug].run, after[slug].green) == ("stale", False)
    untouched = set(after) - below - {slug}
    assert {one: after[one] for one in untouched} == {one: before[one] for one in untouched}


@settings(max_examples=40)
@given(seeds)
def test_e01_equal_bytes_wake_nobody(seed):
    rng = Random(seed)
    lab = green_lab(rng)
    before = lab.reports()
    slug = rng.choice(lab.workflow.steps).slug
    for path in lab.declared(slug)["saScripts"]:
        lab.edit(path, "# a comment")
    stale = {one for one, report in lab.reports().items() if report.run == "stale"}
    for one in stale | {slug}:
        lab.run(one)
    after = lab.reports()
    keep = lab.workflow.keep_sign_off_if_identical
    for one, report in after.items():
        again = one in stale or one == slug
        if again and not keep:
            assert (report.run, report.user, report.green) == ("current", "untested", False)
            assert [reason.code for reason in report.reasons] == ["sign-off-gone"]
        else:
            assert report == before[one]


@settings(max_examples=40)
@given(seeds)
def test_the_order_of_the_steps_in_the_file_does_not_matter(seed):
    rng = Random(seed)
    lab = any_lab(rng)
    seen = [dict(lab.files)]
    for _ in range(rng.randrange(1, 10)):
        happen(lab, seen, rng)
    other = copy.deepcopy(lab)
    rng.shuffle(other.document["listSteps"])
    assert other.reports() == lab.reports()


@settings(max_examples=30)
@given(seeds)
def test_a_clone_is_the_same_but_for_where_it_was_recorded(seed):
    rng = Random(seed)
    lab = any_lab(rng)
    seen = [dict(lab.files)]
    for _ in range(rng.randrange(1, 10)):
        happen(lab, seen, rng)
    clone = copy.deepcopy(lab)
    clone.machine = "elsewhere"
    here, there = lab.reports(), clone.reports()
    assert {one: _without_notes(report) for one, report in there.items()} == {
        one: _without_notes(report) for one, report in here.items()
    }
    for slug, report in there.items():
        record = lab.records.get(slug)
        told = {note.code for note in report.notes} - {note.code for note in here[slug].notes}
        assert told == ({"recorded-elsewhere"} if record is not None and record.passed else set())


def _without_notes(report: StepReport) -> StepReport:
    return dataclasses.replace(report, notes=())
