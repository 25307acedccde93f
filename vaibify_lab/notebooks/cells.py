"""Step cells: found in the text of cells, read, and those that cannot be read named."""

from __future__ import annotations

from vaibify_lab.core.errors import UsageError
from vaibify_lab.notebooks import script
from vaibify_lab.notebooks.magic import Magic, vaibify_cell
from vaibify_lab.notebooks.standing import Cell
from vaibify_lab.notebooks.step_line import SUBCOMMAND, parse_line
from vaibify_lab.provenance.compare.notebook_file import Notebook


def step_magic(source: str) -> Magic | None:
    """Return the magic of a cell that is a step; None for every other cell."""
    found = vaibify_cell(source)
    is_step = found is not None and found.line.split(None, 1)[:1] == [SUBCOMMAND]
    return found if is_step else None


def numbers_of_steps(notebook: Notebook) -> list[int]:
    """Return the numbers of a notebook's cells that are steps, of those that a run would run."""
    cells = (one for one in notebook.code if not one.is_skipped)
    return [one.number for one in cells if step_magic(one.source) is not None]


def read_cell(line: str, body: str) -> Cell:
    """Read what stands behind ``%%vaibify`` and the lines below it.

    Raises
    ------
    UsageError
    """
    asked = parse_line(line)
    code = script.code_of(body)
    first = next((one for one in code.splitlines() if one.strip()), "")
    if not first:
        raise UsageError("the cell holds no code", where=f"%%vaibify step {asked.name}")
    if first.startswith("%%"):
        raise UsageError(
            f"a step cell holds no other cell magic ({first.split()[0]})",
            where=f"%%vaibify step {asked.name}",
            action="a cell in another language: --language bash, R or julia",
        )
    return Cell(asked, code)
