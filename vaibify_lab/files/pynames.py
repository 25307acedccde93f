"""What the names of Python source are given, anywhere in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

ANYTHING = ast.Constant(None)
_FILLS = frozenset({"update", "setdefault"})  # of a dictionary, with what is not looked into

_Given = Iterator[tuple[str, ast.expr]]


def names_in(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """Return what each name is given in assignments, in loops and as an argument, anywhere.

    What is put into a dictionary or a list stands there as another one.
    """
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        for name, value in _given_by(node):
            found.setdefault(name, []).append(value)
    return found


def _given_by(node: ast.AST) -> _Given:
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _assigned(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from _assigned(target, value)
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield from _looped(target, value)
        case ast.arg(arg=name):
            yield name, ANYTHING
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[value]):
            yield name, ast.List([value])
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=way)) if way in _FILLS:
            yield name, ast.Dict([ANYTHING], [ANYTHING])


def _assigned(target: ast.expr, value: ast.expr) -> _Given:
    match target:
        case ast.Name(id=name):
            yield name, value
        case ast.Subscript(value=ast.Name(id=name), slice=key):
            yield name, ast.Dict([key], [value])


def _looped(target: ast.expr, value: ast.expr) -> _Given:
    match target, value:
        case ast.Name(id=name), ast.Constant():
            yield name, ANYTHING  # each of a text's letters
        case ast.Name(id=name), ast.Dict(keys=keys):
            yield name, ast.List([one or ANYTHING for one in keys])
        case ast.Name(id=name), _:
            yield name, value
        case ast.Tuple(elts=[ast.expr(), ast.Name(id=name)]), ast.Call(
            func=ast.Attribute(value=held, attr="items")
        ):
            yield name, ast.Call(ast.Attribute(held, "values"), [], [])
        case ast.Tuple(elts=names), ast.List(elts=rows) | ast.Tuple(elts=rows):
            for place, one in enumerate(names):
                if isinstance(one, ast.Name):
                    yield one.id, ast.List([_cell(row, place) for row in rows])
        case ast.Tuple(elts=names), _:
            yield from ((one.id, ANYTHING) for one in names if isinstance(one, ast.Name))


def _cell(row: ast.expr, place: int) -> ast.expr:
    cells = row.elts if isinstance(row, ast.Tuple | ast.List) else []
    return cells[place] if place < len(cells) else ANYTHING
