"""Kernels and cell magics that are not there, and shell commands whose failure nobody hears of."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
from collections.abc import Iterator

from jupyter_core.paths import jupyter_path

from vaibify_lab.core.finding import Finding
from vaibify_lab.core.shell import has_pipe
from vaibify_lab.notebooks.foretell.telling import WORDS, Around, Telling

_OF_IPYTHON_WORDS = """
    ! HTML SVG bash capture code_wrap debug file html javascript js latex markdown perl prun
    pypy python python2 python3 ruby script sh svg sx system time timeit writefile
"""
_OF_IPYTHON = frozenset(_OF_IPYTHON_WORDS.split())
NATIVE = "python3"  # which ipykernel has wherever it is
_LINES_OF_IPYTHON_WORDS = """
    alias_magic autosave doctest_mode killbgscripts loadpy logoff logon logstate logstop micromamba
    notebook pinfo2 qtconsole reset_selective store subshell
"""
_LINES_OF_IPYTHON = WORDS | frozenset(_LINES_OF_IPYTHON_WORDS.split())
# What makes magics, also on its import or by a call of its own.
_MAKES_MAGICS = re.compile(
    r"register_(?:line_|cell_|line_cell_)?magics?\b|load_ext|%alias|%run\b|%macro|%edit|"
    r"%quickref|extension\(|\b(?:import|from)\s+(?:ROOT|julia|sage)\b"
)
_LINE_MAGIC = re.compile(r"%([A-Za-z_]\w*)")
_STRICT = re.compile(r"\bset[ \t]+(?:-\w*e|-o[ \t]+errexit)")
_UNCHECKED = frozenset({"os.system", "subprocess.run", "subprocess.call"})
_MOST = 5


def kernels_here() -> frozenset[str]:
    """Return the names of this machine's kernels, in small letters."""
    found = {NATIVE}
    for folder in jupyter_path("kernels"):
        if os.path.isdir(folder):
            found.update(name.lower() for name in os.listdir(folder))
    return frozenset(found)


def has_python_kernel() -> bool:
    """Tell whether a notebook of Python can run on this machine, beside this Python at least."""
    specs = (os.path.join(folder, NATIVE) for folder in jupyter_path("kernels"))
    return importlib.util.find_spec("ipykernel") is not None or any(map(os.path.isdir, specs))


def kernel_findings(telling: Telling, around: Around) -> Iterator[Finding]:
    """Yield that the notebook asks for a kernel that is not there."""
    kernel = telling.notebook.kernel
    if kernel is not None and kernel.lower() not in around.kernels:
        text = f"asks for the kernel {kernel!r}, which is not on this machine"
        action = "install it where the notebook runs, or choose one that is there, and save"
        if telling.notebook.language == "python" and not any(one.is_step for one in telling.cells):
            text = f"{text}: this Python's is used"
            action = "choose one that others have, such as python3, and save"
        yield telling.finding("warning", "kernel-missing", None, text, action)


def magic_findings(telling: Telling) -> Iterator[Finding]:
    """Yield the cell magics that nothing loads."""
    for cell in telling.cells:
        for own in cell.own:
            above = cell.code.split("\n")[: own.first - 1]
            if own.text.startswith("%%") and any(map(str.strip, above)):
                text = f"has {own.text.split()[0]} below its first line, where it is no cell magic"
                action = "make it a cell's first line"
                yield telling.finding("error", "magic-missing", cell.number, text, action)
    if any(_MAKES_MAGICS.search(one.cell.source) for one in telling.cells):
        return
    for cell in telling.cells:
        for own in cell.expected:
            found = _LINE_MAGIC.match(own.text)
            if found and found[1] not in _LINES_OF_IPYTHON and not own.text.endswith("?"):
                text = f"uses the magic %{found[1]}, which nothing loads"
                action = "load its extension in a cell above: %load_ext ..."
                yield telling.finding("error", "magic-missing", cell.number, text, action)
        if cell.magic is not None and cell.magic.name not in _OF_IPYTHON:
            text = f"uses the cell magic %%{cell.magic.name}, which nothing loads"
            action = "load its extension in a cell above: %load_ext ..."
            yield telling.finding("error", "magic-missing", cell.number, text, action)


def unheard_findings(telling: Telling) -> Iterator[Finding]:
    """Yield scripts that go on after a failure, and calls whose status nobody looks at."""
    for cell in telling.cells:
        if cell.magic is not None and cell.magic.name in ("bash", "sh"):
            lines = [one for one in map(str.strip, cell.magic.body.split("\n")) if one]
            commands = [one for one in lines if not one.startswith("#")]
            name, body, text = cell.magic.name, cell.magic.body, ""
            strict, strictest = _STRICT.search(body), name == "bash"  # sh has no pipefail
            if len(commands) > 1 and not strict:
                text = f"%%{name} goes on when one of its commands fails"
            elif strict and strictest and "pipefail" not in body and has_pipe(body):
                text = f"%%{name} hears of no command in a pipe but the last"
            if text:
                action = "set -eo pipefail" if strictest else "set -e"
                yield telling.finding("warning", "shell-deaf", cell.number, text, action)
        for node in ast.walk(cell.tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                called = ast.unparse(node.value.func)
                if called in _UNCHECKED and "check" not in {k.arg for k in node.value.keywords}:
                    text = f"{called}(...) fails without raising"
                    action = "use subprocess.run(..., check=True)"
                    yield telling.finding("warning", "shell-deaf", cell.number, text, action)


def shell_findings(telling: Telling) -> Iterator[Finding]:
    """Yield shell commands whose failure nobody hears of."""
    deaf = [
        cell.number for cell in telling.cells if any(one.shell is not None for one in cell.expected)
    ]
    if deaf:
        listed = ", ".join(map(str, deaf[:_MOST])) + (" ..." if len(deaf) > _MOST else "")
        text = f"a shell command (!) that fails is not heard of (cells {listed})"
        action = "use subprocess.run(..., check=True), or %%bash with set -eo pipefail"
        yield telling.finding("warning", "shell-deaf", deaf[0], text, action)
    yield from unheard_findings(telling)
