"""Languages of step cells, and which of them a cell's code needs."""

from __future__ import annotations

from vaibify_lab.core.cell_scripts import INTERPRETERS, Interpreter
from vaibify_lab.notebooks.dialect import needs_ipython

LANGUAGES = ("python", "bash", "R", "julia")


def interpreter_of(language: str, code: str) -> Interpreter:
    """Return what runs a cell's code."""
    if language == "python" and needs_ipython(code):
        return INTERPRETERS["ipython"]
    return INTERPRETERS[language]
