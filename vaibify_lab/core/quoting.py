"""A path put into a shell command so that it stays one word, whatever quotes surround it."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PLAIN = re.compile(r"[A-Za-z0-9_./+=@,:-]*")
_SPECIAL_IN_DOUBLE = re.compile(r'([\\"$`])')
_SPECIAL = re.compile(r"([^A-Za-z0-9_./+=@,:-])")


def fill(command: str, values: Mapping[str, str]) -> str:
    """Replace each ``{name}`` of ``values`` in a command, escaped as its place in quotes asks.

    ``${name}`` is the shell's own and stays. Here-documents are read as if they were outside
    quotes, which matters for values with special characters only.
    """
    tokens = re.compile("|".join(re.escape("{" + name + "}") for name in values))
    if all(_PLAIN.fullmatch(value) for value in values.values()):
        return tokens.sub(lambda found: _own(found, values), command)
    pieces, quote, index = [], "", 0
    while index < len(command):
        found = tokens.match(command, index)
        if found and not command[:index].endswith("$"):
            pieces.append(_escaped(values[found[0][1:-1]], quote))
            index = found.end()
            continue
        char = command[index]
        if char == "\\" and quote != "'":
            pieces.append(command[index : index + 2])
            index += 2
            continue
        if char in "'\"" and quote in ("", char):
            quote = "" if quote else char
        pieces.append(char)
        index += 1
    return "".join(pieces)


def _own(found: re.Match[str], values: Mapping[str, str]) -> str:
    before = found.string[: found.start()]
    return found[0] if before.endswith("$") else values[found[0][1:-1]]


def _escaped(value: str, quote: str) -> str:
    if quote == "'":
        return value.replace("'", "'\\''")
    pattern = _SPECIAL_IN_DOUBLE if quote else _SPECIAL
    return pattern.sub(r"\\\1", value)
