"""The step that one cell of an editor could be: the line to begin it with."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

from vaibify_lab.core.naming import slug_of
from vaibify_lab.notebooks.foretell.telling import Telling
from vaibify_lab.notebooks.proposing import files_of, titled, with_files
from vaibify_lab.notebooks.step_line import StepLine
from vaibify_lab.provenance.compare.notebook_file import Cell, Notebook

_NAMES = {"saInputDataFiles": "inputs", "saDataFiles": "data", "saPlotFiles": "plots"}


@dataclass(frozen=True, slots=True)
class CellProposal:
    """A step that a cell could be: its name, its folder, its files by key of workflow.json."""

    name: str
    directory: str
    files: Mapping[str, Sequence[str]]

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> CellProposal:
        """Return what a person made of one."""
        files = {key: said.get(name, ()) for key, name in _NAMES.items()}
        return cls(said["name"], said.get("directory", ""), files)

    def line(self, workflow: str | None = None) -> str:
        """Return the line to begin the cell with."""
        keys = {key: tuple(paths) for key, paths in self.files.items()}
        return StepLine(self.name, keys, self.directory, workflow=workflow).text

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        return {
            "name": self.name,
            "directory": self.directory,
            **{name: list(self.files.get(key, ())) for key, name in _NAMES.items()},
            "line": self.line(),
        }


def propose_cell(
    path: str, above: str, source: str, taken: Collection[str] = ()
) -> CellProposal | None:
    """Return the step that a cell could be; None for one that is empty or has a magic.

    Parameters
    ----------
    path : str
        Its notebook's repository path; "" where that is not known.
    above : str
        The Markdown cell above it; its last heading becomes the name.
    source : str
        The cell.
    taken : collection of str
        The slugs of the steps that there are.
    """
    both = Notebook((Cell(1, "markdown", above), Cell(2, "code", source)))
    telling = Telling.of(path, both)
    if not telling.cells or telling.cells[0].magic is not None:
        return None
    folder = posixpath.dirname(path)
    cells = list(with_files(telling, folder))
    first = next(iter(cells[0].writes), "")
    names = (titled(both, 2), posixpath.basename(first).partition(".")[0], "Step")
    name = _untaken([one for one in names if slug_of(one)], taken)
    return CellProposal(name, folder, files_of(cells))


def _untaken(names: Sequence[str], taken: Collection[str]) -> str:
    """Return the first name that no step has, else the first with a number."""
    numbered = (f"{names[0]} {number}" for number in count(2))
    return next(one for one in chain(names, numbered) if slug_of(one) not in taken)
