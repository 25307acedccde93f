"""E04: whatever could change a step's bytes changes by what its outputs are kept; nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.kit import Made
from vaibify_lab.core import fingerprint
from vaibify_lab.core.facts import Pins, RunRecord
from vaibify_lab.core.model import Step
from vaibify_lab.envelope.environment import NAME, EnvironmentFile
from vaibify_lab.runs import cache, cachekey
from vaibify_lab.runs.cachekey import (
    differences,
    differs_by_us,
    group_of,
    name_of,
    why_not_kept,
)
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.plan import Selection, plan
from vaibify_lab.runs.reuse import described_now

STEP: dict[str, Any] = {
    "sName": "Fit",
    "sStepId": "fit",
    "saDataCommands": ["python sub/fit.py --fast -j {iNumberOfCores}"],
    "saDataFiles": ["out/fit.json"],
    "saInputDataFiles": ["data/in.csv"],
    "dictEnvironment": {"LEVEL": "1"},
    "bNoTests": True,
}
FILES = {
    "sub/fit.py": "import helper\n",
    "sub/helper.py": "x = 1\n",
    "data/in.csv": "1\n",
    "requirements.lock": "# nothing\n",
    "vaibify.yml": "projectName: trial\n",
    "fit.ipynb": '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
}
PINNED = EnvironmentFile(
    image_name="trial:1",
    config_digest="sha256:" + "1" * 64,
    platform="linux/amd64",
    origin="built",
    lock_sha256="2" * 64,
    source_date_epoch=1_700_000_000,
)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    project = Made.new(tmp_path / "p", [STEP], FILES, iNumberOfCores=2)
    project.write(NAME, PINNED.to_bytes())
    return project


TOP = {"iNumberOfCores", "iSeed", "bDeterministic", "bSealed", "sWorkflowName", "iJobs"}


def described(made: Made) -> dict[str, Any]:
    """Return by what the step's outputs would be kept now, from a fresh look."""
    opened = Opened(made.root, cached=False)
    look = opened.look("workflow.json")
    return described_now(opened, look, look.workflow.steps[0])


def workflow(**keys: Any) -> Callable[[Made], object]:
    """Return what changes keys of the step (lower case: of the workflow)."""

    def change(made: Made) -> None:
        top = {key: keys.pop(key) for key in TOP & keys.keys()}
        made.workflow([STEP | keys], **({"iNumberOfCores": 2} | top))

    return change


def pinned(**keys: Any) -> Callable[[Made], object]:
    return lambda made: made.write(NAME, replace(PINNED, **keys).to_bytes())


def written(path: str, text: str) -> Callable[[Made], object]:
    return lambda made: made.write(path, text)


CHANGES: dict[str, tuple[Callable[[Made], object], str]] = {
    "lock": (written("requirements.lock", "# other\n"), "requirements.lock differs"),
    "lock of the image": (
        pinned(lock_sha256="3" * 64), "the lock that the image was made from differs",
    ),
    "image": (pinned(config_digest="sha256:" + "4" * 64), "the pinned image differs"),
    "epoch": (pinned(source_date_epoch=1_700_000_001), "SOURCE_DATE_EPOCH differs"),
    "variable": (
        workflow(dictEnvironment={"LEVEL": "2"}), "the variable LEVEL of dictEnvironment differs",
    ),
    "new variable": (
        workflow(dictEnvironment={"LEVEL": "1", "MORE": ""}),
        "the variable MORE of dictEnvironment was not part of it",
    ),
    "no variable": (
        workflow(dictEnvironment={}),
        "the variable LEVEL of dictEnvironment is not part of it any more",
    ),
    "option": (workflow(saDataCommands=["python sub/fit.py --slow"]), "its commands differ"),
    "command": (
        workflow(saDataCommands=[*STEP["saDataCommands"], "true"]), "its commands differ",
    ),
    "plot command": (workflow(saPlotCommands=["true"]), "its commands differ"),
    "directory": (
        workflow(sDirectory="sub", saScripts=["sub/fit.py"]), "its directory differs",
    ),
    "notebook": (workflow(sNotebook="fit.ipynb", sDirectory=""), "its notebook is another"),
    "script": (written("sub/fit.py", "import helper  # again\n"), "the code sub/fit.py differs"),
    "imported module": (written("sub/helper.py", "x = 2\n"), "the code sub/helper.py differs"),
    "input": (written("data/in.csv", "2\n"), "the input data/in.csv differs"),
    "new input": (
        workflow(saInputDataFiles=["data/in.csv", "vaibify.yml"]),
        "the input vaibify.yml was not part of it",
    ),
    "outputs": (
        workflow(saDataFiles=["out/fit.json", "out/b"]), "its list of outputs differs",
    ),
    "seed": (workflow(iSeed=7), "the seed differs"),
    "determinism": (
        workflow(bDeterministic=True), "bDeterministic, or --deterministic, differs",
    ),
    "network": (
        written("vaibify.yml", "projectName: trial\nnetworkIsolation: true\n"),
        "networkIsolation differs",
    ),
    "cores": (workflow(iNumberOfCores=3), "the number of cores that its commands name differs"),
    "sealed": (workflow(bSealed=True), "it was not sealed"),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_e04_a_change_is_a_miss_and_is_named(made: Made, what: str) -> None:
    change, text = CHANGES[what]
    before = described(made)
    change(made)
    now = described(made)
    assert name_of(now) != name_of(before)
    assert group_of(now) == group_of(before)
    assert next(differences(now, before)) == text


@pytest.mark.parametrize(
    "change",
    [
        written("vaibify.yml", "projectName: elsewhere\n"),  # steps see where they are
        workflow(sStepId="other"),  # and what they are called
    ],
)
def test_what_a_step_sees_of_names_makes_it_another(made: Made, change: Any) -> None:
    before = described(made)
    change(made)
    assert group_of(described(made)) != group_of(before)


@pytest.mark.parametrize(
    "change",
    [
        workflow(sName="Fitted"),
        workflow(sDescription="text"),
        workflow(fTimeoutSeconds=5, dictResources={"fCpus": 1}, dictTolerances={"x": 0.1}),
        workflow(saTestCommands=["true"], bNoTests=False),
        workflow(sWorkflowName="Other", iJobs=1),
        lambda made: made.retouch("data/in.csv"),
        lambda made: made.commit("more"),
        written("other.txt", "undeclared\n"),
        pinned(image_name="other:2", registry_digest="other@sha256:" + "5" * 64),
    ],
)
def test_what_no_step_sees_is_no_miss(made: Made, change: Any) -> None:
    before = described(made)
    change(made)
    assert name_of(described(made)) == name_of(before)


def test_a_change_of_either_format_is_a_miss(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    before = described(made)
    for place, name in ((fingerprint, "FINGERPRINT_FORMAT"), (cachekey, "CACHE_FORMAT")):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, getattr(place, name) + 1)
            now = described(made)
        assert name_of(now) != name_of(before)
        assert "format" in next(differences(now, before))
        assert differs_by_us(now, before) == next(differences(now, before))
        assert differs_by_us(now, before | {"sealed": True}) is not None
        assert differs_by_us(now, before | {"image": None}) is None
    assert differs_by_us(before, before) is None
    assert differs_by_us(before, before | {"seed": 1}) is None


def test_what_our_own_version_gives_to_a_step_counts(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.workflow([STEP | {"sNotebook": "fit.ipynb", "sDirectory": ""}], bDeterministic=True)
    before = described(made)
    other = tmp_path / "other.py"
    other.write_text("# another version's\n")
    for name in ("PREAMBLE", "RUNNER"):
        with monkeypatch.context() as patch:
            patch.setattr(cache, name, other)
            now = described(made)
        assert name_of(now) != name_of(before)
        text = "what another version of vaibify_lab gave to it differs"
        assert list(differences(now, before)) == [text]
        assert differs_by_us(now, before) == text


def test_what_a_sealed_run_made_serves_one_that_need_not_be(made: Made) -> None:
    now = described(made)
    assert list(differences(now, now | {"sealed": True})) == []
    assert list(differences(now | {"sealed": True}, now)) == ["it was not sealed"]
    assert list(differences(now, now | {"later": 1})) == ["its later differs"]


KEPT = RunRecord(
    "workflow", "fit", "Fit", "passed", "run-1", "", "", isolation="container",
    image="sha256:" + "1" * 64, fingerprint="0" * 64, pins=Pins(outputs={"out/fit.json": "0" * 64}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "hidden", "why"),
    [
        ({}, 0, None),
        ({"outcome": "failed"}, 0, "it has not passed"),
        ({"outcome": "interrupted"}, 0, "it has not passed"),
        ({"fingerprint": None}, 0, "it has not passed"),
        ({"isolation": "sandbox"}, 0, "it did not run in a container of the pinned image"),
        ({"image": None}, 0, "it did not run in a container of the pinned image"),
        ({"done_by": "Ada"}, 0, "a person does it"),
        ({"plot_only": True}, 0, "it made plots only"),
        ({"undeclared_writes": ("a",)}, 0, "it also wrote a, which no step declares"),
        ({"own_code": {"w/j.sh": "0" * 64}}, 0, "it ran w/j.sh, which it had written itself"),
        ({"undeclared_reads": {"x.csv": "0" * 64}}, 0, "it read x.csv, which it does not declare"),
        ({"undeclared_names": {"x.csv": "0" * 64}}, 0, None),
        ({}, 2, "it also wrote 2 files that no step declares and git ignores"),
        ({"pins": Pins()}, 0, "none of its files is an output"),
    ],
)  # fmt: skip
def test_what_is_kept(keys: Any, hidden: int, why: str | None) -> None:
    step = Step("fit", 1, "Fit")
    assert why_not_kept(step, replace(KEPT, **keys), hidden) == why
    assert why_not_kept(replace(step, interactive=True), KEPT, 0) == "a person does it"


def test_nothing_stands_in_for_what_somebody_asked_for(made: Made) -> None:
    second = STEP | {"sName": "After", "sStepId": "after", "saDataFiles": ["o2"],
                     "saInputDataFiles": ["out/fit.json"]}  # fmt: skip
    made.workflow([STEP, second])
    report = made.project().report()

    def asked(selection: Selection, **more: Any) -> dict[str, bool]:
        found = plan(report.workflow, report.steps, selection, **more)
        return {one.slug: one.asked_for for one in found}

    assert asked(Selection()) == {"fit": False, "after": False}
    assert asked(Selection("all")) == {"fit": True, "after": True}
    assert asked(Selection("steps", ("after",))) == {"fit": False, "after": True}
    assert asked(Selection("only", ("after",))) == {"after": True}
    assert asked(Selection("from", ("fit",))) == {"fit": True, "after": True}
    current = [
        replace(one, run="current", upstream_modified=False, reasons=()) for one in report.steps
    ]
    sealed = plan(report.workflow, current, Selection(), sealed=True)
    assert [(one.action, one.asked_for) for one in sealed] == [("run", False)] * 2
