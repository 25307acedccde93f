"""Names that no cell makes, or only one further down, and cells that were run in another order."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from vaibify_lab.core.finding import Finding
from vaibify_lab.notebooks.foretell.telling import CodeCell, Telling, live
from vaibify_lab.notebooks.names import free_names, made_names

_OF_IPYTHON = frozenset({"display", "get_ipython", "In", "Out", "exit", "quit"})
_HISTORY = re.compile(r"_+|_i+|_[ido]h|_i?[0-9]+|__\w+__")
_MAKES_UNSEEN = re.compile(
    r"%(?:run|pylab|load|store|cd|edit|pastebin|macro|rerun|recall)\b|%%cython"
)
_ASSIGNED = re.compile(r"\s*([\w., \t\[\]]+?)\s*=\s*[!%]")
_PLAIN = (ast.Expr, ast.Assign, ast.AugAssign)
_PERHAPS = (
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda),
    *(ast.IfExp, ast.BoolOp, ast.Compare),
)
_CALLS_UNSEEN = frozenset(
    {"exec", "globals", "locals", "vars", "setattr", "run_line_magic", "run_cell"}
)


def order_findings(telling: Telling) -> Iterator[Finding]:
    """Yield that its cells were run in another order than they stand in."""
    counted = [(one.cell.count, one.number) for one in telling.cells if one.cell.count is not None]
    for (before, _), (count, number) in pairwise(counted):
        if count < before:
            text = f"was run before a cell above it ({count} after {before})"
            action = "restart the kernel, run all cells, and save"
            yield telling.finding("warning", "out-of-order", number, text, action)
            return


def broken_findings(telling: Telling) -> Iterator[Finding]:
    """Yield the cells that are no Python of today, such as those written for Python 2."""
    for cell in telling.cells:
        if cell.fault and not cell.cell.may_fail:
            text = f"is no Python that runs today: {cell.fault}"
            yield telling.finding("error", "cell-broken", cell.number, text, "correct it")


def name_findings(telling: Telling, *, strict: bool = False) -> Iterator[Finding]:
    """Yield each name that a cell uses and that no cell has made by then.

    ``strict`` makes a warning of one that a loop or a block may never come to look up.
    """
    cells = [one for one in telling.cells if not one.is_step]  # steps share no names
    if any(one.fault or hides_names(one) for one in cells):
        return
    made_in = {one.number: names_made(one) for one in cells}
    everywhere = frozenset().union(*made_in.values()) if made_in else frozenset()
    made: set[str] = set()
    told: set[str] = set()
    for cell in cells:
        for name in names_taken(cell):
            if name in made or name in told:
                continue
            told.add(name)
            found = _lacking(
                telling, cell, name, is_below=name in everywhere - made_in[cell.number]
            )
            doubted = strict and name not in _looked_up_without_fail(cell)
            yield replace(found, level="warning") if doubted else found
        made |= made_in[cell.number]


def names_made(cell: CodeCell) -> frozenset[str]:
    """Return the names that a cell makes, by its code or its magics."""
    return made_names(cell.code) | _out_of_magic(cell)


def names_taken(cell: CodeCell) -> Iterator[str]:
    """Yield the names that a cell surely looks up and does not make.

    None that a branch or a function uses, which may never be run.
    """
    direct = _looked_up(cell) - _out_of_magic(cell)
    for name in free_names(cell.code):
        if name in direct and name not in _OF_IPYTHON and not _HISTORY.fullmatch(name):
            yield name


def _lacking(telling: Telling, cell: CodeCell, name: str, *, is_below: bool) -> Finding:
    if is_below:
        text = f"uses {name!r}, which only a cell below it makes"
        return telling.finding("error", "name-below", cell.number, text, "move that cell up")
    text = f"uses {name!r}, which no cell makes"
    action = "make it in a cell above; it was left over in somebody's kernel"
    return telling.finding("error", "name-missing", cell.number, text, action)


def _looked_up(cell: CodeCell) -> frozenset[str]:
    return frozenset(
        node.id
        for node in live(cell.tree)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)
    )


def _looked_up_without_fail(cell: CodeCell) -> frozenset[str]:
    """Return the names that plain statements of the cell look up, whatever they are run on."""
    pending: list[ast.AST] = [one for one in cell.tree.body if isinstance(one, _PLAIN)]
    found = set()
    while pending:
        node = pending.pop()
        if isinstance(node, _PERHAPS):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.add(node.id)
        pending += ast.iter_child_nodes(node)
    return frozenset(found)


def hides_names(cell: CodeCell) -> bool:
    """Tell whether a cell may make names that its text does not show."""
    if any(_MAKES_UNSEEN.search(line) for line in (*cell.magics, cell.cell.source.lstrip()[:40])):
        return True
    for node in ast.walk(cell.tree):
        if isinstance(node, ast.alias) and node.name == "*":
            return True
        if isinstance(node, ast.Call):
            called = node.func
            name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
            if name in _CALLS_UNSEEN:
                return True
    return False


def _out_of_magic(cell: CodeCell) -> frozenset[str]:
    """Return the names that magics bind: ``%%capture out``, ``%%bash --out text``, ``x = !ls``."""
    lines = [cell.magic.line] if cell.magic is not None else []
    lines += [found[1] for line in cell.magics if (found := _ASSIGNED.match(line))]
    return frozenset(name for line in lines for name in re.findall(r"[A-Za-z_]\w*", line))
