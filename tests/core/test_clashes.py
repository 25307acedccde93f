"""Names that one file system cannot tell apart (cases M06, M07), and how they are told apart."""

import pytest

from vaibify_lab.core.clashes import Clash, clashes, told_apart

COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (
            ["Plots/Fig1.pdf", "a", "plots/fig1.pdf", "A", "a"],
            [("Plots/Fig1.pdf", "plots/fig1.pdf"), ("a", "A")],
        ),
        ([COMPOSED, DECOMPOSED], [(COMPOSED, DECOMPOSED)]),
        (["STRASSE", "straße"], [("STRASSE", "straße")]),
        (["out/a/b", "out/A"], [("out/A", "out/a/b")]),
        ([f"{COMPOSED}/a/b", DECOMPOSED], [(DECOMPOSED, f"{COMPOSED}/a/b")]),
        (["a", "a/b", "ab"], []),
        (["Out/a", "out/b"], []),  # one folder there, in which both are had
    ],
)
def test_m06_m07_names_that_one_file_system_cannot_tell_apart(paths, expected):
    assert [clash.both for clash in clashes(paths)] == expected


@pytest.mark.parametrize(
    ("paths", "shown"),
    [
        (["out/A", "out/a"], ["'out/A'", "'out/a'"]),
        ([COMPOSED, DECOMPOSED], [r"'caf\u00e9'", r"'cafe\u0301'"]),
        # only where they look the same
        ([f"é/{COMPOSED}", f"é/{DECOMPOSED}"], [r"'é/caf\u00e9'", r"'é/cafe\u0301'"]),
        ([f"{COMPOSED}/é", f"{DECOMPOSED}"], [r"'caf\u00e9/é'", r"'cafe\u0301'"]),
        (["\u212a.csv", "K.csv"], [r"'\u212a.csv'", "'K.csv'"]),
        (["\U0002f81a", "\u51ac"], [r"'\U0002f81a'", r"'\u51ac'"]),
        # three forms of one name
        (["\u1e69", "s\u0323\u0307", "\u1e61\u0323"], [r"'\u1e69'", r"'s\u0323\u0307'",
         r"'\u1e61\u0323'"]),
        (["a\nb", "A\nb"], [r"'a\nb'", r"'A\nb'"]),
        (["\u00e9\udce9", "e\u0301\udce9"], [r"'\u00e9\xe9'", r"'e\u0301\xe9'"]),
    ],
)  # fmt: skip
def test_each_is_shown_so_that_it_is_no_other(paths, shown):
    assert told_apart(*paths) == shown
    assert len(set(shown)) == len(paths)


def test_a_clash_says_which_of_the_two_is_a_folder():
    assert str(Clash("Out", "out/a")) == (
        "the folder of 'out/a' and 'Out' are one name on a file system that ignores case or "
        "normalises Unicode"
    )
