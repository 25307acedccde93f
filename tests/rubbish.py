"""Files spoilt at random: bytes, lines, and JSON values that no reader of ours may trip over."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import Any

_RAW = "@raw@"
_TOKENS = (
    *(b"\x00", b"\xff", b"{", b"[", b"]", b'"', b"\\", b"\n", b"\r", b"\t", b",", b":", b"9", b"#"),
    *(b"\\u0000", b"\\ud800", b"\x1b[2J", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"../", b"*x", b"&a "),
    *(b"<<<<<<< HEAD\n", b"=======\n", b"0" * 5000, b"[" * 200, b"- " * 400, b"a" * 70_000),
)
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 0.5, -0.0, 1e308, -1e308, 2**31, 2**53, 2**63, 2**64, 10**25),
    *("", "x", " ", "\n", "\x00", "a\x00b", "\x1b[31m", "\ud800", "\udfff\ud800", "\u202e", "日本"),
    *("../x", "/etc/passwd", "~", ".", "..", "a/../b", "C:\\x", "a\\b", "*", "{Step01.x}", "%s"),
    *("x" * 300, "y" * 100_001, "/" * 5000, "0" * 64, "sha256:" + "0" * 64, "1e999", "NaN"),
    *([], {}, [[]], [None], [{}], {"": None}, {"a": {"b": []}}, ["x"] * 200, {"x": "y"}),
)
_RAW_VALUES = (
    *("NaN", "Infinity", "-Infinity", "1e999", "-1e400", "9" * 5000, "-" + "9" * 25, "01", ""),
    *("1." + "0" * 900, "[" * 70 + "]" * 70, "[" * 20_000, '{"a":' * 3000 + "1" + "}" * 3000),
    *('{"a":1,"a":2}', "nul", '"\\ud800"', '"\\u0000"', '"\x01"', "'x'", "/*x*/1", "[1,]"),
)


def spoilt(data: bytes, rng: Random, others: Sequence[bytes] = ()) -> bytes:
    """Return a file with something wrong; ``others`` are files that may stand in its place."""
    ways: list[Callable[[bytes, Random], bytes]] = [_bits, _cut, _token, _piece, _lines, _recoded]
    value = _parsed(data)
    if value is not None:
        ways += [_of_json] * 8
    elif data.startswith(b"{"):
        ways += [_json_line] * 8
    if others and rng.random() < 0.04:
        return rng.choice(others)
    return rng.choice(ways)(data, rng)


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _bits(data: bytes, rng: Random) -> bytes:
    made = bytearray(data or b"\0")
    for _ in range(rng.choice([1, 1, 1, 2, 8])):
        made[rng.randrange(len(made))] ^= 1 << rng.randrange(8)
    return bytes(made)


def _cut(data: bytes, rng: Random) -> bytes:
    at, end = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    return rng.choice([data[:at], data[at:], data[:at] + data[end:], b""])


def _token(data: bytes, rng: Random) -> bytes:
    at = rng.choice([0, len(data), rng.randrange(len(data) + 1)])
    return data[:at] + rng.choice(_TOKENS) * rng.choice([1, 1, 1, 3]) + data[at:]


def _piece(data: bytes, rng: Random) -> bytes:
    at, end = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    piece = rng.choice([data[at:end] * 2, rng.randbytes(min(end - at, 300)), bytes(end - at)])
    return data[:at] + piece + data[end:]


def _lines(data: bytes, rng: Random) -> bytes:
    lines = data.split(b"\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(5):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[other])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at] = rng.choice(_TOKENS)
        case _:
            lines[at] = lines[at][: len(lines[at]) // 2]
    return b"\n".join(lines)


def _recoded(data: bytes, rng: Random) -> bytes:
    text = data.decode("utf-8", "replace")
    return rng.choice([
        text.encode("utf-16"), data.replace(b"\n", b"\r\n"), data.replace(b"\n", b"\r"),
        b"\xef\xbb\xbf" + data, data.upper(), data + data, data.replace(b" ", b"\t"),
        b"<<<<<<< HEAD\n" + data + b"=======\n" + data + b">>>>>>> theirs\n",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 9\n",
    ])  # fmt: skip


def _json_line(data: bytes, rng: Random) -> bytes:
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    if _parsed(lines[at]) is not None:
        lines[at] = _of_json(lines[at], rng).replace(b"\n", b" ")
    return b"\n".join(lines)


def _of_json(data: bytes, rng: Random) -> bytes:
    """Exchange, drop, rename or double one value of a document."""
    value = json.loads(data)
    places = list(_places(value))
    if not places:
        return rng.choice(_RAW_VALUES).encode()
    holder, key = rng.choice(places)
    match rng.randrange(8):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[rng.choice(["", "x", "\x00", "\ud800", "y" * 2000, *holder])] = holder.pop(key)
        case 2:
            other, place = rng.choice(places)
            holder[key] = json.loads(json.dumps(other[place]))
        case 3 if isinstance(holder, list):
            holder.insert(key, holder[key])
        case 4 | 5:
            holder[key] = _RAW
        case _:
            holder[key] = rng.choice(_VALUES)
    text = json.dumps(value, indent=2, ensure_ascii=rng.random() < 0.5)
    text = text.replace(f'"{_RAW}"', rng.choice(_RAW_VALUES))
    return text.encode("utf-8", "surrogatepass")


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every (object or list, key or index) of a document."""
    keys: Iterable[Any] = ()
    if isinstance(value, dict):
        keys = value
    elif isinstance(value, list):
        keys = range(len(value))
    for key in keys:
        yield value, key
        yield from _places(value[key])
