"""Steps that a notebook's cells may become: one for what makes files, with the cells it rests on.

A step runs in a fresh process, so its script holds every earlier cell that has to do with a name
that it needs; cells that make files and need one another stay together. Where the text does not
show what cells need of one another, the whole notebook is the step.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from vaibify_lab.core.naming import plain_name, slug_of
from vaibify_lab.core.paths import fault_of, is_within
from vaibify_lab.files.filenames import FileReader, FileUse
from vaibify_lab.notebooks.foretell.order import hides_names
from vaibify_lab.notebooks.foretell.telling import CodeCell, Telling
from vaibify_lab.notebooks.languages import interpreter_of
from vaibify_lab.notebooks.names import free_names, made_names
from vaibify_lab.provenance.compare.notebook_file import Notebook

_PICTURES = (".png", ".pdf", ".svg", ".jpg", ".jpeg", ".eps")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A step as workflow.json has it, and the script that it runs ("" and None: the notebook)."""

    step: Mapping[str, Any]
    path: str = ""
    script: str | None = None


@dataclass(frozen=True)
class _Cell:
    """A cell with the files that it names, as repository paths."""

    cell: CodeCell
    reads: tuple[str, ...]
    writes: tuple[str, ...]

    @cached_property
    def makes(self) -> frozenset[str]:
        """The names that it binds."""
        return made_names(self.cell.code)

    @cached_property
    def takes(self) -> frozenset[str]:
        """The names that it uses and others bind."""
        return frozenset(free_names(self.cell.code))

    @cached_property
    def fixed(self) -> frozenset[str]:
        """The names that it binds to modules, functions and classes: using them changes nothing."""
        return frozenset(_fixed(self.cell.tree))


def propose(path: str, notebook: Notebook) -> tuple[Proposal, ...]:
    """Return the steps that a notebook may become, in the order of its cells."""
    folder = posixpath.dirname(path)
    telling = Telling.of(path, notebook)
    cells = list(with_files(telling, folder))
    makers = [at for at, one in enumerate(cells) if one.writes]
    hidden = any(
        hides_names(one.cell) or one.cell.fault or one.cell.shell_lines or one.cell.magic
        for one in cells
    )
    if notebook.language != "python" or not makers or hidden:
        return (_whole(path, notebook, cells),)
    used: set[str] = set()
    return tuple(
        _step(path, notebook, [cells[at] for at in group], used) for group in _groups(cells, makers)
    )


def with_files(telling: Telling, folder: str) -> Iterator[_Cell]:
    """Yield the code cells with the files that they name."""
    reader = FileReader()
    for cell in telling.cells:
        uses = reader.read(cell.tree)
        reads, writes = (
            tuple(dict.fromkeys(_paths(uses, folder, writes=side))) for side in (False, True)
        )
        yield _Cell(cell, reads, writes)


def _paths(uses: Sequence[FileUse], folder: str, *, writes: bool) -> Iterator[str]:
    """Yield what can be declared: plain paths inside the repository that name a file.

    Of a pattern it is the folder of what fits, unless the notebook, and what it makes, lies there.
    """
    for use in uses:
        if use.writes is not writes or "://" in use.path:
            continue
        place = posixpath.normpath(posixpath.join(folder, use.path))
        if use.is_pattern:
            place = posixpath.dirname(re.split(r"[*?[]", place)[0])
        elif "." not in posixpath.basename(place):
            continue
        if not place or fault_of(place) or (use.is_pattern and is_within(folder, place)):
            continue
        yield f"{place}/" if use.is_pattern else place


def _groups(cells: Sequence[_Cell], makers: Sequence[int]) -> list[list[int]]:
    """Return the cells of each step: slices that share a cell which makes files are one."""
    groups: list[set[int]] = []
    for maker in makers:
        group = _slice(cells, maker)
        for other in [one for one in groups if any(cells[at].writes for at in one & group)]:
            groups.remove(other)
            group |= other
        groups.append(group)
    return sorted((sorted(one) for one in groups), key=lambda one: one[-1])


def _slice(cells: Sequence[_Cell], maker: int) -> set[int]:
    """Return a cell and all before it that have to do with a name it needs, however far back."""
    found = {maker}
    needed = set(cells[maker].takes)
    fixed = frozenset().union(*(one.fixed for one in cells))
    for at in range(maker - 1, -1, -1):
        one = cells[at]
        if needed & one.makes or (needed - fixed) & one.takes:  # what takes it may change it
            found.add(at)
            needed |= one.takes
    return found


def _fixed(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((one.asname or one.name).partition(".")[0] for one in node.names)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name


def _step(path: str, notebook: Notebook, mine: Sequence[_Cell], used: set[str]) -> Proposal:
    folder = posixpath.dirname(path)
    last = next(one for one in reversed(mine) if one.writes)
    name = _name(notebook, last, used)
    slug = slug_of(name)
    code = "\n\n".join(one.cell.code.strip("\n") for one in mine) + "\n"
    interpreter = interpreter_of("python", code)
    step: dict[str, Any] = {"sName": name}
    step |= {"sDirectory": folder} if folder else {}
    step["saDataCommands"] = [interpreter.run(slug)]
    step |= files_of(mine)
    script = posixpath.join(folder, interpreter.script(slug))
    return Proposal(step, script, code)


def _whole(path: str, notebook: Notebook, cells: Sequence[_Cell]) -> Proposal:
    name = titled(notebook, len(notebook.cells)) or posixpath.splitext(posixpath.basename(path))[0]
    copy = posixpath.join(posixpath.dirname(path), "executed", posixpath.basename(path))
    files = files_of(cells)
    outputs = [copy, *files.pop("saOutputFiles", [])]
    return Proposal({"sName": name, "sNotebook": path, "saOutputFiles": outputs, **files})


def files_of(mine: Sequence[_Cell]) -> dict[str, list[str]]:
    """Return the keys of inputs and outputs; what a step makes itself is no input of its own."""
    made = list(dict.fromkeys(path for one in mine for path in one.writes))
    read = dict.fromkeys(path for one in mine for path in one.reads if path not in made)
    plots = [path for path in made if path.lower().endswith(_PICTURES)]
    found = {
        "saDataFiles": [path for path in made if path not in plots],
        "saPlotFiles": plots,
        "saInputDataFiles": list(read),
    }
    return {key: paths for key, paths in found.items() if paths}


def _name(notebook: Notebook, last: _Cell, used: set[str]) -> str:
    """Return the heading above a cell, else the name of its file; each once."""
    stem = posixpath.basename(last.writes[0]).split(".")[0]
    for name in (titled(notebook, last.cell.number), stem, f"{stem}-{last.cell.number}"):
        if name and slug_of(name) and slug_of(name) not in used:
            used.add(slug_of(name))
            return name
    return f"cell-{last.cell.number}"


def titled(notebook: Notebook, number: int) -> str:
    """Return the nearest heading above a cell."""
    for cell in reversed(notebook.cells[:number]):
        found = _HEADING.findall(cell.source) if cell.kind == "markdown" else []
        if found:
            return plain_name(found[-1])
    return ""
