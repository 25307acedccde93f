"""Step cells of a notebook: lines that make no step, and names that only the kernel has."""

from __future__ import annotations

from collections.abc import Iterator

from vaibify_lab.core.finding import Finding
from vaibify_lab.notebooks.foretell.order import hides_names, names_made, names_taken
from vaibify_lab.notebooks.foretell.telling import CodeCell, Telling


def step_findings(telling: Telling) -> Iterator[Finding]:
    """Yield what keeps a step cell from being a step that runs in a process of its own."""
    plain = [one for one in telling.cells if not one.is_step]
    made_in = {one.number: names_made(one) for one in plain}
    for cell in telling.cells:
        if cell.step_fault:
            text = f"is to be a step and is none: {cell.step_fault}"
            yield telling.finding("error", "step-line", cell.number, text)
        elif cell.is_step and not cell.fault and not hides_names(cell):
            for name in names_taken(cell):
                makers = [number for number, names in made_in.items() if name in names]
                yield _of_kernel(telling, cell, name, makers)


def _of_kernel(telling: Telling, cell: CodeCell, name: str, makers: list[int]) -> Finding:
    if not makers:
        text = f"is a step that uses {name!r}, which it does not make"
        return telling.finding(
            "error", "name-missing", cell.number, text, "make it in the cell: a step runs alone"
        )
    several = len(makers) > 1
    where = f"cell{'s' if several else ''} {', '.join(map(str, makers))}"
    does = f"make{'' if several else 's'}"
    text = f"is a step that uses {name!r}, which only {where} {does}, in the kernel"
    action = "make it in the step, or write it to a file and declare that as --input"
    return telling.finding("error", "name-of-kernel", cell.number, text, action)
