"""JSON as this project reads and writes it: bounded on the way in, canonical on the way out."""

from __future__ import annotations

import hashlib
import json
import math
import unicodedata
from typing import Any

from vaibify_lab.core.errors import InvalidFile

MAX_BYTES = 64 * 2**20
MAX_DEPTH = 60


def loads(data: bytes, where: str, *, limit: int = MAX_BYTES) -> Any:
    """Parse a JSON document that somebody else may have made to hurt us.

    Refuses what is too large, too deep, not UTF-8, has a key twice, or holds NaN or numbers of
    absurd length. ``where`` names the file in the error.

    Raises
    ------
    InvalidFile
        With the place and what was expected.
    """
    if len(data) > limit:
        raise InvalidFile(f"is {len(data)} bytes, more than the {limit} allowed", where=where)
    if not data.strip():
        raise InvalidFile("is empty", where=where, action="expected a JSON object")
    _check_depth(data, where)
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_no_duplicates,
            parse_constant=_refuse_constant,
            parse_int=_bounded_int,
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
    """Write a file of ours: two spaces, sorted keys, final newline."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode("utf-8", "surrogateescape")


def line(value: Any) -> bytes:
    """Write one JSON line (journals, streaming answers)."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return (text + "\n").encode("ascii")


def canonical(value: Any) -> bytes:
    """Return the canonical form that fingerprints hash.

    Sorted keys, no white space, shortest round-trip floats, integers for integral floats,
    NFC strings. Two values that mean the same give the same bytes.
    """
    return json.dumps(
        _normal(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode("utf-8", "surrogateescape")


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
        return {_normal(str(key)): _normal(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_normal(item) for item in value]
    return value


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the key {key!r} stands twice in one object")
            seen.add(key)
    return result


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _bounded_int(text: str) -> int:
    if len(text) > 20:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:20]} is too large")
    return value


def _check_depth(data: bytes, where: str) -> None:
    """Refuse deep nesting before the parser recurses into it (strings are skipped)."""
    if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return
    depth = deepest = 0
    outside = data.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2]
    for piece in outside:
        for byte in piece:
            if byte in b"[{":
                depth += 1
                deepest = max(deepest, depth)
            elif byte in b"]}":
                depth -= 1
        if deepest > MAX_DEPTH:
            raise InvalidFile(f"is nested deeper than {MAX_DEPTH} levels", where=where)


def _has_conflict(data: bytes) -> bool:
    return any(part.startswith(b"<<<<<<< ") for part in data.split(b"\n"))
