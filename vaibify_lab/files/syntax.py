"""What several readers of Python's syntax trees ask of a node."""

from __future__ import annotations

import ast


def last_name(node: ast.AST) -> str:
    """Return the last part of a dotted name; "" of anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def dotted_name(node: ast.AST) -> str:
    """Return ``a.b`` of ``x.a.b``: the last two parts; a bare name as it is."""
    if isinstance(node, ast.Attribute):
        before = last_name(node.value)
        return f"{before}.{node.attr}" if before else node.attr
    return node.id if isinstance(node, ast.Name) else ""
