"""Cell and script stay one thing: who edited is named, nothing is overwritten in silence."""

from __future__ import annotations

import json
from pathlib import Path

from tests.magics.kernel import new_project, run

LINE = "%%vaibify step Fit --input data/in.txt --output out/f.txt --declare-only"
SCRIPT = "cells/fit.py"


def test_who_edited_last_is_named_and_nothing_is_lost(tmp_path: Path) -> None:
    made = new_project(tmp_path / "p")
    first, second = f"{LINE}\nprint(1)", f"{LINE}\nprint(2)"
    assert run(made.root, first, second).stopped is None
    assert made.read(SCRIPT).endswith(")\nprint(2)\n")
    made.commit()
    made.write(SCRIPT, made.read(SCRIPT).replace("print(2)", "print('by hand')"))
    by_hand = made.read(SCRIPT)
    ran = run(
        made.root,
        second,
        f"{LINE}\nprint(3)",
        "get_ipython().system('git commit -qam edited')",
        second,
        on=True,
    )
    assert made.read(SCRIPT) == by_hand
    action = "put those changes into the cell, or let the cell replace them: --overwrite"
    assert ran.error(0) == (
        "StaleCopy",
        f"{SCRIPT}: was edited since the cell wrote it, and the cell was not (not committed); "
        f"{action}",
    )
    assert "-print('by hand')\n+print(2)\n" in ran.text(0)
    assert "was edited since a cell wrote it, and so was the cell (not" in ran.error(1)[1]
    assert "and the cell was not (Ada Test, 20" in ran.error(3)[1]
    taken = run(made.root, f"{LINE}\nprint('by hand')", f"{LINE} --overwrite\nprint(4)")
    assert taken.stopped is None and f"{SCRIPT}: +1 -1 lines" in taken.text()


def test_a_step_of_others_is_not_taken_over_in_silence(tmp_path: Path) -> None:
    theirs = {"sName": "Fit", "saDataCommands": ["python fit.py"], "saDataFiles": ["out/f.txt"]}
    made = new_project(tmp_path / "p", [theirs], **{"fit.py": "1\n", "cells/own.py": "2\n"})
    before = made.read("workflow.json")
    ran = run(
        made.root,
        f"{LINE}\nprint(1)",
        "%%vaibify step Own --declare-only\nprint(1)",
        f"{LINE} --overwrite\nprint(1)",
        on=True,
    )
    action = "put those changes into the cell, or let the cell replace them: --overwrite"
    assert ran.error(0)[1] == (f"workflow.json: step 'fit' is there and no cell wrote it; {action}")
    assert ran.error(1)[1] == f"cells/own.py: is there and no cell wrote it; {action}"
    assert "step 'fit': saDataCommands, saDataFiles, saOutputFiles, saInputDataFiles" in ran.text(2)
    assert made.read("workflow.json") != before and made.read("cells/own.py") == "2\n"


def test_what_the_panel_edited_is_not_undone_in_silence(tmp_path: Path) -> None:
    made = new_project(tmp_path / "p")
    assert run(made.root, f"{LINE}\nprint(1)").stopped is None
    document = json.loads(made.read("workflow.json"))
    document["listSteps"][0] |= {"sDescription": "kept", "saInputDataFiles": ["data/in.txt", "b"]}
    made.write("workflow.json", json.dumps(document))
    ran = run(
        made.root,
        f"{LINE}\nprint(1)",
        f"{LINE} --input b\nprint(1)",
        f"{LINE} --input b\n!ls",
        f"{LINE} --input b --no-tests\n!ls",
        on=True,
    )
    assert "step 'fit' was edited since the cell wrote it: saInputDataFiles" in ran.error(0)[1]
    assert f"{SCRIPT}: its first line, which says what the cell declares" in ran.text(1)
    assert f"{SCRIPT}: removed, cells/fit.ipy stands for it" in ran.text(2)
    assert "is run by ipython, which the step's environment must have: line 2 (!ls)" in ran.text(2)
    assert "a command that fails there does not fail the step" in ran.text(2)
    [step] = json.loads(made.read("workflow.json"))["listSteps"]
    assert step == {
        "sName": "Fit",
        "saDataCommands": ["ipython cells/fit.ipy"],
        "saOutputFiles": ["out/f.txt"],
        "saInputDataFiles": ["data/in.txt", "b"],
        "sDescription": "kept",
        "bNoTests": True,
    }
    assert not (made.root / SCRIPT).exists()
