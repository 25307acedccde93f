"""Steps that cells could be: proposed from their code, over HTTP and by ``init``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.apps.front import vaibify
from tests.kit import Made
from vaibify_lab.core.errors import UsageError
from vaibify_lab.notebooks.step_line import parse_line
from vaibify_lab.project.cells import proposal, proposals

CLEAN = """import pandas as pd
FOLDER = "out"
frame = pd.read_csv("in.csv")
frame.to_csv(FOLDER + "/clean data.csv")"""
DRAW = """def draw():
    plt.savefig("fig.png")
with open("out/clean data.csv") as file, open("log.txt", mode="a") as log:
    draw()
import pathlib
pathlib.Path("out").mkdir()
urlopen("https://example.org/x.csv")"""


def write(made: Made) -> None:
    cells: list[Any] = [
        nbformat.v4.new_markdown_cell("# All\n## Clean it: *first*\ntext"),
        nbformat.v4.new_code_cell(CLEAN),
        nbformat.v4.new_code_cell(DRAW),
        nbformat.v4.new_code_cell("print(1)"),
        nbformat.v4.new_code_cell("%%vaibify step Done\nopen('x.txt', 'w')"),
        nbformat.v4.new_code_cell("open('../../gone.txt', 'w'); open('/tmp/x.txt', 'w')"),
    ]
    made.write("nb/n.ipynb", json.dumps(nbformat.v4.new_notebook(cells=cells)))


@pytest.fixture
def made(tmp_path: Path) -> Made:
    made = Made.new(tmp_path / "p", [], {})
    write(made)
    return made


def test_cells_that_write_files_are_proposed(made: Made) -> None:
    first, second = proposals(made.project().opened, "nb/n.ipynb")
    assert first.to_json() == {
        "number": 2,
        "name": "Clean it first",
        "directory": "nb",
        "inputs": ["nb/in.csv"],
        "data": ["nb/out/clean data.csv"],
        "plots": [],
        "line": "%%vaibify step 'Clean it first' --directory nb --input nb/in.csv "
        "--data 'nb/out/clean data.csv'",
    }
    assert (second.number, second.name, second.inputs) == (3, "fig", ("nb/out/clean data.csv",))
    assert (second.data, second.plots) == (("nb/log.txt",), ("nb/fig.png",))
    for one in (first, second):
        read = parse_line(one.line.removeprefix("%%vaibify "))
        assert (read.name, read.directory) == (one.name, "nb")
        assert read.keys.get("saInputDataFiles", ()) == one.inputs


def test_any_cell_of_plain_code_has_a_proposal() -> None:
    found = proposal("n.ipynb", "### é – 日本", "x = 1")
    assert found is not None
    assert (found.name, found.directory, found.line) == ("é 日本", "", "%%vaibify step 'é 日本'")
    assert proposal("n.ipynb", "", "%%bash\nls") is None
    assert proposal("n.ipynb", "", "") is None
    nameless = proposal("n.ipynb", "# 日本", "x = 1")
    assert nameless is not None and nameless.name == "Cell 2"
    with pytest.raises(UsageError):
        parse_line("step 日本")


def test_init_proposes_and_only_reads(made: Made) -> None:
    before = (made.root / "nb/n.ipynb").read_bytes()
    done = vaibify(made.root / "nb", "init", "--from-notebook", "n.ipynb", "--json")
    assert [one["number"] for one in json.loads(done.out)["proposals"]] == [2, 3]
    said = vaibify(made.root, "init", "--from-notebook", "nb/n.ipynb")
    assert said.code == 0
    assert "nb/n.ipynb cell 2 could begin with:\n  %%vaibify step 'Clean it first'" in said.out
    assert "2 cells could be a step; the notebook was only read" in said.out
    assert (made.root / "nb/n.ipynb").read_bytes() == before
    gone = vaibify(made.root, "init", "--from-notebook", "none.ipynb")
    assert gone.code == 2 and "none.ipynb" in gone.err
