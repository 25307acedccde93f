"""A comparison and its rules through a pipe; what comes back is believed in form only."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.provenance.compare.noise import Own, Rules
from vaibify_lab.provenance.compare.verdict import SAMPLES, WORDS, Comparison, Gap, Ignored, Picture

LONGEST = 16 * 2**20  # bytes of an answer
_PNG = b"\x89PNG\r\n\x1a\n"
_TEXT = 1_000  # characters of one text in it
_MOST = 10**12


class NotAnAnswer(Exception):  # not an error of anybody's: the caller says it in its verdict
    """The bytes are no comparison."""


def rules_as_json(rules: Rules) -> dict[str, Any]:
    """Return rules in JSON's form."""
    return {
        "relative": rules.relative,
        "absolute": rules.absolute,
        "own": [[one.name, one.expression] for one in rules.own],
        "ran": [one.isoformat() for one in rules.ran or ()],
        "ignore": rules.ignore,
        "kinds": None if rules.kinds is None else sorted(rules.kinds),
    }


def rules_from_json(value: Mapping[str, Any]) -> Rules:
    """Read what `rules_as_json` gave; it comes from who started us."""
    ran = [datetime.fromisoformat(one) for one in value["ran"]]
    return Rules(
        value["relative"],
        value["absolute"],
        tuple(Own(*one) for one in value["own"]),
        (ran[0], ran[1]) if ran else None,
        value["ignore"],
        None if value["kinds"] is None else frozenset(value["kinds"]),
    )


def read(data: bytes) -> Comparison:
    """Read an answer about two files whose bytes differ.

    Raises
    ------
    NotAnAnswer
        It is none, or one that cannot be true.
    """
    try:
        value = jsonio.loads(data, "the answer", limit=LONGEST)
    except InvalidFile as error:
        raise NotAnAnswer(error.text) from None
    if not isinstance(value, dict):
        raise NotAnAnswer("it is no object")
    verdict, count = value.get("verdict"), value.get("ignored_count", 0)
    ignored = value.get("ignored", [])
    if not isinstance(verdict, str) or verdict not in WORDS or verdict == "identical":
        raise NotAnAnswer("its verdict is none")  # bytes that differ never are identical
    if type(count) is not int or not 0 <= count < _MOST:
        raise NotAnAnswer("its count is none")
    if not isinstance(ignored, list) or len(ignored) > SAMPLES:
        raise NotAnAnswer("its list of what was passed over is none")
    return Comparison(
        verdict,
        _text(value, "text"),
        _text(value, "where"),
        _gap(value.get("largest_absolute")),
        _gap(value.get("largest_relative")),
        tuple(_ignored(one) for one in ignored),
        count,
        tuple(_picture(one) for one in _pictures(value)),
    )


def _pictures(value: Mapping[str, Any]) -> list[Any]:
    pictures = value.get("pictures", [])
    if not isinstance(pictures, list) or len(pictures) > 1:
        raise NotAnAnswer("its pictures are none")
    return pictures


def _picture(value: object) -> Picture:
    shown = value.get("shown", "") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(shown, str):
        raise NotAnAnswer("a picture is no object")
    try:
        data = base64.b64decode(shown, validate=True)
    except ValueError:
        raise NotAnAnswer("a picture is none") from None
    if data and not data.startswith(_PNG):
        raise NotAnAnswer("a picture is none")
    return Picture(_text(value, "text"), data or None)


def _ignored(value: object) -> Ignored:
    if not isinstance(value, dict):
        raise NotAnAnswer("what was passed over is no object")
    kind, where, stored, fresh = (_text(value, key) for key in ("kind", "where", "stored", "fresh"))
    return Ignored(kind, where, stored, fresh)


def _gap(value: object) -> Gap | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise NotAnAnswer("a difference is no object")
    absolute, relative = (_number(_text(value, key)) for key in ("absolute", "relative"))
    where, stored, fresh = (_text(value, key) for key in ("where", "stored", "fresh"))
    return Gap(absolute, relative, where, stored, fresh)


def _number(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise NotAnAnswer("a difference is no number") from None
    if not number.is_finite() or number < 0 or len(text) > 40:
        raise NotAnAnswer("a difference is no number")
    return number


def _text(value: Mapping[str, Any], key: str) -> str:
    """Return a text in one line, without what a terminal or a page would obey."""
    text = value.get(key, "")
    if not isinstance(text, str) or len(text) > _TEXT:
        raise NotAnAnswer(f"{key} is no text")
    return "".join(one if one.isprintable() else "\ufffd" for one in text)
