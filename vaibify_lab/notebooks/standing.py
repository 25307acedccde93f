"""A step cell beside the step and the script that are there: the same, or who edited last."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from vaibify_lab.core.cell_scripts import Interpreter, script_of
from vaibify_lab.core.naming import slug_of
from vaibify_lab.notebooks import script as scripts
from vaibify_lab.notebooks.languages import interpreter_of
from vaibify_lab.notebooks.step_line import StepLine

# Which of the two was edited since both were one; "new": there is no step; "foreign": a step that
# no cell wrote.
Relation = Literal["new", "same", "cell", "other", "both", "foreign"]
MANAGED = (
    *("sDirectory", "saDataCommands", "saPlotCommands", "saDataFiles", "saPlotFiles"),
    *("saOutputFiles", "saInputDataFiles", "saDependencies", "sNotebook"),
)
_LEFT = ("saTestCommands", "bNoTests", "bNoInputData")  # a cell that is silent of them leaves them
Read = Callable[[str], str | None]
_MOST_LINES = 200


@dataclass(frozen=True)
class Cell:
    """A step cell as read: its line and its code."""

    line: StepLine
    code: str

    @cached_property
    def interpreter(self) -> Interpreter:
        """What runs it."""
        return interpreter_of(self.line.language, self.code)

    def declared(self, slug: str) -> dict[str, Any]:
        """Return the keys of workflow.json that the cell decides, those that hold something."""
        line = self.line
        found: dict[str, Any] = {"sDirectory": line.directory} if line.directory else {}
        found["saDataCommands"] = [self.interpreter.run(slug)]
        found |= {key: list(paths) for key, paths in line.keys.items() if key in MANAGED}
        return {key: found[key] for key in MANAGED if key in found}

    def beside(self) -> dict[str, Any]:
        """Return the keys that it sets where it names them, and else leaves to others."""
        line = self.line
        tests = line.keys.get("saTestCommands")
        found: dict[str, Any] = {"saTestCommands": list(tests)} if tests else {}
        found |= {"bNoTests": True} if line.no_tests else {}
        return found | ({"bNoInputData": True} if line.no_input else {})


@dataclass(frozen=True, slots=True)
class Standing:
    """How a cell stands to its step.

    Attributes
    ----------
    index : int or None
        Which step of the workflow it is.
    path, before : str or None
        Its script's repository path, now and as the workflow names it.
    code, declaration : Relation
        Of the cell's code to the script, and of its line to the workflow.
    diff : str
        From the script to the cell's code.
    keys : tuple of str
        The keys of workflow.json in which the two differ.
    """

    slug: str
    index: int | None
    path: str
    before: str | None
    code: Relation
    declaration: Relation
    diff: str = ""
    keys: tuple[str, ...] = ()

    @property
    def is_same(self) -> bool:
        """Tell whether cell, script and workflow say the same."""
        return self.code == self.declaration == "same"

    @property
    def is_cells(self) -> bool:
        """Tell whether nobody but the cell was edited since they were one."""
        return {self.code, self.declaration} <= {"new", "same", "cell"}


def standing(cell: Cell, steps: Steps, read: Read) -> Standing:
    """Compare a cell with the workflow's steps and with its script.

    Parameters
    ----------
    cell : Cell
        As it was read.
    steps : Steps
        The workflow's.
    read : callable
        Returns a repository file's text, None where there is none.
    """
    index = steps.find(cell.line.name)
    raw = steps.listed[index] if index is not None else {}
    slug = raw.get("sStepId") or slug_of(raw.get("sName", cell.line.name))
    declared = cell.declared(slug)
    path = _inside(cell.line.directory, cell.interpreter.script(slug))
    before = _script_before(raw)
    there = read(before or path)
    kept = scripts.read(there) if there is not None else None
    wanted = wanted_keys(cell, slug, raw)
    keys = tuple(key for key in wanted if (raw.get(key) or None) != wanted[key])
    return Standing(
        slug=slug,
        index=index,
        path=path,
        before=before,
        code=_code(cell, kept),
        declaration=_declaration(raw, keys, declared, kept, before),
        diff=_diff(kept.code, cell.code, before or path) if kept else "",
        keys=keys if raw else (),
    )


def wanted_keys(cell: Cell, slug: str, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return what each key that a cell may write is to hold; None: nothing."""
    declared = cell.declared(slug)
    there = {key: raw.get(key) or None for key in _LEFT}
    return {key: declared.get(key) for key in MANAGED} | there | cell.beside()


class Steps:
    """The steps of a workflow as its file lists them, found by name, else by slug."""

    def __init__(self, listed: Sequence[Mapping[str, Any]]) -> None:
        self.listed = listed
        self._by_name: dict[str, int] = {}
        self._by_slug: dict[str, int] = {}
        for number, raw in enumerate(listed):
            name = raw.get("sName", "")
            self._by_name.setdefault(name, number)
            self._by_slug.setdefault(raw.get("sStepId") or slug_of(name), number)

    def find(self, name: str) -> int | None:
        """Return which step a cell's name means."""
        places = (self._by_name.get(name), self._by_slug.get(name))
        found = next((one for one in places if one is not None), None)
        return self._by_slug.get(slug_of(name)) if found is None else found


def _script_before(raw: Mapping[str, Any]) -> str | None:
    commands = (*raw.get("saDataCommands", ()), *raw.get("saPlotCommands", ()))
    found = script_of(commands, raw.get("sStepId") or slug_of(raw.get("sName", "")))
    return _inside(raw.get("sDirectory", ""), found) if found else None


def _inside(directory: str, path: str) -> str:
    folder = directory.strip("/").removeprefix("./")
    return path if folder in ("", ".") else f"{folder}/{path}"


def _code(cell: Cell, kept: scripts.Script | None) -> Relation:
    if kept is None:
        return "new"
    if kept.code == cell.code:
        return "same"
    if not kept.code_mark:
        return "foreign"
    if kept.is_as_written:
        return "cell"
    return "other" if kept.code_mark == scripts.mark_of(cell.code) else "both"


def _declaration(
    raw: Mapping[str, Any],
    keys: tuple[str, ...],
    declared: Mapping[str, Any],
    kept: scripts.Script | None,
    before: str | None,
) -> Relation:
    if not raw:
        return "new"
    if not keys:
        return "same"
    if before is None:
        return "new" if not _does_anything(raw) else "foreign"
    there = {key: raw[key] for key in MANAGED if raw.get(key)}
    if kept is None or kept.declared_mark == scripts.declared_mark(there):
        return "cell"
    return "other" if kept.declared_mark == scripts.declared_mark(declared) else "both"


def _does_anything(raw: Mapping[str, Any]) -> bool:
    return any(raw.get(key) for key in ("saDataCommands", "saPlotCommands", "sNotebook"))


def _diff(there: str, code: str, path: str) -> str:
    """Return how the script would have to change, as a unified diff."""
    lines = difflib.unified_diff(
        there.splitlines(), code.splitlines(), path, "the cell", lineterm=""
    )
    text = [line for line, _ in zip(lines, range(_MOST_LINES), strict=False)]
    return "\n".join(text)
