"""Two notebooks, cell by cell: what was stored beside what came out now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vaibify_lab.provenance.compare.noise import Rules
from vaibify_lab.provenance.compare.notebook_file import Cell, Notebook
from vaibify_lab.provenance.compare.outputs import compare_outputs
from vaibify_lab.provenance.compare.verdict import Comparison, Ignored, Verdict, joined


@dataclass(frozen=True, slots=True)
class CellComparison:
    """What came of one code cell: its number and id in the stored notebook, its first line."""

    number: int
    id: str | None
    line: str
    found: Comparison

    def as_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        return {"cell": self.number, "id": self.id, "line": self.line, **self.found.as_json()}


@dataclass(frozen=True, slots=True)
class NotebookComparison:
    """What came of two notebooks."""

    cells: tuple[CellComparison, ...]
    ignored: tuple[Ignored, ...] = ()

    @property
    def whole(self) -> Comparison:
        """All cells as one; a notebook without cells to compare is one that was not run."""
        if not self.cells:
            return Comparison("not-run", "it has no code to run")
        return joined(cell.found.at(f"cell {cell.number}") for cell in self.cells)

    @property
    def passes(self) -> bool:
        """Whether every cell says the same."""
        return bool(self.cells) and all(cell.found.passes for cell in self.cells)

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many cells there are of each verdict."""
        words = [cell.found.verdict for cell in self.cells]
        return {word: words.count(word) for word in dict.fromkeys(words)}

    def as_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        return {
            "passed": self.passes,
            "verdict": self.whole.verdict,
            "counts": self.counts,
            "cells": [cell.as_json() for cell in self.cells],
            "ignored": [one.as_json() for one in self.ignored],
        }


def compare_notebooks(
    stored: Notebook, fresh: Notebook, rules: Rules | None = None
) -> NotebookComparison:
    """Compare the outputs of every code cell.

    Cells are paired by their order where their code is the same, else by their ids where these
    agree, else by their order; a pair whose code is not the same is different, whatever its outputs
    say.
    """
    chosen = rules or Rules()
    pairs = _paired(stored.code, fresh.code)
    tells = _tells_by_counts(stored), _tells_by_counts(fresh)
    cells = tuple(
        CellComparison(shown.number, shown.id, _first_line(shown.source), found)
        for one, other in pairs
        for shown in filter(None, [one or other])
        for found in [_cell(one, other, chosen, tells)]
    )
    return NotebookComparison(cells, _counts(pairs) if chosen.ignore else ())


def _paired(mine: Sequence[Cell], yours: Sequence[Cell]) -> list[tuple[Cell | None, Cell | None]]:
    names = {cell.id: cell for cell in yours if cell.id}
    if [cell.source.strip() for cell in mine] == [cell.source.strip() for cell in yours]:
        return list(zip(mine, yours, strict=True))  # saved again, with whatever ids
    if any(cell.id in names for cell in mine):
        found: list[tuple[Cell | None, Cell | None]] = [
            (cell, names.pop(cell.id, None) if cell.id else None) for cell in mine
        ]
        return [*found, *((None, cell) for cell in yours if not cell.id or cell.id in names)]
    longest = max(len(mine), len(yours))
    return [
        (mine[at] if at < len(mine) else None, yours[at] if at < len(yours) else None)
        for at in range(longest)
    ]


def _cell(
    one: Cell | None, other: Cell | None, rules: Rules, tells: tuple[bool, bool]
) -> Comparison:
    if one is None or other is None:
        return Comparison("different", "the cell is new" if one is None else "the cell is gone")
    if one.source.strip() != other.source.strip():
        return Comparison("different", "its code is another", "the code")
    error = next((output for output in other.outputs if output.kind == "error"), None)
    if error is not None and not other.may_fail:
        return Comparison("error", str(error.data["text/plain"])[:300], "the fresh run")
    for cell, side, by_counts in ((one, "stored", tells[0]), (other, "fresh", tells[1])):
        if by_counts and cell.count is None and not cell.outputs:
            return Comparison("not-run", f"nothing is known of its {side} run")
    return compare_outputs(one.outputs, other.outputs, rules)


def _tells_by_counts(notebook: Notebook) -> bool:
    """Tell whether a cell without count and outputs was not run: some strip the counts alone."""
    has_counts = any(cell.count is not None for cell in notebook.code)
    return has_counts or not any(cell.outputs for cell in notebook.code)


def _counts(pairs: Sequence[tuple[Cell | None, Cell | None]]) -> tuple[Ignored, ...]:
    """Say once, for all cells, that their counts are not compared."""
    other = [
        (one, two) for one, two in pairs if one and two and one.count != two.count and one.count
    ]
    if not other:
        return ()
    one, two = other[0]
    return (Ignored("execution count", f"{len(other)} cells", str(one.count), str(two.count)),)


def _first_line(source: str) -> str:
    return next((line.strip()[:80] for line in source.split("\n") if line.strip()), "")
