"""What a workflow must keep: each refusal as the one line that a person reads."""

from __future__ import annotations

import pytest

from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.core.paths import shown
from vaibify_lab.core.workflow_file import parse

from .builders import only_step, refusal, step, workflow

CASE = "are one name on a file system that ignores case or normalises Unicode; rename one of them"
ONE = "an output belongs to one step"
OTHER = "write the result to another file"
GIT = "lies in git's own folder"
ENVELOPE = "is written by the envelope and cannot be a step's file"


def refused(*steps, **top):
    text = refusal(*steps, **top)
    assert text.startswith("workflow.json: ")
    return text.removeprefix("workflow.json: ")


OUTPUTS = ("saDataFiles", "saPlotFiles", "saOutputFiles")


@pytest.mark.parametrize("key", OUTPUTS)
@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("../x", "leaves its folder by '..'"),
        ("a/../x", "leaves its folder by '..'"),
        ("a//x", "has an empty or '.' part; write it in its shortest form"),
        (".", "has an empty or '.' part; write it in its shortest form"),
        ("C:/x", "is absolute; paths are relative to the repository's root"),
        ("a\u2028b", "holds a control character"),
        ("x" * 300, "has a name longer than 255 bytes"),
        (".git/hooks/post-commit", GIT),
        (".GIT/config", GIT),
        ("sub/.git/config", GIT),
        (".git/", GIT),
        (".vaibify/records/x.json", "lies where no step may write"),
        (".Vaibify/", "lies where no step may write"),
        ("MANIFEST.sha256", ENVELOPE),
        ("manifest.SHA256", ENVELOPE),
        ("requirements.lock", ENVELOPE),
        ("workflow.json", "is the workflow itself"),
        ("Workflow.json", "is the workflow itself"),
    ],
    ids=lambda value: value[:14],
)
def test_m13_outputs_that_are_refused(key, path, fault):
    said = shown(path)
    assert refused(step("A", **{key: ["ok.csv", path]})) == f"step 'A': {key}: {said!r} {fault}"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/etc/passwd", "'/etc/passwd'"),
        ("~/x", "'~/x'"),
        ("a\\b", "'a\\\\b'"),
        ("*.csv", "'*.csv'"),
        ("a\x00b", "'a\\x00b'"),
        ("a\x7fb", "'a\\x7fb'"),
        ("a\nb", "'a\\nb'"),
        ("a\n", "'a\\n'"),
    ],
)
def test_paths_that_the_schema_refuses_too(path, found):
    assert refused(step("A", saDataFiles=["ok.csv", path])) == (
        f"step 'A': saDataFiles[1]: expected a path inside the repository, written with '/', "
        f"found {found}"
    )


@pytest.mark.parametrize("path", ["MANIFEST.sha256", ".git/config", "sub/.git/x", "../x"])
@pytest.mark.parametrize("key", ["saInputDataFiles", "saScripts"])
def test_inputs_and_code_that_are_refused(key, path):
    assert refused(step("A", **{key: [path]})).startswith(f"step 'A': {key}: {path!r} ")


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({"sNotebook": "../x"}, "sNotebook"),
        ({"sDirectory": "../x"}, "sDirectory"),
        ({"dictTests": {"dictIntegrity": {"sFilePath": "../x"}}}, "sFilePath"),
        ({"dictTests": {"dictQuantitative": {"sStandardsPath": "../x"}}}, "sStandardsPath"),
    ],
)
def test_every_other_path_is_held_to_the_same_rules(keys, key):
    assert refused(step("A", **keys)) == f"step 'A': {key}: '../x' leaves its folder by '..'"


def test_a_folder_is_no_notebook():
    assert refused(step("A", sNotebook="code/")) == (
        "step 'A': sNotebook: 'code/' ends with '/', which declares a folder; a file is expected "
        "here"
    )


def test_a_folder_of_code_makes_steps_wait_for_the_code_that_is_made_in_it():
    makes = step("Make", saDataFiles=["lib/gen.py", "lib/gen.csv"])
    data = step("Data", saDataFiles=["lib/x.csv", "lib/out/"])
    uses = step("Use", saScripts=["lib/"], saDataFiles=["lib/used.csv"])
    found = workflow(makes, data, uses)
    assert [one.parents for one in found.steps] == [(), (), ("make",)]


def test_inputs_may_be_what_no_step_may_write():
    made = only_step(saInputDataFiles=["requirements.lock", ".vaibify/environment.json"])
    assert made.inputs == ("requirements.lock", ".vaibify/environment.json")


def test_a_path_given_twice_counts_once():
    made = only_step(saDataFiles=["x", "x"], saPlotFiles=["x", "y"])
    assert made.outputs == ("x", "y")


def test_m07_names_equal_except_for_case():
    text = refused(
        step("A", saPlotFiles=["Plots/Fig1.pdf"]), step("B", saPlotFiles=["plots/fig1.pdf"])
    )
    assert text == f"step 'B': 'plots/fig1.pdf' and 'Plots/Fig1.pdf' {CASE}"


@pytest.mark.parametrize(
    "keys",
    [
        {"saDataFiles": ["x.csv"], "saInputDataFiles": ["X.csv"]},
        {"saDataFiles": ["out/"], "saPlotFiles": ["Out/"]},
        {"saInputDataFiles": ["a.py"], "saScripts": ["A.py"]},
        {"saDataFiles": ["straße"], "saPlotFiles": ["STRASSE"]},
    ],
)
def test_m07_within_a_step_and_between_roles(keys):
    assert refused(step("A", **keys)).endswith(CASE)


def test_m06_outputs_equal_after_normalisation():
    """Both look the same when they are printed."""
    text = refused(step("A", saDataFiles=["caf\u00e9.csv", "cafe\u0301.csv"]))
    assert text == f"step 'A': 'cafe\\u0301.csv' and 'caf\\u00e9.csv' {CASE}"


def test_m07_a_file_and_a_folder_that_one_disk_cannot_hold_beside_each_other():
    text = refused(step("A", saDataFiles=["out/a.csv"], saPlotFiles=["Out"]))
    assert text == f"step 'A': the folder of 'out/a.csv' and 'Out' {CASE}"


def test_m12_the_root_or_a_wildcard_is_no_output():
    assert refused(step("A", saDataFiles=["./"])) == (
        "step 'A': saDataFiles: './' has an empty or '.' part; write it in its shortest form"
    )
    assert "expected a path inside the repository" in refused(step("A", saDataFiles=["*"]))


@pytest.mark.parametrize(
    ("first", "second", "path"),
    [
        ("a/x", "a/x", "a/x"),
        ("a/", "a/", "a/"),
        ("a/", "a/x", "a/x"),
        ("a/x", "a/", "a/x"),
        ("a/", "a/b/c/", "a/b/c/"),
    ],
)
def test_two_steps_with_one_output(first, second, path):
    text = refused(step("A", saDataFiles=[first]), step("B", saPlotFiles=[second]))
    assert text in (
        f"two steps write {path!r}: 'a' and 'b'; {ONE}",
        f"two steps write {path!r}: 'b' and 'a'; {ONE}",
    )


def test_one_step_may_name_a_folder_and_a_file_in_it():
    made = only_step(saDataFiles=["a/", "a/x.csv"], saPlotFiles=["a/b/"])
    assert made.outputs == ("a/", "a/x.csv", "a/b/")


@pytest.mark.parametrize(
    ("first", "second"), [("a", "a/x"), ("a/b", "a/b/c/d"), ("a", "a/"), ("a/x", "a")]
)
@pytest.mark.parametrize("key", ["saDataFiles", "saInputDataFiles"])
def test_a_file_here_cannot_be_a_folder_there(first, second, key):
    text = refused(step("A", saDataFiles=[first]), step("B", **{key: [second]}))
    name, file = ("A", first) if first < second else ("B", second)
    assert text == (
        f"step '{name}': {file!r} is a file here and a folder elsewhere; declare a folder with a "
        "final '/'"
    )


@pytest.mark.parametrize(
    ("inputs", "outputs", "path"),
    [
        (["x"], ["x"], "x"),
        (["a/"], ["a/"], "a/"),
        (["a/"], ["a/x"], "a/x"),
        (["a/x"], ["a/"], "a/x"),
        (["z", "a/b/x"], ["y", "a/"], "a/b/x"),
    ],
)
def test_n11_an_input_that_is_an_output_of_the_same_step(inputs, outputs, path):
    assert refused(step("A", saInputDataFiles=inputs, saDataFiles=outputs)) == (
        f"step 'A': {path!r} is both an input and an output; {OTHER}"
    )


def test_n11_a_file_changed_in_place_is_refused_and_a_chain_is_ordered():
    first = step("A", saDataFiles=["x"])
    assert workflow(step("B", saInputDataFiles=["x"]), first).steps[0].parents == ("a",)
    text = refused(first, step("B", saInputDataFiles=["x"], saDataFiles=["x"]))
    assert text == f"two steps write 'x': 'a' and 'b'; {ONE}"


@pytest.mark.parametrize(
    "keys",
    [
        {"saScripts": ["a/x.py"]},
        {"sNotebook": "a/x.py"},
        {"dictTests": {"dictIntegrity": {"sFilePath": "a/x.py"}}},
        {"dictTests": {"dictIntegrity": {"sStandardsPath": "a/x.py"}}},
    ],
    ids=str,
)
@pytest.mark.parametrize("output", ["a/x.py", "a/"])
def test_a_step_cannot_write_its_own_code(keys, output):
    assert refused(step("A", saDataFiles=[output], **keys)) == (
        f"step 'A': 'a/x.py' is both code and an output; {OTHER}"
    )


def test_an_output_folder_cannot_hold_the_workflow():
    data = b'{"sFormat": "vaibify-lab/1", "listSteps": [{"sName": "A", "saDataCommands": ["x"], '
    data += b'"saDataFiles": ["study/"]}]}'
    with pytest.raises(InvalidFile) as caught:
        parse(data, "study/deep/workflow.json")
    assert str(caught.value) == (
        "study/deep/workflow.json: step 'A': its output 'study/' holds the workflow itself; "
        "declare a folder of its own"
    )
    assert parse(data, "workflow.json").steps[0].outputs == ("study/",)


def test_a_step_that_has_nothing_to_run():
    text = "step 'A' has nothing to run; add saDataCommands or saPlotCommands"
    assert refused({"sName": "A"}) == text
    assert refused({"sName": "A", "saTestCommands": ["x"]}) == text
    for keys in (
        {"bEnabled": False},
        {"bInteractive": True},
        {"sNotebook": "n.ipynb"},
        {"saPlotCommands": ["x"]},
    ):
        assert len(workflow({"sName": "A"} | keys).steps) == 1


class TestEdges:
    """Who rests on whom."""

    def test_e05_a_shared_folder_makes_edges_to_its_makers_only(self):
        steps = workflow(
            step("A", saDataFiles=["out/a.csv"]),
            step("B", saDataFiles=["out/b.csv"], saDataCommands=["python b.py out"]),
            step("C", saInputDataFiles=["out/"]),
        ).steps
        assert [one.parents for one in steps] == [(), (), ("a", "b")]

    @pytest.mark.parametrize(
        ("output", "given", "is_edge"),
        [
            ("a/x", "a/x", True),
            ("a/", "a/x", True),
            ("a/", "a/b/x", True),
            ("a/b/", "a/", True),
            ("a/x", "a/", True),
            ("a/x", "a/y", False),
            ("ab/x", "a/", False),
            ("a/", "ab", False),
        ],
    )
    def test_inputs(self, output, given, is_edge):
        made = workflow(step("A", saDataFiles=[output]), step("B", saInputDataFiles=[given]))
        assert made.steps[1].parents == (("a",) if is_edge else ())

    @pytest.mark.parametrize(
        "keys",
        [
            {"saScripts": ["x"]},
            {"sNotebook": "x"},
            {"dictTests": {"dictIntegrity": {"sFilePath": "x"}}},
            {"dictTests": {"dictQuantitative": {"sStandardsPath": "x"}}},
        ],
        ids=str,
    )
    def test_code_and_tests_that_a_step_makes(self, keys):
        made = workflow(step("A", saDataFiles=["x"]), step("B", **keys))
        assert (made.steps[1].parents, made.steps[1].inputs) == (("a",), ())

    def test_a_dependency_stands_for_every_output(self):
        made = workflow(
            step("A", saDataFiles=["x"], saPlotFiles=["p/"], saOutputFiles=["z"]),
            step("B", saDependencies=["A"], saInputDataFiles=["raw"]),
        )
        assert made.steps[1].inputs == ("raw", "x", "p/", "z")
        assert made.steps[1].declared_inputs == ("raw",)

    def test_dependencies_that_read_too_much_together_are_refused(self):
        many = step("Many", saDataFiles=[f"o{n}" for n in range(1000)])
        users = [step(f"S{n}", saDependencies=["Many"]) for n in range(2001)]
        assert refused(many, *users) == (
            "its steps read more than 2000000 files together; let saDependencies name fewer steps"
        )
