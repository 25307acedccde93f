"""Kernels and cell magics that are not there, and shell commands whose failure nobody hears of."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
from collections.abc import Iterator

from jupyter_core.paths import jupyter_path

from vaibify_lab.core.finding import Finding
from vaibify_lab.notebooks.foretell.telling import Around, Telling

_OF_IPYTHON_WORDS = """
    ! HTML SVG bash capture code_wrap debug file html javascript js latex markdown perl prun
    pypy python python2 python3 ruby script sh svg sx system time timeit writefile
"""
_OF_IPYTHON = frozenset(_OF_IPYTHON_WORDS.split())
NATIVE = "python3"  # which ipykernel has wherever it is
_MAKES_MAGICS = ("register_cell_magic", "register_magics", "register_line_cell_magic", "load_ext")
_NETWORK = re.compile(
    r"\s*(?:wget|curl|git\s+clone|gdown|kaggle|(?:python3? -m )?pip3?\s+install|"
    r"conda\s+install|mamba\s+install|apt(?:-get)?\s+install)\b"
)
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
    sources = (one.cell.source for one in telling.cells)
    if any(word in source for source in sources for word in _MAKES_MAGICS):
        return
    for cell in telling.cells:
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
            if len(commands) > 1 and not _STRICT.search(cell.magic.body):
                text = f"%%{cell.magic.name} goes on when one of its commands fails"
                yield telling.finding("warning", "shell-deaf", cell.number, text, "set -e")
        for node in ast.walk(cell.tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                called = ast.unparse(node.value.func)
                if called in _UNCHECKED and "check" not in {k.arg for k in node.value.keywords}:
                    text = f"{called}(...) fails without raising"
                    action = "use subprocess.run(..., check=True)"
                    yield telling.finding("warning", "shell-deaf", cell.number, text, action)


def shell_findings(telling: Telling) -> Iterator[Finding]:
    """Yield shell commands whose failure nobody hears of."""
    deaf = [cell.number for cell in telling.cells if cell.shell_lines]
    if deaf:
        listed = ", ".join(map(str, deaf[:_MOST])) + (" ..." if len(deaf) > _MOST else "")
        text = f"a shell command (!) that fails is not heard of; cells {listed}"
        action = "use subprocess.run(..., check=True), or %%bash"
        yield telling.finding("warning", "shell-deaf", deaf[0], text, action)
    yield from unheard_findings(telling)


def network_findings(telling: Telling) -> Iterator[Finding]:
    """Yield shell commands that fetch something."""
    for cell in telling.cells:
        for line in cell.shell_lines:
            if found := _NETWORK.match(line):
                text = f"reaches into the network: {found[0].strip()}"
                yield telling.finding("warning", "network", cell.number, text)
