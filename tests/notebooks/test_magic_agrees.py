"""The static scan finds the cells that IPython itself would run as steps, and no others."""

from __future__ import annotations

import ast
import warnings

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from vaibify_lab.notebooks.dialect import compiles, needs_ipython
from vaibify_lab.notebooks.magic import Magic, vaibify_cell

OUTER = ("time", "capture")
PROMPTS = ("", "", "", "In [3]: ", "   ...: ", "[ins] In [3]: ", "... ")
HEADS = (
    *("%%vaibify step Fit --input a.csv", "%%vaibify step Fit", "%%vaibify  step 'a b'"),
    *("%%vaibify\tstep Fit", "%%vaibify", "%%vaibify?", "%%vaibify??", "%%vaibify_x step Fit"),
    *("%%Vaibify step Fit", "% %vaibify step Fit", "%vaibify step Fit", "#%%vaibify step Fit"),
    *(
        "%%vaibify step Fit \\",
        "%%vaibify step é",
        "'''%%vaibify step Fit",
        "%%time",
        "%%capture x",
    ),
    *(
        "%%bash",
        "x = 1",
        "!ls",
        "%%vaibify step Fit?",
        "%%%vaibify step Fit",
        "%%vaibify step\x0cFit",
    ),
)
BODIES = (
    *("x = 1", "  y = 2", "", "   ", "%%vaibify step Inner", "!ls", "'''", "print('''a", "\tz"),
    *(
        "# %%vaibify step Fit",
        "%matplotlib inline",
        "for i in x:",
        "x = !ls",
        "df.head?",
        "é = '%%'",
    ),
)
ENDS = ("\n", "\n", "\n", "\r\n", "\n\n", "", "\x0c\n", "\u2028", "\x1c", "\r")
LINES = st.tuples(
    st.sampled_from(("", "", "", " ", "    ", "\t")),
    st.sampled_from(PROMPTS),
    st.sampled_from(HEADS + BODIES),
    st.sampled_from(ENDS),
).map("".join)
CELLS = st.builds(
    lambda blank, first, rest: blank + first + "".join(rest),
    st.sampled_from(("", "", "", "\n", "  \n", "\n\t\n", "\x0c\n")),
    st.tuples(
        st.sampled_from(("", "", "  ", ">>> ")), st.sampled_from(HEADS), st.sampled_from(ENDS)
    ).map("".join)
    | LINES,
    st.lists(LINES, max_size=5),
)


def by_ipython(source: str) -> Magic | None:
    """Return the ``%%vaibify`` that IPython would call, also through magics that run their cell."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(TransformerManager().transform_cell(source))
    except SyntaxError:
        return None
    match tree.body:
        case [
            ast.Expr(
                ast.Call(
                    ast.Attribute(ast.Call(ast.Name("get_ipython")), "run_cell_magic"),
                    [ast.Constant(name), ast.Constant(line), ast.Constant(body)],
                )
            )
        ]:
            if name in OUTER:
                return by_ipython(str(body))
            return Magic(str(name), str(line), str(body)) if name == "vaibify" else None
    return None


@settings(max_examples=1500)
@given(CELLS)
@example("%%vaibify step Fit")
@example("\n\n  %%vaibify step Fit\n  x = 1")
@example("%%time\n\n%%vaibify step Fit\nx = 1")
@example("In [1]: %%vaibify step Fit\n   ...: x = 1")
@example("%%vaibify step Fit\n    \nx = '''\n   \n'''")
def test_the_scan_agrees_with_ipython(source: str) -> None:
    ours, theirs = vaibify_cell(source), by_ipython(source)
    assert (ours is None) == (theirs is None)
    if ours is not None and theirs is not None:
        assert (ours.name, ours.line) == (theirs.name, theirs.line)
        if ">>>" not in source:  # which newer ones take off in the middle of a cell, too
            assert ours.body == theirs.body


PIECES = st.lists(
    st.sampled_from(
        (
            *(
                "x = 1",
                "print(x)",
                "if x:\n    y = 2",
                "def f(a):\n    return a",
                "# !ls",
                "s = '%x'",
            ),
            *("!ls", "%time x", "files = !ls", "x = %time 1", "x?", "?x", "!!ls", "await f()"),
            *(
                "for i in x:\n    !echo {i}",
                "s = '''\n!ls\n'''",
                "a % b",
                "a %b",
                "x = a !=b",
                "%%x",
            ),
        )
    ),
    min_size=1,
    max_size=4,
).map("\n".join)


@given(PIECES)
def test_a_cell_is_ipythons_when_only_ipython_can_compile_it(code: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transformed = TransformerManager().transform_cell(code)
    by_them = not compiles(code) and compiles(transformed, awaiting=True)
    if not code.startswith("%%"):
        assert needs_ipython(code) == by_them


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("display(1)", True),
        ("from IPython.display import display\ndisplay(1)", False),
        ("def f():\n    get_ipython()", True),
        ("x = (", False),
    ],
)
def test_names_that_only_ipython_has(code: str, expected: bool) -> None:
    assert needs_ipython(code) is expected
