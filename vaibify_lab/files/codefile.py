"""One file of code, whatever its language: what it says about other files."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from vaibify_lab.core import jsonio
from vaibify_lab.core.code_names import COMPILED, RULES, looks_like_code
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.files.ipysource import parse_cell
from vaibify_lab.files.othersource import (
    parse_compiled,
    parse_javascript,
    parse_matlab,
    parse_perl,
    parse_quoted,
    parse_rules,
)
from vaibify_lab.files.parsed import Parsed
from vaibify_lab.files.pysource import parse_python
from vaibify_lab.files.shellsource import parse_julia, parse_r, parse_shell

_LANGUAGES = {
    **dict.fromkeys((".py", ".pyw", ".pyi"), "python"),
    **dict.fromkeys((".ipy",), "ipython"),
    **dict.fromkeys((".ipynb",), "notebook"),
    **dict.fromkeys((".sh", ".bash", ".zsh", ".ksh"), "shell"),
    **dict.fromkeys((".r",), "r"),
    **dict.fromkeys((".jl",), "julia"),
    **dict.fromkeys((".mk", ".smk"), "rules"),
    **dict.fromkeys(COMPILED, "compiled"),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts"), "javascript"),
    **dict.fromkeys((".pl", ".pm"), "perl"),
    **dict.fromkeys((".m",), "matlab"),
}
_SHEBANG = re.compile(rb"#![^\n]*\b(ipython|python|Rscript|julia|bash|zsh|ksh|sh)")


def parse_code(path: str, data: bytes) -> Parsed:
    """Return what a file of code says; nothing for a language that we do not read."""
    return _PARSERS[language_of(path, data)](data)


def language_of(path: str, data: bytes) -> str:
    """Return in what a file is written: by its name, else by its first line; "none" if in none."""
    name = path.rpartition("/")[2]
    suffix = name[name.rfind(".") :].lower() if "." in name.lstrip(".") else ""
    if suffix in _LANGUAGES:
        return _LANGUAGES[suffix]
    if name in RULES:
        return "rules"
    if looks_like_code(name):
        return "quoted"
    shebang = _SHEBANG.match(data)
    word = shebang[1].decode("ascii") if shebang else ""
    return {"python": "python", "ipython": "ipython", "Rscript": "r", "julia": "julia"}.get(
        word, "shell" if word else "none"
    )


def _notebook(data: bytes) -> Parsed:
    try:
        notebook = jsonio.loads(data, "notebook")
        cells = [_source(cell) for cell in _cells(notebook) if cell["cell_type"] == "code"]
    except InvalidFile as error:
        return Parsed(problem=f"is not a notebook that can be read: {error.text}")
    except (KeyError, TypeError):
        return Parsed(problem="is not a notebook that can be read: it has no list of cells")
    language = _notebook_language(notebook)
    if language != "python":
        return _PARSERS.get(language, _nothing)("\n".join(cells).encode("utf-8", "replace"))
    found = Parsed()
    line = 1
    for cell in cells:
        found = found.joined(parse_cell(cell, line))
        line += cell.count("\n") + 1
    return found


def _cells(notebook: Any) -> list[Any]:
    """Return the cells; formats before 4 have them on sheets."""
    if "cells" in notebook:
        return list(notebook["cells"])
    return [cell for sheet in notebook["worksheets"] for cell in sheet["cells"]]


def _source(cell: Any) -> str:
    source = cell["source"] if "source" in cell else cell["input"]
    return source if isinstance(source, str) else "".join(map(str, source))


def _notebook_language(notebook: Any) -> str:
    metadata = notebook.get("metadata")
    said = metadata if isinstance(metadata, dict) else {}
    for place, key in (("kernelspec", "language"), ("language_info", "name")):
        value = said.get(place)
        if isinstance(value, dict) and isinstance(value.get(key), str):
            name = value[key].lower()
            return "shell" if name in ("bash", "sh", "zsh") else str(name)
    return "python"


def _ipython(data: bytes) -> Parsed:
    return parse_cell(data.decode("utf-8", "surrogateescape"))


def _nothing(data: bytes) -> Parsed:
    return Parsed()


_PARSERS: dict[str, Callable[[bytes], Parsed]] = {
    "python": parse_python,
    "ipython": _ipython,
    "notebook": _notebook,
    "shell": parse_shell,
    "r": lambda data: parse_r(data).joined(parse_quoted(data)),
    "julia": lambda data: parse_julia(data).joined(parse_quoted(data)),
    "compiled": parse_compiled,
    "javascript": parse_javascript,
    "perl": parse_perl,
    "matlab": parse_matlab,
    "rules": parse_rules,
    "quoted": parse_quoted,
    "none": _nothing,
}
