"""Files that Python code names where it reads or writes them; told from its text, never run.

Only what is constant is known: a text, names that were given one, and joined paths; what `glob` is
given is a path with its stars, and so is a folder whose files are listed. A function that nobody
calls reads nothing; what stands behind a condition, or is guarded against a missing file, may not
be read at all.
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from vaibify_lab.files.filecalls import (
    BY_MODE,
    FETCHES,
    GLOBS,
    GUARDS,
    HARMLESS,
    HERE,
    KEYWORDS,
    LISTS,
    OF_PATH_LISTS,
    OF_PATH_READ,
    OF_PATH_WRITE,
    OPENS,
    PATHS,
    READS,
    SAME_OF_PATH,
    SAME_PATH,
    SHOWS,
    WRITES,
)
from vaibify_lab.files.syntax import dotted_name, last_name

ROOT_SIGN = "{sRepoRoot}/"  # begins a path of the repository's root, as in commands


@dataclass(frozen=True, slots=True)
class FileUse:
    """A file that code names: as written, its line, whether it is written, whether surely."""

    path: str
    line: int
    writes: bool = False
    certain: bool = True

    @property
    def is_pattern(self) -> bool:
        """Whether it stands for the files that fit it, ``**`` for folders at any depth."""
        return any(char in self.path for char in "*?[")


@dataclass(slots=True)
class FileReader:
    """Reads pieces of code that run one after the other and share their names.

    ``called`` are functions that other code calls. What a function with arguments reads is certain
    only ``with_arguments``: whoever reports an error of it had better know what they are.
    """

    names: dict[str, str] = field(default_factory=dict)
    handed: set[str] = field(default_factory=set)  # texts given to functions that nobody here knows
    called: frozenset[str] = frozenset()
    with_arguments: bool = False

    def read(self, tree: ast.Module) -> tuple[FileUse, ...]:
        """Return the files that a piece of code names; nothing where it is nested too deep."""
        try:
            called = {last_name(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
            walk = _Walk(self.names, called | self.called, self.handed, self.with_arguments)
            for statement in tree.body:
                walk.statement(statement, certain=True)
        except RecursionError:
            return ()
        return tuple(walk.found)


@dataclass(slots=True)
class _Walk:
    names: dict[str, str]
    called: set[str]
    handed: set[str]
    with_arguments: bool
    found: list[FileUse] = field(default_factory=list)

    def statement(self, node: ast.AST, *, certain: bool) -> None:
        """Read a statement and what it holds, in order; names are kept as they are given."""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name in self.called:
                is_certain = self.with_arguments or not node.args.args
                self.body(node.body, certain=certain and is_certain)
            return
        if isinstance(node, ast.If):
            test = node.test.value if isinstance(node.test, ast.Constant) else None
            self.expressions(node.test, certain=certain)
            self.body(node.body if test is None or test else [], certain=certain and bool(test))
            self.body(node.orelse if not test else [], certain=certain and test is not None)
            return
        if isinstance(node, ast.Try):
            guarded = any(_catches(one) for one in node.handlers)
            self.body(node.body, certain=certain and not guarded)
            for handler in node.handlers:
                self.body(handler.body, certain=False)
            self.body([*node.orelse, *node.finalbody], certain=certain and not guarded)
            return
        if isinstance(node, ast.While | ast.For | ast.AsyncFor):
            self._forget(node)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                continue
            self.expressions(child, certain=certain)
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            self._assign(node.targets[0], node.value)
        else:
            self._forget(node)
        inner = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)]
        self.body(inner, certain=certain and not isinstance(node, ast.ClassDef))

    def body(self, nodes: Iterable[ast.stmt], *, certain: bool) -> None:
        """Read statements up to one after which none is reached."""
        for node in nodes:
            self.statement(node, certain=certain)
            if isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue):
                return

    def expressions(self, node: ast.AST, *, certain: bool) -> None:
        """Read every call in an expression."""
        for call in ast.walk(node):
            if isinstance(call, ast.Call):
                self.found += self._call(call, certain)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            text = self._text(value)
            if text is None:
                self.names.pop(target.id, None)
            else:
                self.names[target.id] = text
        else:
            self._forget(target)

    def _forget(self, node: ast.AST) -> None:
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                self.names.pop(one.id, None)

    def _call(self, call: ast.Call, certain: bool) -> Iterator[FileUse]:
        name, dotted = last_name(call.func), dotted_name(call.func)
        of_path = self._of_path(call)
        if of_path is not None:
            if name in OF_PATH_READ or name in OF_PATH_WRITE:
                yield FileUse(of_path, call.lineno, name in OF_PATH_WRITE, certain)
            elif name == "open":
                yield FileUse(of_path, call.lineno, _writes(call, 0), certain)
            elif name in ("glob", "rglob") and (text := self._argument(call, 0)):
                below = posixpath.join(of_path, "**" if name == "rglob" else "", text)
                yield FileUse(below, call.lineno, False, certain)
            elif name in OF_PATH_LISTS:
                below = posixpath.join(of_path, OF_PATH_LISTS[name])
                yield FileUse(below, call.lineno, False, certain)
            return
        is_function = isinstance(call.func, ast.Name) or dotted.startswith("glob.")
        if is_function and dotted in GLOBS and (text := self._argument(call, 0)):
            yield FileUse(text, call.lineno, False, certain)
        if dotted in LISTS and (text := self._argument(call, 0)):
            yield FileUse(posixpath.join(text, LISTS[dotted]), call.lineno, False, certain)
        if dotted in OPENS or (name in BY_MODE and name != "open"):
            text = self._argument(call, 0)
            if text is not None:
                yield FileUse(text, call.lineno, _writes(call, 1), certain)
            return
        yield from self._known(call, name, dotted, certain)

    def _known(self, call: ast.Call, name: str, dotted: str, certain: bool) -> Iterator[FileUse]:
        """Yield what a callable of the tables is given; a text for any other may be made there."""
        if {name, dotted} & FETCHES:
            return  # what it is given names no file
        if name in SHOWS:
            shown = (self._text(one.value) for one in call.keywords if one.arg == "filename")
            yield from (FileUse(one, call.lineno, False, certain) for one in shown if one)
            return
        if not {name, dotted} & (READS.keys() | WRITES.keys() | HARMLESS):
            given = [*call.args, *(one.value for one in call.keywords)]
            self.handed.update(filter(None, map(self._text, given)))
        for table, writes in ((READS, False), (WRITES, True)):
            place = table.get(dotted, table.get(name))
            text = None if place is None else self._argument(call, place)
            if text is not None:
                yield FileUse(text, call.lineno, writes, certain)

    def _of_path(self, call: ast.Call) -> str | None:
        """Return the path on which a method is called, where it is surely one."""
        if not isinstance(call.func, ast.Attribute):
            return None
        value = call.func.value
        of_paths = (*PATHS, *SAME_OF_PATH, "joinpath")
        is_path = isinstance(value, ast.BinOp | ast.Attribute) or (
            isinstance(value, ast.Call) and last_name(value.func) in of_paths
        )
        if is_path or (isinstance(value, ast.Name) and value.id in self.names):
            return self._text(value)
        return None

    def _argument(self, call: ast.Call, place: int) -> str | None:
        if place < len(call.args):
            return self._text(call.args[place])
        named = (one.value for one in call.keywords if one.arg in KEYWORDS)
        return next(filter(None, map(self._text, named)), None)

    def _text(self, node: ast.expr) -> str | None:
        """Return the text or path that an expression surely is."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) and node.value else None
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Add):
            parts = self._text(node.left), self._text(node.right)
            if parts[0] is None or parts[1] is None:
                return None
            if isinstance(node.op, ast.Add):
                return parts[0] + parts[1]
            return posixpath.join(parts[0], parts[1])
        if isinstance(node, ast.Call):
            return self._made(node)
        if isinstance(node, ast.JoinedStr):
            return self._joined(node)
        if isinstance(node, ast.Attribute) and node.attr == "parent":
            return self._above(node.value, 1)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
            at = getattr(node.slice, "value", None)
            is_one = node.value.attr == "parents" and isinstance(at, int) and 0 <= at < 100
            return self._above(node.value.value, at + 1) if is_one and at is not None else None
        return None

    def _above(self, node: ast.expr, count: int) -> str | None:
        """Return the folder so many above a path, None where it is not known to have that many."""
        text = self._text(node)
        for _ in range(count):
            if not text or text in (".", "..", ROOT_SIGN[:-1]) or text.endswith("/.."):
                return None
            text = posixpath.dirname(text) or "."
        return text

    def _made(self, call: ast.Call) -> str | None:
        name, dotted = last_name(call.func), dotted_name(call.func)
        if dotted in HERE:
            return "."
        if name == "dirname" and len(call.args) == 1:
            return self._above(call.args[0], 1)
        is_of_path = name in (*SAME_OF_PATH, "joinpath")
        if is_of_path or name in {*PATHS, *SAME_PATH} or dotted in ("os.path.join", "path.join"):
            first = [call.func.value] if isinstance(call.func, ast.Attribute) and is_of_path else []
            parts = [self._text(one) for one in (*first, *call.args)]
            known = [one for one in parts if one is not None]
            return posixpath.join(*known) if known and len(known) == len(parts) else None
        return None

    def _joined(self, node: ast.JoinedStr) -> str | None:
        parts: list[str | None] = []
        for one in node.values:
            value: ast.expr = one
            if isinstance(one, ast.FormattedValue):
                if one.format_spec is not None or one.conversion != -1:
                    return None
                value = one.value
            parts.append(self._text(value))
        known = [one for one in parts if one is not None]
        return "".join(known) if len(known) == len(parts) else None


def _writes(call: ast.Call, place: int) -> bool:
    given = [*call.args[place : place + 1], *(k.value for k in call.keywords if k.arg == "mode")]
    mode = given[0].value if given and isinstance(given[0], ast.Constant) else "r"
    return isinstance(mode, str) and any(one in mode for one in "wax+")


def _catches(handler: ast.ExceptHandler) -> bool:
    caught = handler.type
    return caught is None or any(last_name(one) in GUARDS for one in ast.walk(caught))
