"""The step cells of a notebook, each beside its step; found in its text, nothing is run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from vaibify_lab.core.errors import UsageError, VaibifyError
from vaibify_lab.files.ipysource import without_magics
from vaibify_lab.notebooks.cells import read_cell, step_magic
from vaibify_lab.notebooks.dialect import OF_IPYTHON, compiles
from vaibify_lab.notebooks.names import free_names, made_names
from vaibify_lab.notebooks.standing import Cell, Read, Standing, Steps, standing

State = Literal["same", "new", "cell", "other", "both", "foreign", "duplicate", "wrong"]
_WORDS: Mapping[State, str] = {
    "same": "",
    "new": "is no step yet: running the cell makes it one",
    "cell": "differs from the step: the cell was edited since",
    "other": "differs from the step, which was edited since the cell wrote it",
    "both": "differs from the step: both were edited since the cell wrote it",
    "foreign": "is called like a step or a script that no cell wrote",
}


@dataclass(frozen=True, slots=True)
class Source:
    """A code cell as a notebook holds it; ``number`` counts all cells from 1."""

    number: int
    id: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """A step cell.

    Attributes
    ----------
    state : State
        ``wrong``: it cannot be read; ``duplicate``: another cell is the same step; else which of
        cell and step was edited since they were one.
    text : str
        That in words; empty where all is the same.
    names : tuple of (name, numbers of the cells that make it)
        What the cell takes from the live kernel.
    """

    source: Source
    state: State
    text: str
    name: str | None = None
    standing: Standing | None = None
    names: tuple[tuple[str, tuple[int, ...]], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        found = self.standing
        return {
            "number": self.source.number,
            "id": self.source.id,
            "name": self.name,
            "slug": found.slug if found else None,
            "script": found.path if found else None,
            "state": self.state,
            "text": self.text,
            "diff": found.diff if found else "",
            "keys": list(found.keys) if found else [],
            "names": [{"name": name, "cells": list(cells)} for name, cells in self.names],
        }


@dataclass(frozen=True, slots=True)
class Text:
    """What a code cell's text says by itself.

    Attributes
    ----------
    cell : Cell or None
        The step that it is.
    fault : str
        Why a step cell cannot be read.
    names : tuple of str
        What it takes from the live kernel, as a step; what it makes there, as any other cell.
    """

    cell: Cell | None = None
    fault: str = ""
    names: tuple[str, ...] = ()

    @property
    def is_step(self) -> bool:
        """Tell whether it is to be a step."""
        return self.cell is not None or bool(self.fault)


def read_text(text: str) -> Text:
    """Read a code cell. Pure, so that a text that is the same need not be read again."""
    magic = step_magic(text)
    if magic is None:
        return Text(names=tuple(sorted(made_names(_plain(text)))))
    try:
        cell = read_cell(magic.line, magic.body)
    except UsageError as error:
        return Text(fault=str(error))
    return Text(cell, names=hidden_names(cell))


def step_cells(
    sources: Sequence[Source],
    steps: Steps,
    read: Read,
    remembered: Callable[[Source], Text] = lambda source: read_text(source.text),
) -> list[Found]:
    """Return the step cells of a notebook, in its order.

    Parameters
    ----------
    sources : sequence of Source
        Its code cells.
    steps : Steps
        The workflow's.
    read : callable
        Returns a repository file's text, None where there is none.
    remembered : callable
        Returns what `read_text` says of a cell.
    """
    texts = [(source, remembered(source)) for source in sources]
    made: dict[str, list[int]] = {}
    for source, text in texts:
        for name in () if text.is_step else text.names:
            made.setdefault(name, []).append(source.number)
    found = [_found(source, text, steps, read, made) for source, text in texts if text.is_step]
    numbers: dict[str, list[int]] = {}
    for one in found:
        if one.standing is not None:
            numbers.setdefault(one.standing.slug, []).append(one.source.number)
    return [_unless_alone(one, numbers) for one in found]


def _found(
    source: Source,
    text: Text,
    steps: Steps,
    read: Read,
    made: Mapping[str, Sequence[int]],
) -> Found:
    if text.cell is None:
        return Found(source, "wrong", text.fault)
    try:
        stands = standing(text.cell, steps, read)
    except VaibifyError as error:  # one cell that cannot be read hides no other
        return Found(source, "wrong", str(error))
    state = _state(stands)
    names = tuple((name, tuple(made.get(name, ()))) for name in text.names)
    return Found(source, state, _WORDS[state], text.cell.line.name, stands, names)


def _unless_alone(found: Found, numbers: Mapping[str, Iterable[int]]) -> Found:
    slug = found.standing.slug if found.standing else ""
    others = [one for one in numbers.get(slug, ()) if one != found.source.number]
    if not others:
        return found
    which = f"cell{'s' if len(others) > 1 else ''} {', '.join(map(str, others))}"
    text = f"is step {slug!r}, and so is {which}: rename one, or delete it"
    return Found(found.source, "duplicate", text, found.name, found.standing, found.names)


def _state(found: Standing) -> State:
    both = {found.code, found.declaration}
    for state in ("foreign", "both"):
        if state in both:
            return state
    if "other" in both:
        return "both" if "cell" in both else "other"
    if found.declaration == "new":
        return "new"
    return "same" if both == {"same"} else "cell"


def hidden_names(cell: Cell) -> tuple[str, ...]:
    """Return the names that a Python cell uses and does not make."""
    if cell.line.language != "python":
        return ()
    return tuple(name for name in free_names(_plain(cell.code)) if name not in OF_IPYTHON)


def _plain(code: str) -> str:
    """Return a cell's code without what only IPython understands."""
    return code if compiles(code, awaiting=True) else without_magics(code)
