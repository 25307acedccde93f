"""container.conf, with what a stranger may have written into it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.engines.image.container_conf import (
    LARGEST,
    METHODS,
    MOST,
    SourceLine,
    parse_container_conf,
)

URL = "https://example.org/a.git"


def fault(text: str) -> tuple[str, str]:
    with pytest.raises(InvalidFile) as caught:
        parse_container_conf(text.encode())
    return caught.value.where, caught.value.text


def test_each_form_of_a_line():
    data = (
        b"\xef\xbb\xbf# a comment\r\n\n"
        b"mycode|git@github.com:user/mycode.git|v1.2.3|pip_editable\r\n"
        b" other | https://example.org/o.git | feature/x | reference | lib/other  # why\n"
        b"third|/srv/git/third|0123456789abcdef0123456789abcdef01234567|c_and_pip|\n"
    )

    assert parse_container_conf(data) == (
        SourceLine(
            "mycode", "git@github.com:user/mycode.git", "v1.2.3", "pip_editable", "mycode", 3
        ),
        SourceLine("other", "https://example.org/o.git", "feature/x", "reference", "lib/other", 4),
        SourceLine(
            "third",
            "/srv/git/third",
            "0123456789abcdef0123456789abcdef01234567",
            "c_and_pip",
            "third",
            5,
        ),
    )
    assert parse_container_conf(b"") == ()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("a|b", "has 2 fields; expected name|url|branch-tag-or-commit|method[|destination]"),
        ("a", "has 1 field; expected name|url|branch-tag-or-commit|method[|destination]"),
        (f"a|{URL}|main|reference|d|e", "has 6 fields; expected name|url|"),
        (f"-a|{URL}|main|reference", "name: expected letters, digits"),
        (f"a b|{URL}|main|reference", "name: expected letters"),
        ("a|--upload-pack=touch x|main|reference", "url: expected https://"),
        ("a|ext::sh -c touch%20x|main|reference", "url: expected https://"),
        ("a|ext::touch|main|reference", "url: expected https://"),
        ("a|-oProxyCommand=x:y|main|reference", "url: expected https://"),
        ("a|../sibling|main|reference", "url: expected https://"),
        ("a|https://me:secret@example.org/x|main|reference", "url: holds a password or token"),
        ("a|https://ghp_secret@example.org/x|main|reference", "url: holds a password or token"),
        (
            f"a|https://{'5ecret' * 8}@example.org/x|main|reference",
            "url: holds a password or token",
        ),
        (f"a|{URL}|-main|reference", "expected a branch, a tag or a commit, found '-main'"),
        (f"a|{URL}|a..b|reference", "expected a branch"),
        (f"a|{URL}|a b|reference", "expected a branch"),
        (f"a|{URL}||reference", "expected a branch, a tag or a commit, found nothing"),
        (f"a|{URL}|main|pip", "method: expected one of pip_editable, pip_no_deps, c_and_pip,"),
        (f"a|{URL}|main|reference|../x", "destination: '../x' leaves its folder"),
        (f"a|{URL}|main|reference|/etc", "destination: '/etc' is absolute"),
        (f"a|{URL}|main|reference|x y", "destination: expected letters"),
        (f"a|{URL}|main|reference|$(id)", "destination: expected letters"),
    ],
)
def test_what_is_refused_is_named_with_its_line(line, said):
    where, text = fault(f"# first\n\n{line}\n")

    assert where == "container.conf, line 3"
    assert text.startswith(said)


def test_a_secret_is_not_repeated():
    assert "secret" not in " ".join(fault("a|https://me:secret@example.org/x|main|reference"))


def test_two_that_would_overwrite_each_other():
    first = f"one|{URL}|main|reference|lib\n"

    same = (f"{first}ONE|{URL}|main|reference|x", "name: ONE is also that of line 1")
    inside = (f"{first}two|{URL}|main|reference|lib/two", "lies where line 1 goes")
    around = (f"one|{URL}|main|reference|lib/a\ntwo|{URL}|main|reference|lib", "line 1 goes")

    for text, said in (same, inside, around):
        where, found = fault(text)
        assert where == "container.conf, line 2"
        assert said in found


def test_size_is_bounded():
    assert fault("#" * (LARGEST + 1)) == ("container.conf", f"is larger than {LARGEST} bytes")
    many = "".join(f"n{i}|{URL}|main|reference\n" for i in range(MOST + 1))
    assert fault(many) == ("container.conf", f"names more than {MOST} repositories")


def test_bytes_that_are_no_text():
    with pytest.raises(InvalidFile, match="is not UTF-8"):
        parse_container_conf(b"a|b\xff|c|d")


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data):
    try:
        found = parse_container_conf(data)
    except InvalidFile as error:
        assert error.where is not None and error.where.startswith("container.conf")
    else:
        assert all(one.method in METHODS for one in found)


FIELD = st.text(
    st.characters(blacklist_characters="|\n#", blacklist_categories=["Cs"]), max_size=30
)


@given(st.lists(FIELD, min_size=4, max_size=5))
def test_no_field_that_is_taken_can_be_an_option_or_another_line(fields):
    try:
        found = parse_container_conf("|".join(fields).encode())
    except InvalidFile:
        return
    for one in found:
        for text in (one.name, one.url, one.ref, one.method, one.destination):
            assert text and not text.startswith("-") and text.isprintable() and " " not in text
