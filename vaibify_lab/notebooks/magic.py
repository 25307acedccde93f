"""Which cell magic a cell is, found as IPython itself finds it; nothing is run or imported."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vaibify_lab.files.ipylines import cleaned

NAME = "vaibify"
_PASS_ON = frozenset({"time", "capture"})  # magics that run their own cell as IPython would
_HELP = re.compile(r"%%\w+\?")


@dataclass(frozen=True, slots=True)
class Magic:
    """A cell magic: its name, what follows it on its line, and the lines below."""

    name: str
    line: str
    body: str


def cell_magic(source: str) -> Magic | None:
    """Return the cell magic that a cell is; None for a cell of plain code."""
    lines = cleaned(source)
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
