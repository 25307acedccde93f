"""What a notebook fetches over the network without naming an address to a reader of files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from vaibify_lab.core.finding import Finding
from vaibify_lab.files.filecalls import FETCHES
from vaibify_lab.files.syntax import dotted_name
from vaibify_lab.notebooks.foretell.telling import CodeCell, Telling, live

_NETWORK = re.compile(
    r"\s*(?:sudo\s+)?(?:wget|curl|git\s+clone|gdown|kaggle|(?:[\w{}./]*python3?\}? -m )?"
    r"pip3?\s+(?:install|download)|uv\s+(?:pip\s+install|add|sync)|"
    r"(?:conda|mamba|micromamba)\s+install|apt(?:-get)?\s+install)\b"
)
_SHELLS = frozenset({"bash", "sh", "system", "sx", "!"})


def network_findings(telling: Telling) -> Iterator[Finding]:
    """Yield what fetches something: calls, shell commands, and those of ``%pip`` or ``%%bash``."""
    for cell in telling.cells:
        for line in _commands(cell):
            if found := _NETWORK.match(line):
                text = f"reaches into the network: {found[0].strip()}"
                yield telling.finding("warning", "network", cell.number, text)
        for node in live(cell.tree):
            called = dotted_name(node.func) if isinstance(node, ast.Call) else ""
            if {called, called.rpartition(".")[2]} & FETCHES:
                text = f"reaches into the network: {called}(...)"
                yield telling.finding("warning", "network", cell.number, text)


def _commands(cell: CodeCell) -> Iterator[str]:
    for own in cell.expected:
        yield own.text.lstrip("%") if own.shell is None else own.shell
    if cell.magic is not None and cell.magic.name in _SHELLS:
        yield from cell.magic.body.split("\n")
