"""What is in a fingerprint, key by key, and what is not."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaibify_lab.core import fingerprint, jsonio
from vaibify_lab.core.commands import named_by
from vaibify_lab.core.fingerprint import Circumstances, run_fingerprint, seed_of
from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.core.workflow_file import parse
from vaibify_lab.core.workflow_keys import (
    RESOURCE_KEYS,
    STEP_KEYS,
    SUITE_KEYS,
    TEST_KEYS,
    TOP_KEYS,
    Key,
)

from .builders import document, step

USED = "Fit"
BASE = document(
    step("Make", saDataFiles=["made.csv"]),
    step("Other", saDataFiles=["other.csv"]),
    step(
        USED,
        saDataCommands=["python fit.py {Step01.made} {sPlotDirectory} {v}"],
        saPlotCommands=["python plot.py a.{sFigureType} -j {iNumberOfCores}"],
        saDataFiles=["fit.json"],
        saInputDataFiles=["raw.csv"],
        dictTests={
            name: {"saCommands": ["pytest t.py"], "sFilePath": "t.py", "sStandardsPath": "s.json"}
            for name in SUITE_KEYS
        },
        dictEnvironment={"A": "1"},
        dictResources={"fCpus": 1},
    ),
    sPlotDirectory="plots", sFigureType="pdf", dictVariables={"v": 1},
)  # fmt: skip

STEP_CHANGES: dict[str, Any] = {
    "sName": "Fitted",
    "sStepId": "other-id",
    "sDirectory": "sub",
    "sDescription": "text",
    "bEnabled": False,
    "bInteractive": True,
    "bPlotOnly": True,
    "saDataCommands": ["python fit.py --other"],
    "saPlotCommands": ["python plot.py --other"],
    "saTestCommands": ["check"],
    "saDataFiles": ["fit2.json"],
    "saPlotFiles": ["plots/a.pdf"],
    "saOutputFiles": ["log.txt"],
    "saInputDataFiles": ["raw.csv", "raw2.csv"],
    "bNoInputData": True,
    "saDependencies": ["Other"],
    "saScripts": ["fit.py"],
    "sNotebook": "fit.ipynb",
    "dictTests": {},
    "bNoTests": True,
    "dictTolerances": {"x": 0.1},
    "dictEnvironment": {"A": "2"},
    "bWriteAnywhere": True,
    "fTimeoutSeconds": 60,
    "dictResources": {},
}
TOP_CHANGES: dict[str, Any] = {
    "sWorkflowName": "other",
    "sPlotDirectory": "figures",
    "sFigureType": "svg",
    "iNumberOfCores": 8,
    "iJobs": 2,
    "fTolerance": 0.5,
    "iSeed": 7,
    "bDeterministic": True,
    "saHostBinaries": ["gnuplot"],
    "bNoHostBinaries": True,
    "bNoPythonPackages": True,
    "bKeepSignOffIfIdentical": True,
    "bSealed": True,
    "dictRemotes": {"github": {}},
    "fReverifyHours": 1,
    "dictVariables": {"v": 2},
}
TEST_CHANGES: dict[str, Any] = {
    "saCommands": ["pytest -x t.py"],
    "sFilePath": "t2.py",
    "sStandardsPath": "s2.json",
}
RESOURCE_CHANGES: dict[str, Any] = {
    "fCpus": 2,
    "iMemoryMegabytes": 100,
    "iGpus": 1,
    "iShmMegabytes": 64,
}


def read(value: dict[str, Any]) -> tuple[Workflow, Step]:
    made = parse(json.dumps(value).encode(), "workflow.json")
    return made, made.steps[2]


def around(made: Workflow, one: Step) -> Circumstances:
    """What a run finds: each file's content is its own name, each script is there."""
    scripts = one.declared_scripts or named_by(one.commands, one.directory).scripts
    code = [*scripts, *([one.notebook] if one.notebook else [])]
    hashes = [
        {path: hashlib.sha256(path.encode()).hexdigest() for path in paths}
        for paths in (one.inputs, code)
    ]
    return Circumstances(
        hashes[0], hashes[1], deterministic=made.deterministic, source_date_epoch=0
    )


def fingerprint_of(value: dict[str, Any]) -> str:
    made, one = read(value)
    return run_fingerprint(made, one, around(made, one))


def rows() -> list[tuple[str, Key, dict[str, Any]]]:
    """Each key of each table, with the base document where that key alone says something else."""
    found = []
    for name, change in STEP_CHANGES.items():
        value = copy.deepcopy(BASE)
        value["listSteps"][2][name] = change
        found.append((name, STEP_KEYS[name], value))
    for name, change in TOP_CHANGES.items():
        found.append((name, TOP_KEYS[name], copy.deepcopy(BASE) | {name: change}))
    for name, key in SUITE_KEYS.items():
        value = copy.deepcopy(BASE)
        del value["listSteps"][2]["dictTests"][name]
        found.append((name, key, value))
    for name, change in TEST_CHANGES.items():
        value = copy.deepcopy(BASE)
        value["listSteps"][2]["dictTests"]["dictIntegrity"][name] = change
        found.append((name, TEST_KEYS[name], value))
    for name, change in RESOURCE_CHANGES.items():
        value = copy.deepcopy(BASE)
        value["listSteps"][2]["dictResources"][name] = change
        found.append((name, RESOURCE_KEYS[name], value))
    value = copy.deepcopy(BASE)
    value["listSteps"][2]["saDataCommands"] = ["other"]
    found.append(("listSteps", TOP_KEYS["listSteps"], value))
    return found


@pytest.mark.parametrize(("name", "key", "value"), rows(), ids=[row[0] for row in rows()])
def test_a_key_changes_the_fingerprint_exactly_when_it_is_declared_to(name, key, value):
    assert read(value)[0] != read(BASE)[0]
    assert (fingerprint_of(value) != fingerprint_of(BASE)) == key.fingerprint


def test_every_key_of_every_table_is_tried():
    known = [*TOP_KEYS, *STEP_KEYS, *SUITE_KEYS, *TEST_KEYS, *RESOURCE_KEYS]
    assert sorted([*(row[0] for row in rows()), "sFormat"]) == sorted(known)


def test_the_format_is_in_by_its_number(monkeypatch):
    assert TOP_KEYS["sFormat"].fingerprint
    before = fingerprint_of(BASE), seed_of(*read(BASE), {})
    monkeypatch.setattr(fingerprint, "FINGERPRINT_FORMAT", 3)
    assert fingerprint_of(BASE) != before[0]
    assert seed_of(*read(BASE), {}) != before[1]


CHANGED: dict[str, Any] = {
    "inputs": {"raw.csv": "1" * 64},
    "code": {"fit.py": "1" * 64},
    "image": "sha256:" + "1" * 64,
    "lock": "1" * 64,
    "deterministic": True,
    "engine": "docker",
    "network": False,
    "source_date_epoch": 1,
}


@pytest.mark.parametrize("name", CHANGED)
def test_e04_every_circumstance_counts(name):
    made, one = read(BASE)
    before = around(made, one)
    after = dataclasses.replace(before, **{name: CHANGED[name]})
    assert run_fingerprint(made, one, after) != run_fingerprint(made, one, before)


def test_e04_no_circumstance_is_forgotten():
    assert set(CHANGED) == {one.name for one in dataclasses.fields(Circumstances)}


def test_other_steps_names_and_the_order_in_the_file_do_not_count():
    value = copy.deepcopy(BASE)
    value["listSteps"][1] |= {"sName": "Another", "saDataCommands": ["x"]}
    value["sWorkflowName"] = "x"
    assert fingerprint_of(value) == fingerprint_of(BASE)


def test_e03_an_upgrade_of_the_tool_alone_changes_nothing():
    """The exact value: whoever changes it changes ``FINGERPRINT_FORMAT`` with it."""
    made, one = read(BASE)
    assert fingerprint.FINGERPRINT_FORMAT == 2
    assert run_fingerprint(made, one, Circumstances()) == (
        "17e7e7cc2864c25f4e11db5378d2e574c63d25c280652984535d6cf8c0f1a8af"
    )
    assert seed_of(made, one, {}) == 1041184856


class TestSeed:
    def test_it_is_the_workflows_when_that_gives_one(self):
        value = copy.deepcopy(BASE) | {"iSeed": 5}
        assert seed_of(*read(value), {"a": "1"}) == 5

    @pytest.mark.parametrize(
        ("key", "change", "counts"),
        [
            ("saDataCommands", ["other"], True),
            ("dictEnvironment", {"A": "2"}, True),
            ("sDirectory", "sub", True),
            ("sName", "Other name", False),
            ("dictTolerances", {"x": 1}, False),
            ("fTimeoutSeconds", 5, False),
            ("saDataFiles", ["y"], False),
        ],
    )
    def test_else_it_is_drawn_from_commands_environment_and_inputs(self, key, change, counts):
        value = copy.deepcopy(BASE)
        value["listSteps"][2][key] = change
        inputs = {"raw.csv": "0" * 64}
        assert (seed_of(*read(value), inputs) != seed_of(*read(BASE), inputs)) == counts

    def test_the_content_of_inputs_counts_and_the_order_does_not(self):
        made, one = read(BASE)
        assert seed_of(made, one, {"a": "1", "b": "2"}) == seed_of(made, one, {"b": "2", "a": "1"})
        assert seed_of(made, one, {"a": "1"}) != seed_of(made, one, {"a": "2"})

    @given(
        st.dictionaries(st.text(max_size=5), st.text("0123456789abcdef", min_size=64, max_size=64))
    )
    def test_it_fits_every_generator(self, inputs):
        assert 0 <= seed_of(*read(BASE), inputs) < 2**32


@given(st.text(max_size=20), st.text(max_size=20))
def test_two_texts_have_one_digest_only_when_they_normalise_to_one(one, two):
    same = jsonio.canonical(one) == jsonio.canonical(two)
    assert (jsonio.digest([one]) == jsonio.digest([two])) == same
