"""Random documents for the tables of core: good ones, and good ones with something wrong.

Drawn from a seed, not by hypothesis piece by piece, which takes a hundred times as long.
"""

from __future__ import annotations

from random import Random
from typing import Any

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
NUMBERS = [0, 1, -1, 1.0, 0.5, -0.0, 2.5, 9, 2**32, 2**64, 1e300, 10**20 - 1, 1e-9, -1000, 1001]


def good(kind: Kind, rng: Random) -> Any:
    """A value that a kind accepts."""
    match kind:
        case Shape(keys=keys, required=required):
            chosen = [name for name in keys if name in required or rng.random() < 0.5]
            return {name: good(keys[name], rng) for name in chosen}
        case Listed(item=item):
            return [good(item, rng) for _ in range(rng.randrange(3))]
        case Mapped(item=item, key=key):
            names = _accepted(Text(1000, 0, key), rng, rng.randrange(3))
            return {name: good(item, rng) for name in names}
        case Either(kinds=kinds, null=null):
            return None if null and rng.random() < 0.3 else good(rng.choice(kinds), rng)
        case OneOf(words=words):
            return rng.choice(words)
        case Flag():
            return rng.random() < 0.5
        case Number(low=low, high=high, whole=whole):
            options = [one for one in (low, high, *NUMBERS) if kind.fault(one) is None]
            return rng.choice(options if whole else [*options, rng.uniform(low, min(high, 1e6))])
        case Text():
            return _accepted(kind, rng, 1)[0]
        case Anything():
            return junk(rng)
    raise AssertionError(kind)


def _accepted(kind: Text, rng: Random, count: int) -> list[str]:
    return rng.choices([word for word in WORDS if kind.fault(word) is None], k=count)


def junk(rng: Random, depth: int = 2) -> Any:
    """Any value at all."""
    kind = rng.randrange(7 if depth else 5)
    if kind == 5:
        return [junk(rng, depth - 1) for _ in range(rng.randrange(3))]
    if kind == 6:
        return {rng.choice(WORDS): junk(rng, depth - 1) for _ in range(rng.randrange(3))}
    return rng.choice([None, rng.random() < 0.5, rng.choice(NUMBERS), word(rng), word(rng)])


def word(rng: Random) -> str:
    return rng.choice(WORDS)


def changed(value: Any, rng: Random) -> Any:
    """The same document with up to three values, keys or types exchanged somewhere."""
    for _ in range(rng.randrange(4)):
        value = _changed_once(value, rng)
    return value


def _changed_once(value: Any, rng: Random) -> Any:
    places = _places(value, ())
    place = rng.choice(places) if rng.random() < 0.97 else ()
    if place == ():
        return junk(rng) if rng.random() < 0.1 or len(places) == 1 else value
    *way, last = place
    inner = value
    for one in way:
        inner = inner[one]
    action = rng.choice(["set", "drop", "add", "rename"])
    if action == "drop":
        del inner[last]
    elif action == "add" and isinstance(inner, dict):
        inner[word(rng)] = junk(rng)
    elif action == "rename" and isinstance(inner, dict):
        inner[word(rng)] = inner.pop(last)
    else:
        inner[last] = junk(rng)
    return value


def _places(value: Any, at: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    found = [at]
    for key in keys:
        found += _places(value[key], (*at, key))
    return found
