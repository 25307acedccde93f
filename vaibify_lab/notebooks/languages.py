"""Languages of step cells: the script that a cell becomes, and what runs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vaibify_lab.core.naming import slug_of
from vaibify_lab.notebooks.dialect import needs_ipython

FOLDER = "cells"
LANGUAGES = ("python", "bash", "R", "julia")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """What runs a script of a suffix; ``command`` holds its path or its module's name."""

    suffix: str
    command: str

    def script(self, slug: str) -> str:
        """Return the script's path, seen from the step's folder."""
        return f"{FOLDER}/{slug}.{self.suffix}"

    def run(self, slug: str) -> str:
        """Return the command that runs it there."""
        return self.command.format(path=self.script(slug), module=f"{FOLDER}.{slug}")


# As a module: it imports from the folder where it runs, as a notebook does, and never by accident
# another cell's script in place of a library of that name.
_PYTHON = Interpreter("py", "python -m {module}")
_IPYTHON = Interpreter("ipy", "ipython {path}")
INTERPRETERS: Mapping[str, Interpreter] = {
    "python": _PYTHON,
    "ipython": _IPYTHON,
    "bash": Interpreter("sh", "bash -eo pipefail {path}"),
    "R": Interpreter("R", "Rscript {path}"),
    "julia": Interpreter("jl", "julia {path}"),
}


def interpreter_of(language: str, code: str) -> Interpreter:
    """Return what runs a cell's code."""
    if language == "python" and needs_ipython(code):
        return _IPYTHON
    return INTERPRETERS[language]


def script_of(commands: tuple[str, ...], name: str, step_id: str | None) -> str | None:
    """Return the script of a step, seen from its folder, when its command is one of a cell's."""
    slug = step_id or slug_of(name)
    return next((path for command, path in _possible(slug) if commands == (command,)), None)


def _possible(slug: str) -> Iterator[tuple[str, str]]:
    for interpreter in INTERPRETERS.values():
        yield interpreter.run(slug), interpreter.script(slug)
