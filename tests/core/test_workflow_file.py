"""workflow.json becomes a ``Workflow``; what cannot is one line."""

from __future__ import annotations

import dataclasses
import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaibify_lab.core import model
from vaibify_lab.core.errors import InvalidFile, LaterFormat
from vaibify_lab.core.model import Step, StepResources, Workflow
from vaibify_lab.core.naming import slug_of
from vaibify_lab.core.workflow_file import parse

from .builders import document, only_step, refusal, step, workflow


def test_everything_that_a_step_can_say():
    made = only_step(
        sStepId="fit-1",
        sDirectory="fits/",
        sDescription="Text.",
        bEnabled=False,
        bPlotOnly=True,
        saDataCommands=["python fit.py"],
        saPlotCommands=["python plot.py"],
        saDataFiles=["a.csv"],
        saPlotFiles=["b.pdf"],
        saOutputFiles=["c.log"],
        saInputDataFiles=["raw/"],
        saScripts=["fits/fit.py"],
        dictTests={
            "dictQuantitative": {"saCommands": ["q"], "sStandardsPath": "s.json"},
            "dictIntegrity": {"sFilePath": "t/i.py"},
        },
        saTestCommands=["extra"],
        dictTolerances={"x": 1e-3},
        dictEnvironment={"OMP_NUM_THREADS": "1"},
        bWriteAnywhere=True,
        fTimeoutSeconds=60,
        dictResources={"fCpus": 0.5, "iMemoryMegabytes": 512.0, "iGpus": 1},
    )
    assert made == Step(
        slug="fit-1",
        number=1,
        name="A",
        directory="fits",
        description="Text.",
        enabled=False,
        plot_only=True,
        data_commands=("python fit.py",),
        plot_commands=("python plot.py",),
        data_files=("a.csv",),
        plot_files=("b.pdf",),
        output_files=("c.log",),
        declared_inputs=("raw/",),
        inputs=("raw/",),
        declared_scripts=("fits/fit.py",),
        suites=(
            model.TestSuite(
                "integrity", ("python -m pytest '{sRepoRoot}/t/i.py'", "extra"), "t/i.py"
            ),
            model.TestSuite("quantitative", ("q",), None, "s.json"),
        ),
        tolerances={"x": 1e-3},
        environment={"OMP_NUM_THREADS": "1"},
        write_anywhere=True,
        timeout_seconds=60,
        resources=StepResources(0.5, 512, 1, None),
    )
    assert made.commands == ("python fit.py", "python plot.py")
    assert made.outputs == ("a.csv", "b.pdf", "c.log")
    assert made.code == ("fits/fit.py", "t/i.py", "s.json")
    assert made.kind == "script"


def test_everything_that_a_workflow_can_say():
    said = {
        "sWorkflowName": "CO2",
        "iNumberOfCores": 4.0,
        "iJobs": 2.0,
        "fTolerance": 1,
        "iSeed": 7.0,
        "bDeterministic": True,
        "bSealed": True,
        "saHostBinaries": ["gnuplot"],
        "bNoHostBinaries": True,
        "bNoPythonPackages": True,
        "bKeepSignOffIfIdentical": True,
        "dictRemotes": {"x": [1]},
        "fReverifyHours": 24,
    }
    made = workflow(step("A"), **said)
    assert made == Workflow(
        path="workflow.json",
        name="CO2",
        steps=(Step("a", 1, "A", data_commands=("true",)),),
        cores=4,
        jobs=2,
        tolerance=1.0,
        seed=7,
        deterministic=True,
        sealed=True,
        host_binaries=("gnuplot",),
        no_host_binaries=True,
        no_python_packages=True,
        keep_sign_off_if_identical=True,
        raw=document(step("A"), **said),
    )
    assert [type(value) for value in (made.cores, made.jobs, made.seed)] == [int, int, int]


def test_defaults():
    made = parse(b'{"sFormat": "vaibify-lab/1", "listSteps": []}', "a/.vaibify/co2 fits.json")
    assert dataclasses.replace(made, raw={}) == Workflow("a/.vaibify/co2 fits.json", "co2 fits", ())
    assert made.stem == "co2 fits"


@pytest.mark.parametrize("path", [".json", "a/..json", "a/...json"])
def test_a_file_whose_facts_would_lie_elsewhere(path):
    with pytest.raises(InvalidFile) as caught:
        parse(json.dumps(document(step("A"))).encode(), path)
    assert str(caught.value) == f"{path}: has a name that no folder of facts can have"


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        ({}, "script"),
        ({"sNotebook": "n.ipynb"}, "notebook"),
        ({"bInteractive": True}, "interactive"),
    ],
)
def test_kinds(keys, kind):
    assert only_step(**keys).kind == kind


def test_a_file_of_standards_alone_is_kept_though_nothing_runs():
    made = only_step(dictTests={"dictQuantitative": {"sStandardsPath": "s.json"}})
    assert made.suites == (model.TestSuite("quantitative", (), None, "s.json"),)


@pytest.mark.parametrize("file", ["t/a b.py", "t/a'b.py", "t/$x.py", "t/a;b.py", "-x.py"])
def test_a_test_file_with_an_odd_name_is_one_word_of_the_command(file):
    (suite,) = only_step(dictTests={"dictIntegrity": {"sFilePath": file}}).suites
    assert shlex.split(suite.commands[0]) == ["python", "-m", "pytest", "{sRepoRoot}/" + file]


class TestFormat:
    def refused(self, value, kind=InvalidFile):
        with pytest.raises(kind) as caught:
            parse(json.dumps(value).encode(), "w.json")
        return str(caught.value)

    def test_later(self):
        for number in (2, 10, 999999):
            assert self.refused({"sFormat": f"vaibify-lab/{number}"}, LaterFormat) == (
                f"w.json: has the format 'vaibify-lab/{number}', later than this version knows "
                "('vaibify-lab/1'); update vaibify_lab; the file was not changed"
            )

    @pytest.mark.parametrize(
        "said", ["vaibify-lab/0", "vaibify-lab/01", "vaibify-lab/2x", 1, [], ""]
    )
    def test_unknown(self, said):
        text = self.refused({"sFormat": said})
        assert text == f"w.json: sFormat: expected 'vaibify-lab/1', found {said!r}"

    @pytest.mark.parametrize("version", [0, 13])
    def test_a_project_of_the_original(self, version):
        assert self.refused({"iWorkflowSchemaVersion": version, "listSteps": []}) == (
            "w.json: is a project of the original Vaibify, which this version cannot read yet; "
            "it was left as it is"
        )

    def test_missing(self):
        assert self.refused({"listSteps": []}) == (
            "w.json: sFormat: is required and missing; add 'vaibify-lab/1'"
        )

    @pytest.mark.parametrize("value", [[], "x", 1, None, True])
    def test_no_object(self, value):
        assert self.refused(value) == "w.json: expected an object with sFormat and listSteps"


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"sName": 1}, "listSteps[0].sName: expected text, found a number"),
        ({"sName": ""}, "listSteps[0].sName: expected text of 1 to 200 characters"),
        (
            {"sName": "  "},
            "listSteps[0].sName: expected a name, without control characters, found '  '",
        ),
        (
            {"sName": "a\x1b[31m"},
            "listSteps[0].sName: expected a name, without control characters, found 'a\\x1b[31m'",
        ),
        (
            {"sName": "a\u202eb"},
            "listSteps[0].sName: expected a name, without control characters, found 'a\\u202eb'",
        ),
        (
            {"sStepId": "A b"},
            "step 'A': sStepId: expected lower-case letters, digits and '-', found 'A b'",
        ),
        (
            {"sStepId": "x\n"},
            "step 'A': sStepId: expected lower-case letters, digits and '-', found 'x\\n'",
        ),
        ({"sStepId": "x" * 101}, "step 'A': sStepId: expected text of 1 to 100 characters"),
        ({"saDataCommands": "ls"}, "step 'A': saDataCommands: expected a list, found text"),
        (
            {"saDataCommands": [" \n"]},
            "step 'A': saDataCommands[0]: expected a command, found ' \\n'",
        ),
        (
            {"saDataCommands": ["a" * 99_000 + "\x00"]},
            "step 'A': saDataCommands[0]: expected a command, found '" + "a" * 80 + "'",
        ),
        ({"bEnabled": 1}, "step 'A': bEnabled: expected true or false, found a number"),
        (
            {"dictEnvironment": {"A-B": "x"}},
            "step 'A': dictEnvironment.A-B: expected a variable name as the key",
        ),
        (
            {"dictEnvironment": {"A": 1}},
            "step 'A': dictEnvironment.A: expected text, found a number",
        ),
        (
            {"dictTests": {"dictIntegrity": {"saCommands": [1]}}},
            "step 'A': dictTests.dictIntegrity.saCommands[0]: expected text, found a number",
        ),
        (
            {"dictResources": {"iGpus": 0.5}},
            "step 'A': dictResources.iGpus: expected a whole number from 0 to 1024, found 0.5",
        ),
    ],
    ids=lambda value: str(value)[:30],
)
def test_an_error_names_the_file_the_key_and_what_was_expected(keys, text):
    assert refusal(step("A") | keys) == f"workflow.json: {text}"


@pytest.mark.parametrize(
    ("top", "text"),
    [
        ({"listSteps": {}}, "listSteps: expected a list, found an object"),
        ({"iSeed": -1}, "iSeed: expected a whole number from 0 to 4294967295, found -1"),
        ({"fTolerance": True}, "fTolerance: expected a number from 0 to 1e+300, found True"),
        ({"dictVariables": {"a": None}}, "dictVariables.a: expected text, found null"),
        ({"sFigureType": "../x"}, "sFigureType: expected letters and digits, found '../x'"),
        (
            {"sPlotDirectory": "/x"},
            "sPlotDirectory: expected a folder inside the repository, found '/x'",
        ),
    ],
    ids=str,
)
def test_an_error_in_the_workflow_itself(top, text):
    assert refusal(step("A"), **top) == f"workflow.json: {text}"


def test_a_typing_error_in_a_required_key():
    assert refusal({"sname": "A"}) == (
        "workflow.json: listSteps[0].sName: is required and missing "
        "(found 'sname': a typing error?)"
    )


class TestWarnings:
    def test_unknown_keys_survive_and_are_named(self):
        made = workflow(
            step("A", saDataFile=["x"], dictTests={"dictIntegrty": {}}),
            step("B", sColour="red"),
            sWorkflowNam="x",
        )
        assert made.warnings == (
            "unknown key 'sWorkflowNam'; did you mean 'sWorkflowName'?",
            "step 'A': unknown key 'saDataFile'; did you mean 'saDataFiles'?",
            "step 'A': unknown key 'dictTests.dictIntegrty'; "
            "did you mean 'dictTests.dictIntegrity'?",
            "step 'B': unknown key 'sColour'",
        )
        assert made.raw["listSteps"][1]["sColour"] == "red"

    def test_they_are_counted_out(self):
        made = workflow(*[step(f"S{n}", **{f"x{m}": 1 for m in range(9)}) for n in range(300)])
        assert len(made.warnings) == 101
        assert made.warnings[-1] == "... and more"

    def test_a_good_workflow_has_none(self):
        assert workflow(step("A", dictTolerances={"any": 1}), dictRemotes={"any": 1}).warnings == ()


class TestSlugs:
    @pytest.mark.parametrize(
        ("name", "slug"),
        [
            ("Fit", "fit"),
            ("Fit the CO2 model", "fit-the-co2-model"),
            ("loadAndClean", "load-and-clean"),
            ("CO2Fit", "co2-fit"),
            ("  a -- b__c/d ", "a-b-c-d"),
            ("Mélange Ångström", "melange-angstrom"),
            ("100%", "100"),
            ("<img src=x onerror=alert(1)>", "img-src-x-onerror-alert-1"),
            ("日本語", ""),
            ("日本 2", "2"),
            ("x" * 150, "x" * 100),
            ("y" * 99 + " z", "y" * 99),
        ],
    )
    def test_kebab_case(self, name, slug):
        assert slug_of(name) == slug

    @given(st.text(max_size=30))
    def test_a_slug_is_a_file_name_and_its_own_slug(self, name):
        slug = slug_of(name)
        assert slug == slug_of(slug)
        assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
        assert slug == slug.strip("-")

    def test_a_step_id_goes_before_the_name(self):
        made = workflow(step("日本", sStepId="japan"), step("Fit"))
        assert [one.slug for one in made.steps] == ["japan", "fit"]
        assert made.by_slug["japan"].name == "日本"

    def test_a_name_that_makes_no_file_name(self):
        assert refusal(step("A"), step("日本")) == (
            "workflow.json: listSteps[1]: the name '日本' makes no file name; "
            "give the step an sStepId"
        )

    @pytest.mark.parametrize("name", ["fit", "FIT", "Fit!", "f\u00eft"])
    def test_two_steps_of_one_slug(self, name):
        assert refusal(step("Fit"), step(name)) == (
            f"workflow.json: two steps are called 'fit': 'Fit' and {name!r}; rename one of them"
        )

    def test_a_step_id_that_is_anothers_slug(self):
        assert refusal(step("Fit"), step("Other", sStepId="fit")).startswith(
            "workflow.json: two steps are called 'fit': 'Fit' and 'Other'"
        )


class TestDependencies:
    @pytest.mark.parametrize("said", ["Fit model", "fit-model", "Step01"])
    def test_by_name_slug_or_number(self, said):
        made = workflow(
            step("Fit model", saDataFiles=["x"]), step("B", saDependencies=[said, said])
        )
        assert made.steps[1].parents == ("fit-model",)

    def test_on_nothing(self):
        assert refusal(step("A", saDependencies=["Fit"])) == (
            "workflow.json: step 'A' depends on 'Fit', no such step"
        )

    def test_on_a_name_that_two_steps_have(self):
        assert refusal(
            step("Fit", sStepId="one"),
            step("Fit", sStepId="two"),
            step("B", saDependencies=["Fit"]),
        ) == (
            "workflow.json: step 'B' depends on 'Fit', which could be 'one' or 'two'; "
            "name it by its sStepId"
        )

    def test_on_a_name_that_is_anothers_number(self):
        text = refusal(step("Step02"), step("B"), step("C", saDependencies=["Step02"]))
        assert "which could be 'step02' or 'b'" in text
