"""``init --from-notebook``: steps that a notebook's cells become, and that they run."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from tests.apps.front import vaibify
from tests.kit import Made, new_repository
from tests.notebooks.books import book
from vaibify_lab.files.filenames import FileReader
from vaibify_lab.notebooks.proposing import Proposal, propose
from vaibify_lab.provenance.compare.notebook_file import read_notebook


def text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": source, "metadata": {}}


CELLS: tuple[Any, ...] = (
    text("# Analysis"),
    "import json\nfrom pathlib import Path\nDATA = Path('..') / 'data'",
    "rows = json.loads((DATA / 'in.json').read_text())",
    "print('only looks')",
    text("## Clean"),
    "clean = [one for one in rows if one > 0]\nopen('clean.json', 'w').write(json.dumps(clean))",
    text("## Plot it"),
    "again = json.loads(open('clean.json').read())\nPath('figure.svg').write_text(str(again))",
)


def proposed(*cells: Any, path: str = "nb/a.ipynb") -> tuple[Proposal, ...]:
    return propose(path, read_notebook(book(*cells).encode(), path))


def test_cells_that_make_files_become_steps_with_what_they_rest_on() -> None:
    clean, plot = proposed(*CELLS)
    assert clean.step == {
        "sName": "Clean",
        "sDirectory": "nb",
        "saDataCommands": ["python -m cells.clean"],
        "saDataFiles": ["nb/clean.json"],
        "saInputDataFiles": ["data/in.json"],
    }
    assert clean.path == "nb/cells/clean.py"
    assert clean.script == "\n\n".join([CELLS[1], CELLS[2], CELLS[5]]) + "\n"
    assert plot.step == {
        "sName": "Plot it",
        "sDirectory": "nb",
        "saDataCommands": ["python -m cells.plot-it"],
        "saPlotFiles": ["nb/figure.svg"],
        "saInputDataFiles": ["nb/clean.json"],
    }


def test_cells_that_need_one_another_stay_together_and_the_unclear_stays_whole() -> None:
    both = proposed("x = 1\nopen('a.txt', 'w')", "x += 1\nopen('b.txt', 'w').write(str(x))")
    assert [one.step["saDataFiles"] for one in both] == [["nb/a.txt", "nb/b.txt"]]
    whole = proposed(text("# Look"), "import json", "json.dumps(1)")
    assert [dict(one.step) for one in whole] == [
        {"sName": "Look", "sNotebook": "nb/a.ipynb", "saOutputFiles": ["nb/executed/a.ipynb"]}
    ]
    for hidden in ("!ls", "from math import *", "%run x.py", "%%bash\nls", "print 1"):
        [one] = proposed(hidden, "open('a.txt', 'w')", path="a.ipynb")
        assert one.step["sNotebook"] == "a.ipynb" and one.step["saDataFiles"] == ["a.txt"]
        assert one.step["saOutputFiles"] == ["executed/a.ipynb"]


def test_the_files_that_code_names() -> None:
    reader = FileReader()
    code = """
import numpy as np, pandas as pd, os, shutil
BASE = 'in'
df = pd.read_csv(os.path.join(BASE, 'a.csv'), sep=',')
df.to_csv(f'{BASE}/b.csv', index=False)
np.save('c.npy', df); np.load('d.npy')
with open('e.txt', mode='a') as file: pass
shutil.copy('f.txt', 'g.txt')
if False:
    open('never.txt')
def unused():
    open('unused.txt')
BASE = input()
open(BASE + 'x')
try:
    open('maybe.txt')
except OSError:
    pass
"""
    assert [(use.path, use.writes, use.certain) for use in reader.read(ast.parse(code))] == [
        ("in/a.csv", False, True),
        ("in/b.csv", True, True),
        ("c.npy", True, True),
        ("d.npy", False, True),
        ("e.txt", True, True),
        ("f.txt", False, True),
        ("g.txt", True, True),
        ("maybe.txt", False, False),
    ]


def test_a_notebook_becomes_a_project_that_runs(tmp_path: Path) -> None:
    root = tmp_path / "p"
    new_repository(root)
    made = Made(root)
    made.write("nb/a.ipynb", book(*CELLS))
    made.write("data/in.json", "[1, -2, 3]")
    done = vaibify(root / "nb", "init", "--from-notebook", "a.ipynb")
    assert done.code == 0, done
    assert "  step 'Clean' makes nb/clean.json" in done.out
    assert made.read("nb/a.ipynb") == book(*CELLS)
    made.commit()
    assert made.run()["steps"] == {"clean": "passed", "plot-it": "passed"}
    assert made.read("nb/figure.svg") == "[1, 3]"
    again = vaibify(root, "init", "--from-notebook", "nb/a.ipynb", "--json")
    answer = json.loads(again.out)
    assert answer["written"] == [] and len(answer["proposed"]) == 2
    assert vaibify(root, "init", "--from-notebook", "gone.ipynb").code == 2


@pytest.mark.parametrize("indent", ["  ", "\t"])
def test_a_workflow_without_a_step_takes_them(tmp_path: Path, indent: str) -> None:
    root = tmp_path / "p"
    new_repository(root)
    made = Made(root)
    made.write("nb/a.ipynb", book(*CELLS))
    made.write("data/in.json", "[1, -2, 3]")
    assert vaibify(root, "init", "--name", "mine").code == 0
    value = json.loads(made.read("workflow.json")) | {"fTolerance": 0.5, "sOwn": "é"}
    made.write("workflow.json", json.dumps(value, indent=indent))
    done = vaibify(root, "init", "--from-notebook", "nb/a.ipynb")
    assert (done.code, "✓ wrote workflow.json\n" in done.out) == (0, True)
    assert "  step 'Clean' makes nb/clean.json" in done.out
    now = json.loads(made.read("workflow.json"))
    assert {**now, "listSteps": []} == value and len(now["listSteps"]) == 2
    assert made.read("workflow.json").startswith(f'{{\n{indent}"sFormat"')
    made.commit()
    assert made.run()["steps"] == {"clean": "passed", "plot-it": "passed"}


@pytest.mark.parametrize("there", ['{"listSteps": [{"sName": "Mine"}]}', "{", "[]", "{}"])
def test_another_workflow_stays_and_it_is_said_what_to_do(tmp_path: Path, there: str) -> None:
    new_repository(tmp_path)
    made = Made(tmp_path)
    made.write("nb/a.ipynb", book(*CELLS))
    made.write("workflow.json", there)
    done = vaibify(tmp_path, "init", "--from-notebook", "nb/a.ipynb")
    assert (done.code, made.read("workflow.json")) == (0, there)
    assert "  proposed, not written: step 'Clean' makes nb/clean.json" in done.out
    assert "put what you want of these into its listSteps; --json prints them" in done.out
    assert sorted(one.name for one in (tmp_path / "nb").iterdir()) == ["a.ipynb"]


def test_a_pattern_becomes_the_folder_of_what_fits_it() -> None:
    cells = (
        "import glob\nfrom pathlib import Path",
        "found = sorted(glob.glob('../data/*.csv')) + list(Path('raw/2024').rglob('*.txt'))",
        "open('out.txt', 'w').write(str(found + glob.glob('*.csv')))",
    )
    [only] = proposed(*cells)
    assert only.step["saInputDataFiles"] == ["data/", "nb/raw/2024/"]
