"""Names with holes: which fit, as the pattern of a shell with stars would say."""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.pace import takes_at_most
from vaibify_lab.core.holes import fits, is_unknown, with_holes, without_unknown_folders


@given(st.text("ab@.", max_size=8), st.text("ab.", max_size=8))
@example("a@a", "a")
@example("@a@a@", "aa")
def test_a_hole_is_the_star_of_a_shell(pattern, name):
    assert fits(pattern, name) is fnmatch.fnmatchcase(name, pattern.replace("@", "*"))


def test_many_holes_take_no_time():
    with takes_at_most(30):
        assert not fits("@a" * 100 + "@b", "a" * 255)
        assert fits("@a" * 100 + "@", "a" * 255)


@pytest.mark.parametrize(
    ("text", "holed"),
    [
        ("s/$name.py", "s/@.py"),
        ("s/${n}_$(date).R", "s/@_@.R"),
        ("s/{}.py", "s/@.py"),
        ("s/{n:02d}%s.py", "s/@.py"),
        ("s/%(name)s/%.py", "s/@/@.py"),
        ("s/step[0-9]?*.jl", "s/step@.jl"),
        ("s/plain.py", "s/plain.py"),
    ],
)
def test_what_something_is_put_in_for_is_a_hole(text, holed):
    assert with_holes(text) == holed


def test_folders_of_which_nothing_is_known_say_nothing():
    assert without_unknown_folders("python @/@/a.py --x=@/b.py s/@/c.py") == (
        "python a.py --x=b.py s/@/c.py"
    )
    assert [is_unknown(one) for one in ("@", "s/@", "@.py", "@a", "s/a", "@/a")] == [
        *(True, True, True, False, False, False)
    ]
