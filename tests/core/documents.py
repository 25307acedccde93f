"""Random documents for the tables of core: good ones, and good ones with something wrong."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

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

WORDS = [
    *("", "a", "A 1", "fit-model", "-", "a\n", "\n", " ", "\x00", "a\x00b", "a\x1fb", "a\x85"),
    *("data/x.csv", "plots/", "/etc/passwd", "~/x", "a\\b", "a*b", "../x", ".", "\u2028", "日本"),
    *("e\u0301", "😀", "0" * 64, "f" * 64, "0" * 63, "F" * 64, "sha256:" + "0" * 64, "0" * 40),
    *("2026-01-02T03-ab12", "x" * 200, "x" * 201, "integrity", "qualitative", "PATH", "9a"),
    *("vaibify-lab/1", "vaibify-lab/record/1", "vaibify-lab/marker/1", "vaibify-lab/sign-off/1"),
]
words = st.sampled_from(WORDS) | st.text(max_size=6)
numbers = (
    st.sampled_from([0, 1, -1, 1.0, 0.5, -0.0, 2**32, 2**64, 1e300, 10**20 - 1, True, False])
    | st.integers(-10, 10)
    | st.floats(allow_nan=False, allow_infinity=False)
)
junk = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)


def good(kind: Kind) -> st.SearchStrategy[Any]:
    """Values that a kind accepts."""
    match kind:
        case Shape(keys=keys, required=required):
            optional = {name: good(one) for name, one in keys.items() if name not in required}
            return st.fixed_dictionaries(
                {name: good(keys[name]) for name in required}, optional=optional
            )
        case Listed(item=item):
            return st.lists(good(item), max_size=2)
        case Mapped(item=item, key=key):
            names = accepted(Text(1000, 0, key))
            return st.dictionaries(names, good(item), max_size=2)
        case Either(kinds=kinds, null=null):
            options = [good(one) for one in kinds]
            return st.one_of(*options, st.none()) if null else st.one_of(*options)
        case OneOf(words=those):
            return st.sampled_from(those)
        case Flag():
            return st.booleans()
        case Number(low=low, high=high, whole=whole):
            ends = [number for number in (low, high, 1, 4.0) if kind.fault(number) is None]
            inside = (
                st.integers(int(max(low, -9)) + 1, int(min(high, 99)))
                if whole
                else st.floats(low, high)
            )
            return st.sampled_from(ends) | inside
        case Text():
            return accepted(kind)
        case Anything():
            return junk
    raise AssertionError(kind)


def accepted(kind: Text) -> st.SearchStrategy[str]:
    return st.sampled_from([word for word in WORDS if kind.fault(word) is None])


@st.composite
def changed(draw: st.DrawFn, documents: st.SearchStrategy[Any]) -> Any:
    """A document with up to three values, keys or types exchanged somewhere."""
    value = draw(documents)
    for _ in range(draw(st.integers(0, 3))):
        value = _changed_once(draw, value)
    return value


def _changed_once(draw: st.DrawFn, value: Any) -> Any:
    places = [()] if not isinstance(value, dict | list) else list(_places(value))
    place = draw(st.sampled_from(places))
    if place == ():
        return draw(junk)
    *way, last = place
    inner = value
    for one in way:
        inner = inner[one]
    action = draw(st.sampled_from(["set", "drop", "add", "rename"]))
    if action == "drop":
        del inner[last]
    elif action == "add" and isinstance(inner, dict):
        inner[draw(words)] = draw(junk)
    elif action == "rename" and isinstance(inner, dict):
        inner[draw(words)] = inner.pop(last)
    else:
        inner[last] = draw(junk)
    return value


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    found = [at]
    for key in keys:
        found += _places(value[key], (*at, key))
    return found
