"""A cell's own lines of IPython are found where IPython itself finds them."""

from __future__ import annotations

import ast
import warnings

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from vaibify_lab.files.ipylines import OwnLine, own_lines
from vaibify_lab.files.ipysource import without_magics

# Without those that ask for help, which IPython takes even where a bracket is left open above.
LINES = (
    *(
        "%matplotlib inline",
        "!ls",
        "!ls \\",
        "x = !ls",
        "y = %time f(1)",
        "%time z = 3",
    ),
    *(
        "a = (1",
        "  % 2)",
        "  !b",
        ")",
        "b = '''",
        'c = """',
        "% text",
        "'''",
        '"""',
        "# ( '''",
    ),
    *(
        "d = '(' # )",
        "e = 5 \\",
        "   % 3",
        "if x:",
        "    !ls",
        "    pass",
        "",
        "f = [",
        "]",
        "g = \"'''\"",
    ),
    *("h = '\\''", "%%time", "x != 3", "i = 1; !ls", "'%d' % 3", "!! ls", "r'\\'"),
)


def _parses(code: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(code)
    except SyntaxError:
        return False
    return True


@settings(max_examples=1500)
@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=7).map("\n".join))
@example("%matplotlib inline\nprint('%d'\n  % 3)")
@example("!ls \\\n  -l\nx = 1")
@example("x?\nx[0].a??\n?x\ny = x.a?")
def test_what_is_left_parses_as_what_ipython_makes_of_it(cell: str) -> None:
    cell = f"0\n{cell}"  # so that it is no cell magic
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = TransformerManager().transform_cell(cell)
    except SyntaxError:  # of indentation
        theirs = "("
    code = without_magics(cell)
    assert code.count("\n") == cell.count("\n")
    assert _parses(code) == _parses(theirs)


@pytest.mark.parametrize(
    ("text", "code", "shell"),
    [
        ("%time x = f(1)", "x = f(1)", None),
        ("x = %timeit -o -n 10 f(1)", "x = f(1)", None),
        ("%timeit -r3 f(1)", "f(1)", None),
        ("%prun -s cumulative f(1)", "pass", None),
        ("%time f(", "pass", None),
        ("%matplotlib inline", "pass", None),
        ("x['a'] = !ls", "pass", "ls"),
        ("!!ls", "pass", "ls"),
        ("%time x != 3", "x != 3", None),
    ],
)
def test_an_own_line_says_what_it_runs(text: str, code: str, shell: str | None) -> None:
    assert [*own_lines(f"  {text}")] == [OwnLine(1, 1, "  ", text)]
    assert (OwnLine(1, 1, "", text).code, OwnLine(1, 1, "", text).shell) == (code, shell)
