"""Imports of Python source, read from its syntax tree; the source is never run."""

from __future__ import annotations

import ast
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from vaibify_lab.core.commands import named_by
from vaibify_lab.core.holes import HOLE
from vaibify_lab.files.parsed import Import, Parsed, Sourced
from vaibify_lab.files.pyenviron import search_paths
from vaibify_lab.files.pyliterals import (
    OWN_MODULE,
    Paths,
    code_named,
    command_said,
    commands_in,
    moved_to,
)
from vaibify_lab.files.pyrunners import IMPORTERS, modules_in, runs_unknown
from vaibify_lab.files.syntax import last_name

# Parsing holds the interpreter for up to ten seconds a megabyte, when the text is made for it.
_TREE_LIMIT = 512 * 1024
# What `ast.parse` raises on text that somebody made to hurt it, or that is newer than we are.
_UNPARSABLE = (SyntaxError, ValueError, LookupError, RecursionError, MemoryError)
_FAILS_AS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_CONDITIONS = frozenset({"TYPE_CHECKING", "version_info", "platform"})
# Names that tell whether something is there, such as HAS_DASK or dask_available().
_PRESENCE = re.compile(r"(?i)^(?:has|have)_|_(?:available|installed|check|found)$")
_IMPORT_LINE = re.compile(rb"[ \t]*((?:import|from)[ \t][^\r\n]*)")


def parse_python(source: bytes | str, first_line: int = 1) -> Parsed:
    """Return what Python source imports; ``first_line`` is the number of its first line.

    Source that does not parse, or is very long, is searched line by line, and that is said.
    """
    data = source.encode("utf-8", "surrogateescape") if isinstance(source, str) else source
    if len(data) > _TREE_LIMIT:
        text = f"is larger than {_TREE_LIMIT} bytes: only its plain import lines were read"
        return Parsed(imports=tuple(_line_by_line(data, first_line)), problem=text)
    try:
        return _read(_tree(data), first_line - 1)
    except _UNPARSABLE as error:
        line = getattr(error, "lineno", None)
        place = f", line {line + first_line - 1}" if line else ""
        what = getattr(error, "msg", None) or str(error) or type(error).__name__
        text = f"does not parse as Python{place} ({what}): its imports may not all be known"
        return Parsed(imports=tuple(_line_by_line(data, first_line)), problem=text)


def _tree(data: bytes) -> ast.Module:
    with warnings.catch_warnings():  # invalid escapes are the author's matter
        warnings.simplefilter("ignore")
        return ast.parse(data)


def _read(tree: ast.Module, offset: int) -> Parsed:
    reading = _Reading(Paths(tree), offset)
    # A stack of our own: a deep tree must not exhaust Python's.
    pending: list[tuple[ast.AST, bool]] = [(tree, False)]
    while pending:
        node, optional = pending.pop()
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # documentation
        reading.node(node, optional)
        pending += _children(node, optional)
    return Parsed(
        imports=tuple(sorted(reading.imports, key=lambda one: one.line)),
        exported=tuple(reading.exported),
        search=tuple(reading.search),
        sourced=tuple(reading.sourced),
        commands=tuple(reading.commands),
        computed=tuple(reading.computed),
        folders=tuple(reading.folders),
        search_below=tuple(reading.below["PYTHONPATH"]),
        path=tuple(reading.below["PATH"]),
    )


@dataclass(slots=True)
class _Reading:
    """What the nodes of one tree say; see `Parsed`."""

    paths: Paths
    offset: int
    imports: list[Import] = field(default_factory=list)
    exported: list[str] = field(default_factory=list)
    search: list[str] = field(default_factory=list)
    sourced: dict[Sourced, None] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)
    computed: dict[tuple[int, str], None] = field(default_factory=dict)
    within: set[int] = field(default_factory=set)
    folders: list[str] = field(default_factory=list)
    below: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def node(self, node: ast.AST, optional: bool) -> None:
        """Read one node; not what lies below it."""
        if isinstance(node, ast.Import | ast.ImportFrom):
            self.imports += _statement(node, self.offset, optional)
        elif isinstance(node, ast.Call):
            self.imports += _call(node, self.paths, self.offset, optional)
            self.search += _put_on_path(node, self.paths)
            self.folders += moved_to(node, self.paths)
            self._started(node, list(commands_in(node, self.paths)))
            self._named(node, list(modules_in(node, self.paths)))
            if said := runs_unknown(node, self.paths):
                self.computed[node.lineno + self.offset, said] = None
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            self.exported += _dunder_all(node)
            self.search += _new_path(node, self.paths)
        for name, folder in search_paths(node, self.paths):
            self.below[name].append(folder)
        if isinstance(node, ast.Constant | ast.JoinedStr):
            self.commands += command_said(node, self.paths)
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp | ast.Call):
            self._named(node, list(code_named(node, self.paths)))

    def _named(self, node: ast.expr, names: Iterable[str]) -> None:
        """Note the code that an expression names; of its parts, only what is surely a name."""
        for path in names:
            if HOLE not in path or id(node) not in self.within:
                self.sourced[Sourced(path, node.lineno + self.offset, certain=False)] = None
                self.within.update(id(one) for one in ast.walk(node))

    def _started(self, node: ast.Call, commands: Sequence[str]) -> None:
        self.commands += commands
        for said in named_by(commands, "").computed if commands else ():
            self.computed[node.lineno + self.offset, said] = None


def _statement(node: ast.Import | ast.ImportFrom, offset: int, optional: bool) -> Iterator[Import]:
    line = node.lineno + offset
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(alias.name, line, optional=optional)
    else:
        names = tuple(alias.name for alias in node.names)
        yield Import(node.module or "", line, names, node.level, optional)


def _call(node: ast.Call, paths: Paths, offset: int, optional: bool) -> Iterator[Import]:
    """Read ``importlib.import_module("a.b")`` and ``__import__("a.b")``, also by a name's value."""
    if last_name(node.func) not in IMPORTERS or not node.args:
        return
    for name in paths.of(node.args[0]):
        if re.fullmatch(r"\.*\w+(\.\w+)*", name):
            yield from _imported(node, name, offset, optional)


def _imported(node: ast.Call, name: str, offset: int, optional: bool) -> Iterator[Import]:
    if name.startswith(OWN_MODULE):  # as in a package's __init__.py
        name = name.removeprefix(OWN_MODULE)
        if not name.startswith("."):
            return
    bare = name.lstrip(".")
    level = len(name) - len(bare)
    line = node.lineno + offset
    packages = [*node.args[1:2], *(key.value for key in node.keywords if key.arg == "package")]
    package = _constant(packages[0]) if level and packages else None
    if package:
        above = package.split(".")[: len(package.split(".")) - level + 1]
        yield Import(".".join([*above, bare]), line, optional=optional)
    else:
        yield Import(bare, line, (), level, optional)


def _put_on_path(node: ast.Call, paths: Paths) -> Iterator[str]:
    """Read what is constant in ``sys.path.insert(0, ...)``, ``append`` and ``extend``."""
    call = node.func
    puts = isinstance(call, ast.Attribute) and call.attr in ("insert", "append", "extend")
    if puts and isinstance(call, ast.Attribute) and _is_path(call.value):
        for one in node.args:
            yield from _texts(one, paths)


def _new_path(node: ast.Assign | ast.AugAssign | ast.AnnAssign, paths: Paths) -> Iterator[str]:
    """Read what is constant in ``sys.path = ["a", *sys.path]``, ``+=``, and ``sys.path[:0] =``."""
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        place = target.value if isinstance(target, ast.Subscript) else target
        if _is_path(place) and node.value is not None:
            yield from _texts(node.value, paths)


def _is_path(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and (node.attr, last_name(node.value)) == (
        "path",
        "sys",
    )


def _texts(node: ast.expr, paths: Paths) -> Iterator[str]:
    """Yield the constants in an expression, and the paths that it and its parts may stand for."""
    for part in ast.walk(node):
        if isinstance(part, ast.expr):
            yield from paths.of(part)


def _dunder_all(node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    is_all = any(isinstance(one, ast.Name) and one.id == "__all__" for one in targets)
    if not is_all or not isinstance(node.value, ast.List | ast.Tuple):
        return []
    return [text for one in node.value.elts if (text := _constant(one))]


def _children(node: ast.AST, optional: bool) -> Iterator[tuple[ast.AST, bool]]:
    """Yield a node's parts, each with whether an import that fails there does no harm."""
    guarded: Sequence[ast.AST] = ()
    if isinstance(node, ast.Try | ast.TryStar) and any(map(_catches, node.handlers)):
        guarded = [*node.body, *node.handlers, *node.orelse]
    elif isinstance(node, ast.If) and _is_condition(node.test):
        guarded = [*node.body, *node.orelse]
    elif isinstance(node, ast.With) and any(_suppresses(one.context_expr) for one in node.items):
        guarded = node.body
    inside = {id(one) for one in guarded}
    for child in ast.iter_child_nodes(node):
        yield child, optional or id(child) in inside


def _catches(handler: ast.ExceptHandler) -> bool:
    caught = handler.type
    if caught is None:
        return True
    return any(last_name(one) in _FAILS_AS for one in ast.walk(caught))


def _suppresses(call: ast.expr) -> bool:
    return (
        isinstance(call, ast.Call)
        and last_name(call.func) == "suppress"
        and any(last_name(one) in _FAILS_AS for one in call.args)
    )


def _is_condition(test: ast.expr) -> bool:
    names = [last_name(one) for one in ast.walk(test)]
    return any(name in _CONDITIONS or _PRESENCE.search(name) for name in names)


def _constant(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _line_by_line(data: bytes, first_line: int) -> Iterator[Import]:
    for number, line in enumerate(data.split(b"\n")):
        found = _IMPORT_LINE.match(line)
        if not found:
            continue
        # The first line of `from a import (` and of what follows a semicolon are enough.
        text = found[1].split(b"#")[0].split(b";")[0].rstrip(b" \t\\(,")
        text += b" *" if text.endswith(b" import") and text.startswith(b"from") else b""
        try:
            statement = ast.parse(text).body[0]
        except _UNPARSABLE:
            continue
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield from _statement(statement, number + first_line - 1, optional=True)
