"""Paths that Python code may mean: every text that could be one, wherever it stands.

Wider than `vaibify_lab.files.filenames`, which tells what a call does with a path: whoever asks has
to see whether such a file is there. Docstrings are passed over.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass

from vaibify_lab.files.syntax import last_name

_LONGEST = 300
_JOINS = frozenset({"join", "joinpath", "Path", "PurePath"})


@dataclass(frozen=True, slots=True)
class Mention:
    """A text that may be a path; ``is_tail``: what stands before it is not known."""

    text: str
    line: int
    is_tail: bool = False


def mentions_in(tree: ast.Module) -> Iterator[Mention]:
    """Yield the texts of a piece of code that may be paths."""
    passed_over = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node not in passed_over:
            yield from (Mention(word, node.lineno) for word in _words(node.value))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            yield from _tail(_divided(node), node.lineno)
        elif isinstance(node, ast.Call) and last_name(node.func) in _JOINS:
            yield from _tail(node.args, node.lineno)


def _words(value: object) -> list[str]:
    """Return what of a text may be a path: itself, and its words where it is a command."""
    if not isinstance(value, str) or len(value) > _LONGEST or "\n" in value or "\0" in value:
        return []
    words = dict.fromkeys((value.strip(), *value.split()))
    return [word for word in words if "." in word.strip("./") or "/" in word.strip("./")]


def _divided(node: ast.expr) -> list[ast.expr]:
    parts: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        parts.append(node.right)
        node = node.left
    return [node, *parts[::-1]]


def _tail(parts: list[ast.expr], line: int) -> Iterator[Mention]:
    """Yield the texts that end a joined path, as one."""
    texts: list[str] = []
    for part in reversed(parts):
        if not isinstance(part, ast.Constant) or not isinstance(part.value, str):
            break
        texts.insert(0, part.value)
    if texts and not any("\0" in text for text in texts):
        yield Mention(posixpath.join(*texts), line, is_tail=True)
