"""Search paths that Python source sets for what it starts: ``PATH`` and ``PYTHONPATH``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from vaibify_lab.core.holes import HOLE
from vaibify_lab.files.pyliterals import Paths
from vaibify_lab.files.syntax import last_name

_SEARCHED = frozenset({"PATH", "PYTHONPATH"})
_SETS = frozenset({"putenv", "setenv", "setdefault"})


def search_paths(node: ast.AST, paths: Paths) -> Iterator[tuple[str, str]]:
    """Yield the variable and each constant folder that a node puts into it.

    In ``os.environ["PATH"] = ...``, ``{"PATH": ...}``, ``dict(os.environ, PATH=...)`` and calls
    that set a variable by its name.
    """
    for name, value in _given(node):
        for text in _texts(value, paths):
            for piece in text.split(":"):
                folder = piece.removeprefix(f"{HOLE}/")
                if folder and HOLE not in folder:
                    yield name, folder


def _given(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    named: list[tuple[ast.AST | None, ast.expr]] = []
    match node:
        case ast.Assign(targets=targets, value=value):
            named = [(one.slice, value) for one in targets if isinstance(one, ast.Subscript)]
        case ast.AugAssign(target=ast.Subscript(slice=name), value=value):
            named = [(name, value)]
        case ast.Dict(keys=keys, values=values):
            named = list(zip(keys, values, strict=True))
        case ast.Call(args=[name, value, *_]) if last_name(node.func) in _SETS:
            named = [(name, value)]
        case ast.keyword(arg=str(name), value=value) if name in _SEARCHED:
            yield name, value
    for key, value in named:
        if isinstance(key, ast.Constant) and key.value in _SEARCHED:
            yield str(key.value), value


def _texts(node: ast.expr, paths: Paths) -> Iterator[str]:
    """Yield what an expression and its parts may stand for; of a text, also what is known in it."""
    for part in ast.walk(node):
        if isinstance(part, ast.expr):
            yield from paths.of(part) or (paths.partly(part),)
