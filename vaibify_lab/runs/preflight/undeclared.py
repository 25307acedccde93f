"""Files that a step's code names and the step does not declare: their changes would go unseen."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.finding import Finding
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import is_of_one_machine, shown
from vaibify_lab.files.filenames import FileReader, FileUse
from vaibify_lab.files.mentions import Mention, mentions_in
from vaibify_lab.notebooks.foretell.telling import Telling
from vaibify_lab.provenance.compare.notebook_file import read_notebook
from vaibify_lab.runs.preflight.declared import Declared
from vaibify_lab.runs.preflight.inspection import Inspection

_DECLARE = "add it to saInputDataFiles, else nobody is told when it changes"
_DECLARE_ALL = "add them, or their folder, to saInputDataFiles: else a change of them goes unseen"
_PERHAPS = "if the step reads it, add it to saInputDataFiles; if it runs it, to saScripts"
_PERHAPS_ALL = "if the step reads them, add them, or their folder, to saInputDataFiles"
_FOREIGN = "put the file into the repository and declare it as an input"
_KEPT = "declare it as an output, or remove it in the step: a run would start from what one left"


def undeclared_findings(
    inspection: Inspection, step: Step, tests: Sequence[str] = ()
) -> Iterator[Finding]:
    """Yield each file of the repository that the Python of a step or its tests names, undeclared.

    A warning, for code may never come to it; a sealed run is the proof.
    """
    scan = inspection.code.get(step.slug)
    if scan is None or step.interactive or not step.enabled:
        return
    known = [*step.inputs, *step.outputs, *scan.files, *tests]
    looking = _Looking(Declared(inspection, step, known))
    for path in (*scan.files, *tests):
        yield from looking.at(path)


@dataclass
class _Looking:
    """Tells of each file once."""

    declared: Declared
    _written: set[str] = field(default_factory=set)
    _told: set[str] = field(default_factory=set)

    def at(self, path: str) -> Iterator[Finding]:
        """Yield what a file of code names."""
        reader, pieces = FileReader(), _trees(self.declared.inspection, path)
        uses = [use for tree in pieces for use in reader.read(tree)]
        self._written.update(one.path for one in uses if one.writes)
        for use in uses:
            if use.certain and is_of_one_machine(use.path):
                yield from self._elsewhere(path, use)
            elif not use.writes:
                yield from self._read(path, use)
                yield from self._fitting(path, use) if use.is_pattern else ()
        for tree in pieces:
            for mention in mentions_in(tree):
                yield from self._named(path, mention)

    def _elsewhere(self, path: str, use: FileUse) -> Iterator[Finding]:
        if use.path not in self._told:
            self._told.add(use.path)
            said = f"names {shown(use.path[:200])!r}, which other people do not have"
            text, slug = f"{_place(path, use.line)} {said}", self.declared.step.slug
            yield Finding("warning", "absolute-path", text, slug, None, _FOREIGN)

    def _read(self, path: str, use: FileUse) -> Iterator[Finding]:
        place = _inside(self.declared.step.directory, use.path)
        if place is not None and self.declared.is_missed(place):
            maker = self.declared.maker(place)
            made = f", which step {maker!r} makes: it" if maker else ", which"
            action = _KEPT if use.path in self._written else _DECLARE
            text = f"reads {shown(place)!r}{made} is not declared"
            yield self._finding(path, use.line, text, place, action)

    def _fitting(self, path: str, use: FileUse) -> Iterator[Finding]:
        """Yield one finding for a pattern: the first file that fits, and how many more do."""
        pattern = _inside(self.declared.step.directory, use.path)
        places = self.declared.missed_by(pattern) if pattern else ()
        if places:
            text = f"reads {shown(use.path)!r}: {self.declared.tell(places)} not declared"
            yield self._finding(path, use.line, text, places[0], _DECLARE_ALL)

    def _named(self, path: str, mention: Mention) -> Iterator[Finding]:
        """Yield what a text names: from the step's folder, or, if it ends a path, near."""
        if mention.text in self._written:
            return
        bases = [self.declared.step.directory, *(_above(path) if mention.is_tail else ())]
        for base in dict.fromkeys(bases):
            place = _inside(base, mention.text)
            if place and self._is_missed_file(place):
                text = f"names {shown(place)!r}, which is not declared"
                yield self._finding(path, mention.line, text, place, _PERHAPS)
                return
            if place and (inner := self.declared.missed_in(place)):
                text = (
                    f"names the folder {shown(place)!r}: {self.declared.tell(inner)} not declared"
                )
                yield self._finding(path, mention.line, text, inner[0], _PERHAPS_ALL)
                return

    def _is_missed_file(self, place: str) -> bool:
        is_file = self.declared.inspection.place(place).kind == "file"
        return is_file and not self.declared.holds(place)

    def _finding(self, path: str, line: int, text: str, place: str, action: str) -> Finding:
        self.declared.known.append(place)
        text = f"{_place(path, line)} {text}"
        slug = self.declared.step.slug
        return Finding("warning", "undeclared-input", text, slug, place, action)


def _place(path: str, line: int) -> str:
    return shown(path) if path.endswith(".ipynb") else f"{shown(path)}:{line}"


def _trees(inspection: Inspection, path: str) -> list[ast.Module]:
    """Return the Python of a file, parsed: of a script, or of a notebook's cells."""
    try:
        data = inspection.tree.read(path)
        if path.endswith(".ipynb"):
            return [cell.tree for cell in Telling.of(path, read_notebook(data, path)).cells]
    except VaibifyError:
        return []  # which is said as such
    if not path.endswith((".py", ".ipy")):
        return []
    return [Telling.of_script(path, data.decode("utf-8", "replace")).cells[0].tree]


def _above(path: str) -> Iterator[str]:
    """Yield the folder of a file, and those above it."""
    while path:
        path = posixpath.dirname(path)
        yield path


def _inside(base: str, path: str) -> str | None:
    """Return the repository path that a path of the code means; None where it is no such."""
    if "://" in path or posixpath.isabs(path) or "\0" in path:
        return None
    inner = posixpath.normpath(posixpath.join(base, path))
    return None if inner in ("..", ".") or inner.startswith("../") else inner
