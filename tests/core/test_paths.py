"""Which paths are repository paths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaibify_lab.core import paths

names = st.text(
    st.sampled_from("aB0._-+ ~:\\*?[]{}'\"é\u0301😀\x00\x1f\x7f\u2028") | st.characters(),
    max_size=8,
)
written = st.lists(names, min_size=1, max_size=4).map("/".join)

ABSOLUTE = "is absolute; paths are relative to the repository's root"
SHORTEST = "has an empty or '.' part; write it in its shortest form"
WILDCARD = "holds a wildcard; name the file, or its folder with a final '/'"


@pytest.mark.parametrize(
    "path",
    [
        *(
            "a",
            "a/b.csv",
            ".hidden",
            "a b/c'd.csv",
            "é.csv",
            "日本/x",
            "-n",
            " lead",
            "trail ",
            "a  b",
        ),
        *("..a", "a..", "...", "C", "{x}", "x" * 255, "a/" * 100 + "b", "#", "a=b,c@d+e"),
    ],
)
def test_plain_paths(path):
    assert paths.fault_of(path) is None


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("", "is empty"),
        ("a\x00b", "holds a control character"),
        ("a\nb", "holds a control character"),
        ("a\x85b", "holds a control character"),
        ("a\u2028b", "holds a control character"),
        ("caf\udce9.csv", "is not valid UTF-8"),
        ("plots\\fig.pdf", "holds a backslash; write the path with '/'"),
        ("/etc/passwd", ABSOLUTE),
        ("C:/x", ABSOLUTE),
        ("c:x", ABSOLUTE),
        ("~/x", "starts with '~'; paths are relative to the repository's root"),
        ("*.csv", WILDCARD),
        ("a/?.csv", WILDCARD),
        ("a[0].csv", WILDCARD),
        ("a/", "ends with '/', which declares a folder; a file is expected here"),
        ("../x", "leaves its folder by '..'"),
        ("x/../a", "leaves its folder by '..'"),
        ("a//b", SHORTEST),
        ("./a", SHORTEST),
        ("a/.", SHORTEST),
        ("x" * 256, "has a name longer than 255 bytes"),
        ("é" * 128, "has a name longer than 255 bytes"),
        ("a/" * 128 + "b", "lies more than 128 folders deep"),
        (("a" * 99 + "/") * 42 + "b", "is longer than 4096 bytes"),
    ],
    ids=lambda value: repr(value[:12]),
)
def test_m13_paths_that_are_refused(path, fault):
    assert paths.fault_of(path) == fault


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("a/", None),
        ("a//", SHORTEST),
        ("/", ABSOLUTE),
        ("./", SHORTEST),
        ("../", "leaves its folder by '..'"),
    ],
)
def test_folders(path, fault):
    assert paths.fault_of(path, directory=True) == fault


@given(written)
def test_what_is_plain_at_a_glance_is_never_refused(path):
    if paths.is_plain(path):
        assert paths.fault_of(path, directory=True) is None


@given(written)
def test_an_accepted_path_stays_inside_and_has_one_form(path):
    if paths.fault_of(path) is None:
        parts = path.split("/")
        assert not {"", ".", ".."}.intersection(parts)
        assert path == "/".join(parts)
        path.encode()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".git/config", True),
        (".GIT/x", True),
        (".vaibify/x", True),
        (".git", True),
        (".gitignore", False),
        ("sub/.git/x", False),
        ("git", False),
    ],
)
def test_protected_folders(path, expected):
    assert paths.is_protected(path) is expected


@given(st.text(max_size=12))
def test_folding_twice_is_folding_once(path):
    assert paths.fold(paths.fold(path)) == paths.fold(path)


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [
        ("a/b", "a", True),
        ("a/b", "a/", True),
        ("a", "a", True),
        ("ab", "a", False),
        ("a", "", True),
        ("a", "a/b", False),
    ],
)
def test_is_within(path, folder, expected):
    assert paths.is_within(path, folder) is expected


@given(st.text() | st.binary().map(lambda data: data.decode("utf-8", "surrogateescape")))
def test_what_is_shown_can_be_printed_anywhere(path):
    text = paths.shown(path)
    assert text.isprintable()
    text.encode()
    assert paths.shown(text) == text


def test_shown_names_what_cannot_be_printed():
    assert paths.shown("caf\udce9 \x1b[31m\n\u202e日本") == r"caf\xe9 \x1b[31m\n\u202e日本"
