"""JSON as this project reads and writes it: bounded on the way in, canonical on the way out."""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from typing import Any

from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.core.paths import shown

MAX_BYTES = 64 * 2**20
MAX_DEPTH = 60
MAX_MARKS = 3_000_000  # quotes, commas and opening brackets: what time and memory grow with
MAX_OBJECTS = 300_000
_BOM = b"\xef\xbb\xbf"
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_LONG_NUMBER = re.compile(rb"[0-9]{20}")
_LONE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")
_LONE = re.compile("[\ud800-\udfff]")


def loads(data: bytes, where: str, *, limit: int = MAX_BYTES, constants: bool = False) -> Any:
    """Parse a JSON document that somebody else may have made to hurt us.

    Refuses what is too large, too deep, not UTF-8, has a key twice, or holds NaN, half a
    character (a lone surrogate) or numbers of absurd length. ``where`` names the file in the error;
    ``constants`` lets NaN and the infinities through, which notebooks may hold.

    Raises
    ------
    InvalidFile
        With the place and what was expected.
    """
    if len(data) > limit:
        raise InvalidFile(f"is {len(data)} bytes, more than the {limit} allowed", where=where)
    if not data.strip():
        raise InvalidFile("is empty", where=where)
    if data.startswith(_BOM):
        text = "starts with a byte order mark"
        raise InvalidFile(text, where=where, action="save it as UTF-8 without a BOM")
    _check_size(data, where)
    value = _parse(data, where, constants)
    if _LONE_ESCAPE.search(data) and _LONE.search(json.dumps(value, ensure_ascii=False)):
        raise InvalidFile("holds half a character (a lone \\ud800 to \\udfff)", where=where)
    return value


def _parse(data: bytes, where: str, constants: bool) -> Any:
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_no_duplicates,
            parse_constant=float if constants else _refuse_constant,
            parse_int=_bounded_int if _LONG_NUMBER.search(data) else None,
            parse_float=_finite,
        )
    except UnicodeDecodeError as error:
        raise InvalidFile(f"is not UTF-8 (byte {error.start})", where=where) from None
    except json.JSONDecodeError as error:
        hint = " (git conflict markers)" if _has_conflict(data) else ""
        text = f"is not JSON{hint}: line {error.lineno}, column {error.colno}: {error.msg}"
        raise InvalidFile(text, where=where) from None
    except (ValueError, RecursionError) as error:
        raise InvalidFile(f"is not usable JSON: {error}", where=where) from None


def dumps(value: Any) -> bytes:
    r"""Write a file of ours: two spaces, sorted keys, final newline.

    A byte of a file name that is not UTF-8 is written as the text ``\xNN``.
    """
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return (_without_lone(text) + "\n").encode("utf-8")


def line(value: Any) -> bytes:
    """Write one JSON line (journals, streaming answers)."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    if "\\ud" in text:
        text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        text = json.dumps(json.loads(_without_lone(text)), separators=(",", ":"))
    return (text + "\n").encode("ascii")


def canonical(value: Any) -> bytes:
    """Return the canonical form that fingerprints hash.

    Sorted keys, no white space, shortest round-trip floats, integers for integral floats,
    NFC strings. Two values that mean the same give the same bytes.
    """
    return json.dumps(
        _normal(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode("utf-8", "backslashreplace")


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical form, 64 lower-case hex digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def _normal(value: Any) -> Any:
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("a fingerprint cannot hold NaN or infinity")
        return int(value) if value == int(value) and abs(value) < 2**53 else value
    if isinstance(value, dict):
        normal = {_normal(str(key)): _normal(item) for key, item in value.items()}
        if len(normal) < len(value):  # two names that only normalising makes equal: keep both
            return {str(key): _normal(item) for key, item in value.items()}
        return normal
    if isinstance(value, list | tuple):
        return [_normal(item) for item in value]
    return value


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the key {key[:80]!r} stands twice in one object")
            seen.add(key)
    return result


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _bounded_int(text: str) -> int:
    if len(text.lstrip("-")) > 20:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


def _finite(text: str) -> float:
    if len(text) > 400:
        raise ValueError(f"a number of {len(text)} characters")
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:20]} is too large")
    return value


def _without_lone(text: str) -> str:
    """Spell out, in JSON text, what UTF-8 cannot hold."""
    return _LONE.sub(lambda match: shown(match[0]).replace("\\", "\\\\"), text)


def _check_size(data: bytes, where: str) -> None:
    """Refuse what would take the parser long or deep, before it begins."""
    marks = sum(data.count(mark) for mark in (b'"', b",", b"[", b"{"))
    if marks > MAX_MARKS or data.count(b"{") > MAX_OBJECTS:
        raise InvalidFile("holds more values than any project needs", where=where)
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and _depth(data) > MAX_DEPTH:
        raise InvalidFile(f"is nested deeper than {MAX_DEPTH} levels", where=where)


def _depth(data: bytes) -> int:
    """Count nesting outside strings, up to the first level too many."""
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    depth = deepest = 0
    for byte in b"".join(data.split(b'"')[::2]).translate(None, _NOT_BRACKETS):
        depth += 1 if byte in b"[{" else -1
        if depth > deepest:
            deepest = depth
            if deepest > MAX_DEPTH:
                break
    return deepest


def _has_conflict(data: bytes) -> bool:
    return any(part.startswith(b"<<<<<<< ") for part in data.split(b"\n"))
