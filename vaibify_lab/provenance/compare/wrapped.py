"""How NumPy 2 prints a scalar, and how it was printed before: one value, two ways."""

from __future__ import annotations

import re

_NUMBER = r"[-+]?[\w.+-]{1,60}"
_STRING = r"'(?:[^'\\\n]|\\.){0,2000}'|\"(?:[^\"\\\n]|\\.){0,2000}\""
_SCALAR = re.compile(
    rf"\bnp\.(?:(?:float|int|uint)\d{{1,3}}\((?P<number>{_NUMBER})\)"
    rf"|longdouble\('?(?P<long>{_NUMBER})'?\)"
    rf"|(?:complex\d{{2,3}}|clongdouble)\('?(?P<complex>{_NUMBER})'?\)"
    r"|(?P<bool>True|False)_(?!\w)"
    rf"|str_\((?P<text>{_STRING})\)|bytes_\((?P<bytes>b(?:{_STRING}))\))"
    r"|\bnumpy\.(?P<time>(?:datetime|timedelta)64\([\w:.,' -]{0,80}\))"
)


def plain(text: str) -> str:
    """Return a text with its scalars printed as NumPy 1 did."""
    return _SCALAR.sub(_before, text) if "np." in text or "numpy." in text else text


def printed_otherwise(stored: str, fresh: str) -> str:
    """Say of two texts that tell the same which scalar is printed otherwise; empty for none."""
    mine, yours = _scalars(stored), _scalars(fresh)
    if mine == yours:
        return ""
    if len(mine) == len(yours):
        one, other = next(pair for pair in zip(mine, yours, strict=True) if pair[0] != pair[1])
        return f"{one} is now {other}"
    more, less = (mine, yours) if len(mine) > len(yours) else (yours, mine)
    one = next((each for each in more if each not in less), more[0])
    before = _SCALAR.sub(_before, one)
    return f"{one} is now {before}" if more is mine else f"{before} is now {one}"


def _before(found: re.Match[str]) -> str:
    value = next(one for one in found.groups() if one is not None)
    if found["time"]:
        return f"np.{value}"
    # an imaginary number alone has no brackets: a sign inside is an exponent's or a real part's
    if found["complex"] and not re.fullmatch(r"[-+]?[\w.]+(?:e[-+]\d+)?j", value):
        return f"({value})"
    return value


def _scalars(text: str) -> list[str]:
    return [found[0] for found in _SCALAR.finditer(text)]
