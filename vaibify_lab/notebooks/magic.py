"""Which cell magic a cell is, found as IPython itself finds it; nothing is run or imported."""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import dedent

NAME = "vaibify"
_PASS_ON = frozenset({"time", "capture"})  # magics that run their own cell as IPython would
_HELP = re.compile(r"%%\w+\?")
_CLASSIC = re.compile(r"^\s*(?:>>>|\.\.\.)[ \t]?")
_CLASSIC_FIRST = re.compile(r"\s*>>>")
_NUMBERED = re.compile(r"^(?:(?:(?:\[(?:nav|ins)\])? )?In \[\d+\]: |\s*\.{3,}: ?)")


@dataclass(frozen=True, slots=True)
class Magic:
    """A cell magic: its name, what follows it on its line, and the lines below."""

    name: str
    line: str
    body: str


def cell_magic(source: str) -> Magic | None:
    """Return the cell magic that a cell is; None for a cell of plain code."""
    lines = _lines(source)
    if not lines or not lines[0].startswith("%%") or _HELP.match(lines[0]):
        return None
    name, _, rest = lines[0][2:].rstrip().partition(" ")
    return Magic(name, rest, "".join(lines[1:]))


def vaibify_cell(source: str) -> Magic | None:
    """Return the ``%%vaibify`` magic of a cell, also inside ``%%time`` and ``%%capture``."""
    found = cell_magic(source)
    while found is not None and found.name in _PASS_ON:
        found = cell_magic(found.body)
    return found if found is not None and found.name == NAME else None


def _lines(source: str) -> list[str]:
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
