"""The step that one cell of an editor could be: the line to begin it with."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vaibify_lab.core.naming import slug_of
from vaibify_lab.notebooks.foretell.telling import Telling
from vaibify_lab.notebooks.proposing import files_of, titled, with_files
from vaibify_lab.provenance.compare.notebook_file import Cell, Notebook

_OPTIONS = {"saInputDataFiles": "input", "saDataFiles": "data", "saPlotFiles": "plot"}
_NAMES = {"saInputDataFiles": "inputs", "saDataFiles": "data", "saPlotFiles": "plots"}


@dataclass(frozen=True, slots=True)
class CellProposal:
    """A step that a cell could be: its name, its folder, its files by key of workflow.json."""

    name: str
    directory: str
    files: Mapping[str, Sequence[str]]

    @property
    def line(self) -> str:
        """The line to begin the cell with."""
        words = ["%%vaibify", "step", self.name]
        words += ["--directory", self.directory] if self.directory else []
        for key, option in _OPTIONS.items():
            words += [word for path in self.files.get(key, ()) for word in (f"--{option}", path)]
        return shlex.join(words)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        return {
            "name": self.name,
            "directory": self.directory,
            **{name: list(self.files.get(key, ())) for key, name in _NAMES.items()},
            "line": self.line,
        }


def propose_cell(path: str, above: str, source: str) -> CellProposal | None:
    """Return the step that a cell could be; None for one that is empty or has a magic.

    Parameters
    ----------
    path : str
        Its notebook's repository path; "" where that is not known.
    above : str
        The Markdown cell above it; its last heading becomes the name.
    source : str
        The cell.
    """
    both = Notebook((Cell(1, "markdown", above), Cell(2, "code", source)))
    telling = Telling.of(path, both)
    if not telling.cells or telling.cells[0].magic is not None:
        return None
    folder = posixpath.dirname(path)
    cells = list(with_files(telling, folder))
    first = next(iter(cells[0].writes), "")
    names = (titled(both, 2), posixpath.basename(first).partition(".")[0], "Step")
    return CellProposal(next(one for one in names if slug_of(one)), folder, files_of(cells))
