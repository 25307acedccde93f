"""Steps that a notebook's cells could be: names and files proposed from what their code says."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from vaibify_lab.core.naming import slug_of
from vaibify_lab.core.paths import fault_of
from vaibify_lab.notebooks.foretell.files import Constants, constants_of, is_read, uses_of
from vaibify_lab.notebooks.foretell.telling import CodeCell, Telling

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_PLOTS = (".png", ".pdf", ".svg", ".jpg", ".jpeg", ".eps", ".gif", ".tif", ".tiff")
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Proposal:
    """A step that a cell could be; repository paths. ``directory``: the notebook's folder."""

    number: int
    name: str
    directory: str
    inputs: tuple[str, ...]
    data: tuple[str, ...]
    plots: tuple[str, ...]

    @property
    def line(self) -> str:
        """The line to begin the cell with."""
        words = ["%%vaibify", "step", self.name]
        words += ["--directory", self.directory] if self.directory else []
        for option, paths in (("input", self.inputs), ("data", self.data), ("plot", self.plots)):
            words += [word for path in paths for word in (f"--{option}", path)]
        return shlex.join(words)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        return {
            "number": self.number,
            "name": self.name,
            "directory": self.directory,
            "inputs": list(self.inputs),
            "data": list(self.data),
            "plots": list(self.plots),
            "line": self.line,
        }


def propose(telling: Telling, *, every: bool = False) -> list[Proposal]:
    """Return a proposal for each cell of plain Python that writes a file, or for ``every`` one."""
    constants = constants_of(telling)
    folder = posixpath.dirname(telling.path)
    found: list[Proposal] = []
    taken: set[str] = set()
    for cell in telling.cells:
        if cell.magic is not None:
            continue
        read, written = _files(cell, constants, folder)
        if written or every:
            name = _unlike(_name(telling, cell, written), taken)
            taken.add(slug_of(name))
            plots = tuple(path for path in written if path.lower().endswith(_PLOTS))
            data = tuple(path for path in written if path not in plots)
            found.append(Proposal(cell.number, name, folder, read, data, plots))
    return found


def _files(
    cell: CodeCell, constants: Constants, folder: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the files that a cell reads and has not written, and those that it writes."""
    uses = list(uses_of(cell.number, cell.tree, constants, everywhere=True))
    written = tuple(_paths((use.text for use in uses if use.is_written), folder))
    read = tuple(_paths((use.text for use in uses if is_read(use)), folder))
    return tuple(path for path in read if path not in written), written


def _paths(texts: Iterable[str], folder: str) -> Iterator[str]:
    """Yield the repository paths of files among texts; a folder that is made is no file."""
    seen: set[str] = set()
    for text in texts:
        path = posixpath.normpath(posixpath.join(folder, text))
        is_file = "." in path.rpartition("/")[2].lstrip(".") and "://" not in text
        if is_file and fault_of(path) is None and path not in seen:
            seen.add(path)
            yield path


def _name(telling: Telling, cell: CodeCell, written: tuple[str, ...]) -> str:
    """Return the heading just above the cell, else its first file's name, else its number."""
    above = [one for one in telling.notebook.cells if one.number < cell.number]
    if above and not above[-1].is_code and (headings := _HEADING.findall(above[-1].source)):
        words = re.sub(r"[^\w .-]+", "", str(headings[-1])).split()
        plain = " ".join(words)[:_LONGEST].strip()
        if slug_of(plain):
            return plain
    if written:
        return posixpath.basename(written[0]).partition(".")[0] or f"Cell {cell.number}"
    return f"Cell {cell.number}"


def _unlike(name: str, taken: set[str]) -> str:
    slug, number = slug_of(name), 2
    if slug and slug not in taken:
        return name
    while slug_of(f"{name} {number}") in taken:
        number += 1
    return f"{name} {number}"
