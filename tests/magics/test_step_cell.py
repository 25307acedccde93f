"""A cell that is a step: written down, run, shown; and what fails it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from tests.kit import Made
from tests.magics.kernel import new_project, run
from vaibify_lab.core.facts import RunRecord

FIT = """%%vaibify step "Fit it" --input data/in.txt --data results/{x}.txt --no-tests
import pathlib
print("fitting é")
pathlib.Path("results/{x}.txt").write_text("fit")"""


def record(made: Made, slug: str) -> RunRecord:
    """Return the record of a step."""
    found = made.project().look().facts.records[slug]
    assert isinstance(found, RunRecord)
    return found


def listed(made: Made) -> list[dict[str, object]]:
    """Return the steps of the workflow file."""
    steps: list[dict[str, object]] = json.loads(made.read("workflow.json"))["listSteps"]
    return steps


def test_a_cell_is_declared_run_and_shown(tmp_path: Path) -> None:
    made = new_project(tmp_path / "p")
    ran = run(made.root, "x = 'expanded'", FIT, "after = 1", "%vaibify status --json")
    assert ran.stopped is None
    assert listed(made) == [
        {
            "sName": "Fit it",
            "saDataCommands": ["python -m cells.fit-it"],
            "saDataFiles": ["results/{x}.txt"],
            "saInputDataFiles": ["data/in.txt"],
            "bNoTests": True,
        }
    ]
    head, _, code = made.read("cells/fit-it.py").partition("\n")
    assert head.startswith("# Of the notebook cell %%vaibify step Fit it (code ")
    assert code == FIT.partition("\n")[2] + "\n"
    kept = record(made, "fit-it")
    assert kept.outcome == "passed"
    script = (made.root / "cells/fit-it.py").read_bytes()
    assert kept.pins.code == {"cells/fit-it.py": hashlib.sha256(script).hexdigest()}
    assert list(kept.pins.outputs) == ["results/{x}.txt"]
    said = ran.text(1)
    assert "cells/fit-it.py: new" in said and "step 'fit-it' is new" in said
    assert "fitting é\n" in said and "passed in" in said
    [view] = ran.shown(1)
    assert list(view) == ["text/plain", "text/html"]
    assert view["text/plain"].startswith("fit-it: not verified yet\n  ✓ run current")
    assert "results/{x}.txt: new" in view["text/plain"]
    assert "style" not in view["text/html"] and 'class="vaibify-step' in view["text/html"]
    answer = json.loads(ran.text(3))
    assert [(one["slug"], one["run"]) for one in answer["steps"]] == [("fit-it", "current")]


def test_a_failing_step_fails_its_cell_with_its_own_last_lines(tmp_path: Path) -> None:
    """Case N09: what only the live kernel has is named before the run and after."""
    made = new_project(tmp_path / "p")
    cell = "%%vaibify step Bad --output out/b.txt\nprint('so far')\nframe.head()"
    ran = run(made.root, "frame = [1]", cell, "print('never')")
    assert ran.stopped is not None
    name, text = ran.error(1)
    assert name == "StepFailed"
    assert text == (
        "step 'bad' ended with exit status 1: NameError: name 'frame' is not defined; "
        "'frame' is defined only in the live kernel"
    )
    said = ran.text(1)
    told = "uses 'frame', which only the kernel has: write it to a file and declare it as input"
    assert said.index(told) < said.index("so far\n") < said.index("line 3, in <module>")
    assert "NameError: name 'frame' is not defined" in said
    assert ran.cells[2].outputs == []
    assert made.steps()["bad"].run == "failed" and not made.steps()["bad"].green


def test_a_blocked_and_a_refused_step_fail_their_cells(tmp_path: Path) -> None:
    made = new_project(tmp_path / "p")
    ran = run(
        made.root,
        "%%vaibify step Bad --output out/b.txt\nraise SystemExit(3)",
        "%%vaibify step After --input out/b.txt --output out/c.txt\nprint(1)",
        "%%vaibify step Odd --input gone.txt --output out/d.txt\nprint(1)",
        on=True,
    )
    assert ran.error(0) == ("StepFailed", "step 'bad' ended with exit status 3")
    name, text = ran.error(1)
    assert name == "StepFailed" and "'bad'" in text
    assert made.steps()["after"].run == "never-run"
    name, text = ran.error(2)
    assert name == "NotPassed" and "gone.txt" in text


BAD = {
    "%%vaibify step A --imput data/in.txt\n1": "there is no option '--imput' here (did you",
    "%%vaibify stop A\n1": "'stop' is nothing that a cell can be (did you mean 'step'?)",
    "%%vaibify step 'A\n1": "the line is not closed: no closing quotation",
    "%%vaibify step 日本\n1": "the name '日本' makes no file name",
    "%%vaibify step A --language perl\n1": "--language: invalid choice: 'perl'",
    "%%vaibify step A\n%%bash\nls": "a step cell holds no other cell magic (%%bash)",
    "%%vaibify step A --output ../x\n1": "leaves its folder by '..'",
    "%%vaibify step A --output /x\n1": "expected a path inside the repository",
    "%%vaibify step A --depends nobody --output o\n1": "depends on 'nobody', no such step",
    "%vaibify stutus": "there is no verb 'stutus' (did you mean 'status'?)",
    "%vaibify run --jobs many": "--jobs takes a whole number from 1 on, not 'many'",
}


def test_bad_input_is_one_line_and_writes_nothing(tmp_path: Path) -> None:
    made = new_project(tmp_path / "p")
    before = made.read("workflow.json")
    ran = run(made.root, *BAD, on=True)
    for index, expected in enumerate(BAD.values()):
        name, text = ran.error(index)
        assert expected in text and name in ("UsageError", "InvalidFile", "QuestionError")
        assert ran.text(index) == ""
    assert made.read("workflow.json") == before
    assert not (made.root / "cells").exists()


def test_bash_fails_by_any_command_of_a_pipe_and_nobody_answers_input(tmp_path: Path) -> None:
    """Cases N03 and N04."""
    made = new_project(tmp_path / "p")
    cell = "%%vaibify step Pipe --output out/p.txt --language bash\n"
    ran = run(
        made.root,
        cell + "false | tee out/p.txt\necho on",
        cell + "tr 1 2 < data/in.txt | cat > out/p.txt",
        "%%vaibify step Ask --output out/a.txt\nn = input('n? ')",
        on=True,
    )
    assert ran.error(0) == ("StepFailed", "step 'pipe' ended with exit status 1")
    assert "on\n" not in ran.text(0)
    assert made.read("out/p.txt") == "2 2\n"
    assert listed(made)[0]["saDataCommands"] == ["bash -eo pipefail cells/pipe.sh"]
    name, text = ran.error(2)
    assert name == "StepFailed" and "asked for input; a step runs without a terminal" in text


IPYTHON = """%%vaibify step Shell --input data/in.txt --output out/s.txt
import asyncio
lines = !cat data/in.txt
%time x = 1
await asyncio.sleep(0)
display("shown")
with open("out/s.txt", "w") as file:
    file.write(lines[0])"""


def test_a_cell_of_ipython_is_run_by_ipython_and_fails_as_every_other(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", [], {"data/in.txt": "1 2\n"}, bNoPythonPackages=False)
    ran = run(made.root, IPYTHON, "%%vaibify step Fail --output out/f.txt\n!true\n1 / 0", on=True)
    assert made.read("out/s.txt") == "1 2"
    told = "is run by ipython, which the step's environment must have: line 3 (lines = !cat data/"
    assert told in ran.text(0) and "has a shell line, 3 (lines = !cat data/in.txt)" in ran.text(0)
    assert "'shown'\n" in ran.text(0)
    assert listed(made)[0]["saDataCommands"] == ["ipython cells/shell.ipy"]
    assert made.steps()["shell"].run == "current"
    assert "ZeroDivisionError" in ran.text(1)
    assert ran.error(1) == ("StepFailed", "step 'fail' ended with exit status 1")
    assert record(made, "fail").outcome == "failed"


LOUD = """%%vaibify step Loud --no-input --output out/l.txt
for number in range(60_000):
    print("line", number, "x" * 40)
raise SystemExit("the end")"""


def test_a_folder_of_its_own_and_more_output_than_a_notebook_bears(tmp_path: Path) -> None:
    made = new_project(tmp_path / "p", **{"analysis/helper.py": "N = 7\n"})
    inside = "%%vaibify step In --directory analysis/ --no-input --output analysis/o.txt\n"
    code = "import helper\nopen('o.txt', 'w').write(str(helper.N))"
    ran = run(made.root, inside + code, LOUD, on=True)
    assert made.read("analysis/o.txt") == "7"
    assert listed(made)[0]["sDirectory"] == "analysis"
    assert list(record(made, "in").pins.code) == ["analysis/cells/in.py", "analysis/helper.py"]
    said = ran.text(1)
    assert len(said) < 1.1 * 2**20
    assert "bytes not shown here: %vaibify log" in said
    assert said.index("line 59999 ") < said.index("the end") < said.index("loud: FAILED")


def test_a_step_without_a_name_fails_its_cell(tmp_path: Path) -> None:
    """A headless runner must not end well over it."""
    made = new_project(tmp_path / "p")
    ran = run(made.root, "%%vaibify step\nx = 1", "print('never')")
    assert ran.stopped is not None
    assert ran.error(0)[0] == "UsageError"
