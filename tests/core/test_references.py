"""References, variables and what stays the shell's."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaibify_lab.core.references import as_run, stems_of

from .builders import only_step, refusal, step, workflow

FIT = step(
    "Fit model",
    saDataFiles=["results/fit.json", "results/fit_table.tar.gz"],
    saPlotFiles=["plots/fit.final.pdf"],
)


def user_of(*commands: str, **top):
    return workflow(FIT, step("Use", saDataCommands=list(commands)), **top).steps[1]


@pytest.mark.parametrize(
    ("written", "expanded"),
    [
        ("{Step01.fit}", "{sRepoRoot}/results/fit.json"),
        ("{Step1.fit}", "{sRepoRoot}/results/fit.json"),
        ("{step:fit-model.fit}", "{sRepoRoot}/results/fit.json"),
        ("{Step01.fit_table.tar}", "{sRepoRoot}/results/fit_table.tar.gz"),
        ("{Step01.fit.final}", "{sRepoRoot}/plots/fit.final.pdf"),
        ("a={Step01.fit},b", "a={sRepoRoot}/results/fit.json,b"),
    ],
)
def test_a_reference_is_an_output_an_input_and_an_edge(written, expanded):
    user = user_of(f"cat {written}")
    assert user.commands == (f"cat {expanded}",)
    assert user.inputs == (expanded.replace("{sRepoRoot}/", "").removeprefix("a=").split(",")[0],)
    assert user.parents == ("fit-model",)


def test_a_folder_is_referred_to_by_its_name():
    made = step("Make", saDataFiles=["out/tiles/"])
    use = workflow(made, step("Use", saDataCommands=["ls {Step01.tiles}"])).steps[1]
    assert (use.commands, use.inputs) == (("ls {sRepoRoot}/out/tiles",), ("out/tiles/",))


def test_a_reference_to_an_own_output_is_its_path_and_no_input():
    own = only_step(saDataCommands=["true > {Step01.x}"], saDataFiles=["out/x.csv"])
    assert (own.commands, own.inputs, own.parents) == (("true > {sRepoRoot}/out/x.csv",), (), ())


def test_a_reference_may_point_to_a_later_step():
    steps = workflow(
        step("Use", saDataCommands=["cat {step:make.x}"]), step("Make", saDataFiles=["x.csv"])
    ).steps
    assert [one.parents for one in steps] == [("make",), ()]


def test_references_in_input_paths_and_in_tests():
    use = workflow(
        FIT,
        step("Other", saDataFiles=["standards.json"]),
        step(
            "Use",
            saInputDataFiles=["{Step01.fit}"],
            dictTests={"dictIntegrity": {"saCommands": ["check {Step02.standards}"]}},
        ),
    ).steps[2]
    assert use.inputs == use.declared_inputs == ("results/fit.json",)
    assert use.test_inputs == ("standards.json",)
    assert use.parents == ("fit-model", "other")
    assert use.suites[0].commands == ("check {sRepoRoot}/standards.json",)


HAVE = "(it has: fit, fit.final, fit_table.tar)"


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("{Step09.fit}", "step 'Use' refers to {Step09.fit}, no such step"),
        ("{step:fitmodel.fit}", "step 'Use' refers to {step:fitmodel.fit}, no such step"),
        ("{step:Fit model.fit}", "step 'Use' refers to {step:Fit model.fit}, no such step"),
        (
            "{Step01.fi}",
            f"step 'Use' refers to {{Step01.fi}}, but 'fit-model' has no output of that "
            f"stem {HAVE}",
        ),
        (
            "{Step02.x}",
            "step 'Use' refers to {Step02.x}, but 'use' has no output of that stem (it has: none)",
        ),
    ],
)
def test_a_reference_to_nothing_is_refused(command, text):
    assert refusal(FIT, step("Use", saDataCommands=[command])) == f"workflow.json: {text}"


def test_a_stem_that_two_outputs_share_is_refused_when_it_is_used():
    twice = step("Make", saDataFiles=["a/x.csv"], saPlotFiles=["b/x.pdf"])
    assert workflow(twice).steps[0].outputs == ("a/x.csv", "b/x.pdf")
    assert refusal(twice, step("Use", saDataCommands=["{Step01.x}"])) == (
        "workflow.json: step 'Use' refers to {Step01.x}, which could be 'a/x.csv' or 'b/x.pdf'; "
        "rename one of them"
    )


@pytest.mark.parametrize(
    "command",
    [
        "echo ${HOME} ${Step01.fit} {a,b} {1..3}",
        "awk '{print $1}' x",
        "find . -exec ls {} \\;",
        "echo {a b} { ls; } {Step01.} {.fit}",
        "jq '{a: .b}'",
        "{Step0000001.fit}",
        "{\nStep01.fit}",
    ],
)
def test_what_is_the_shells_stays(command):
    user = user_of(command)
    assert user.commands == (command,)
    assert user.parents == ()


def test_unknown_tokens_stay_and_are_warned_of_wherever_they_stand():
    made = workflow(
        step(
            "A",
            saDataCommands=["echo {sFigureTyp} {step:fit} {sRepoRoot}"],
            saDataFiles=["{sOut}/x.csv"],
            saInputDataFiles=["{sIn}.csv"],
            sDirectory="{sDir}",
            saScripts=["{sCode}.py"],
            saTestCommands=["test {sTest}"],
        ),
    )
    assert made.steps[0].commands == ("echo {sFigureTyp} {step:fit} {sRepoRoot}",)
    assert made.steps[0].outputs == ("{sOut}/x.csv",)
    tokens = ["sCode", "sDir", "sFigureTyp", "sIn", "sOut", "sTest", "step:fit"]
    assert made.warnings == tuple(
        f"step 'A': {{{token}}} is no variable of this workflow" for token in tokens
    )


def test_variables_in_commands_and_paths():
    one = workflow(
        step(
            "A",
            saDataCommands=["plot {sPlotDirectory}/a.{sFigureType} {n} {f} {sRepoRoot}"],
            saPlotFiles=["{sPlotDirectory}/a.{sFigureType}"],
            sDirectory="{where}/x",
            saScripts=["{where}/a.py"],
            sNotebook="{where}/n.ipynb",
            dictTests={
                "dictQuantitative": {
                    "sFilePath": "{where}/t.py",
                    "sStandardsPath": "{where}/s.json",
                }
            },
        ),
        sPlotDirectory="plots/",
        dictVariables={"n": 3, "f": 1e-6, "where": "code"},
    ).steps[0]
    assert one.commands == ("plot plots/a.pdf 3 1e-06 {sRepoRoot}",)
    assert (one.plot_files, one.directory) == (("plots/a.pdf",), "code/x")
    assert (one.declared_scripts, one.notebook) == (("code/a.py",), "code/n.ipynb")
    assert one.suites[0].commands == ("python -m pytest '{sRepoRoot}/code/t.py'",)
    assert one.suites[0].files == ("code/t.py", "code/s.json")


def test_the_text_of_a_variable_is_not_expanded_again():
    one = only_step(saDataCommands=["{Step01.x}"], saDataFiles=["x.csv"])
    assert one.commands == ("{sRepoRoot}/x.csv",)
    made = workflow(FIT, step("Use", saDataCommands=["{v}"]), dictVariables={"v": "{Step01.fit}"})
    assert made.steps[1].commands == ("{Step01.fit}",)


@pytest.mark.parametrize("name", ["sRepoRoot", "iNumberOfCores", "sFigureType", "sPlotDirectory"])
def test_a_variable_cannot_take_a_name_that_has_a_meaning(name):
    assert refusal(step("A"), dictVariables={name: "x"}) == (
        f"workflow.json: dictVariables.{name}: is a name with a meaning of its own; call the "
        "variable something else"
    )


@pytest.mark.parametrize("token", ["{sRepoRoot}", "{iNumberOfCores}"])
@pytest.mark.parametrize("key", ["saDataFiles", "saInputDataFiles"])
def test_what_is_known_at_launch_only_cannot_stand_in_a_path(token, key):
    assert refusal(step("A", **{key: [f"{token}/x.csv"]})) == (
        f"workflow.json: step 'A': {token} stands in a path; it is for commands only; paths start "
        "at the repository's root; leave it out"
    )


def test_an_output_cannot_be_a_reference():
    assert refusal(FIT, step("Use", saDataFiles=["{Step01.fit}"])) == (
        "workflow.json: step 'Use' uses {Step01.fit} where only a path of its own can stand"
    )


def test_as_run_fills_in_what_the_machine_decides_and_nothing_else():
    commands = ("{sRepoRoot}/a -j {iNumberOfCores} ${sRepoRoot} {other}",)
    assert as_run(commands, "/workspace/co2", 3) == ("/workspace/co2/a -j 3 ${sRepoRoot} {other}",)
    for quote in ("", "'", '"'):
        for root in (r"/a\1{iNumberOfCores}", "/My Project", '/it\'s $HOME `x` "q" ü;&|'):
            (command,) = as_run((f"printf %s {quote}{{sRepoRoot}}/a b{quote}",), root, 2)
            done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
            assert done.stdout == f"{root}/a b".replace(" b", "b" if not quote else " b")


def test_text_that_would_grow_without_end_is_refused():
    variables = {"v": "x" * 10_000}
    growing = [step(f"S{n}", saDataCommands=["{v}" * 9] * 1000) for n in range(9)]
    assert refusal(step("A", saDataCommands=["{v}" * 11]), dictVariables=variables) == (
        "workflow.json: step 'A': a command grows to more than 100000 characters"
    )
    assert refusal(step("A", saDataCommands=["{v}" * 33_000]), dictVariables=variables) == (
        "workflow.json: step 'A': its variables and references grow to too much text"
    )
    assert refusal(*growing, dictVariables=variables).endswith("grow to too much text")


@given(st.lists(st.sampled_from(["a/x.csv", "x.pdf", ".x", "x/", "a/.b.c", "x.tar.gz", "."])))
def test_every_path_has_one_stem(paths):
    assert sorted(path for those in stems_of(paths).values() for path in those) == sorted(paths)


def test_stems():
    made = stems_of(["a/x.csv", "b/x.pdf", "x.tar.gz", ".env", "tiles/", "plain", "a/.b.c"])
    assert made == {
        "x": ("a/x.csv", "b/x.pdf"),
        "x.tar": ("x.tar.gz",),
        ".env": (".env",),
        "tiles": ("tiles/",),
        "plain": ("plain",),
        ".b": ("a/.b.c",),
    }
