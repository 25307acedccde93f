"""Python as notebooks and ``.ipy`` files hold it: magics and shell escapes among the lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from vaibify_lab.core.code_names import looks_like_code
from vaibify_lab.core.holes import HOLE, is_unknown, with_holes, without_unknown_folders
from vaibify_lab.files.ipylines import OwnLine, cleaned_in_place, own_lines
from vaibify_lab.files.parsed import Import, Parsed, Sourced
from vaibify_lab.files.pysource import parse_python
from vaibify_lab.files.shellsource import parse_julia, parse_r, parse_shell

# Cell magics whose cell is Python.
_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "vaibify"})
_SHELL_CELLS = frozenset({"bash", "sh", "script", "system", "sx", "!"})
_OTHERS = {**dict.fromkeys(_SHELL_CELLS, parse_shell), "R": parse_r, "julia": parse_julia}
_WRITES_MODULE = re.compile(r"%%(?:writefile|file)\s+(?:-a\s+)?(?:\./)?(\w+)\.py\s*$")
_LANGUAGE = re.compile(r"%%vaibify\s[^\n]*?\s--language[=\s]\s*[\"']?(\w+)")
_CELL_MAGIC = re.compile(r"\s*%%(!|\w+)[^\n]*\n?")
_RUN = re.compile(r"%run\s+(?:-\w+\s+)*[\"']?([^\s\"']+)")
_LOAD = re.compile(r"%(?:re)?load_ext\s+([\w.]+)")
_DRAWN_BY = re.compile(r"%matplotlib\s+(?:widget|ipympl)\b")
# Extensions of IPython itself; and ours, which is where step cells run.
_OF_IPYTHON = frozenset({"autoreload", "storemagic", "vaibify_lab"})


def parse_cell(text: str, first_line: int = 1) -> Parsed:
    """Read one cell; ``first_line`` is its line in all of the notebook's code."""
    magic = _CELL_MAGIC.match(text)
    if magic:
        name, body = magic[1], text[magic.end() :]
        if written := _WRITES_MODULE.match(magic[0].lstrip()):
            return replace(parse_python(body), problem="", writes=(written[1],))
        said = _LANGUAGE.match(magic[0].lstrip())
        name = said[1] if said and said[1] != "python" else name
        if name in _PYTHON_CELLS:
            return parse_cell(body, first_line + magic[0].count("\n"))
        return _OTHERS.get(name, _nothing)(body.encode("utf-8", "surrogateescape"))
    plain = parse_python(text, first_line)
    if not plain.problem:
        return plain
    beside = Parsed()
    for own in own_lines(cleaned_in_place(text)):
        beside = beside.joined(_magic(own, own.first + first_line - 1))
    return parse_python(_replaced(text, _loading), first_line).joined(beside)


def _nothing(data: bytes) -> Parsed:
    return Parsed()


def without_magics(text: str) -> str:
    """Return a cell's code without IPython's own lines; lines stay in place.

    Each is ``pass``, or the statement that it only times.
    """
    return _replaced(text, lambda own: own.code)


def magic_lines(text: str) -> list[tuple[int, str]]:
    """Return the number and text of every line that is IPython's own."""
    return [(own.first, own.text) for own in own_lines(cleaned_in_place(text))]


def _replaced(text: str, put: Callable[[OwnLine], str]) -> str:
    text = cleaned_in_place(text)
    lines = text.split("\n")
    for own in own_lines(text):
        lines[own.first - 1] = f"{own.indent}{put(own)}"
        lines[own.first : own.last] = [""] * (own.last - own.first)
    return "\n".join(lines)


def _loading(own: OwnLine) -> str:
    """Return the import that a magic makes, where it has it fail as an import would."""
    load = _LOAD.match(own.text)
    if load is not None and load[1] not in _OF_IPYTHON:
        return f"import {load[1]}"
    return "import ipympl" if _DRAWN_BY.match(own.text) else own.code


def _magic(own: OwnLine, number: int) -> Parsed:
    if own.shell is not None:
        return parse_shell(own.shell.encode("utf-8", "surrogateescape"))
    if run := _RUN.search(own.text):
        name = without_unknown_folders(with_holes(run[1]))
        if is_unknown(name) and not looks_like_code(name):
            return Parsed(computed=((number, "runs a file whose name it works out"),))
        return Parsed(sourced=(Sourced(name, number, certain=HOLE not in name),))
    if load := _LOAD.match(own.text):
        return Parsed(imports=(Import(load[1], number, optional=True),))
    return Parsed()
