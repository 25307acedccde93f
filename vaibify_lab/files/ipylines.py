"""The lines of a cell that are IPython's own, found as IPython finds them; nothing is run.

One is its own only where a statement begins: not in a text, between brackets, or after a backslash.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import dedent

_CLASSIC = re.compile(r"^\s*(?:>>>|\.\.\.)[ \t]?")
_CLASSIC_FIRST = re.compile(r"\s*>>>")
_NUMBERED = re.compile(r"^(?:(?:(?:\[(?:nav|ins)\])? )?In \[\d+\]: |\s*\.{3,}: ?)")
_TARGET = r"(?:[\w.,\[\]'\" \t]+=[ \t]*)?"
_OWN = re.compile(
    rf"(?P<indent>[ \t]*)(?:{_TARGET}[%!].*|[?,;/].*"
    r"|(?:[\w.]+[ \t]*=[ \t]*)?%{0,2}[^\W\d][\w*]*(?:\.[\w*]+|\[-?\d+\])*\?\??[ \t]*"
    r"|\*?[\w.*]+\?\??[ \t]*)"
)
_TOKEN = re.compile(r"#|\"{3}|'{3}|[\"'()\[\]{}]")
_SHELL = re.compile(rf"{_TARGET}!{{1,2}}")
_TIMED = re.compile(
    rf"({_TARGET})%(?:time|timeit|prun|memit)[ \t]+(?:--?[\w-]+(?:[ =]\d+)?[ \t]+)*(.+)"
)
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_LONGEST = 4096  # of a timed statement


@dataclass(frozen=True, slots=True)
class OwnLine:
    """A line of IPython's own: the physical lines, from 1, that it takes, its indent, its text."""

    first: int
    last: int
    indent: str
    text: str

    @property
    def shell(self) -> str | None:
        """The command that it gives to a shell by ``!``; None where it gives none."""
        found = _SHELL.match(self.text)
        return self.text[found.end() :] if found else None

    @property
    def code(self) -> str:
        """The Python that it runs with the cell's own names, as ``%time`` does; else ``pass``."""
        timed = _TIMED.fullmatch(self.text)
        statement = f"{timed[1]}{timed[2]}" if timed else "pass"
        return statement if _parses(statement) else "pass"


def cleaned(source: str) -> list[str]:
    """Return a cell's lines, without what IPython takes off their beginnings."""
    text = source if source.endswith("\n") else source + "\n"
    lines = text.splitlines(keepends=True)
    while lines and lines[0].isspace():
        del lines[0]
    lines = dedent("".join(lines)).splitlines(keepends=True)
    if lines and _CLASSIC_FIRST.match(lines[0]):
        stripped = "".join(_CLASSIC.sub("", line, count=1) for line in lines)
        lines = dedent(stripped).splitlines(keepends=True)
    if any(_NUMBERED.match(line) for line in lines[:2]):
        lines = [_NUMBERED.sub("", line, count=1) for line in lines]
    return lines


def cleaned_in_place(source: str) -> str:
    """Return a cell's text as `cleaned` does, each line where it stands."""
    text = "".join(cleaned(source))
    above = source.count("\n") + (not source.endswith("\n")) - text.count("\n")
    text = "\n" * max(above, 0) + text
    return text if source.endswith("\n") else text.removesuffix("\n")


def own_lines(text: str) -> Iterator[OwnLine]:
    """Yield the lines of a cell that are IPython's own."""
    lines = text.split("\n")
    reading = _Reading()
    at = 0
    while at < len(lines):
        found = _OWN.fullmatch(lines[at]) if reading.is_at_statement else None
        if found is None:
            reading.line(lines[at])
            at += 1
            continue
        first, parts = at, [lines[at]]
        while parts[-1].endswith("\\") and at + 1 < len(lines):
            at += 1
            parts.append(lines[at])
        at += 1
        joined = " ".join(one.removesuffix("\\").strip() for one in parts)
        yield OwnLine(first + 1, at, found["indent"], joined)


@dataclass(slots=True)
class _Reading:
    """Where the lines that were read leave off: in which quotes, how deep in brackets."""

    quote: str = ""
    depth: int = 0
    continued: bool = False

    @property
    def is_at_statement(self) -> bool:
        return not (self.quote or self.depth or self.continued)

    def line(self, line: str) -> None:
        at, comment = 0, False
        while not comment:
            if self.quote:
                end = re.compile(rf"(?:\\.|(?!{self.quote}).)*{self.quote}", re.DOTALL)
                found = end.match(line, at)
                if found is None:
                    break
                self.quote, at = "", found.end()
                continue
            token = _TOKEN.search(line, at)
            if token is None:
                break
            at, comment = token.end(), token[0] == "#"
            self._meet(token[0])
        self.continued = line.endswith("\\") and not comment
        if len(self.quote) == 1 and not self.continued:
            self.quote = ""  # a text of one line that is not closed: no Python

    def _meet(self, sign: str) -> None:
        if sign in "([{":
            self.depth += 1
        elif sign in ")]}":
            self.depth = max(self.depth - 1, 0)
        elif sign != "#":
            self.quote = sign


def _parses(code: str) -> bool:
    if len(code) > _LONGEST:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(code)
    except _UNREADABLE:
        return False
    return True
