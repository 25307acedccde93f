"""JSON in and out: bounded, exact, canonical."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pace import takes_at_most
from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import InvalidFile

texts = st.text(max_size=8)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**19), 10**19)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def refusal(data: bytes) -> str:
    with pytest.raises(InvalidFile) as caught:
        jsonio.loads(data, "x.json")
    return str(caught.value)


@given(values)
def test_what_is_written_is_read_back(value):
    assert jsonio.loads(jsonio.dumps(value), "x.json") == value


@given(values)
def test_the_reader_agrees_with_the_standard_library(value):
    data = json.dumps(value).encode()
    assert jsonio.loads(data, "x.json") == json.loads(data)


def test_files_of_ours_have_sorted_keys_two_spaces_and_a_final_newline():
    assert jsonio.dumps({"b": [1, "é"], "a": {}}) == (
        '{\n  "a": {},\n  "b": [\n    1,\n    "é"\n  ]\n}\n'.encode()
    )


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "x.json: is empty"),
        (b" \n\t", "x.json: is empty"),
        (
            b"{",
            "x.json: is not JSON: line 1, column 2: Expecting property name enclosed in double "
            "quotes",
        ),
        (b'{"a": NaN}', "x.json: is not usable JSON: NaN is not JSON"),
        (b"[-Infinity]", "x.json: is not usable JSON: -Infinity is not JSON"),
        (b"1e400", "x.json: is not usable JSON: the number 1e400 is too large"),
        (b"1" * 21, "x.json: is not usable JSON: a number of 21 digits"),
        (b"0." + b"1" * 500, "x.json: is not usable JSON: a number of 502 characters"),
        (b'{"a": 1, "a": 1}', "x.json: is not usable JSON: the key 'a' stands twice in one object"),
        (b'["\xff"]', "x.json: is not UTF-8 (byte 2)"),
        (
            b"\xef\xbb\xbf{}",
            "x.json: starts with a byte order mark; save it as UTF-8 without a BOM",
        ),
        ("{}".encode("utf-16"), "x.json: is not UTF-8 (byte 0)"),
        (b'["\\ud800"]', "x.json: holds half a character (a lone \\ud800 to \\udfff)"),
        (b'["\\udc00\\ud800"]', "x.json: holds half a character (a lone \\ud800 to \\udfff)"),
        (b"[" * 61 + b"]" * 61, "x.json: is nested deeper than 60 levels"),
        (b"{}" * 400_000, "x.json: holds more values than any project needs"),
    ],
    ids=lambda value: repr(value[:12]) if isinstance(value, bytes) else "",
)
def test_what_is_refused(data, text):
    assert refusal(data) == text


def test_no_depth_is_too_large_to_be_refused():
    assert refusal(b"[" * 60_000_000) == "x.json: holds more values than any project needs"


def test_conflict_markers_are_named():
    data = b'{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> theirs\n}\n'
    assert refusal(data).startswith("x.json: is not JSON (git conflict markers): line 2, column 1")


def test_a_file_over_the_limit_is_refused_unread():
    with pytest.raises(InvalidFile) as caught:
        jsonio.loads(b"[" * 11, "x.json", limit=10)
    assert str(caught.value) == "x.json: is 11 bytes, more than the 10 allowed"


@pytest.mark.parametrize(
    ("before", "piece", "count"),
    [
        (b"", b"[", 60),
        (b"", b'"', 10**7),
        (b"", b"9", 10**7),
        (b"1.", b"9", 10**7),
        (b"", b"-", 10**7),
        (b"", b"\\", 10**7),
        (b"", b'{"a":', 10**6),
        (b"", b"[],", 10**6),
        (b'["', b"\\", 10**7),
        (b"", b"[1,", 10**6),
        (b"", b"\x00", 10**7),
    ],
)
def test_hostile_bytes_cost_little(before, piece, count):
    data = before + piece * count
    with takes_at_most(200):  # two seconds are 50
        refusal(data)


def test_brackets_inside_texts_are_no_nesting():
    deep = {"a\\": ['"[[[[' * 100, "\\", '\\"{{']}
    assert jsonio.loads(json.dumps(deep).encode(), "x.json") == deep
    assert jsonio.loads(b"[" * 60 + b"]" * 60, "x.json") != []


def test_characters_beyond_the_first_plane_are_whole():
    assert jsonio.loads(b'["\\ud83d\\ude00"]', "x.json") == ["😀"]


def test_m05_a_name_that_is_not_utf8_can_be_written_and_read():
    name = b"caf\xe9.csv".decode("utf-8", "surrogateescape")
    assert jsonio.loads(jsonio.dumps({name: [name]}), "x.json") == {
        r"caf\xe9.csv": [r"caf\xe9.csv"]
    }
    assert json.loads(jsonio.line({"path": name})) == {"path": r"caf\xe9.csv"}
    assert jsonio.digest(name) != jsonio.digest(r"caf\udce9.csv")


def test_a_line_is_ascii_and_one_line():
    line = jsonio.line({"b": "\u2028é\n😀", "a": 1})
    assert line == b'{"a":1,"b":"\\u2028\\u00e9\\n\\ud83d\\ude00"}\n'


class TestCanonical:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            ({"b": 1, "a": 2.0}, '{"a":2,"b":1}'),
            ([0.1, 1e-6, 1e300, -0.0], "[0.1,1e-06,1e+300,0]"),
            ((True, None, 1), "[true,null,1]"),
            ("e\u0301", '"é"'),
            ({1: "x"}, '{"1":"x"}'),
        ],
    )
    def test_form(self, value, text):
        assert jsonio.canonical(value).decode() == text

    def test_equal_meaning_equal_digest(self):
        assert jsonio.digest({"x": 1.0, "y": "e\u0301"}) == jsonio.digest({"y": "é", "x": 1})

    def test_names_that_only_normalising_makes_equal_are_both_kept(self):
        one = {"e\u0301.csv": "1", "\u00e9.csv": "2"}
        other = {"e\u0301.csv": "3", "\u00e9.csv": "2"}
        assert jsonio.digest(one) != jsonio.digest(other)

    @pytest.mark.parametrize("value", [float("nan"), [float("inf")]])
    def test_what_is_no_number_has_no_fingerprint(self, value):
        with pytest.raises(ValueError, match="NaN or infinity"):
            jsonio.canonical(value)

    @given(values)
    def test_it_survives_a_round_trip(self, value):
        text = jsonio.canonical(value)
        assert jsonio.canonical(json.loads(text)) == text
