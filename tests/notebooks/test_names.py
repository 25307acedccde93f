"""Names that a cell takes from elsewhere, by its text alone; Python itself is the judge."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaibify_lab.notebooks.dialect import needs_ipython
from vaibify_lab.notebooks.names import free_names


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("print(df.head())", ["df"]),
        ("df = df.dropna()", ["df"]),
        ("total += 1", ["total"]),
        ("import numpy as np\nnp.zeros(n)", ["n"]),
        ("def f(a, *b, c=d, **e):\n    return a, b, c, e, g", ["g", "d"]),
        ("def f():\n    return later\nlater = 1", []),
        ("f()\ndef f(): pass", ["f"]),
        ("[x for x in xs if x]", ["xs"]),
        ("{k: v for k, v in d.items()}", ["d"]),
        ("class A(B):\n    n = 1\n    m = n + o", ["B", "o"]),
        ("with open(p) as f:\n    f.read()", ["p"]),
        ("try:\n    1\nexcept OSError as error:\n    print(error)", []),
        ("for i in range(3):\n    pass\nprint(i)", []),
        ("if a:\n    b = 1\nprint(b)", ["a"]),
        ("lambda x: x + y", ["y"]),
        ("def f():\n    global made\n    made = 1\nf()\nprint(made)", []),
        ("match v:\n    case {'a': a, **r}:\n        a, r\n    case [b, *c]:\n        c", ["v"]),
        ("from numpy import *\nzeros(3)", []),
        ("print(__name__, ValueError)", []),
        ("(y := f(1)) + y", ["f"]),
        ("x: int = z\nprint(x)", ["z"]),
        ("del a", ["a"]),
        ("def f(x: T) -> R: ...", ["T", "R"]),
        ("@deco\ndef f(): ...", ["deco"]),
        ("this is no python", []),
        ("[b for b in [1]]\nfor a in [1]:\n    b", ["b"]),
        ("x = [[c for c in r] for r in [[1]] if (w := r)]\nc, w", ["c"]),
        ("class A:\n    y = [b for b in [1]]\n    b", ["b"]),
    ],
)
def test_what_is_free(code: str, expected: list[str]) -> None:
    assert sorted(free_names(code)) == sorted(expected)


NAMES = st.sampled_from("abc")
STATEMENTS = st.one_of(
    st.builds("{} = 1".format, NAMES),
    st.builds("{} = {}".format, NAMES, NAMES),
    st.builds("{} += 1".format, NAMES),
    st.builds("[{0} for {0} in [{1}]]".format, NAMES, NAMES),
    st.builds("def {0}({1}=1):\n    return {1}, {2}".format, NAMES, NAMES, NAMES),
    st.builds("class {}:\n    {} = 1".format, NAMES, NAMES),
    st.builds("for {} in [1]:\n    {}".format, NAMES, NAMES),
    st.builds("import os as {}".format, NAMES),
    st.builds("lambda {}: {}".format, NAMES, NAMES),
)


@given(st.lists(STATEMENTS, max_size=6).map("\n".join))
def test_code_that_runs_alone_takes_nothing_and_what_it_lacks_is_told(code: str) -> None:
    """Straight code: the first name that Python misses is told, and none where it misses none."""
    names: dict[str, object] = {}
    found = free_names(code)
    try:
        exec(compile(code, "cell", "exec"), names)
    except NameError as error:
        assert error.name in found
    except TypeError:  # 1 added to something that is no number
        return
    else:
        assert not found or "def " in code or "lambda" in code  # of one that was never called


@pytest.mark.parametrize(
    "code",
    ["+".join(["x"] * 50_000), "(" * 5000, "x = 1\n" * 200_000, "x\0", "[" * 150 + "]" * 150],
)
def test_code_that_is_made_to_hurt_takes_nothing(code: str) -> None:
    assert free_names(code) in ((), ("x",))
    assert not needs_ipython(code)
