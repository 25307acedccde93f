"""``notebook``: a whole notebook run without a browser; stored outputs beside fresh ones."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaibify_lab.apps.run import engine_options
from vaibify_lab.apps.screen import Colour, Screen
from vaibify_lab.apps.verb import COMMAND, Namespace, Parser, Verb, count_of, open_project
from vaibify_lab.core.errors import CannotCheck, MissingFile, UsageError

if TYPE_CHECKING:
    from vaibify_lab.ceremony.notebooks import NotebookCheck, NotebookRun
    from vaibify_lab.project import Project
    from vaibify_lab.provenance.compare.notebooks import CellComparison

_LIMIT = 64 * 2**20
_SHOWN = 5  # of what was ignored in a cell


def number(word: str) -> float:
    """Read a tolerance."""
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise UsageError(f"a tolerance is a number from 0 on, not {word!r}")
    return value


def _arguments(parser: Parser) -> None:
    parser.add_argument("action", choices=("run", "compare"))
    parser.add_argument("file", metavar="FILE", help="the notebook, in this repository")
    parser.add_argument(
        "fresh", nargs="?", metavar="FRESH", help="compare with this one, and run nothing"
    )
    parser.add_argument("--output", metavar="PATH", help="keep the executed copy there")
    parser.add_argument(
        "--tolerance", type=number, metavar="R", help="of numbers, relative (fTolerance)"
    )
    parser.add_argument(
        "--absolute", type=number, default=0.0, metavar="A", help="of numbers, absolute (0)"
    )
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="REGEX", help="what is not compared"
    )
    parser.add_argument("--strict", action="store_true", help="ignore nothing")
    parser.add_argument("--pictures", metavar="DIR", help="write there where figures differ")
    engine_options(parser)


def _execute(given: Namespace, screen: Screen) -> int:
    from vaibify_lab.project import notebooks

    project = open_project(given, cached=False)
    path = notebooks.repository_path(project.opened, Path(given.file))
    _refuse(given, project.root / path)
    if given.action == "run":
        run = _run(project, path, given, screen)
        screen.document(run.as_json() | {"output": given.output})
        return _said(screen, "run", path, run)
    fresh = None if given.fresh is None else (given.fresh, _bytes(Path(given.fresh)))
    how = notebooks.rules(
        project,
        tolerance=given.tolerance,
        absolute=given.absolute,
        ignore=given.ignore,
        strict=given.strict,
    )
    ran = None if fresh else _run(project, path, given, screen)
    found = notebooks.compare(project, path, how, fresh=fresh, ran=ran)
    pictures = _pictures(found, given.pictures) if given.pictures else []
    _show(screen, found, pictures)
    screen.document(found.as_json() | {"pictures": pictures})
    return _judged(screen, found)


def _refuse(given: Namespace, source: Path) -> None:
    """Refuse what would overwrite the notebook, and options that say nothing here."""
    if given.action == "run" and given.fresh is not None:
        raise UsageError("run takes one notebook", action=f"{COMMAND} notebook compare FILE FRESH")
    if given.output is None:
        return
    target = Path(given.output)
    if given.fresh is not None:
        raise UsageError("--output: nothing is run when FRESH is given")
    if os.path.realpath(target) == os.path.realpath(source):
        raise UsageError("--output: the notebook itself is never rewritten", where=given.output)
    if target.is_dir() or not target.absolute().parent.is_dir():
        raise UsageError("--output: is no place for a file", where=given.output)


def _run(project: Project, path: str, given: Namespace, screen: Screen) -> NotebookRun:
    from vaibify_lab.project import notebooks
    from vaibify_lab.runs.options import RunOptions

    def tell(event: dict[str, Any]) -> None:
        if event["event"] == "preparing":
            screen.progress(str(event.get("text", "")))

    screen.progress(f"running {path} ...")
    engine = "any" if given.engine == "auto" else given.engine
    run = notebooks.run(project, path, RunOptions("", engine=engine, tier=given.tier), tell)
    if given.output is not None and run.copy is not None:
        _write(Path(given.output), run.copy)
    return run


def _said(screen: Screen, action: str, path: str, run: NotebookRun) -> int:
    """Say how a run went, and return the exit code."""
    if run.passed:
        text = f"{screen.symbol('✓', '+')} {path} ran to its end ({run.engine})"
        screen.line(text, colour="green")
        return 0
    screen.failed(f"{COMMAND} notebook {action}: {path} {'; '.join(run.problems)}")
    return 1


def _show(screen: Screen, found: NotebookCheck, pictures: list[str]) -> None:
    if found.run is not None:
        screen.line(f"{found.path}: run {found.run.engine}")
    for cell in found.found.cells:
        _cell(screen, cell)
    for one in found.found.ignored:
        screen.line(f"ignored: {one.kind} of {one.where}")
    if found.packages:
        screen.line(f"packages since it was stored: {', '.join(found.packages)}", hang=4)
    for name in pictures:
        screen.line(f"wrote {name}")
    counts = found.found.counts
    from vaibify_lab.provenance.compare.verdict import WORDS

    said = ", ".join(f"{counts[word]} {WORDS[word]}" for word in WORDS if word in counts)
    cells = count_of(len(found.found.cells), "cell")
    screen.line(f"{cells}: {said}" if said else "no cell to compare")


def _cell(screen: Screen, cell: CellComparison) -> None:
    found = cell.found
    colour: Colour = "green" if found.passes else "red"
    sign = screen.symbol("✓", "+") if found.passes else screen.symbol("✗", "x")
    screen.line(f"{sign} cell {cell.number}: {found.words}  {cell.line}", hang=4, colour=colour)
    if found.text:
        screen.line(f"    {found.where + ': ' if found.where else ''}{found.text}", hang=6)
    for name, gap in (("absolute", found.absolute), ("relative", found.relative)):
        if gap is not None:
            value = gap.absolute if name == "absolute" else gap.relative
            screen.line(f"    largest {name} difference {value:.3g} ({gap.where})", hang=6)
    if found.ignored_count:
        places = count_of(found.ignored_count, "place")
        kinds = ", ".join(dict.fromkeys(one.kind for one in found.ignored[:_SHOWN]))
        screen.line(f"    ignored: {places} ({kinds})", hang=6)


def _judged(screen: Screen, found: NotebookCheck) -> int:
    if found.run is not None and not found.run.passed:
        return _said(screen, "compare", found.path, found.run)
    if found.passed:
        return 0
    whole = found.found.whole
    text = f"{whole.where}: {whole.text}" if whole.where else whole.text
    screen.failed(f"{COMMAND} notebook compare: {found.path} {text}")
    return 1


def _pictures(found: NotebookCheck, folder: str) -> list[str]:
    """Write where pictures differ; return the files."""
    made = []
    place = Path(folder)
    for cell in found.found.cells:
        for at, one in enumerate(cell.found.pictures, 1):
            if one.shown is not None:
                target = place / f"{Path(found.path).stem}-cell-{cell.number}-{at}.png"
                _write(target, one.shown)
                made.append(str(target))
    return made


def _write(target: Path, data: bytes) -> None:
    part = target.with_name(f".{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
        os.replace(part, target)
    except OSError as error:
        text = f"cannot be written: {error.strerror}"
        raise CannotCheck(text, where=str(target)) from None


def _bytes(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise MissingFile("there is no such notebook", where=str(path))
        with path.open("rb") as file:
            data = file.read(_LIMIT + 1)
    except OSError as error:
        raise MissingFile(f"cannot be read: {error.strerror}", where=str(path)) from None
    return data


VERB = Verb(
    "notebook",
    example=f"{COMMAND} notebook compare notebooks/fit.ipynb\n"
    f"{COMMAND} notebook run notebooks/fit.ipynb --output fit.executed.ipynb",
    execute=_execute,
    arguments=_arguments,
    more="run: from the first cell to the last in a fresh kernel, where a step would run, on a "
    "copy of what git has or would add; nothing here is changed. compare: the outputs that are "
    "stored in the notebook beside fresh ones, cell by cell. What is passed over as noise is "
    "listed; ignoredInOutputs of vaibify.yml names more. Exits 0 when every cell ran, or says the "
    "same.",
    leaves="nothing was changed",
)
