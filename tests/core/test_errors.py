"""One tree of errors; each is one line that can be printed anywhere."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaibify_lab.core import errors
from vaibify_lab.core.errors import CannotCheck, NotPassed, QuestionError, VaibifyError

TREE = [
    one
    for _, one in inspect.getmembers(errors, inspect.isclass)
    if one.__module__ == errors.__name__
]


def test_every_error_has_an_exit_code_and_a_code_of_its_own():
    assert {one.exit_code for one in TREE if issubclass(one, QuestionError)} == {2}
    assert {one.exit_code for one in TREE if issubclass(one, NotPassed | CannotCheck)} == {1}
    codes = [one.code for one in TREE]
    assert len(set(codes)) == len(codes)


def test_the_tree_is_drawn_whole_in_the_docstring():
    for one in TREE:
        assert f" {one.__name__} " in (errors.__doc__ or "").replace("\n", " ")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (VaibifyError("is broken"), "is broken"),
        (VaibifyError("is broken", where="a.json"), "a.json: is broken"),
        (VaibifyError("is broken", action="mend it"), "is broken; mend it"),
        (VaibifyError("is\n  broken\r\n", where="a", action="b\nc"), "a: is broken; b c"),
        (VaibifyError("no 'a  b' here"), "no 'a  b' here"),
        (VaibifyError("said \x1b[31mred\x07"), r"said \x1b[31mred\x07"),
        (VaibifyError("caf\udce9"), r"caf\xe9"),
    ],
)
def test_one_line(error, line):
    assert str(error) == line


@given(st.text(), st.none() | st.text(), st.none() | st.text())
def test_any_text_can_be_printed(text, where, action):
    line = str(VaibifyError(text, where=where, action=action))
    assert line.isprintable()
    line.encode()
