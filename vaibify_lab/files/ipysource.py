"""Python as notebooks and ``.ipy`` files hold it: magics and shell escapes among the lines."""

from __future__ import annotations

import re
from dataclasses import replace

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
_LINE_MAGIC = re.compile(
    r"([ \t]*)(?:[\w.,\[\]][\w., \t\[\]]*=[ \t]*)?(%|!|\?)(.*)|([ \t]*)%?[\w.*]+\?\??[ \t]*"
)
_RUN = re.compile(r"%run\s+(?:-\w+\s+)*[\"']?([^\s\"']+)")
_LOAD = re.compile(r"%(?:re)?load_ext\s+([\w.]+)")


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
    for number, line in enumerate(text.split("\n"), first_line):
        found = _LINE_MAGIC.fullmatch(line)
        if found:
            beside = beside.joined(_magic(line, found, number))
    return parse_python(without_magics(text), first_line).joined(beside)


def _nothing(data: bytes) -> Parsed:
    return Parsed()


def without_magics(text: str) -> str:
    """Return a cell's code with every line of IPython's own as ``pass``; lines stay in place."""
    matches = ((line, _LINE_MAGIC.fullmatch(line)) for line in text.split("\n"))
    kept = (f"{found[1] or found[4] or ''}pass" if found else line for line, found in matches)
    return "\n".join(kept)


def magic_lines(text: str) -> list[tuple[int, str]]:
    """Return the number and text of every line that may be IPython's own."""
    lines = enumerate(text.split("\n"), 1)
    return [(number, line.strip()) for number, line in lines if _LINE_MAGIC.fullmatch(line)]


def _magic(line: str, found: re.Match[str], number: int) -> Parsed:
    if found[2] == "!":
        return parse_shell(found[3].lstrip("!").encode("utf-8", "surrogateescape"))
    if run := _RUN.search(line):
        return Parsed(sourced=(Sourced(run[1], number),))
    if load := _LOAD.search(line):
        return Parsed(imports=(Import(load[1], number, optional=True),))
    return Parsed()
