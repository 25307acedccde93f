"""A small declarative reader for the JSON that we share with other people.

One table per file says each key's kind; from it come both the fast check (``read``) and the JSON
Schema that editors use (``schema``). A property test holds the two equal, with the jsonschema
library as the judge; jsonschema itself costs ten interpreter starts to import and is too slow for
a look.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.core.paths import shown

_Fault = tuple[str, str]
_ENOUGH = 20  # so many unknown keys of one object get a suggestion


class Kind(Protocol):
    """One kind of value: ``fault`` says what is wrong with it (None: nothing)."""

    def fault(self, value: Any) -> _Fault | None:
        """Return (place below the value, what was expected) of the first fault."""

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the kind."""


@dataclass(frozen=True, slots=True)
class Text:
    """A string, at most ``longest`` characters, perhaps of a pattern (ECMA and Python alike)."""

    longest: int = 100_000
    shortest: int = 0
    pattern: str | None = None
    hint: str = ""
    _regex: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_regex", re.compile(_exact(self.pattern or "")))

    def fault(self, value: Any) -> _Fault | None:
        if not isinstance(value, str):
            return "", f"expected text, found {_kind_of(value)}"
        if not self.shortest <= len(value) <= self.longest:
            return "", f"expected text of {self.shortest} to {self.longest} characters"
        if self.pattern is not None and self._regex.search(value) is None:
            return "", f"expected {self.hint or 'text like ' + self.pattern}, found {value[:80]!r}"
        return None

    def schema(self) -> dict[str, Any]:
        result: dict[str, Any] = {"type": "string", "maxLength": self.longest}
        if self.shortest:
            result["minLength"] = self.shortest
        if self.pattern is not None:
            result["pattern"] = _exact(self.pattern)
        return result


@dataclass(frozen=True, slots=True)
class Flag:
    """true or false."""

    def fault(self, value: Any) -> _Fault | None:
        if isinstance(value, bool):
            return None
        return "", f"expected true or false, found {_kind_of(value)}"

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Number:
    """A number between two bounds, both included; ``whole`` asks for an integer (1.0 is one)."""

    low: float
    high: float
    whole: bool = False

    def fault(self, value: Any) -> _Fault | None:
        good = isinstance(value, int | float) and not isinstance(value, bool)
        if good and self.whole and isinstance(value, float):
            good = value.is_integer()
        if good and self.low <= value <= self.high:
            return None
        noun = "a whole number" if self.whole else "a number"
        found = f"{value!r:.40}" if isinstance(value, int | float) else _kind_of(value)
        return "", f"expected {noun} from {_bound(self.low)} to {_bound(self.high)}, found {found}"

    def schema(self) -> dict[str, Any]:
        kind = "integer" if self.whole else "number"
        return {"type": kind, "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True, slots=True)
class Listed:
    """A list of one kind."""

    item: Kind
    longest: int = 100_000

    def fault(self, value: Any) -> _Fault | None:
        if not isinstance(value, list):
            return "", f"expected a list, found {_kind_of(value)}"
        if len(value) > self.longest:
            return "", f"expected at most {self.longest} entries, found {len(value)}"
        check = self.item.fault
        for index, item in enumerate(value):
            found = check(item)
            if found:
                return f"[{index}]{found[0]}", found[1]
        return None

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "maxItems": self.longest, "items": self.item.schema()}


@dataclass(frozen=True, slots=True)
class Mapped:
    """An object with free keys of a pattern and values of one kind."""

    item: Kind
    key: str = r"^[^\x00]*$"
    key_hint: str = "a name"
    longest: int = 200_000
    _regex: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_regex", re.compile(_exact(self.key)))

    def fault(self, value: Any) -> _Fault | None:
        if not isinstance(value, dict):
            return "", f"expected an object, found {_kind_of(value)}"
        if len(value) > self.longest:
            return "", f"expected at most {self.longest} entries, found {len(value)}"
        for key, item in value.items():
            if self._regex.search(key) is None:
                return f".{shown(key[:60])}", f"expected {self.key_hint} as the key"
            found = self.item.fault(item)
            if found:
                return f".{shown(key[:60])}{found[0]}", found[1]
        return None

    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "maxProperties": self.longest,
            "propertyNames": {"pattern": _exact(self.key)},
            "additionalProperties": self.item.schema(),
        }


@dataclass(frozen=True, slots=True)
class Either:
    """One of several kinds, or null when ``null`` is set."""

    kinds: tuple[Kind, ...]
    null: bool = False

    def fault(self, value: Any) -> _Fault | None:
        if value is None and self.null:
            return None
        faults = [kind.fault(value) for kind in self.kinds]
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

    def fault(self, value: Any) -> _Fault | None:
        if isinstance(value, str) and value in self.words:
            return None
        found = repr(value[:40]) if isinstance(value, str) else _kind_of(value)
        return "", f"expected one of {', '.join(self.words)}, found {found}"

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.words)}


@dataclass(frozen=True, slots=True)
class Anything:
    """Whatever JSON can hold: passed through, never interpreted."""

    def fault(self, value: Any) -> _Fault | None:
        return None

    def schema(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True, slots=True)
class Shape:
    """An object with known keys. Unknown ones are kept and can be asked for with ``unknown``."""

    keys: Mapping[str, Kind]
    required: frozenset[str] = field(default_factory=frozenset)
    docs: Mapping[str, str] = field(default_factory=dict)

    def fault(self, value: Any) -> _Fault | None:
        if not isinstance(value, dict):
            return "", f"expected an object, found {_kind_of(value)}"
        for name in sorted(self.required.difference(value)):
            near = _nearest(name, list(value)[:1000])
            hint = f" (found {near!r}: a typing error?)" if near else ""
            return f".{name}", f"is required and missing{hint}"
        for name, item in value.items():
            kind = self.keys.get(name)
            found = kind.fault(item) if kind is not None else None
            if found:
                return f".{name}{found[0]}", found[1]
        return None

    def unknown(self, value: Mapping[str, Any]) -> list[tuple[str, str | None]]:
        """Return (key, nearest known name or None) of every key that the tables do not know.

        Keys of objects inside are written with a dot: ``dictTests.dictIntegrity``.
        """
        found: list[tuple[str, str | None]] = []
        for name, item in value.items():
            kind = self.keys.get(name)
            if kind is None:
                near = _nearest(name, self.keys) if len(found) < _ENOUGH else None
                found.append((shown(name[:100]), near))
            elif isinstance(kind, Shape) and isinstance(item, dict):
                for inner, near in kind.unknown(item):
                    found.append((f"{name}.{inner}", near and f"{name}.{near}"))
        return found

    def schema(self) -> dict[str, Any]:
        properties = {name: kind.schema() for name, kind in self.keys.items()}
        for name, text in self.docs.items():
            properties[name]["description"] = text
        result: dict[str, Any] = {"type": "object", "properties": properties}
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
    found = shape.fault(value)
    if found:
        place, expected = found
        at = place.lstrip(".")
        raise InvalidFile(f"{at}: {expected}" if at else expected, where=where)


def _bound(number: float) -> str:
    return str(int(number)) if abs(number) < 2**65 and number == int(number) else repr(number)


def _exact(pattern: str) -> str:
    """Make the final ``$`` mean the very end in Python too, where a line feed may follow it."""
    return pattern + r"(?!\n)" if pattern.endswith("$") else pattern


def _nearest(name: str, known: Iterable[str]) -> str | None:
    near = difflib.get_close_matches(name, known, 1) if len(name) <= 100 else []
    return near[0] if near else None


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "true or false", str: "text", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")
