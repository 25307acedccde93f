"""A notebook as it is foretold: its cells parsed once, and what surrounds it."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from vaibify_lab.core.finding import Finding, Level
from vaibify_lab.files.ipysource import magic_lines, without_magics
from vaibify_lab.notebooks.dialect import compiles
from vaibify_lab.notebooks.magic import Magic, cell_magic
from vaibify_lab.provenance.compare.notebook_file import Cell, Notebook

Place = Literal["committed", "not-committed", "folder", "missing", "lfs", "outside"]
_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "vaibify", "debug"})
# What IPython takes for a magic without its sign, where it is no Python.
_AUTOMAGIC = re.compile(
    r"^[ \t]*(?:alias|cat|cd|conda|cp|ls|mkdir|mv|pip|pwd|rm|run|time|timeit|who|whos)\b[^=(\n]*$",
    re.MULTILINE,
)
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


@dataclass(frozen=True, slots=True)
class Around:
    """What surrounds a notebook: what stands at a path beside it, and the kernels of this machine.

    ``place`` takes a path as code has it: relative to the notebook's folder.
    """

    place: Callable[[str], Place]
    kernels: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CodeCell:
    """A code cell: its Python (none for another language's), its magic, its shell lines."""

    cell: Cell
    tree: ast.Module
    code: str
    magic: Magic | None = None
    magics: tuple[str, ...] = ()
    fault: str = ""  # why it is no Python

    @property
    def number(self) -> int:
        """Its place among all cells, from 1."""
        return self.cell.number

    @property
    def shell_lines(self) -> list[str]:
        """The commands that it gives to a shell by ``!``."""
        return [line.partition("!")[2].lstrip("!") for line in self.magics if "!" in line]


@dataclass(frozen=True)
class Telling:
    """A notebook and its parsed cells."""

    path: str
    notebook: Notebook
    cells: tuple[CodeCell, ...] = field(default=())

    @classmethod
    def of(cls, path: str, notebook: Notebook) -> Telling:
        """Parse a notebook's cells."""
        return cls(path, notebook, tuple(_code_cell(one) for one in notebook.code))

    def finding(
        self, level: Level, code: str, number: int | None, text: str, action: str | None = None
    ) -> Finding:
        """Return a finding about a cell, or the notebook."""
        where = f"{self.path} cell {number}" if number is not None else self.path
        return Finding(level, code, f"{where}: {text}", None, self.path, action)


def _code_cell(cell: Cell) -> CodeCell:
    magic = cell_magic(cell.source)
    is_python = magic is None or magic.name in _PYTHON_CELLS
    source = (magic.body if magic else cell.source) if is_python else ""
    plain = compiles(source, awaiting=True)
    code = source if plain else without_magics(source)
    lines = () if plain else tuple(line for _, line in magic_lines(source))
    fault = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except _UNREADABLE as error:
        tree = ast.parse("")
        fault = "" if _AUTOMAGIC.search(code) else getattr(error, "msg", "") or str(error)
    return CodeCell(cell, tree, code, magic, lines, fault)


def live(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of code that is surely run: nothing guarded, conditional or in a function."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.Try | ast.If | ast.While | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if not isinstance(node, ast.Lambda | ast.ClassDef | ast.IfExp | ast.BoolOp):
            pending += list(ast.iter_child_nodes(node))[::-1]
