"""The ladder: each rung by itself, with what is missing and what mends it."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from vaibify_lab.core.levels import Envelope, is_loopback, ladder
from vaibify_lab.core.observed import CloneProblem
from vaibify_lab.core.report import Reason, Rung, StepReport, all_green

from .builders import step, workflow

DIGEST = "sha256:" + "a" * 64
ENVIRONMENT = ".vaibify/environment.json"
GREEN = StepReport(
    slug="a", name="A", kind="script", run="current", integrity="none", qualitative="none",
    quantitative="none", unit_test="none", user="passed", upstream_modified=False,
    modified_files=(), green=True, reasons=(), isolation="container", inputs_declared=True,
    in_pinned_image=True,
)  # fmt: skip
WHOLE = Envelope(
    manifest_present=True, lock_present=True, environment_present=True, image=DIGEST,
    registry=f"ghcr.io/ana/co2@{DIGEST}", platform="linux/amd64",
)  # fmt: skip
SOME = step("A", saDataFiles=["a.csv"])
DECLARED = {"bDeterministic": True, "bNoHostBinaries": True}


def rungs(*changes: Any, envelope: Envelope = WHOLE, **declared: Any) -> dict[str, Rung]:
    reports = [dataclasses.replace(GREEN, **change) for change in changes or ({},)]
    found = ladder(workflow(SOME, **(DECLARED | declared)), reports, envelope)
    assert [one.level for one in found] == ["L1", "L2", "L3", "L4", "L5"]
    return {one.level: one for one in found}


def envelope(**changes: Any) -> Envelope:
    return dataclasses.replace(WHOLE, **changes)


def test_all_that_is_built_is_met():
    found = rungs()
    assert found["L1"] == Rung("L1", "Self-consistent", True, ())
    assert found["L3"] == Rung("L3", "Reproducible", True, ())


@pytest.mark.parametrize(
    ("level", "title"), [("L2", "Published"), ("L4", "Traceable"), ("L5", "Attested")]
)
def test_what_is_not_built_says_so_and_is_never_met(level, title):
    assert rungs()[level] == Rung(
        level, title, "unknown", (Reason("not-available", "not available in this version"),)
    )


@pytest.mark.parametrize("rung", ["L1", "L3"])
def test_m10_a_rung_says_nothing_of_steps_without_results(rung):
    found = {one.level: one for one in ladder(workflow(step("A"), **DECLARED), [GREEN], WHOLE)}
    action = "declare what they make in saDataFiles, saPlotFiles or saOutputFiles"
    reason = Reason("no-outputs", "no step declares an output", None, action)
    assert (found[rung].met, found[rung].missing) == (False, (reason,))


def test_the_answer_has_the_level_what_is_missing_and_the_action():
    assert rungs(envelope=envelope(registry=None))["L3"].to_json() == {
        "level": "L3",
        "title": "Reproducible",
        "met": False,
        "missing": [
            {
                "code": "not-pushed",
                "text": "the pinned image was never pushed: it has no registry digest",
                "path": ENVIRONMENT,
                "action": "jupyter vaibify build --push REF",
            }
        ],
    }


class TestSelfConsistent:
    def missing(self, *changes: Any, **changed: Any) -> tuple[Reason, ...]:
        rung = rungs(*changes, envelope=envelope(**changed))["L1"]
        assert rung.met is False
        return rung.missing

    def test_no_step(self):
        found = ladder(workflow(), (), WHOLE)[0]
        assert (found.met, found.missing) == (
            False, (Reason("no-steps", "the workflow has no step"),)
        )  # fmt: skip

    def test_a_step_that_is_not_green_is_named_with_its_first_reason(self):
        why = (Reason("code-changed", "code a.py differs", "a.py", "run"), Reason("x", "y"))
        assert self.missing({"green": False, "reasons": why}) == (
            Reason("step-not-green", "step 'a': code a.py differs", "a.py", "run"),
        )

    def test_a_disabled_step_is_named(self):
        assert self.missing({}, {"slug": "b", "enabled": False, "green": False}) == (
            Reason("disabled", "step 'b' is disabled", None, "set bEnabled, or remove the step"),
        )

    def test_what_a_clone_would_lack(self):
        problem = CloneProblem("out/x.csv", "ignored", "is ignored by git", "git add -f out/x.csv")
        (reason,) = self.missing(clone_problems=(problem,))
        assert (reason.code, reason.path, reason.action) == (
            "not-in-clone", "out/x.csv", "git add -f out/x.csv"
        )  # fmt: skip
        assert "out/x.csv" in reason.text

    @pytest.mark.parametrize(
        ("code", "first"), [("modified", "jupyter vaibify envelope, then "), ("ignored", "")]
    )
    def test_nobody_is_told_to_commit_what_the_manifest_does_not_list(self, code, first):
        problem = CloneProblem("x.csv", code, "differs", "git add -- x.csv")
        (reason,) = self.missing(clone_problems=(problem,), manifest_differing=("x.csv",))
        assert reason.action == f"{first}git add -- x.csv"
        (reason,) = self.missing(clone_problems=(problem,), manifest_differing=("y.csv",))
        assert reason.action == "git add -- x.csv"

    def test_git_that_cannot_be_asked_is_unknown_and_never_met(self):
        silent = envelope(clone_problems=None, git_fault="git is not installed")
        unknown = Reason("git-unknown", "git could not be asked: git is not installed")
        assert rungs(envelope=silent)["L1"] == Rung("L1", "Self-consistent", "unknown", (unknown,))

    def test_git_that_cannot_be_asked_does_not_hide_what_is_certain(self):
        silent = envelope(clone_problems=None, git_fault="git is not installed")
        rung = rungs({"green": False}, envelope=silent)["L1"]
        assert (rung.met, [one.code for one in rung.missing]) == (
            False, ["step-not-green", "git-unknown"]
        )  # fmt: skip

    def test_isolation_and_the_envelope_do_not_decide_it(self):
        bare = {"isolation": "none", "in_pinned_image": False}
        assert rungs(bare, envelope=Envelope())["L1"].met is True


class TestReproducible:
    @pytest.mark.parametrize(
        ("changed", "codes"),
        [
            ({"manifest_present": False}, {"no-manifest"}),
            ({"manifest_fault": "line 3 is no entry"}, {"manifest-fault"}),
            ({"manifest_missing": ("a", "b")}, {"not-in-manifest"}),
            ({"manifest_differing": ("a",)}, {"manifest-differs"}),
            ({"lock_present": False}, {"no-lock"}),
            ({"lock_faults": ("numpy has no hash",)}, {"lock-fault"}),
            ({"environment_present": False}, {"no-environment"}),
            ({"environment_fault": "is not JSON"}, {"environment-fault"}),
            ({"image": None, "registry": None, "platform": None}, {"no-image"}),
            ({"registry": None}, {"not-pushed"}),
            ({"registry": f"localhost:5000/co2@{DIGEST}"}, {"registry-loopback"}),
            ({"platform": None}, {"no-platform"}),
        ],
        ids=str,
    )
    def test_the_envelope(self, changed, codes):
        rung = rungs(envelope=envelope(**changed))["L3"]
        assert rung.met is False
        assert {one.code for one in rung.missing} == codes
        assert all(one.action for one in rung.missing)

    @pytest.mark.parametrize(
        "changed",
        [
            {"isolation": None},
            {"isolation": "none"},
            {"isolation": "sandbox"},
            {"in_pinned_image": False},
        ],
        ids=str,
    )
    def test_every_step_ran_in_a_container_of_the_pinned_image(self, changed):
        rung = rungs({}, {"slug": "b"} | changed)["L3"]
        assert (rung.met, rung.missing) == (
            False,
            (
                Reason(
                    "not-in-container",
                    "no run in a container of the pinned image: b",
                    None,
                    "jupyter vaibify run",
                ),
            ),
        )

    def test_what_a_person_did_nobody_can_run_again(self):
        by_hand = [{"slug": f"s{number}", "kind": "interactive"} for number in range(7)]
        rung = rungs({}, *by_hand)["L3"]
        text = "done by a person, so nobody can run it again: s0, s1, s2, s3, s4 and 2 more"
        action = "write it as commands, and set bInteractive to false"
        assert rung.missing == (Reason("interactive", text, None, action),)

    def test_no_step(self):
        found = ladder(workflow(**DECLARED), (), WHOLE)[2]
        assert (found.met, [one.code for one in found.missing]) == (False, ["no-steps"])

    @pytest.mark.parametrize(
        ("declared", "codes"),
        [
            ({"bDeterministic": False}, ["not-deterministic"]),
            ({"bNoHostBinaries": False}, ["host-binaries"]),
            ({"bNoHostBinaries": False, "saHostBinaries": ["gnuplot"]}, []),
        ],
        ids=str,
    )
    def test_what_is_declared(self, declared, codes):
        assert [one.code for one in rungs(**declared)["L3"].missing] == codes

    def test_no_lock_is_needed_when_nothing_is_to_lock(self):
        bare = envelope(lock_present=False)
        assert rungs(envelope=bare, bNoPythonPackages=True)["L3"].met is True

    def test_a_step_that_is_not_green_does_not_decide_it(self):
        assert rungs({"green": False, "user": "untested"})["L3"].met is True


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("localhost/x", True),
        ("localhost:5000/a/b@sha256:0", True),
        ("registry.localhost:5000/x", True),
        ("127.0.0.1:5000/x", True),
        ("127.8.9.1/x", True),
        ("[::1]:5000/x", True),
        ("0.0.0.0:5000/x", True),
        ("localhost.example.org/x", False),
        ("127.example.org/x", False),
        ("ghcr.io/ana/co2@sha256:0", False),
        ("registry.example.org:5000/x", False),
        ("10.0.0.7:5000/x", False),
        ("python@sha256:0", False),
        ("localhost", False),
        ("library/python", False),
    ],
)
def test_registries_on_loopback(reference, expected):
    assert is_loopback(reference) is expected


def test_all_green():
    assert all_green([GREEN, GREEN]) is True
    assert all_green([GREEN, dataclasses.replace(GREEN, green=False)]) is False
    assert all_green([]) is False
