"""A notebook as it is foretold: its cells parsed once, and what surrounds it."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from vaibify_lab.core.errors import UsageError
from vaibify_lab.core.finding import Finding, Level
from vaibify_lab.files.ipysource import magic_lines, without_magics
from vaibify_lab.notebooks.cells import read_cell, step_magic
from vaibify_lab.notebooks.dialect import compiles
from vaibify_lab.notebooks.magic import NAME, Magic, cell_magic
from vaibify_lab.notebooks.step_line import StepLine
from vaibify_lab.provenance.compare.notebook_file import Cell, Notebook

Place = Literal["committed", "not-committed", "folder", "missing", "lfs", "outside"]
_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "vaibify", "debug"})
# What IPython takes for a magic without its sign, where it is no Python.
_WORDS = """
    alias autoawait autocall automagic autoreload bookmark cat cd clear colors conda config
    connect_info cp debug dhist dirs ed edit env gui hist history ldir less lf lk ll load load_ext
    logstart ls lsmagic lx macro magic mamba man matplotlib mkdir more mv page pdb pdef pdoc pfile
    pinfo pip popd pprint precision prun psearch psource pushd pwd pycat pylab quickref recall
    rehashx reload_ext rep rerun reset rm rmdir run save sc set_env sx system tb time timeit unalias
    unload_ext uv who who_ls whos xdel xmode
"""
_AUTOMAGIC = re.compile(rf"^[ \t]*(?:{'|'.join(_WORDS.split())})\b[^=(\n]*$", re.MULTILINE)
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
    step: StepLine | None = None  # it is a step, which runs in a process and a folder of its own
    step_fault: str = ""  # why it is to be a step and is none
    fault: str = ""  # why it is no Python

    @property
    def number(self) -> int:
        """Its place among all cells, from 1."""
        return self.cell.number

    @property
    def is_step(self) -> bool:
        """Tell whether it is to be a step: its names are not the kernel's."""
        return self.step is not None or bool(self.step_fault)

    @property
    def shell_lines(self) -> list[str]:
        """The commands that it gives to a shell by ``!``."""
        return [line.partition("!")[2].lstrip("!") for line in self.magics if "!" in line]


@dataclass(frozen=True)
class Telling:
    """A notebook and its parsed cells, without those that a headless run passes over.

    ``is_script`` says that it stands for a script, which has no cells to name.
    """

    path: str
    notebook: Notebook
    cells: tuple[CodeCell, ...] = field(default=())
    is_script: bool = False

    @classmethod
    def of(cls, path: str, notebook: Notebook) -> Telling:
        """Parse a notebook's cells."""
        run = [one for one in notebook.code if not one.is_skipped]
        return cls(path, notebook, tuple(_code_cell(one) for one in run))

    @classmethod
    def of_script(cls, path: str, source: str) -> Telling:
        """Parse a step cell's script."""
        cell = Cell(1, "code", source)
        return cls(path, Notebook((cell,)), (_code_cell(cell),), is_script=True)

    def finding(
        self, level: Level, code: str, number: int | None, text: str, action: str | None = None
    ) -> Finding:
        """Return a finding about a cell, or the notebook; no error where a cell may raise one."""
        is_of_cell = number is not None and not self.is_script
        where = f"{self.path} cell {number}" if is_of_cell else self.path
        if any(one.number == number and one.cell.may_fail for one in self.cells):
            level = "warning"
        return Finding(level, code, f"{where}: {text}", None, self.path, action)


def _code_cell(cell: Cell) -> CodeCell:
    magic = step_magic(cell.source) or cell_magic(cell.source)
    step, step_fault = _step_of(magic)
    is_python = magic is None or magic.name in _PYTHON_CELLS
    if step is not None and step.language != "python":
        is_python = False
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
    return CodeCell(cell, tree, code, magic, lines, step, step_fault, fault)


def _step_of(magic: Magic | None) -> tuple[StepLine | None, str]:
    if magic is None or magic.name != NAME:
        return None, ""
    try:
        return read_cell(magic.line, magic.body).line, ""
    except UsageError as error:
        return None, str(error)


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
