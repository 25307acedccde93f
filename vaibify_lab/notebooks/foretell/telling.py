"""A notebook as it is foretold: its cells parsed once, and what surrounds it."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeGuard

from vaibify_lab.core.errors import UsageError
from vaibify_lab.core.finding import Finding, Level
from vaibify_lab.files.ipylines import OwnLine, cleaned_in_place, own_lines
from vaibify_lab.files.ipysource import without_magics
from vaibify_lab.files.syntax import last_name
from vaibify_lab.notebooks.cells import read_cell, step_magic
from vaibify_lab.notebooks.dialect import compiles
from vaibify_lab.notebooks.magic import NAME, Magic, cell_magic
from vaibify_lab.notebooks.step_line import StepLine
from vaibify_lab.provenance.compare.notebook_file import Cell, Notebook

Place = Literal["committed", "not-committed", "folder", "missing", "lfs", "outside"]
_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "vaibify", "debug"})
# What IPython takes for a magic without its sign, where it is no Python.
_LISTED = """
    alias autoawait autocall automagic autoreload bookmark cat cd clear colors conda config
    connect_info cp debug dhist dirs ed edit env gui hist history ldir less lf lk ll load load_ext
    logstart ls lsmagic lx macro magic mamba man matplotlib mkdir more mv page pdb pdef pdoc pfile
    pinfo pip popd pprint precision prun psearch psource pushd pwd pycat pylab quickref recall
    rehashx reload_ext rep rerun reset rm rmdir run save sc set_env sx system tb time timeit unalias
    unload_ext uv who who_ls whos xdel xmode
"""
WORDS = frozenset(_LISTED.split())
# Of a cell of one line: what follows makes no Python of it.
_AUTOMAGIC = re.compile(rf"\s*(?:{'|'.join(_LISTED.split())})(?:[ \t]+[^\s!=()<>,+*/%^&|].*|\s*)")
# What is there only on other machines, or where something is missing here.
_ELSEWHERE = re.compile(r"(?i)colab|kaggle|binder|sys\.modules|find_spec|^(?:False|0|None)$")
_LACKING = frozenset({"ImportError", "ModuleNotFoundError"})
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
    own: tuple[OwnLine, ...] = ()  # lines of IPython's own
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
    def magics(self) -> list[str]:
        """Its lines of IPython's own."""
        return [one.text for one in self.own]

    @property
    def shell_lines(self) -> list[str]:
        """The commands that it gives to a shell by ``!``."""
        return [one.shell for one in self.own if one.shell is not None]

    @property
    def expected(self) -> list[OwnLine]:
        """Its lines of IPython's own, without those for other machines or for a missing module."""
        spared = [node for node in ast.walk(self.tree) if _is_spared(node)]
        bodies = [(one.body[0].lineno, one.body[-1].end_lineno or 0) for one in spared]
        return [
            one for one in self.own if not any(start <= one.first <= end for start, end in bodies)
        ]


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
    source = cleaned_in_place((magic.body if magic else cell.source) if is_python else "")
    if _AUTOMAGIC.fullmatch(source):
        source = f"%{source.strip()}"
    plain = compiles(source, awaiting=True)
    code = source if plain else without_magics(source)
    lines = () if plain else tuple(own_lines(source))
    fault = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except _UNREADABLE as error:
        tree = ast.parse("")
        fault = getattr(error, "msg", "") or str(error)
    return CodeCell(cell, tree, code, magic, lines, step, step_fault, fault)


def _is_spared(node: ast.AST) -> TypeGuard[ast.If | ast.ExceptHandler]:
    if isinstance(node, ast.If):
        return _ELSEWHERE.search(ast.unparse(node.test)) is not None
    caught = node.type if isinstance(node, ast.ExceptHandler) else None
    return caught is not None and any(last_name(one) in _LACKING for one in ast.walk(caught))


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
