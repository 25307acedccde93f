"""The step that a cell could be, from its code and the heading above it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaibify_lab.core.errors import UsageError
from vaibify_lab.notebooks.cell_proposal import propose_cell
from vaibify_lab.notebooks.step_line import StepLine, parse_line

CODE = """import pandas as pd
frame = pd.read_csv("in.csv")
frame.to_csv("out/clean data.csv")
frame.plot().figure.savefig("fig.png")"""


def test_a_cell_is_proposed_with_its_files() -> None:
    found = propose_cell("nb/n.ipynb", "# All\n## Clean it\ntext", CODE)
    assert found is not None
    line = (
        "%%vaibify step 'Clean it' --directory nb --input nb/in.csv "
        "--data 'nb/out/clean data.csv' --plot nb/fig.png"
    )
    assert found.to_json() == {
        "name": "Clean it",
        "directory": "nb",
        "inputs": ["nb/in.csv"],
        "data": ["nb/out/clean data.csv"],
        "plots": ["nb/fig.png"],
        "line": line,
    }
    read = parse_line(line.removeprefix("%%vaibify "))
    assert (read.name, read.directory) == ("Clean it", "nb")
    assert dict(read.keys) == {key: tuple(paths) for key, paths in found.files.items()}


@pytest.mark.parametrize(
    ("above", "source", "expected"),
    [
        ("", "open('results/x.csv', 'w')", "x"),
        ("# 日本", "x = 1", "Step"),
        ("", "%%bash\nls", None),
        ("# Turn\u202eed \x1b[31m**it**\x07", "x = 1", "Turned [31m**it**"),
        ("# Empty", " \n", None),
    ],
)
def test_names_and_what_is_no_plain_code(above: str, source: str, expected: Any) -> None:
    found = propose_cell("n.ipynb", above, source)
    assert (found.name if found else None) == expected
    with pytest.raises(UsageError):
        parse_line("step 日本")


def test_a_name_that_a_step_has_gets_a_number() -> None:
    names = [
        found.name
        for taken in ({}, {"clean"}, {"clean", "x"}, {"clean", "x", "step", "clean-2"})
        if (found := propose_cell("n.ipynb", "# Clean", "open('x.csv', 'w')", taken))
    ]
    assert names == ["Clean", "x", "Step", "Clean 3"]


WORDS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=8)
PATHS = st.lists(WORDS, min_size=1, max_size=3, unique=True).map(tuple)


@settings(max_examples=100, deadline=None)
@given(
    WORDS.map(lambda one: f"{one}n"),
    st.dictionaries(st.sampled_from(["saInputDataFiles", "saPlotFiles", "saDependencies"]), PATHS),
    st.sampled_from(["", "nb", "-d"]),
    st.sampled_from(["python", "bash"]),
    st.none() | WORDS,
    st.booleans(),
)
def test_a_line_says_what_is_read_of_it(
    name: str, keys: Any, folder: str, language: str, workflow: str | None, flag: bool
) -> None:
    line = StepLine(name, keys, folder, language, workflow, no_tests=flag, declare_only=flag)
    assert parse_line(line.text.removeprefix("%%vaibify ")) == line
