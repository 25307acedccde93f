"""Step cells of notebook files, beside their steps; reading never rewrites a notebook."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.apps.front import vaibify
from tests.kit import Made
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.notebooks.foretell import kernels
from vaibify_lab.project.cells import cell_in, cell_states, sources_in
from vaibify_lab.project.notebook_check import check_notebook

A = "%%vaibify step A --input data/in.txt --output out/a.txt --no-tests\n"
COPY = "open('out/a.txt', 'w').write(open('data/in.txt').read())"
B = "%%vaibify step B --input out/a.txt --output out/b.txt --no-tests\nprint(frame, np, gone)"
LOAD = "%load_ext vaibify_lab"
PLAIN = "import numpy as np\nframe = 1"


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made.new(tmp_path / "p", [], {"data/in.txt": "1\n"})


def declare(made: Made, source: str) -> None:
    project = made.project()
    project.declare_cell(cell_in(source))


def states(made: Made, path: str = "n.ipynb") -> list[dict[str, Any]]:
    """Return the step cells of a notebook, whose bytes stay what they are."""
    project = made.project()
    before = (made.root / path).read_bytes()
    found = cell_states(project.opened, project.look(), sources_in(project.opened, path))
    assert (made.root / path).read_bytes() == before
    return found


def write(made: Made, *sources: str, **metadata: Any) -> None:
    cells = [nbformat.v4.new_code_cell(one) for one in sources]
    cells.insert(0, nbformat.v4.new_markdown_cell("%%vaibify step Not"))
    made.write("n.ipynb", json.dumps(nbformat.v4.new_notebook(cells=cells, metadata=metadata)))


def test_each_cell_is_told_with_its_step(made: Made) -> None:
    write(made, PLAIN, A + COPY, B, "%%vaibify step C --wrong\n1", "%%vaibify step D\n1")
    first = states(made)
    assert [(one["number"], one["name"], one["state"]) for one in first] == [
        (3, "A", "new"),
        (4, "B", "new"),
        (5, None, "wrong"),
        (6, "D", "new"),
    ]
    assert first[2]["text"].startswith("there is no option '--wrong' here")
    assert [one["report"] for one in first] == [None] * 4
    assert first[1]["names"] == [
        {"name": "frame", "cells": [2]},
        {"name": "np", "cells": [2]},
        {"name": "gone", "cells": []},
    ]
    declare(made, A + COPY)
    assert made.run("a")["outcome"] == "passed"
    done = states(made)[0]
    assert (done["state"], done["text"], done["diff"], done["keys"]) == ("same", "", "", [])
    assert (done["slug"], done["script"]) == ("a", "cells/a.py")
    assert (done["report"]["run"], done["report"]["kind"]) == ("current", "cell")
    assert done["id"] is not None


def test_who_was_edited_is_told_with_what_differs(made: Made) -> None:
    declare(made, A + COPY)
    made.run("a")
    write(made, A.replace("data/in", "data/in2") + COPY + "\nprint()")
    edited = states(made)[0]
    assert (edited["state"], edited["keys"]) == ("cell", ["saInputDataFiles"])
    assert edited["text"] == "differs from the step: the cell was edited since"
    assert edited["diff"].splitlines()[-1] == "+print()"
    script = made.read("cells/a.py")
    made.write("cells/a.py", script + "# by hand\n")
    assert states(made)[0]["state"] == "both"
    write(made, A + COPY)
    by_hand = states(made)[0]
    assert (by_hand["state"], by_hand["report"]["run"]) == ("other", "stale")
    assert by_hand["diff"].splitlines()[-1] == "-# by hand"
    made.write("cells/a.py", "print()\n")
    assert states(made)[0]["state"] == "foreign"
    (made.root / "cells/a.py").unlink()
    assert states(made)[0]["state"] == "cell"
    (made.root / "cells/a.py").symlink_to("b.py")
    assert states(made)[0]["state"] == "wrong"


def test_a_moved_cell_is_the_same_step_and_a_copied_one_is_told(made: Made) -> None:
    declare(made, A + COPY)
    write(made, B, PLAIN, A + COPY)
    assert [(one["number"], one["state"]) for one in states(made)] == [(2, "new"), (4, "same")]
    write(made, A + COPY, PLAIN, "%%time\n" + A + COPY)
    found = states(made)
    assert [one["state"] for one in found] == ["duplicate", "duplicate"]
    assert found[0]["text"] == "is step 'a', and so is cell 4: rename one, or delete it"


def old(cells: list[Any]) -> dict[str, Any]:
    return {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]}


def test_old_formats_and_missing_ids_are_read_as_they_are(made: Made) -> None:
    """Case N05, as are the broken ones below and the copied cell above."""
    declare(made, A + COPY)
    text = A + COPY
    cell = {"cell_type": "code", "metadata": {}, "outputs": []}
    three = old([cell | {"input": text, "collapsed": False, "language": "python"}])
    made.write("three.ipynb", json.dumps(three))
    four = cell | {"source": text.splitlines(keepends=True), "execution_count": None}
    made.write("four.ipynb", json.dumps({"nbformat": 4, "nbformat_minor": 4, "cells": [four]}))
    five = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [four]}
    made.write("five.ipynb", json.dumps(five))
    for name in ("three", "four", "five"):
        [found] = states(made, f"{name}.ipynb")
        assert (found["state"], found["slug"], found["id"]) == ("same", "a", None), name


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "is an empty notebook"),
        ("{", "is not JSON"),
        ('{"cells": []}', "is no notebook: it has no number nbformat"),
        (
            '{"nbformat": 4, "nbformat_minor": 5, "cells": ['
            '{"cell_type": "code", "id": "x", "source": ""},'
            '{"cell_type": "code", "id": "x", "source": ""}]}',
            "cells 1 and 2 have one id, 'x'",
        ),
    ],
)
def test_what_is_no_notebook_is_one_clear_error(made: Made, content: str, expected: str) -> None:
    made.write("n.ipynb", content)
    with pytest.raises(InvalidFile, match=expected.replace("(", r"\(")):
        states(made)


def test_noise_in_a_notebook_changes_no_step(made: Made) -> None:
    """Case N08: counts, times, widgets and scrolled flags say nothing of the step."""
    declare(made, A + COPY)
    made.run("a")
    write(made, A + COPY)
    before, script = states(made), made.read("cells/a.py")
    noisy = json.loads(made.read("n.ipynb"))
    noisy["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {}}
    noisy["cells"][1] |= {"execution_count": 9}
    noisy["cells"][1]["metadata"] = {"scrolled": True, "execution": {"shell": "2026"}}
    made.write("n.ipynb", json.dumps(noisy))
    assert states(made) == before
    declare(made, A + COPY)
    assert made.read("cells/a.py") == script
    assert made.steps()["a"].run == "current"


def test_the_file_changed_in_place_orders_its_steps_or_is_refused(made: Made) -> None:
    """Case N11: made by one step and read by another orders them; both in one is refused."""
    declare(made, A + COPY)
    declare(made, B)
    assert made.project().step("b").parents == ("a",)
    before = made.read("workflow.json")
    with pytest.raises(InvalidFile, match=r"data/in\.txt"):
        declare(made, "%%vaibify step Both --input data/in.txt --output data/in.txt\n1")
    assert made.read("workflow.json") == before and not (made.root / "cells/both.py").exists()


def test_cells_of_another_workflow_are_that_ones(made: Made) -> None:
    made.workflow([], at=".vaibify/workflows/side.json")
    write(made, A + COPY, A.replace("step A", "step S --workflow side") + COPY)
    assert [one["name"] for one in states(made)] == ["A"]
    project = made.project("side")
    sources = sources_in(project.opened, "n.ipynb")
    assert [one["name"] for one in cell_states(project.opened, project.look(), sources)] == ["S"]


def test_other_kernels_have_no_step_cells(made: Made) -> None:
    write(made, A + COPY, kernelspec={"name": "ir", "language": "R", "display_name": "R"})
    assert states(made) == []


def test_the_same_cell_gives_the_same_bytes_everywhere(made: Made, tmp_path: Path) -> None:
    other = Made.new(tmp_path / "q", [], {"data/in.txt": "1\n"})
    for one in (made, other):
        declare(one, A + COPY)
        declare(one, "\n  " + A.replace("--no-tests", "--no-tests ") + "  " + COPY + "\r\n")
    kept = [
        hashlib.sha256((one.root / path).read_bytes()).hexdigest()
        for one in (made, other)
        for path in ("workflow.json", "cells/a.py")
    ]
    assert kept[:2] == kept[2:]


def _checked(made: Made, *words: str) -> tuple[int, list[tuple[str, str, str]]]:
    """Return the exit status of ``check``, and what it tells of cells."""
    done = vaibify(made.root, "check", *words, "--json")
    told = [one for one in json.loads(done.out)["findings"] if one["code"].startswith("cell-")]
    return done.code, [(one["level"], one["code"], one["text"]) for one in told]


def test_check_tells_of_cells_that_are_not_as_their_steps(made: Made) -> None:
    write(made, LOAD, A + COPY)
    assert _checked(made) == (
        0,
        [
            (
                "warning",
                "cell-new",
                "n.ipynb cell 3 (A): is no step yet: running the cell makes it one",
            )
        ],
    )
    declare(made, A + COPY)
    assert _checked(made) == _checked(made, "n.ipynb") == (0, [])
    write(made, LOAD, A + COPY + "\nprint()")
    text = "n.ipynb cell 3 (A): differs from the step: the cell was edited since"
    assert _checked(made) == _checked(made, "n.ipynb") == (0, [("warning", "cell-differs", text)])
    code, published = _checked(made, "--publish")
    assert (code, published) == (1, [("error", "cell-differs", text)])
    write(made, LOAD, A + COPY, A + COPY)
    assert [code for _, code, _ in _checked(made)[1]] == ["cell-duplicate"] * 2


def test_check_reads_the_notebooks_that_git_would_take(made: Made) -> None:
    declare(made, A + COPY)
    write(made, LOAD, A + COPY + "\nprint()")
    content = (made.root / "n.ipynb").read_text()
    for path in (".ipynb_checkpoints/n.ipynb", "left/n.ipynb", "deep/er/ü n.ipynb"):
        made.write(path, content)
    made.write(".gitignore", "left/\n")
    made.write("bad.ipynb", "{")
    findings = made.project().check()
    told = [one for one in findings if (one.path or "").endswith(".ipynb")]
    assert [(one.code, one.path) for one in told] == [
        ("notebook-unread", "bad.ipynb"),
        ("cell-differs", "deep/er/ü n.ipynb"),
        ("cell-differs", "n.ipynb"),
    ]


def test_check_of_a_notebook_names_what_its_steps_read_undeclared(made: Made) -> None:
    made.write("data/more.csv", "1\n")
    cell = f"{A}import glob\n{COPY}\nopen('data/more.csv')\nglob.glob('data/*.csv')"
    declare(made, cell)
    write(made, LOAD, cell)
    found = vaibify(made.root, "check", "n.ipynb", "--json")
    named = [one for one in json.loads(found.out)["findings"] if one["code"] == "undeclared-input"]
    text = "cells/a.py:4 reads 'data/more.csv', which is not declared"
    assert [(one["text"], one["step"]) for one in named] == [(text, "a")]


def test_check_names_the_kernel_that_step_cells_need(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told() -> list[str]:
        project = made.project()
        found = check_notebook(project.opened, project.look(), "n.ipynb")
        return [f"{one.text}; {one.action}" for one in found if one.code == "kernel-missing"]

    write(made, LOAD, A + COPY)
    assert told() == []
    nothing = made.root / "nothing"
    monkeypatch.setattr(kernels, "jupyter_path", lambda name: [str(nothing / name)])
    monkeypatch.setitem(sys.modules, "ipykernel", None)
    text = "has step cells, and there is no Python kernel on this machine"
    assert told() == [f"n.ipynb: {text}; python -m pip install ipykernel"]
    (nothing / "kernels/python3").mkdir(parents=True)
    assert told() == []
    write(made, LOAD)
    (nothing / "kernels/python3").rmdir()
    assert told() == []
