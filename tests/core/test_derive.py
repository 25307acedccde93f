"""Every rule of the design's state document, one row each: what happens, what is then said.

A row's text is ``run tests person [upstream] [green] | reasons``; the project is two steps in a
chain, Clean (no tests) and Fit (integrity and quantitative tests), both green at first.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from vaibify_lab.core import facts
from vaibify_lab.core.facts import CategoryResult, FactFault
from vaibify_lab.core.observed import FileState
from vaibify_lab.core.report import Reason, StepReport
from vaibify_lab.core.world import Live

from .builders import document, step
from .simulator import Lab, said, sha

IMAGE = "sha256:" + "a" * 64
CLEAN = "current none passed green"
FIT = "current passed passed green"
UPSTREAM = "current passed passed upstream | upstream-stale"
BARE = "integrity-untested, quantitative-untested"
TESTS = "integrity-untested {0}, quantitative-untested {0}"


def new_lab(**top: Any) -> Lab:
    clean = step(
        "Clean", saInputDataFiles=["raw.csv"], saDataFiles=["clean.csv"], saScripts=["clean.py"],
        bNoTests=True,
    )  # fmt: skip
    fit = step(
        "Fit", saDataCommands=["python fit.py {Step01.clean}"], saDataFiles=["fit.json"],
        saPlotFiles=["plots/"], saScripts=["fit.py", "lib.py"],
        dictTests={
            "dictIntegrity": {"saCommands": ["pytest t.py"], "sFilePath": "t.py"},
            "dictQuantitative": {"saCommands": ["pytest q.py"], "sStandardsPath": "std.json"},
        },
    )  # fmt: skip
    names = ["raw.csv", "clean.py", "fit.py", "lib.py", "t.py", "std.json"]
    lab = Lab(document(clean, fit, **top), {name: name.encode() + b"\n" for name in names})
    lab.finish(["clean", "fit"])
    return lab


@pytest.fixture
def lab() -> Lab:
    return new_lab()


def both(lab: Lab) -> tuple[str, str]:
    reports = lab.reports()
    return said(reports["clean"]), said(reports["fit"])


def record(lab: Lab, slug: str = "fit", **changes: Any) -> None:
    lab.records[slug] = dataclasses.replace(lab.records[slug], **changes)


def marker(lab: Lab, slug: str = "fit", **changes: Any) -> None:
    lab.markers[slug] = dataclasses.replace(lab.markers[slug], **changes)


def state(kind: str, path: str, **details: Any) -> Callable[[Lab], None]:
    return lambda lab: lab.states.update({path: FileState(kind, **details)})


def test_all_is_green_after_it_was_run_tested_and_signed(lab):
    assert both(lab) == (CLEAN, FIT)


def never(lab: Lab) -> None:
    lab.records.clear(), lab.markers.clear(), lab.signed.clear()


def failed(lab: Lab, slug: str = "fit", **changes: Any) -> None:
    lab.run(slug, passes=False, **changes)


FRESH = ("never-run none untested | never-run, not-signed",
         "never-run untested untested upstream | never-run, integrity-untested, "
         "quantitative-untested, not-signed, upstream-never-run")  # fmt: skip

ROWS: list[tuple[str, Callable[[Lab], Any], str, str]] = [
    # nothing happened
    ("a clone's new times", lambda lab: [lab.touch(path) for path in lab.files], CLEAN, FIT),
    ("nothing was ever run", never, *FRESH),
    # bytes
    ("raw input edited", lambda lab: lab.edit("raw.csv"),
     "stale none passed | input-changed raw.csv", UPSTREAM),
    ("raw input deleted", lambda lab: lab.delete("raw.csv"),
     "stale none passed | input-missing raw.csv", UPSTREAM),
    ("code edited", lambda lab: lab.edit("clean.py"),
     "stale none passed | code-changed clean.py", UPSTREAM),
    ("an imported module edited", lambda lab: lab.edit("lib.py"),
     CLEAN, "stale passed passed | code-changed lib.py"),
    ("code deleted", lambda lab: lab.delete("lib.py"),
     CLEAN, "stale passed passed | code-missing lib.py"),
    ("an output edited", lambda lab: lab.edit("fit.json"),
     CLEAN, f"stale untested untested | output-changed fit.json, {TESTS.format('fit.json')}, "
            "sign-off-gone fit.json"),
    ("a plot in a folder edited", lambda lab: lab.edit("plots/part.csv"),
     CLEAN, "stale untested untested | output-changed plots/part.csv, "
            f"{TESTS.format('plots/part.csv')}, sign-off-gone plots/part.csv"),
    ("an output deleted", lambda lab: lab.delete("fit.json"),
     CLEAN, f"stale untested untested | output-missing fit.json, {TESTS.format('fit.json')}, "
            "sign-off-gone fit.json"),
    ("a file of an output folder deleted", lambda lab: lab.delete("plots/part.csv"),
     CLEAN, "stale untested untested | output-gone plots/part.csv, "
            f"{TESTS.format('plots/part.csv')}, sign-off-gone plots/part.csv"),
    ("E06: a leftover in an output folder", lambda lab: lab.edit("plots/old.csv"),
     CLEAN, f"stale untested untested | output-new plots/old.csv, {TESTS.format('plots/old.csv')}, "
            "sign-off-gone plots/old.csv"),
    ("an upstream output edited", lambda lab: lab.edit("clean.csv"),
     "stale none untested | output-changed clean.csv, sign-off-gone clean.csv",
     f"stale untested passed upstream | input-changed clean.csv, {TESTS.format('clean.csv')}, "
     "upstream-stale, upstream-output-changed clean.csv"),
    ("an upstream output deleted", lambda lab: lab.delete("clean.csv"),
     "stale none untested | output-missing clean.csv, sign-off-gone clean.csv",
     f"stale untested passed upstream | input-missing clean.csv, {TESTS.format('clean.csv')}, "
     "upstream-stale, upstream-output-changed clean.csv"),
    # reruns
    ("E01: rerun with equal bytes", lambda lab: lab.run("clean"),
     "current none untested | sign-off-gone", FIT),
    ("rerun with other bytes", lambda lab: (lab.edit("clean.py"), lab.run("clean")),
     "current none untested | sign-off-gone",
     f"stale untested passed upstream | input-changed clean.csv, {TESTS.format('clean.csv')}, "
     "upstream-output-changed clean.csv"),
    ("rerun that fails", lambda lab: failed(lab),
     CLEAN, "failed passed passed | exit"),
    ("rerun that fails, and other code", lambda lab: (lab.edit("lib.py"), failed(lab)),
     CLEAN, "failed passed passed | exit, code-changed lib.py"),
    ("rerun of an ancestor that fails", lambda lab: failed(lab, "clean"),
     "failed none passed | exit", "current passed passed upstream | upstream-failed"),
    ("first run that fails", lambda lab: (never(lab), failed(lab, "clean")),
     "failed none untested | exit, not-signed",
     FRESH[1].replace("upstream-never-run", "upstream-failed")),
    ("a failed run, acknowledged", lambda lab: failed(lab, acknowledged="now"), CLEAN, FIT),
    ("a first failed run, acknowledged",
     lambda lab: (never(lab), failed(lab, "clean", acknowledged="now")), *FRESH),
    ("an interrupted run", lambda lab: failed(lab, outcome="interrupted", reason_code="stopped"),
     CLEAN, "interrupted passed passed | stopped"),
    ("an interrupted run without a reason",
     lambda lab: failed(lab, outcome="interrupted", reason_code=""),
     CLEAN, "interrupted passed passed | interrupted"),
    # what is declared
    ("other commands", lambda lab: lab.declared("clean").update(saDataCommands=["false"]),
     "stale none passed | commands-changed", UPSTREAM),
    ("another directory", lambda lab: lab.declared("clean").update(sDirectory="sub"),
     "stale none passed | commands-changed", UPSTREAM),
    ("another environment",
     lambda lab: lab.declared("clean").update(dictEnvironment={"A": "1"}),
     "stale none passed | environment-changed", UPSTREAM),
    ("another declared input",
     lambda lab: lab.declared("clean").update(saInputDataFiles=["raw.csv", "std.json"]),
     "stale none passed | input-new std.json", UPSTREAM),
    ("an input withdrawn",
     lambda lab: lab.declared("clean").update(saInputDataFiles=[], bNoInputData=True),
     "stale none passed | input-gone raw.csv", UPSTREAM),
    ("another declared output",
     lambda lab: lab.declared("clean").update(saPlotFiles=["extra.pdf"]),
     "stale none untested | output-new extra.pdf, sign-off-gone extra.pdf", UPSTREAM),
    ("an output withdrawn", lambda lab: lab.declared("fit").update(saPlotFiles=[]),
     CLEAN, f"current untested untested | {TESTS.format('plots/part.csv')}, "
            "sign-off-gone plots/part.csv"),
    ("a script withdrawn", lambda lab: lab.declared("fit").update(saScripts=["fit.py"]),
     CLEAN, "stale passed passed | code-gone lib.py"),
    ("a script more",
     lambda lab: lab.declared("fit").update(saScripts=["fit.py", "lib.py", "t.py"]),
     CLEAN, "stale passed passed | code-new t.py"),
    ("determinism declared", lambda lab: lab.document.update(bDeterministic=True),
     "stale none passed | determinism-changed",
     f"stale untested passed upstream | determinism-changed, {BARE}, upstream-stale"),
    ("determinism by flag", lambda lab: lab.run("clean", flag=True),
     "current none untested | sign-off-gone", FIT),
    ("determinism by flag, declared after", lambda lab: (
        lab.run("fit", flag=True), lab.document.update(bDeterministic=True)),
     "stale none passed | determinism-changed",
     f"stale untested untested upstream | determinism-changed, {BARE}, sign-off-gone, "
     "upstream-stale"),
    ("determinism declared, run with the flag, withdrawn", lambda lab: (
        lab.document.update(bDeterministic=True), lab.run("clean", flag=True),
        lab.document.update(bDeterministic=False)),
     "stale none untested | determinism-changed, sign-off-gone", UPSTREAM),
    ("words, limits and tolerances",
     lambda lab: (lab.declared("fit").update(
         sDescription="new", fTimeoutSeconds=9, dictTolerances={"x": 1}, bPlotOnly=True,
         dictResources={"fCpus": 2}, bWriteAnywhere=True),
         lab.document.update(sWorkflowName="x", iNumberOfCores=2, fTolerance=1, iJobs=3, iSeed=5)),
     CLEAN, FIT),
    ("no input declared", lambda lab: lab.declared("clean").update(saInputDataFiles=[]),
     "stale none passed | input-gone raw.csv, inputs-undeclared", UPSTREAM),
    ("disabled", lambda lab: lab.declared("fit").update(bEnabled=False),
     CLEAN, "current passed passed | disabled"),
    ("an ancestor disabled", lambda lab: lab.declared("clean").update(bEnabled=False),
     "current none passed | disabled", FIT),
    ("tests neither there nor declared absent",
     lambda lab: lab.declared("clean").update(bNoTests=False),
     "current none passed | no-tests", FIT),
    # environment
    ("an image is pinned", lambda lab: setattr(lab, "image", IMAGE),
     "stale none passed | outside-image",
     f"stale untested passed upstream | outside-image, {BARE}, upstream-stale"),
    ("the pinned image is another", lambda lab: (record(lab, image=IMAGE),
                                                 record(lab, "clean", image=IMAGE)),
     "stale none passed | image-changed",
     "stale passed passed upstream | image-changed, upstream-stale"),
    ("the lock changes", lambda lab: setattr(lab, "lock", "b" * 64),
     "stale none passed | lock-changed",
     f"stale untested passed upstream | lock-changed, {BARE}, upstream-stale"),
    ("the network is cut", lambda lab: setattr(lab, "network_isolation", True),
     "stale none passed | network-changed",
     f"stale untested passed upstream | network-changed, {BARE}, upstream-stale"),
    ("a seed is declared", lambda lab: lab.document.update(iSeed=6),
     "stale none passed | seed-changed",
     f"stale untested passed upstream | seed-changed, {BARE}, upstream-stale"),
    ("the seed that was drawn is declared", lambda lab: lab.document.update(iSeed=5), CLEAN, FIT),
    ("a declared seed is withdrawn", lambda lab: (
        lab.document.update(iSeed=5), lab.finish(["clean", "fit"]), lab.document.pop("iSeed")),
     "stale none passed | seed-changed",
     f"stale untested passed upstream | seed-changed, {BARE}, upstream-stale"),
    ("only the tests ran elsewhere", lambda lab: marker(lab, surroundings=dataclasses.replace(
        lab.markers["fit"].surroundings, environment={"A": "1"})),
     CLEAN, f"current untested passed | {BARE}"),
    ("environment.json is unusable", lambda lab: setattr(lab, "environment_fault", "is not JSON"),
     "unknown none passed | environment-unusable",
     "unknown passed passed upstream | environment-unusable, upstream-unknown"),
    # what cannot be seen
    ("an unreadable input", state("unreadable", "raw.csv"),
     "unknown none passed | input-unreadable raw.csv",
     "current passed passed upstream | upstream-unknown"),
    ("an unreadable input and other code",
     lambda lab: (state("unreadable", "raw.csv")(lab), lab.edit("clean.py")),
     "unknown none passed | input-unreadable raw.csv, code-changed clean.py",
     "current passed passed upstream | upstream-unknown"),
    ("code that changes meanwhile", state("changing", "lib.py"),
     CLEAN, "unknown passed passed | code-changing lib.py"),
    ("an unreadable output", state("unreadable", "fit.json"),
     CLEAN, "unknown unknown unknown | output-unreadable fit.json, integrity-unknown fit.json, "
            "quantitative-unknown fit.json, sign-off-unknown fit.json"),
    ("an unreadable output beside an edited one",
     lambda lab: (state("unreadable", "fit.json")(lab), lab.edit("plots/part.csv")),
     CLEAN, "unknown untested untested | output-unreadable fit.json, "
            f"output-changed plots/part.csv, {TESTS.format('plots/part.csv')}, "
            "sign-off-gone plots/part.csv"),
    ("an unreadable test file", state("unreadable", "t.py"),
     CLEAN, "current unknown passed | integrity-unknown t.py, quantitative-unknown t.py"),
    ("an output that is a link", state("link", "fit.json"),
     CLEAN, f"stale untested untested | output-link fit.json, {TESTS.format('fit.json')}, "
            "sign-off-gone fit.json"),
    ("an output that is a FIFO", state("not-regular", "fit.json"),
     CLEAN, f"stale untested untested | output-not-regular fit.json, {TESTS.format('fit.json')}, "
            "sign-off-gone fit.json"),
    ("G03: an LFS pointer in place of an output",
     state("lfs-pointer", "fit.json", sha256=sha(b"pointer")),
     CLEAN, f"stale untested untested | output-changed fit.json, {TESTS.format('fit.json')}, "
            "sign-off-gone fit.json"),
    ("an output folder that cannot be used",
     lambda lab: lab.folder_faults.update({"plots/": "plots is a link"}),
     CLEAN, "stale passed passed | folder-unusable plots/"),
    # a run in progress
    ("running", lambda lab: lab.live.update(clean=Live("running", "r")),
     "running none passed | running", "current passed passed upstream | upstream-running"),
    ("queued", lambda lab: lab.live.update(fit=Live("queued", "r")),
     CLEAN, "queued passed passed | queued"),
    ("waiting for a person", lambda lab: lab.live.update(fit=Live("waiting", "r")),
     CLEAN, "waiting passed passed | waiting"),
    ("waiting, and paused", lambda lab: lab.live.update(fit=Live("waiting", "r", paused=True)),
     CLEAN, "waiting passed passed | paused"),
    ("a person is to do what was automatic",
     lambda lab: lab.declared("fit").update(bInteractive=True),
     CLEAN, "stale passed passed | now-interactive"),
    ("a person did what is automatic now",
     lambda lab: record(lab, done_by="Ana"),
     CLEAN, "stale passed passed | now-automatic"),
    ("a person did it and is to do it",
     lambda lab: (lab.declared("fit").update(bInteractive=True),
                  record(lab, done_by="Ana")),
     CLEAN, FIT),
    ("the runner is gone", lambda lab: lab.live.update(fit=Live("interrupted", "r", "was killed")),
     CLEAN, "interrupted passed passed | interrupted"),
    ("running, with an unusable record",
     lambda lab: (lab.live.update(fit=Live("running", "r")),
                  lab.records.update(fit=FactFault("f.json", "is broken", "run again"))),
     CLEAN, "running passed untested | running, sign-off-gone"),
    ("the runner is gone, with an unusable record",
     lambda lab: (lab.live.update(fit=Live("interrupted", "r", "was killed")),
                  lab.records.update(fit=FactFault("f.json", "is broken", "run again"))),
     CLEAN, "unknown passed untested | record-unusable f.json, sign-off-gone"),
    # facts that are not believed
    ("an unusable record",
     lambda lab: lab.records.update(clean=FactFault("c.json", "is broken", "run again")),
     "unknown none untested | record-unusable c.json, sign-off-gone",
     "current passed passed upstream | upstream-unknown"),
    ("an unusable marker",
     lambda lab: lab.markers.update(fit=FactFault("m.json", "has conflicts", "git checkout")),
     CLEAN, "current unknown passed | marker-unusable m.json, marker-unusable m.json"),
    ("an unusable sign-off",
     lambda lab: lab.signed.update(fit=FactFault("s.json", "is of a later format", "update")),
     CLEAN, "current passed unknown | sign-off-unusable s.json"),
    ("a forged sign-off", lambda lab: lab.sign("fit", signature_state="invalid"),
     CLEAN, "current passed unknown | signature-invalid"),
    # tests
    ("tests fail", lambda lab: lab.test("fit", passes=False),
     CLEAN, "current failed passed | integrity-failed, quantitative-failed"),
    ("never tested", lambda lab: lab.markers.clear(),
     CLEAN, "current untested passed | integrity-untested, quantitative-untested"),
    ("a test file edited after it passed", lambda lab: lab.edit("t.py"),
     CLEAN, f"current untested passed | {TESTS.format('t.py')}"),
    ("the standards edited", lambda lab: lab.edit("std.json"),
     CLEAN, f"current untested passed | {TESTS.format('std.json')}"),
    ("a test file deleted", lambda lab: lab.delete("t.py"),
     CLEAN, f"current untested passed | {TESTS.format('t.py')}"),
    ("other test commands",
     lambda lab: lab.declared("fit")["dictTests"]["dictIntegrity"].update(saCommands=["pytest -x"]),
     CLEAN, "current untested passed | integrity-untested"),
    ("an extra test command", lambda lab: lab.declared("fit").update(saTestCommands=["check"]),
     CLEAN, "current untested passed | integrity-untested"),
    ("tests run before the step was run again",
     lambda lab: (lab.edit("fit.py"), lab.run("fit")),
     CLEAN, f"current untested untested | {TESTS.format('fit.json')}, sign-off-gone"),
    # sign-offs
    ("never signed", lambda lab: lab.signed.clear(),
     "current none untested | not-signed", "current passed untested | not-signed"),
    ("signed as failed", lambda lab: lab.sign("fit", "failed", note="axis wrong"),
     CLEAN, "current passed failed | signed-failed"),
    ("signed as failed, then as passed",
     lambda lab: (lab.sign("fit", "failed"), lab.sign("fit")), CLEAN, FIT),
    ("signed by a signature that was checked",
     lambda lab: lab.sign("fit", signature_state="valid"), CLEAN, FIT),
    ("a sign-off of another run", lambda lab: lab.sign("fit", run_id="other"),
     CLEAN, "current passed untested | sign-off-gone"),
    ("a sign-off that leaves an output out",
     lambda lab: lab.sign("fit", hashes={"fit.json": sha(lab.files["fit.json"])}),
     CLEAN, "current passed untested | sign-off-gone plots/part.csv"),
    ("a sign-off of other bytes", lambda lab: lab.sign("fit", hashes={"fit.json": "0" * 64}),
     CLEAN, "current passed untested | sign-off-gone fit.json"),
    ("a sign-off before any run", lambda lab: (never(lab), lab.sign("clean")),
     "never-run none untested | never-run, sign-off-gone", FRESH[1]),
    ("a cache hit keeps the run and its sign-off",
     lambda lab: record(lab, cached_from="run-2", started="later"), CLEAN, FIT),
]  # fmt: skip


@pytest.mark.parametrize(("happen", "clean", "fit"), [row[1:] for row in ROWS],
                         ids=[row[0] for row in ROWS])  # fmt: skip
def test_what_is_said(lab, happen, clean, fit):
    happen(lab)
    assert both(lab) == (clean, fit)


def test_every_state_and_every_reason_has_a_row():
    codes, runs, tests, users = set(), set(), set(), set()
    for _, happen, *_ in ROWS:
        lab = new_lab()
        happen(lab)
        for report in lab.reports().values():
            codes |= {reason.code for reason in report.reasons}
            runs.add(report.run)
            tests.add(report.unit_test)
            users.add(report.user)
    assert runs == {"running", "queued", "waiting", "unknown", "interrupted", "failed",
                    "never-run", "stale", "current"}  # fmt: skip
    assert tests == {"none", "untested", "passed", "failed", "unknown"}
    assert users == {"untested", "passed", "failed", "unknown"}
    roles = {f"{role}-{what}" for role in ("input", "output", "code")
             for what in ("new", "gone", "changed", "missing")}  # fmt: skip
    assert roles - {"code-missing", "output-missing"} <= codes


def test_keeping_sign_offs_of_identical_bytes():
    lab = new_lab(bKeepSignOffIfIdentical=True)
    lab.run("clean")
    assert both(lab) == (CLEAN, FIT)
    lab.edit("clean.py")
    lab.run("clean")
    assert both(lab)[0] == "current none untested | sign-off-gone clean.csv"


def test_a_step_that_has_no_output_can_be_green():
    lab = Lab(document(step("A", bNoInputData=True, bNoTests=True)), {})
    lab.finish(["a"])
    assert said(lab.reports()["a"]) == "current none passed green"


def test_a_step_that_declares_no_input_is_not_green_though_all_else_is():
    lab = Lab(document(step("A", saDataFiles=["a"], bNoTests=True)), {})
    lab.finish(["a"])
    assert said(lab.reports()["a"]) == "current none passed | inputs-undeclared"
    lab.declared("a")["bNoInputData"] = True
    assert said(lab.reports()["a"]) == "current none passed green"


@pytest.mark.parametrize(
    ("ran_in", "pinned", "expected"),
    [(IMAGE, IMAGE, True), (IMAGE, None, False), (None, IMAGE, False), (None, None, False),
     (IMAGE, "sha256:" + "b" * 64, False)],
)  # fmt: skip
def test_a_run_in_the_pinned_image(lab, ran_in, pinned, expected):
    record(lab, image=ran_in)
    lab.image = pinned
    assert lab.reports()["fit"].in_pinned_image is expected


def test_a_step_that_never_passed_is_in_no_image(lab):
    lab.records.clear()
    lab.image = IMAGE
    assert lab.reports()["fit"].in_pinned_image is False


class TestCategories:
    """Each kind of test by itself, and the worst of them as the whole."""

    def result(self, lab: Lab, name: str, **changes: Any) -> None:
        marker = lab.markers["fit"]
        known = dict(marker.categories)
        known[name] = dataclasses.replace(known[name], **changes)
        lab.markers["fit"] = dataclasses.replace(marker, categories=known)

    def states(self, lab: Lab) -> tuple[str, str, str, str]:
        report = lab.reports()["fit"]
        return (report.integrity, report.qualitative, report.quantitative, report.unit_test)

    def test_all_pass(self, lab):
        assert self.states(lab) == ("passed", "none", "passed", "passed")

    @pytest.mark.parametrize(
        ("first", "second", "whole"),
        [
            ("passed", "passed", "passed"),
            ("passed", "failed", "failed"),
            ("failed", "unknown", "failed"),
            ("passed", "unknown", "unknown"),
        ],
    )
    def test_the_worst_is_the_whole(self, lab, first, second, whole):
        self.result(lab, "integrity", outcome=first)
        self.result(lab, "quantitative", outcome=second)
        assert self.states(lab) == (first, "none", second, whole)

    def test_one_that_was_not_run(self, lab):
        marker = lab.markers["fit"]
        del marker.categories["quantitative"]
        assert self.states(lab) == ("passed", "none", "untested", "untested")

    @pytest.mark.parametrize("outcome", ["passed", "unknown"])
    def test_nothing_collected_is_untested(self, lab, outcome):
        self.result(lab, "integrity", collected=0, outcome=outcome, tests=())
        assert self.states(lab) == ("untested", "none", "passed", "untested")

    def test_a_failed_collection_is_a_failure(self, lab):
        self.result(lab, "integrity", collected=0, outcome="failed", tests=())
        assert self.states(lab) == ("failed", "none", "passed", "failed")

    def test_the_failed_tests_are_named(self, lab):
        tests = tuple(facts.TestResult(f"t{n}", "failed" if n else "passed") for n in range(8))
        self.result(lab, "integrity", outcome="failed", tests=tests)
        (reason,) = lab.reports()["fit"].reasons
        assert reason == Reason("integrity-failed", "integrity tests failed: t1, t2, t3, t4, t5")

    def test_a_category_without_a_command_is_none_though_a_marker_has_it(self, lab):
        lab.markers["fit"].categories["qualitative"] = CategoryResult("failed", ("x",), 1, 1)
        assert self.states(lab) == ("passed", "none", "passed", "passed")

    def test_an_output_of_another_step_that_only_the_tests_read(self, lab):
        lab.document["listSteps"].append(step("Other", saDataFiles=["other.csv"], bNoTests=True,
                                              bNoInputData=True))  # fmt: skip
        suite = lab.declared("fit")["dictTests"]["dictIntegrity"]
        suite["saCommands"] = ["pytest t.py {step:other.other}"]
        lab.finish(["other"])
        lab.test("fit")
        assert said(lab.reports()["fit"]) == FIT
        lab.edit("other.csv")
        assert said(lab.reports()["fit"]) == (
            f"current untested passed upstream | {TESTS.format('other.csv')}, upstream-stale"
        )


def test_the_whole_answer(lab):
    lab.edit("raw.csv")
    lab.run("clean", person="Béa", machine={"id": "there", "host": "lab2"}, sealed=True,
            isolation="none", undeclared_writes=("tmp/x",), cached_from="run-0")  # fmt: skip
    assert lab.reports()["clean"] == StepReport(
        slug="clean",
        name="Clean",
        kind="script",
        run="current",
        integrity="none",
        qualitative="none",
        quantitative="none",
        unit_test="none",
        user="untested",
        upstream_modified=False,
        modified_files=(),
        green=False,
        reasons=(
            Reason("sign-off-gone", "the step was run again after Ana signed", None,
                   "jupyter vaibify sign-off clean --pass"),
        ),
        notes=(
            Reason("recorded-elsewhere", "recorded by Béa on lab2, not on this machine"),
            Reason("not-isolated", "ran without isolation, not in a container"),
            Reason("cached", "cached from run run-0"),
            Reason("undeclared-write", "it also wrote tmp/x, undeclared", "tmp/x"),
            Reason("unsigned", "the sign-off is not verified by a signature: no signing key"),
        ),
        isolation="none",
        inputs_declared=True,
        sealed=True,
        ended="2026-01-01T00:00:01Z",
        tested="now",
        signed="now",
    )  # fmt: skip
    answer = lab.reports()["fit"].to_json()
    assert answer["listModifiedFiles"] == ["clean.csv"]
    assert answer["bUpstreamModified"] is True
    assert answer["sUnitTest"] == answer["sIntegrity"] == "untested"
    assert answer["reasons"][0] == {
        "code": "input-changed",
        "text": "input clean.csv differs from the last run",
        "path": "clean.csv",
    }
    assert answer["reasons"][1]["text"] == "integrity tests ran before clean.csv changed"
    assert set(answer) == {
        *("slug", "name", "kind", "run", "sIntegrity", "sQualitative", "sQuantitative"),
        *("sUnitTest", "sUser", "bUpstreamModified", "listModifiedFiles", "green", "isolation"),
        *("sealed", "enabled", "since", "reasons", "notes"),
    }


class TestNotes:
    def notes(self, lab: Lab, slug: str = "fit") -> list[tuple[str, str]]:
        return [(note.code, note.text) for note in lab.reports()[slug].notes]

    def test_unsigned(self, lab):
        assert self.notes(lab) == [
            ("unsigned", "the sign-off is not verified by a signature: no signing key")
        ]

    def test_a_valid_signature_needs_no_note(self, lab):
        lab.sign("fit", signature_state="valid")
        assert self.notes(lab) == []

    def test_a_signature_that_nobody_checked(self, lab):
        lab.sign("fit", signature_state="unchecked", unsigned_reason="")
        assert self.notes(lab) == [
            ("unsigned",
             "the sign-off is not verified by a signature: its signature was not checked here")
        ]  # fmt: skip

    def test_recorded_elsewhere(self, lab):
        lab.machine = "a clone"
        assert self.notes(lab)[0] == (
            "recorded-elsewhere", "recorded by Ana on lab, not on this machine"
        )  # fmt: skip

    def test_recorded_by_nobody(self, lab):
        record(lab, person="", machine={})
        assert self.notes(lab)[0][1] == (
            "recorded by somebody on another machine, not on this machine"
        )

    def test_a_sandbox_is_no_container(self, lab):
        record(lab, isolation="sandbox")
        assert self.notes(lab)[0] == ("not-in-container", "ran in a sandbox, not in a container")

    def test_an_acknowledged_failure_is_told(self, lab):
        lab.run("fit", passes=False, acknowledged="now")
        assert self.notes(lab)[0] == ("acknowledged", "a later run failed; that was acknowledged")

    def test_only_an_acknowledged_failure_is_told(self, lab):
        lab.run("fit", passes=False)
        assert [code for code, _ in self.notes(lab)] == ["unsigned"]
        lab.run("clean", acknowledged="now")
        assert [code for code, _ in self.notes(lab, "clean")] == ["unsigned"]

    def test_few_of_many_undeclared_writes(self, lab):
        record(lab, undeclared_writes=tuple(f"x{n}" for n in range(50)))
        assert len(self.notes(lab)) == 21

    def test_nothing_of_a_step_that_never_passed(self, lab):
        lab.records.clear()
        assert self.notes(lab) == []


class TestWords:
    """The sentences that people read, where they could mislead."""

    def texts(self, lab: Lab, slug: str = "fit") -> list[str]:
        return [reason.text for reason in lab.reports()[slug].reasons]

    def test_an_unreadable_file_is_not_said_to_have_changed(self, lab):
        state("unreadable", "fit.json", detail="Permission denied")(lab)
        assert self.texts(lab) == [
            "output fit.json cannot be read (Permission denied)",
            *["fit.json cannot be read (Permission denied)"] * 3,
        ]

    def test_a_signed_output_that_changed_went_or_is_none_any_more(self, lab):
        lab.edit("fit.json")
        assert self.texts(lab)[-1] == "fit.json changed since Ana signed"
        lab.delete("fit.json")
        assert self.texts(lab)[-1] == "fit.json is missing; Ana signed its content"
        lab = new_lab()
        lab.edit("plots/old.csv")
        assert self.texts(lab)[-1] == "plots/old.csv is not among what Ana signed"
        lab.declared("fit")["saPlotFiles"] = []
        assert self.texts(lab)[-1] == "plots/part.csv, which Ana signed, is not an output any more"

    def test_a_run_that_did_not_pass_says_why(self, lab):
        lab.run("fit", passes=False)
        assert self.texts(lab) == ["ended with exit status 1"]
        record(lab, reason="", reason_code="")
        assert self.texts(lab) == ["the last run failed"]

    @pytest.mark.parametrize(
        ("changes", "text"),
        [
            ({"collected": 0}, "integrity tests collected no test"),
            ({"collected": 0, "detail": "were stopped"}, "integrity tests were stopped"),
            ({"outcome": "unknown"}, "tests told nothing"),
            ({"outcome": "unknown", "detail": "no report"}, "no report"),
            ({"outcome": "failed"}, "integrity tests failed: see the log"),
            ({"outcome": "failed", "detail": "exit 3"}, "integrity tests failed: exit 3"),
        ],
        ids=str,
    )
    def test_what_tests_came_to(self, lab, changes, text):
        marker = lab.markers["fit"]
        known = dict(marker.categories)
        known["integrity"] = dataclasses.replace(known["integrity"], **changes)
        lab.markers["fit"] = dataclasses.replace(marker, categories=known)
        assert self.texts(lab) == [text]

    def test_a_person_who_signs_as_failed_is_quoted(self, lab):
        lab.sign("fit", "failed", note="axis wrong")
        assert self.texts(lab) == ["Ana signed it as failed: axis wrong"]
        lab.sign("fit", "failed", note="")
        assert self.texts(lab) == ["Ana signed it as failed"]

    def test_g03_a_pointer_is_no_content_though_it_was_pinned(self, lab):
        state("lfs-pointer", "fit.json", sha256=sha(lab.files["fit.json"]))(lab)
        assert said(lab.reports()["fit"]) == (
            f"stale untested untested | output-changed fit.json, {TESTS.format('fit.json')}, "
            "sign-off-gone fit.json"
        )

    def test_g03_a_pointer_is_called_one(self, lab):
        state("lfs-pointer", "clean.csv", sha256="0" * 64)(lab)
        assert self.texts(lab, "clean")[0] == (
            "output clean.csv holds a git LFS pointer, not the content"
        )
        assert self.texts(lab)[-1] == (
            "clean.csv holds a git LFS pointer, not the content; this step's run consumed it"
        )

    def test_what_a_forged_fact_says_cannot_drive_a_terminal(self, lab):
        record(lab, outcome="failed", reason="\x1b[2J\x1b[31mall good\n", reason_code="exit")
        lab.sign("fit", "failed", by="\x1b]0;x\x07", note="\u202e")
        for reason in lab.reports()["fit"].reasons:
            assert reason.text.isprintable()
