"""A small declarative reader for the JSON that we share with other people.

One table per file says each key's kind; from it come both the fast check (``read``) and the JSON
Schema that editors use (``schema``). A property test holds the two equal, with the jsonschema
library as the judge; jsonschema itself costs ten interpreter starts to import and is too slow for
a look.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from vaibify_lab.core.errors import InvalidFile


class Kind(Protocol):
    """One kind of value: ``fault`` says what is wrong with it (None: nothing)."""

    def fault(self, value: Any, at: str) -> tuple[str, str] | None:
        """Return (place, what was expected) of the first fault."""

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the kind."""


@dataclass(frozen=True, slots=True)
class Text:
    """A string, at most ``longest`` characters, perhaps of a pattern (ECMA and Python alike)."""

    longest: int = 100_000
    shortest: int = 0
    pattern: str | None = None
    hint: str = ""

    def fault(self, value: Any, at: str) -> tuple[str, str] | None:
        if not isinstance(value, str):
            return at, f"expected text, found {_kind_of(value)}"
        if not self.shortest <= len(value) <= self.longest:
            return at, f"expected text of {self.shortest} to {self.longest} characters"
        if self.pattern is not None and not re.search(self.pattern, value):
            return at, f"expected {self.hint or 'text like ' + self.pattern}, found {value[:80]!r}"
        return None

    def schema(self) -> dict[str, Any]:
        result: dict[str, Any] = {"type": "string", "maxLength": self.longest}
        if self.shortest:
            result["minLength"] = self.shortest
        if self.pattern is not None:
            result["pattern"] = self.pattern
        return result


@dataclass(frozen=True, slots=True)
class Flag:
    """true or false."""

    def fault(self, value: Any, at: str) -> tuple[str, str] | None:
        if isinstance(value, bool):
            return None
        return at, f"expected true or false, found {_kind_of(value)}"

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Number:
    """A number between two bounds, both included; ``whole`` asks for an integer."""

    low: float
    high: float
    whole: bool = False

    def fault(self, value: Any, at: str) -> tuple[str, str] | None:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and self.whole and value != int(value):
            number = False
        if not number or not self.low <= value <= self.high:
            noun = "a whole number" if self.whole else "a number"
            return at, f"expected {noun} from {self.low:g} to {self.high:g}, found {value!r:.40}"
        return None

    def schema(self) -> dict[str, Any]:
        kind = "integer" if self.whole else "number"
        return {"type": kind, "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True, slots=True)
class Listed:
    """A list of one kind."""

    item: Kind
    longest: int = 100_000
    unique: bool = False

    def fault(self, value: Any, at: str) -> tuple[str, str] | None:
        if not isinstance(value, list):
            return at, f"expected a list, found {_kind_of(value)}"
        if len(value) > self.longest:
            return at, f"expected at most {self.longest} entries, found {len(value)}"
        for index, item in enumerate(value):
            found = self.item.fault(item, f"{at}[{index}]")
            if found:
                return found
        if self.unique and len(set(value)) != len(value):
            twice = next(item for item in value if value.count(item) > 1)
            return at, f"holds {twice!r} twice"
        return None

    def schema(self) -> dict[str, Any]:
        result = {"type": "array", "maxItems": self.longest, "items": self.item.schema()}
        if self.unique:
            result["uniqueItems"] = True
        return result


@dataclass(frozen=True, slots=True)
class Mapped:
    """An object with free keys of a pattern and values of one kind."""

    item: Kind
    key: str = r"^[^\x00]*$"
    key_hint: str = "a name"
    longest: int = 200_000

    def fault(self, value: Any, at: str) -> tuple[str, str] | None:
        if not isinstance(value, dict):
            return at, f"expected an object, found {_kind_of(value)}"
        if len(value) > self.longest:
            return at, f"expected at most {self.longest} entries, found {len(value)}"
        for key, item in value.items():
            if not re.search(self.key, key):
                return f"{at}.{key[:60]}", f"expected {self.key_hint} as the key"
            found = self.item.fault(item, f"{at}.{key[:60]}")
            if found:
                return found
        return None

    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "maxProperties": self.longest,
            "propertyNames": {"pattern": self.key},
            "additionalProperties": self.item.schema(),
        }


@dataclass(frozen=True, slots=True)
class Either:
    """One of several kinds, or null when ``null`` is set."""

    kinds: tuple[Kind, ...]
    null: bool = False

    def fault(self, value: Any, at: str) -> tuple[str, str] | None:
        if value is None and self.null:
            return None
        faults = [kind.fault(value, at) for kind in self.kinds]
        return None if not all(faults) else faults[0]

    def schema(self) -> dict[str, Any]:
        options = [kind.schema() for kind in self.kinds]
        if self.null:
            options.append({"type": "null"})
        return {"anyOf": options}


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of a few words."""

    words: tuple[str, ...]

    def fault(self, value: Any, at: str) -> tuple[str, str] | None:
        if isinstance(value, str) and value in self.words:
            return None
        return at, f"expected one of {', '.join(self.words)}, found {value!r:.60}"

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.words)}


@dataclass(frozen=True, slots=True)
class Anything:
    """Whatever JSON can hold: passed through, never interpreted."""

    def fault(self, value: Any, at: str) -> tuple[str, str] | None:
        return None

    def schema(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True, slots=True)
class Shape:
    """An object with known keys. Unknown ones are kept and can be asked for with ``unknown``."""

    keys: Mapping[str, Kind]
    required: frozenset[str] = field(default_factory=frozenset)

    def fault(self, value: Any, at: str) -> tuple[str, str] | None:
        if not isinstance(value, dict):
            return at, f"expected an object, found {_kind_of(value)}"
        for name in sorted(self.required):
            if name not in value:
                near = difflib.get_close_matches(name, value, 1)
                hint = f" (found {near[0]!r}: a typing error?)" if near else ""
                return f"{at}.{name}".lstrip("."), f"is required and missing{hint}"
        for name, item in value.items():
            kind = self.keys.get(name)
            if kind is not None:
                found = kind.fault(item, f"{at}.{name}".lstrip("."))
                if found:
                    return found
        return None

    def unknown(self, value: Mapping[str, Any]) -> list[tuple[str, str | None]]:
        """Return (key, nearest known name or None) of every key that the table does not know."""
        found = []
        for name in value:
            if name not in self.keys:
                near = difflib.get_close_matches(name, self.keys, 1)
                found.append((name, near[0] if near else None))
        return found

    def schema(self) -> dict[str, Any]:
        result: dict[str, Any] = {
            "type": "object",
            "properties": {name: kind.schema() for name, kind in self.keys.items()},
        }
        if self.required:
            result["required"] = sorted(self.required)
        return result


def read(shape: Kind, value: Any, where: str) -> None:
    """Check a value against a table.

    Raises
    ------
    InvalidFile
        Naming the file, the key and what was expected.
    """
    found = shape.fault(value, "")
    if found:
        place, expected = found
        at = place.lstrip(".")
        raise InvalidFile(f"{at}: {expected}" if at else expected, where=where)


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "true or false", str: "text", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")
