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
LONGEST = 512 * 1024  # parsing holds the interpreter for up to ten seconds a megabyte
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Assert, ast.Raise, ast.Delete)


def free_names(code: str) -> tuple[str, ...]:
    """Return the names that the code uses and does not make, in their order.

    Nothing for code that does not parse, is very long, or imports everything of a module.
    """
    try:
        return tuple(_free(_tree(code)))
    except _UNREADABLE:
        return ()


def made_names(code: str) -> frozenset[str]:
    """Return the names that code binds; none for code that does not parse or is very long."""
    try:
        return frozenset(_made(_tree(code)))
    except _UNREADABLE:
        return frozenset()


def _tree(code: str) -> ast.Module:
    if len(code) > LONGEST:
        raise ValueError("too long to be parsed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code)


def _free(tree: ast.Module) -> dict[str, None]:
    made_by = [frozenset(_made(ast.Module([one], []))) for one in tree.body]
    made_in_all = frozenset().union(*made_by)
    found: dict[str, None] = {}
    if "*" in made_in_all:
        return found
    made: set[str] = set()
    for statement, names in zip(tree.body, made_by, strict=True):
        if not isinstance(statement, _SIMPLE) or _names_on_the_way(statement):
            made |= names
        for name, is_later in _used(statement, frozenset()):
            if name not in _BUILTIN and name not in (made_in_all if is_later else made):
                found[name] = None
        made |= names
    return found


def _names_on_the_way(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.NamedExpr) for node in ast.walk(statement))


def _made(tree: ast.AST) -> Iterator[str]:
    """Yield every name that the code binds in its own scope, and so never one too few."""
    for node in _of_one_scope(tree):
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


def _of_one_scope(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk over a tree, into functions and classes below it only for what they say is global.

    What a comprehension below it counts through is the comprehension's own.
    """
    pending: list[ast.AST] = [tree]
    mine = frozenset(tree.generators if isinstance(tree, _COMPREHENSIONS) else ())
    while pending:
        node = pending.pop()
        yield node
        inside: list[ast.AST] = []
        if node is not tree and isinstance(node, _DEFINITIONS):
            inside = [*node.body]
        elif isinstance(node, ast.comprehension) and node not in mine:
            inside = [node.target]
        own = frozenset(inside)
        shared = (one for part in inside for one in ast.walk(part))
        pending += [one for one in shared if isinstance(one, ast.Global)]
        pending += [one for one in ast.iter_child_nodes(node) if one not in own]


def _used(node: ast.AST, local: frozenset[str], later: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield names that are looked up outside of ``local``; and whether only when a call comes."""
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Store) and node.id not in local:
            yield node.id, later
        return
    if isinstance(node, _FUNCTIONS):
        inner, then = local | _own(node), True
        inside: list[ast.AST] = [*node.body] if isinstance(node.body, list) else [node.body]
    else:
        inner, then = local | (frozenset(_made(node)) if _has_scope(node) else frozenset()), later
        inside = _inside(node)
    own = frozenset(inside)
    for one in ast.iter_child_nodes(node):
        if one not in own and not isinstance(one, ast.comprehension):
            yield from _used(one, local, later)
    for one in inside:
        yield from _used(one, inner, then)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield from _used(ast.Name(node.target.id, ast.Load()), local, later)
    if isinstance(node, _COMPREHENSIONS):  # its first source alone is of the scope around
        yield from _used(node.generators[0].iter, local, later)


def _has_scope(node: ast.AST) -> bool:
    return isinstance(node, (ast.ClassDef, *_COMPREHENSIONS))


def _inside(node: ast.AST) -> list[ast.AST]:
    """Return the parts of a class or a comprehension that lie in its own scope."""
    if isinstance(node, ast.ClassDef):
        return [*node.body]
    if not isinstance(node, _COMPREHENSIONS):
        return []
    results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    later = (one.iter for one in node.generators[1:])
    return [*results, *later, *(test for one in node.generators for test in one.ifs)]


def _own(function: _Function) -> frozenset[str]:
    """Return the names of a function's own, and of what is defined in it."""
    given = function.args
    plain = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    names = {one.arg for one in plain if one is not None}
    body = function.body if isinstance(function.body, list) else [function.body]
    names.update(name for one in body for name in _made(one))
    shared = (one.names for one in ast.walk(function) if isinstance(one, ast.Global))
    return frozenset(names.difference(*shared))
