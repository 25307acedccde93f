"""A step cell written down: its script and its step in the workflow, nothing in silence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from vaibify_lab.core import jsonio, workflow_file
from vaibify_lab.core.errors import StaleCopy, UsageError
from vaibify_lab.core.workflow_keys import check_format, check_keys
from vaibify_lab.files.tree import Tree
from vaibify_lab.notebooks import script
from vaibify_lab.notebooks.standing import Cell, Standing, Steps, standing, wanted_keys
from vaibify_lab.project.editing import as_text, read_workflow, write_workflow
from vaibify_lab.runs.opened import Opened


@dataclass(frozen=True, slots=True)
class Declared:
    """What became of a cell's declaration.

    Attributes
    ----------
    slug : str
        The step's.
    path : str
        Its script.
    changes : tuple of str
        What was written, in words; nothing where all was there already.
    """

    slug: str
    path: str
    changes: tuple[str, ...]


def declare(opened: Opened, path: str, cell: Cell, *, new: bool = False) -> Declared:
    """Write a cell's script, and its step into the workflow file.

    Parameters
    ----------
    opened : Opened
        The repository, in which no run goes on.
    path : str
        The workflow file.
    cell : Cell
        As it was read.
    new : bool
        It is to be no step that is there already, unless all of that is the same.

    Raises
    ------
    StaleCopy
        Script or step were edited elsewhere since; the diff is among the details.
    UsageError
        There is such a step.
    """
    seen = read_workflow(opened, path)
    jsonio.loads(seen["text"].encode(), path)  # says what is wrong with it
    document = seen["document"]
    check_format(document, path)
    check_keys(document, path)
    found = standing(cell, Steps(document["listSteps"]), lambda one: text_of(opened.tree, one))
    if new and found.index is not None and not found.is_same:
        text = f"there is a step {found.slug!r} already"
        raise UsageError(text, where=path, action="choose another name")
    if not (found.is_cells or cell.line.overwrite):
        raise _refusal(opened, path, found)
    raw = _step_in(document["listSteps"], cell, found)
    text = as_text(document, seen["text"])
    workflow_file.parse(text.encode("utf-8", "surrogatepass"), path)
    changes = [*_write_script(opened.tree, cell, found, raw["sName"])]
    if found.declaration != "same":
        write_workflow(opened, path, seen["sha256"], text=text)
        new = found.index is None
        changes.append(f"step {found.slug!r}{' is new' if new else ': ' + ', '.join(found.keys)}")
    return Declared(found.slug, found.path, tuple(changes))


def text_of(tree: Tree, path: str) -> str | None:
    """Return a file's text; None where there is none."""
    if tree.lstat(path) is None:
        return None
    return tree.read(path).decode("utf-8", "surrogateescape")


def _step_in(steps: list[dict[str, Any]], cell: Cell, found: Standing) -> dict[str, Any]:
    """Write the step as the cell declares it into the list; return it."""
    if found.index is None:
        steps.append({"sName": cell.line.name})
    raw = steps[-1 if found.index is None else found.index]
    for key, value in wanted_keys(cell, found.slug, raw).items():
        if value is None:
            raw.pop(key, None)
        else:
            raw[key] = value
    return raw


def _write_script(tree: Tree, cell: Cell, found: Standing, name: str) -> Iterator[str]:
    """Write the script where it differs, in place of one of another suffix; yield what was done."""
    text = script.written(name, cell.code, cell.declared(found.slug))
    if text != text_of(tree, found.path):
        tree.write(found.path, text.encode("utf-8", "surrogateescape"))
        yield f"{found.path}: {_how_much(found)}"
    before = found.before
    if before is not None and before != found.path and tree.lstat(before) is not None:
        tree.remove(before)
        yield f"{before}: removed, {found.path} stands for it"


def _how_much(found: Standing) -> str:
    if found.code == "new":
        return "new"
    lines = found.diff.splitlines()[2:]
    more = sum(line.startswith("+") for line in lines)
    less = sum(line.startswith("-") for line in lines)
    return (
        f"+{more} -{less} lines" if lines else "its first line, which says what the cell declares"
    )


def _refusal(opened: Opened, path: str, found: Standing) -> StaleCopy:
    where, text = _what(opened, path, found)
    return StaleCopy(
        text,
        where=where,
        action="put those changes into the cell, or let the cell replace them: --overwrite",
        details={"diff": found.diff, "keys": list(found.keys), "slug": found.slug},
    )


def _what(opened: Opened, path: str, found: Standing) -> tuple[str, str]:
    """Return where somebody else edited, and in words who did so last."""
    file = found.before or found.path
    if found.declaration == "foreign":
        return path, f"step {found.slug!r} is there and no cell wrote it"
    if found.code == "foreign":
        return file, "is there and no cell wrote it"
    who = last_edit(opened, file)
    if found.code == "other":
        return file, f"was edited since the cell wrote it, and the cell was not ({who})"
    if found.code == "both":
        return file, f"was edited since a cell wrote it, and so was the cell ({who})"
    keys = ", ".join(found.keys)
    return path, f"step {found.slug!r} was edited since the cell wrote it: {keys}"


def last_edit(opened: Opened, path: str) -> str:
    """Return who edited a file last, as far as git and the file say."""
    if opened.observer.dirty([path]):
        return "not committed"
    said = opened.repository.run("log", "-1", "--format=%an, %as", "--", path)
    return said.decode("utf-8", "replace").strip() or "not committed"
