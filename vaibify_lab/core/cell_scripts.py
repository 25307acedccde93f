"""The scripts of step cells: where they lie, and the commands that run them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

FOLDER = "cells"


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


def script_of(commands: tuple[str, ...], slug: str) -> str | None:
    """Return a step's script, seen from its folder, when its command is one of a cell's."""
    if len(commands) != 1 or FOLDER not in commands[0]:
        return None
    runs = ((one.run(slug), one.script(slug)) for one in INTERPRETERS.values())
    return next((path for command, path in runs if command == commands[0]), None)
