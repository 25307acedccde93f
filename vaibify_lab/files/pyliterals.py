"""Code files and folders that Python source names by constants: what it runs other than by import.

A path is worked out from constants, names that were given one, ``__file__`` and what joins them;
relative paths may be meant from the working directory or from the file's own folder: both are tried
by who asks. Every text that reads as the name of a code file counts, but for documentation: one
file too many makes a step stale once too often, one too few would leave it green. What is not known
of a name is a hole in it (see `core.holes`).
"""

from __future__ import annotations

import ast
import posixpath
import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import TypeGuard

from vaibify_lab.core.code_names import RULES, looks_like_code
from vaibify_lab.core.commands import simple_commands
from vaibify_lab.core.holes import HOLE, with_holes, without_unknown_folders
from vaibify_lab.core.interpreters import program_of
from vaibify_lab.files.pynames import ANYTHING, names_in
from vaibify_lab.files.syntax import last_name

_DEEPEST = 30  # of a path's expression, and of names that stand for names
_LONGEST, _MOST = 1000, 32  # of more values none is known
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
_OWN, OWN_MODULE = "__file__", "__name__"
_READS_AS_COMMAND = re.compile(
    r"\s*(?:cd\s+\S+\s*(?:&&|;)\s*)?(?:\w+=\S+\s+)*"
    r"(?:python[0-9.]*|pypy3?|bash|sh|Rscript|julia|perl)\s"
)


class Paths:
    """Works out what expressions of one file may stand for, each once.

    Results are relative to the folder of the file, or to the working directory.
    """

    def __init__(self, tree: ast.AST) -> None:
        self._tree = tree
        self._given: dict[str, list[ast.expr]] | None = None
        self._known: dict[ast.expr, tuple[str, ...]] = {}
        self.commands: dict[tuple[str, int], tuple[str, ...]] = {}  # of names, as they were asked
        self._depth = 0

    def of(self, node: ast.expr) -> tuple[str, ...]:
        """Return the paths or names that an expression may stand for; nothing is known of most."""
        if node not in self._known:
            self._known[node] = ()  # to itself, while it is worked out
            if self._depth < _DEEPEST:
                self._depth += 1
                found = tuple(islice(self._worked_out(node), _MOST + 1))
                possible = tuple(one for one in found if _is_possible(one))
                self._known[node] = possible if len(found) <= _MOST else ()
                self._depth -= 1
        return self._known[node]

    def values_of(self, name: str) -> list[ast.expr]:
        """Return what a name is given anywhere in the file, a few at most."""
        if self._given is None:
            self._given = names_in(self._tree)
        return self._given.get(name, [])[: _MOST + 1]

    def partly(self, node: ast.expr) -> str:
        """Return the first path or text that an expression may stand for, with its holes."""
        known = self.of(node)
        if known or self._depth >= _DEEPEST:
            return known[0] if known else HOLE
        self._depth += 1
        text = self._with_holes(node)
        self._depth -= 1
        return text if _is_possible(text) else HOLE

    def _with_holes(self, node: ast.expr) -> str:
        match node:
            case ast.JoinedStr(values=values):
                return "".join(map(self.partly, values))
            case ast.FormattedValue(value=value):
                return self.partly(value)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self.partly(left) + self.partly(right)
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return f"{self.partly(left)}/{self.partly(right)}"
            case ast.BinOp(left=text, op=ast.Mod()):
                return with_holes(self.partly(text))
            case ast.Call(func=ast.Attribute(value=text, attr="format")):
                return with_holes(self.partly(text))
            case ast.Call(func=ast.Attribute(value=by, attr="join"), args=[ast.List(elts=parts)]):
                return self.partly(by).join(map(self.partly, parts))
            case ast.Call(args=[first, *_] as given) if last_name(node.func) in _JOINS:
                before = [node.func.value] if _is_joinpath(node.func) else []
                return "/".join(map(self.partly, [*before, *given]))
            case ast.Call(args=[first, *_]) if last_name(node.func) in _KEEPS:
                return self.partly(first)
            case ast.Call(func=ast.Attribute(value=of)) if last_name(node.func) in _KEEPS:
                return self.partly(of)
        return HOLE

    def _worked_out(self, node: ast.expr) -> Iterator[str]:
        match node:
            case ast.Constant(value=str(text)):
                yield text
            case ast.Name(id="__file__"):
                yield _OWN
            case ast.Name(id="__name__" | "__package__"):
                yield OWN_MODULE
            case ast.Name(id="executable") | ast.Attribute(attr="executable"):
                yield "python"  # of sys
            case ast.Name(id=name):
                yield from self._any_of(self.values_of(name))
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                yield from self._any_of(elements[: _MOST + 1])
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
            case ast.Subscript(value=of, slice=index) if not isinstance(index, ast.Slice):
                yield from self._any_of(self._held_by(of, _NAMES))
            case ast.Call(func=ast.Attribute(value=of, attr="get" | "values" | "pop"), args=given):
                yield from self._any_of([*self._held_by(of, _NAMES), *given[1:]])
            case ast.Call():
                yield from self._of_call(node, last_name(node.func))

    def _held_by(self, node: ast.expr, names: int) -> list[ast.expr]:
        """Return the values that a dictionary, or a list, holds as it is written."""
        match node:
            case ast.Dict(values=values) | ast.List(elts=values) | ast.Tuple(elts=values):
                return values[: _MOST + 1]
            case ast.Name(id=name) if names:
                given = (self._held_by(one, names - 1) for one in self.values_of(name))
                return [one for held in given for one in held][: _MOST + 1]
        return [ANYTHING]

    def _any_of(self, values: Sequence[ast.expr]) -> Iterator[str]:
        """Yield what any of them may stand for, and a hole where of some nothing is known."""
        found = [self.of(value) for value in values if not _is_empty(value)]
        known = [text for texts in found for text in texts]
        yield from known
        if known and () in found:
            yield HOLE

    def _of_call(self, node: ast.Call, name: str) -> Iterator[str]:
        of = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name == "dirname" and node.args:
            yield from (_above(one, 1) for one in self.of(node.args[0]))
        elif name in _HERE and not node.args:
            yield "."
        elif name in _KEEPS:
            for one in filter(None, (*node.args[:1], of)):
                yield from self.of(one)
        elif (
            name == "join"
            and of
            and node.args
            and isinstance(parts := node.args[0], ast.List | ast.Tuple)
        ):
            for by in self.of(of):
                yield from self._joined(parts.elts, by)
        elif name in _JOINS and node.args:
            before = [of] if name == "joinpath" and of is not None else []
            yield from self._joined([*before, *node.args], "/")

    def _joined(self, parts: Sequence[ast.expr], by: str) -> Iterator[str]:
        """Join what is known, in every way where parts may be several."""
        for texts in islice(product(*map(self.of, parts)), _MOST + 1):
            yield posixpath.join(*texts) if by == "/" else by.join(texts)


def _is_empty(value: ast.expr) -> bool:
    """Tell whether a value is a list that is filled elsewhere."""
    return isinstance(value, ast.List) and not value.elts


def _is_possible(path: str) -> bool:
    return len(path) <= _LONGEST and "\0" not in path


def _above(path: str, count: int) -> str:
    return posixpath.normpath(posixpath.join(path, *[".."] * count))


def _is_joinpath(call: ast.expr) -> TypeGuard[ast.Attribute]:
    return isinstance(call, ast.Attribute) and call.attr == "joinpath"


def code_named(node: ast.expr, paths: Paths) -> Iterator[str]:
    """Yield the code files that an expression names, as seen from the file that it stands in."""
    if isinstance(node, ast.Call) and last_name(node.func) not in (*_JOINS, "format"):
        return  # what it is given is asked for by itself
    if isinstance(node, ast.Constant):
        found: Sequence[str] = [node.value] if isinstance(node.value, str) else []
    else:
        found = paths.of(node) or [paths.partly(node)]
    for path in found:
        if ("." in path or path in RULES) and looks_like_code(path) and len(path.split()) == 1:
            yield without_unknown_folders(with_holes(path))


def command_said(node: ast.Constant | ast.JoinedStr, paths: Paths) -> Iterator[str]:
    """Yield a text that reads as a command line that starts an interpreter, whoever is given it."""
    for text in paths.of(node) or [paths.partly(node)]:
        if _READS_AS_COMMAND.match(text) and _starts_code(text):
            yield text


def _starts_code(text: str) -> bool:
    simple = (program_of(words) for words in simple_commands(text))
    return any(one and (one.kind != "file" or looks_like_code(one.text)) for one in simple)


def commands_in(node: ast.Call, paths: Paths) -> Iterator[str]:
    """Yield the command lines that a call hands to a shell or starts, as far as they are known."""
    if last_name(node.func) in _STARTS:
        given = [*node.args[:1], *(one.value for one in node.keywords if one.arg == "args")]
        where = [one.value for one in node.keywords if one.arg == "cwd"]
        moves = [f"cd {shlex.quote(one)} && " for place in where for one in paths.of(place)]
        for one in given:
            for command in islice(_commands(one, paths, _DEEPEST, _NAMES), _MOST):
                yield from (command, *(move + command for move in moves))


def moved_to(node: ast.Call, paths: Paths) -> Iterator[str]:
    """Yield the folders that ``os.chdir`` may mean."""
    if last_name(node.func) == "chdir" and node.args:
        yield from paths.of(node.args[0])


def _commands(node: ast.expr, paths: Paths, depth: int, names: int) -> Iterator[str]:
    if isinstance(node, ast.Name) and names:
        asked = node.id, names
        if asked not in paths.commands:
            values = paths.values_of(node.id)
            found = (one for value in values for one in _commands(value, paths, depth, names - 1))
            paths.commands[asked] = tuple(islice(found, _MOST))
        yield from paths.commands[asked]
    elif isinstance(node, ast.List | ast.Tuple):
        words = (paths.of(one) or [paths.partly(one)] for one in node.elts)
        yield from map(shlex.join, product(*words))
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and depth:
        parts = (_commands(one, paths, depth - 1, names) for one in (node.left, node.right))
        as_lists = any(isinstance(one, ast.List | ast.Tuple) for one in (node.left, node.right))
        for left, right in product(*(list(islice(part, _MOST)) or [HOLE] for part in parts)):
            yield f"{left} {right}" if as_lists else f"{left}{right}"
    elif isinstance(node, ast.Constant | ast.JoinedStr | ast.Call | ast.BinOp):
        yield from paths.of(node) or [paths.partly(node)]
