"""Code files and folders that Python source names by constants: what it runs other than by import.

A path is worked out from constants, names that were given one, ``__file__`` and what joins them;
relative paths may be meant from the working directory or from the file's own folder: both are tried
by who asks. Every text that reads as the name of a code file counts, but for documentation: one
file too many makes a step stale once too often, one too few would leave it green.
"""

from __future__ import annotations

import ast
import posixpath
import shlex
from collections.abc import Iterator, Sequence
from itertools import islice

from vaibify_lab.core.commands import RULES, looks_like_code
from vaibify_lab.files.syntax import last_name

_DEEPEST = 30  # of a path's expression, and of names that stand for names
_LONGEST, _MOST = 1000, 8
_NAMES = 3  # that stand for names, of a command
_JOINS = frozenset({"join", "joinpath", "Path", "PurePath", "PosixPath", "PurePosixPath"})
_KEEPS = frozenset(
    {"str", "fspath", "abspath", "realpath", "normpath", "resolve", "absolute", "expanduser"}
    | {"as_posix", "open", "read", "read_text", "compile"}
)
_HERE = frozenset({"getcwd", "cwd"})
_STARTS = frozenset(
    {"system", "popen", "run", "call", "check_call", "check_output", "Popen", "getoutput"}
    | {"getstatusoutput", "create_subprocess_exec", "create_subprocess_shell", "execvp"}
)
_OWN, _UNKNOWN = "__file__", "@"


def _names_in(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """Return what each name is given in assignments, wherever they stand."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            found.setdefault(node.target.id, []).append(node.value)
    return found


class Paths:
    """Works out what expressions of one file may stand for, each once.

    Results are relative to the folder of the file, or to the working directory.
    """

    def __init__(self, tree: ast.AST) -> None:
        self._tree = tree
        self._given: dict[str, list[ast.expr]] | None = None
        self._known: dict[ast.expr, tuple[str, ...]] = {}
        self._depth = 0

    def of(self, node: ast.expr) -> tuple[str, ...]:
        """Return the paths or names that an expression may stand for; nothing is known of most."""
        if node not in self._known:
            self._known[node] = ()  # to itself, while it is worked out
            if self._depth < _DEEPEST:
                self._depth += 1
                found = islice(self._worked_out(node), _MOST)
                self._known[node] = tuple(one for one in found if _is_possible(one))
                self._depth -= 1
        return self._known[node]

    def values_of(self, name: str) -> list[ast.expr]:
        """Return what a name is given anywhere in the file, a few at most."""
        if self._given is None:
            self._given = _names_in(self._tree)
        return self._given.get(name, [])[:_MOST]

    def _worked_out(self, node: ast.expr) -> Iterator[str]:
        match node:
            case ast.Constant(value=str(text)):
                yield text
            case ast.Name(id="__file__"):
                yield _OWN
            case ast.Name(id=name):
                for value in self.values_of(name):
                    yield from self.of(value)
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                yield from self._joined([left, right], "/")
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                yield from self._joined([left, right], "")
            case ast.JoinedStr(values=values):
                inner = [
                    one.value if isinstance(one, ast.FormattedValue) else one for one in values
                ]
                yield from self._joined(inner, "")
            case ast.Attribute(value=of, attr="parent"):
                yield from (_above(one, 1) for one in self.of(of))
            case ast.Subscript(
                value=ast.Attribute(value=of, attr="parents"), slice=ast.Constant(value=int(up))
            ):
                yield from (_above(one, 1 + min(abs(up), _DEEPEST)) for one in self.of(of))
            case ast.Call():
                yield from self._of_call(node, last_name(node.func))

    def _of_call(self, node: ast.Call, name: str) -> Iterator[str]:
        of = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name == "dirname" and node.args:
            yield from (_above(one, 1) for one in self.of(node.args[0]))
        elif name in _HERE and not node.args:
            yield "."
        elif name in _KEEPS:
            for one in filter(None, (*node.args[:1], of)):
                yield from self.of(one)
        elif name in _JOINS and node.args:
            before = [of] if name == "joinpath" and of is not None else []
            yield from self._joined([*before, *node.args], "/")

    def _joined(self, parts: Sequence[ast.expr], by: str) -> Iterator[str]:
        """Join what is known; of several readings of a part the first is taken."""
        texts = [text for one in parts for text in self.of(one)[:1]]
        if len(texts) == len(parts):
            yield posixpath.join(*texts) if by else "".join(texts)


def _is_possible(path: str) -> bool:
    return len(path) <= _LONGEST and "\0" not in path


def _above(path: str, count: int) -> str:
    return posixpath.normpath(posixpath.join(path, *[".."] * count))


def code_named(node: ast.Constant | ast.BinOp | ast.Call, paths: Paths) -> Iterator[str]:
    """Yield the code file that an expression names, as seen from the file that it stands in."""
    if isinstance(node, ast.Constant):
        found: tuple[str, ...] = (node.value,) if isinstance(node.value, str) else ()
    elif isinstance(node, ast.Call) and last_name(node.func) not in _JOINS:
        return  # what it is given is asked for by itself
    else:
        found = paths.of(node)
    for path in found:
        if ("." in path or path in RULES) and looks_like_code(path) and len(path.split()) == 1:
            yield path


def commands_in(node: ast.Call, paths: Paths) -> Iterator[str]:
    """Yield the command lines that a call hands to a shell or starts, as far as they are known."""
    if last_name(node.func) in _STARTS:
        given = [*node.args[:1], *(one.value for one in node.keywords if one.arg == "args")]
        for one in given:
            yield from islice(_commands(one, paths, _DEEPEST, _NAMES), _MOST)


def _commands(node: ast.expr, paths: Paths, depth: int, names: int) -> Iterator[str]:
    if isinstance(node, ast.Name) and names:
        for value in paths.values_of(node.id):
            yield from _commands(value, paths, depth, names - 1)
    elif isinstance(node, ast.List | ast.Tuple):
        yield shlex.join(_word(one, paths) for one in node.elts)
    elif isinstance(node, ast.BinOp) and depth:
        parts = (_commands(one, paths, depth - 1, names) for one in (node.left, node.right))
        left, right = (next(part, _UNKNOWN) for part in parts)
        as_lists = any(isinstance(one, ast.List | ast.Tuple) for one in (node.left, node.right))
        yield f"{left} {right}" if as_lists else f"{left}{right}"
    elif isinstance(node, ast.Constant | ast.JoinedStr | ast.Call):
        yield _text(node, paths)


def _text(node: ast.expr, paths: Paths) -> str:
    """Return a text with ``@`` for what is not known of it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(one, paths) for one in node.values)
    if isinstance(node, ast.FormattedValue):
        return _word(node.value, paths)
    return next(iter(paths.of(node)), _UNKNOWN)


def _word(node: ast.expr, paths: Paths) -> str:
    """Return one word of a command; that of an interpreter's own path is its name."""
    if last_name(node) == "executable":
        return "python"
    if isinstance(node, ast.Name):
        values = paths.values_of(node.id)
        if any(last_name(one) == "executable" for one in values):
            return "python"
    return _text(node, paths)
