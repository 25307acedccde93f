"""Calls by which Python runs code that it names itself, and what is known of the name."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from vaibify_lab.core.code_names import looks_like_code
from vaibify_lab.core.holes import HOLE, is_unknown
from vaibify_lab.files.pyliterals import OWN_MODULE, Paths
from vaibify_lab.files.syntax import last_name

IMPORTERS = frozenset({"import_module", "__import__", "run_module"})
# By name: which argument is the file.
_RUNNERS = {"run_path": 0, "spec_from_file_location": 1, "SourceFileLoader": 1, "execfile": 0}
_READS = frozenset({"open", "read", "read_text", "read_bytes"})
# What is given on the command line stands where the script is started, and counts there.
_GIVEN = frozenset({"argv", "args", "opts", "options", "namespace", "__name__", "__file__"})


def modules_in(node: ast.Call, paths: Paths) -> Iterator[str]:
    """Yield the files that a module may be of whose name is known in part, with their holes."""
    if last_name(node.func) not in IMPORTERS or not node.args:
        return
    for name in _readings(node.args[0], paths):
        if HOLE in name and not _says_nothing(name):
            path = name.removeprefix(OWN_MODULE).lstrip(".").replace(".", "/")
            yield from (f"{root}{path}{end}" for root in ("", "src/") for end in _MODULE)


def runs_unknown(node: ast.Call, paths: Paths) -> str:
    """Say what a call runs of whose name nothing is known; "" for every other call."""
    name = last_name(node.func)
    given = node.args
    if name in IMPORTERS and given:
        unknown = any(map(_says_nothing, _readings(given[0], paths)))
        what = "imports a module whose name it works out"
    elif name in _RUNNERS and len(given) > _RUNNERS[name]:
        given = given[_RUNNERS[name] :]
        unknown = _is_unknown_file(given[0], paths)
        what = "runs a file whose name it works out"
    elif name == "exec" and given and _reads_file(given[0], paths):
        unknown = _is_unknown_file(given[0], paths)
        what = "runs a file whose name it works out"
    else:
        return ""
    return what if unknown and not _is_given(given[0], paths) else ""


_MODULE = (".py", "/__init__.py")


def _readings(node: ast.expr, paths: Paths) -> Sequence[str]:
    return paths.of(node) or (paths.partly(node),)


def _says_nothing(name: str) -> bool:
    """Tell whether not a letter of a module's name is known."""
    return HOLE in name and not any(map(str.isalnum, name))


def _is_unknown_file(node: ast.expr, paths: Paths) -> bool:
    readings = _readings(node, paths)
    return any(is_unknown(text) and not looks_like_code(text) for text in readings)


def _reads_file(node: ast.expr, paths: Paths) -> bool:
    """Tell whether a text comes from a file, there or where its name is given."""
    values = paths.values_of(node.id) if isinstance(node, ast.Name) else [node]
    calls = (one for value in values for one in ast.walk(value) if isinstance(one, ast.Call))
    return any(last_name(one.func) in _READS for one in calls)


def _is_given(node: ast.expr, paths: Paths) -> bool:
    values = [node, *(paths.values_of(node.id) if isinstance(node, ast.Name) else ())]
    return any(last_name(one) in _GIVEN for value in values for one in ast.walk(value))
