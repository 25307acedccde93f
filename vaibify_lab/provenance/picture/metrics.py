"""How wide text will be at most, whichever common sans-serif font shows it; where lines break."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

SIZES = {"plain": 13, "bold": 14, "small": 11, "bad": 11}
HEIGHTS = {"plain": 18, "bold": 20, "small": 15, "bad": 15}
_NARROW, _WIDE = frozenset("ijl|.,:;'"), frozenset("mwMW@%")
_USUAL = frozenset(" /_-()[]!")
_BREAKS = frozenset("/ _-.,")


def width_of(text: str, look: str) -> float:
    """Return how wide a line is at most: the widest of the usual fonts decides."""
    bold = 1.12 if look in ("bold", "bad") else 1.0
    return SIZES[look] * bold * sum(map(_em, text))


def wrapped(text: str, widest: float, look: str) -> Iterator[str]:
    """Yield text as lines; they break after a slash, a space and the like, else anywhere."""
    line = ""
    for char in text:
        if line and width_of(line + char, look) > widest:
            at = max((place for place, one in enumerate(line) if one in _BREAKS), default=-1)
            if at < len(line) // 3:
                at = len(line) - 1
            yield line[: at + 1].rstrip() or line[: at + 1]
            line = line[at + 1 :].lstrip()
        line += char
    if line or not text:
        yield line


def _em(char: str) -> float:
    if unicodedata.combining(char):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.1
    if char in _NARROW:
        return 0.37
    if char in _WIDE:
        return 1.02
    if char.isupper() or not char.isascii():
        return 0.85
    return 0.66 if char.isalnum() or char in _USUAL else 0.86
