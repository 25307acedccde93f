"""The fast reader says exactly what the JSON Schema of the same table says."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from vaibify_lab.core import spec
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.core.fact_files import MARKER, RECORD, SIGN_OFF
from vaibify_lab.core.spec import (
    Anything,
    Either,
    Flag,
    Kind,
    Listed,
    Mapped,
    Number,
    OneOf,
    Shape,
    Text,
)
from vaibify_lab.core.workflow_keys import STEP, TOP

from . import documents

TABLES = {"workflow": TOP, "step": STEP, "record": RECORD, "marker": MARKER, "sign-off": SIGN_OFF}
JUDGES = {name: Draft202012Validator(shape.schema()) for name, shape in TABLES.items()}


def accepts(kind: Kind, value: Any) -> bool:
    try:
        spec.read(kind, value, "x.json")
    except InvalidFile:
        return False
    return True


@pytest.mark.parametrize("name", TABLES)
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32))
def test_reader_and_schema_agree_on_documents(name, seed):
    rng = Random(seed)
    for _ in range(15):
        value = documents.changed(documents.good(TABLES[name], rng), rng)
        assert accepts(TABLES[name], value) == JUDGES[name].is_valid(value), value


@pytest.mark.parametrize("name", TABLES)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_what_is_built_to_be_good_is_accepted(name, seed):
    value = documents.good(TABLES[name], Random(seed))
    assert accepts(TABLES[name], value)
    assert list(JUDGES[name].iter_errors(value)) == []


LINE = Text(5, 2, r"^[a-z]+$", "small letters")
KINDS: list[Kind] = [
    LINE,
    Text(3),
    Text(9, 0, r"[0-9]"),
    Flag(),
    Number(0, 5),
    Number(-1, 10, whole=True),
    OneOf(("a", "b")),
    Anything(),
    Listed(Flag(), 2),
    Mapped(Number(0, 1), r"^[a-z]$", "a letter", 2),
    Either((Flag(), LINE), null=True),
    Shape({"ab": Flag(), "cd": Number(0, 1)}, frozenset({"ab"})),
]
VALUES = [
    "ab\n",
    "ab",
    "abcdef",
    "é" * 3,
    "e\u0301é",
    "😀😀😀",
    "x9\n",
    True,
    False,
    0,
    1,
    1.0,
    5.0,
]
VALUES += [5.1, -1, 1e308, 10**19, None, [], [True], [0], [True] * 3, {}, {"a": 1}, {"a": 2}]
VALUES += [{"a\n": 1}, {"a": 1, "b": 1, "c": 1}, {"ab": True}, {"ab": 1}, {"cd": 1}, [[]], [{}]]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_reader_and_schema_agree_on_each_kind(kind):
    judge = Draft202012Validator(kind.schema())
    assert [accepts(kind, value) for value in VALUES] == [judge.is_valid(one) for one in VALUES]


@given(st.integers(0, 2**32), st.sampled_from(KINDS))
def test_reader_and_schema_agree_on_anything(seed, kind):
    rng, judge = Random(seed), Draft202012Validator(kind.schema())
    for _ in range(20):
        value = documents.junk(rng)
        assert accepts(kind, value) == judge.is_valid(value), value


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (Text(5), 3, "x.json: expected text, found a number"),
        (Text(5), None, "x.json: expected text, found null"),
        (Text(5, 1), "", "x.json: expected text of 1 to 5 characters"),
        (LINE, "AB", "x.json: expected small letters, found 'AB'"),
        (Text(9, 0, "^a"), "b", "x.json: expected text like ^a, found 'b'"),
        (Flag(), "true", "x.json: expected true or false, found text"),
        (Number(0, 5), True, "x.json: expected a number from 0 to 5, found True"),
        (
            Number(0, 2**32 - 1, whole=True),
            1.5,
            "x.json: expected a whole number from 0 to 4294967295, found 1.5",
        ),
        (Number(0, 5), [1] * 99, "x.json: expected a number from 0 to 5, found a list"),
        (
            Number(0, 5, whole=True),
            float("nan"),
            "x.json: expected a whole number from 0 to 5, found nan",
        ),
        (OneOf(("a", "b")), "c", "x.json: expected one of a, b, found 'c'"),
        (OneOf(("a", "b")), {}, "x.json: expected one of a, b, found an object"),
        (Listed(Flag()), {}, "x.json: expected a list, found an object"),
        (Listed(Flag(), 1), [True, True], "x.json: expected at most 1 entries, found 2"),
        (
            Listed(Listed(Flag())),
            [[], [True, 0]],
            "x.json: [1][1]: expected true or false, found a number",
        ),
        (
            Mapped(Flag(), longest=1),
            {"a": True, "b": True},
            "x.json: expected at most 1 entries, found 2",
        ),
        (
            Mapped(Flag(), "^[a-z]+$", "a word"),
            {"\x1b[31m": True},
            r"x.json: \x1b[31m: expected a word as the key",
        ),
        (
            Mapped(Mapped(Flag())),
            {"a": {"b": 1}},
            "x.json: a.b: expected true or false, found a number",
        ),
        (Either((Flag(), Text(3)), null=True), 1, "x.json: expected true or false, found a number"),
        (Shape({"sName": Flag()}), [], "x.json: expected an object, found a list"),
        (
            Shape({"sName": Flag()}, frozenset({"sName"})),
            {},
            "x.json: sName: is required and missing",
        ),
        (
            Shape({"sName": Flag()}, frozenset({"sName"})),
            {"sname": 1},
            "x.json: sName: is required and missing (found 'sname': a typing error?)",
        ),
        (
            Shape({"a": Listed(Shape({"b": Flag()}))}),
            {"a": [{}, {"b": 2}]},
            "x.json: a[1].b: expected true or false, found a number",
        ),
    ],
)
def test_an_error_names_file_key_and_what_was_expected(kind, value, text):
    with pytest.raises(InvalidFile) as caught:
        spec.read(kind, value, "x.json")
    assert str(caught.value) == text


def test_unknown_keys_are_named_with_the_nearest_also_inside():
    shape = Shape(
        {"sName": Flag(), "dictTests": Shape({"dictIntegrity": Shape({"saCommands": Flag()})})}
    )
    value = {
        "sNam": 1,
        "zzz": 2,
        "dictTests": {"dictIntegrty": {}, "dictIntegrity": {"saCommand": 1}},
        "\x1b[2J": 3,
    }
    assert shape.unknown(value) == [
        ("sNam", "sName"),
        ("zzz", None),
        ("dictTests.dictIntegrty", "dictTests.dictIntegrity"),
        ("dictTests.dictIntegrity.saCommand", "dictTests.dictIntegrity.saCommands"),
        (r"\x1b[2J", None),
    ]


def test_a_known_document_has_no_unknown_key():
    assert STEP.unknown({"sName": "x", "dictTolerances": {"anything": 1}}) == []
