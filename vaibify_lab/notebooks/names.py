"""Names that code takes from elsewhere: found in its text, so that a fresh process lacks no more.

Only a name that is surely looked up is told: what a branch, a loop or a function may have bound
before counts as bound.
"""

from __future__ import annotations

import ast
import builtins
import warnings
from collections.abc import Iterator
from typing import TypeAlias

_BUILTIN = frozenset(dir(builtins)) | {
    *("__name__", "__file__", "__doc__", "__spec__", "__package__", "__loader__", "__annotations__")
}
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_SCOPES = (ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Assert, ast.Raise, ast.Delete)


def free_names(code: str) -> tuple[str, ...]:
    """Return the names that the code uses and does not make, in their order.

    Nothing for code that does not parse, or that imports everything of a module.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except _UNREADABLE:
        return ()
    if any(isinstance(node, ast.alias) and node.name == "*" for node in ast.walk(tree)):
        return ()
    made_in_all = set(_made(tree))
    found: dict[str, None] = {}
    made: set[str] = set()
    for statement in tree.body:
        if not isinstance(statement, _SIMPLE):
            made.update(_made(statement))
        for name, is_later in _used(statement, frozenset()):
            if name not in _BUILTIN and name not in (made_in_all if is_later else made):
                found[name] = None
        made.update(_made(statement))
    return tuple(found)


def _made(tree: ast.AST) -> Iterator[str]:
    """Yield every name that the code binds, whatever the scope, and so never one too few."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest
        elif isinstance(node, ast.Global):
            yield from node.names


def _used(node: ast.AST, local: frozenset[str], later: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield names that are looked up outside of ``local``; and whether only when a call comes."""
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Store) and node.id not in local:
            yield node.id, later
        return
    if isinstance(node, _FUNCTIONS):
        body = node.body if isinstance(node.body, list) else [node.body]
        own = local | _own(node)
        for one in body:
            yield from _used(one, own, later=True)
        around = [one for one in ast.iter_child_nodes(node) if one not in body]
    else:
        around = list(ast.iter_child_nodes(node))
        if isinstance(node, _SCOPES):
            local = local | frozenset(_made(node))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            around.append(ast.Name(node.target.id, ast.Load()))
    for child in around:
        yield from _used(child, local, later)


def _own(function: _Function) -> frozenset[str]:
    """Return the names of a function's own, and of what is defined in it."""
    given = function.args
    plain = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    names = {one.arg for one in plain if one is not None}
    body = function.body if isinstance(function.body, list) else [function.body]
    names.update(name for one in body for name in _made(one))
    shared = (one.names for one in ast.walk(function) if isinstance(one, ast.Global))
    return frozenset(names.difference(*shared))
