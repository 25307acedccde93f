"""What a step cell takes from the live kernel, and so will not have in a process of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import ModuleType

from vaibify_lab.core.cell_scripts import INTERPRETERS
from vaibify_lab.files.ipysource import magic_lines
from vaibify_lab.notebooks.dialect import compiles
from vaibify_lab.notebooks.scan import hidden_names
from vaibify_lab.notebooks.standing import Cell

_NAME_ERROR = re.compile(r"name '(\w+)' is not defined")


def warnings_of(cell: Cell, kernel: Mapping[str, object]) -> Iterator[str]:
    """Yield what to say, before it runs, of each name that only the kernel has, or nobody."""
    yield from ipython_lines(cell)
    for name in hidden_names(cell):
        if name not in kernel:
            yield f"uses {name!r}, which nothing in this cell defines"
        elif isinstance(kernel[name], ModuleType):
            yield f"uses {name!r}, which only the kernel has: import it in this cell"
        else:
            text = f"uses {name!r}, which only the kernel has: write it to a file and declare it"
            yield f"{text} as input (--input)"


def ipython_lines(cell: Cell) -> Iterator[str]:
    """Yield what to say of a cell that only IPython can run, and of shell lines in it."""
    if cell.interpreter is not INTERPRETERS["ipython"]:
        return
    lines = [] if compiles(cell.code) else magic_lines(cell.code)
    which = f"line {lines[0][0] + 1} ({lines[0][1]})" if lines else "display or top-level await"
    yield f"is run by ipython, which the step's environment must have: {which} is not plain Python"
    for number, text in lines:
        if "!" in text:
            failing = "a command that fails there does not fail the step"
            yield f"has a shell line, {number + 1} ({text}): {failing}; --language bash does"


def explained(said: str, cell: Cell, kernel: Mapping[str, object]) -> str:
    """Return why a step failed, with what the kernel has to do with it."""
    found = _NAME_ERROR.search(said)
    if found is None or found[1] not in kernel or found[1] not in hidden_names(cell):
        return said
    return f"{said}; {found[1]!r} is defined only in the live kernel"
