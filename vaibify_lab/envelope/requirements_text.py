"""The grammar of a pip requirements file, as far as a lock may use it.

Lines are cut, joined and freed of comments exactly as pip does it: where the two differed, a lock
could hide a requirement from us that pip installs. Nothing here is quadratic in its input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_BYTES = 16 * 2**20
MAX_LINES = 200_000
LONGEST_LINE = 2**18
_COMMENT = re.compile(r"(?:^|(?<=\s))#")
_CODING = re.compile(r"coding[:=]\s*([-\w.]+)")
_UTF8 = ("utf-8", "utf8", "ascii", "us-ascii")


class Unreadable(ValueError):
    """The text cannot be taken apart; the message says why and ``line`` where (0: as a whole)."""

    def __init__(self, code: str, text: str, line: int = 0) -> None:
        super().__init__(text)
        self.code = code
        self.line = line


def physical_lines(data: bytes) -> list[str]:
    """Decode and cut a requirements file as pip does.

    Raises
    ------
    Unreadable
        Too large, not UTF-8, or with a coding comment that would make pip read other text.
    """
    if len(data) > MAX_BYTES:
        raise Unreadable("too-large", f"is larger than {MAX_BYTES} bytes; nothing of it was read")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable("not-utf8", f"is not UTF-8 (byte {error.start})") from None
    lines = text.splitlines()
    if len(lines) > MAX_LINES:
        raise Unreadable("too-large", f"has more than {MAX_LINES} lines; nothing of it was read")
    for number, line in enumerate(lines[:2], 1):
        coding = _CODING.search(line[:LONGEST_LINE]) if line.startswith("#") else None
        if coding and coding[1].lower() not in _UTF8:
            raise Unreadable("not-utf8", "names an encoding other than UTF-8", number)
    return lines


def logical_lines(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield (first line number, text): continuations joined, comments and blank lines gone.

    Raises
    ------
    Unreadable
        At a line of absurd length.
    """
    first, parts, length = 0, list[str](), 0
    for number, line in enumerate(lines, 1):
        comment = line.lstrip().startswith("#") if "#" in line else False
        goes_on = line.endswith("\\") and not comment
        first = first if parts else number
        parts.append(line.strip("\\") if goes_on else f" {line}" if comment else line)
        length += len(line)
        if length > LONGEST_LINE:
            raise Unreadable("too-large", f"a line longer than {LONGEST_LINE} characters", first)
        if not goes_on:
            yield from _meaningful(first, "".join(parts))
            parts, length = [], 0
    if parts:
        yield from _meaningful(first, "".join(parts))


def _meaningful(number: int, line: str) -> Iterator[tuple[int, str]]:
    comment = _COMMENT.search(line) if "#" in line else None
    text = (line[: comment.start()] if comment else line).strip()
    if text:
        yield number, text


def split_options(line: str) -> tuple[str, list[str]]:
    """Return (requirement, option words); the requirement is empty on a line of options.

    As pip: the requirement ends at the first word, after a space, that starts with a hyphen.

    Raises
    ------
    Unreadable
        When the options are quoted or escaped, which no lock needs.
    """
    at = 0 if line.startswith("-") else line.find(" -") + 1
    if at == 0 and not line.startswith("-"):
        return line, []
    requirement, options = line[:at].strip(), line[at:]
    if any(mark in options for mark in "\"'\\"):
        raise Unreadable("malformed", "has a quoted or escaped option")
    return requirement, options.replace("\t", " ").split()
