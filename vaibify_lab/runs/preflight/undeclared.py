"""Files that a step's code names and the step does not declare: their changes would go unseen."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from vaibify_lab.core.commands import named_by
from vaibify_lab.core.finding import Finding
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import fault_of, is_of_one_machine, shown
from vaibify_lab.files.filenames import ROOT_SIGN, FileUse
from vaibify_lab.files.mentions import Mention
from vaibify_lab.files.shellsource import expanded_by
from vaibify_lab.runs.preflight.declared import Declared
from vaibify_lab.runs.preflight.inspection import Inspection
from vaibify_lab.runs.preflight.said import calls_in, said_in

_DECLARE = "add it to saInputDataFiles, else no envelope holds it"
_DECLARE_ALL = "add them, or their folder, to saInputDataFiles, else no envelope holds them"
_PERHAPS = "if the step reads it, add it to saInputDataFiles; if it runs it, to saScripts"
_PERHAPS_ALL = "if the step reads them, add them, or their folder, to saInputDataFiles"
_FOREIGN = "put the file into the repository and declare it as an input"
_KEPT = "have each run make it anew, or write to another file: a run starts from what one left"
_OF_COMMANDS = "add it to saInputDataFiles"
_MOST_WATCHED = 1000
_ALL_OF_COMMANDS = "add them, or their folder, to saInputDataFiles"


@dataclass(frozen=True, slots=True)
class Undeclared:
    """What is said of something undeclared, and which files it is.

    ``certain``: every run reads them, unless it stops before. Of a file that is not there yet, and
    that nobody is known to make, nothing is said.
    """

    finding: Finding | None
    paths: tuple[str, ...] = ()
    certain: bool = False


def told_of(found: Iterable[Undeclared]) -> Iterator[Finding]:
    """Yield what is to be said of what was found."""
    return (one.finding for one in found if one.finding is not None)


@dataclass(frozen=True, slots=True)
class Watched:
    """Undeclared files of a step whose changes are noticed: it reads some, others it may read.

    ``of_data`` are those of both that its data are made from; known only where plots alone are
    made.
    """

    reads: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    of_data: frozenset[str] = frozenset()

    @property
    def paths(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.reads, *self.names)


def watched_by(found: Iterable[Undeclared]) -> Watched:
    """Return what is to be watched of what was found of a step."""
    told = ((path, one.certain) for one in found for path in one.paths)
    kept = list(islice((one for one in told if fault_of(one[0]) is None), _MOST_WATCHED))
    reads = dict.fromkeys(path for path, certain in kept if certain)
    names = dict.fromkeys(path for path, certain in kept if not certain and path not in reads)
    return Watched(tuple(reads), tuple(names))


def undeclared_in_code(
    inspection: Inspection, step: Step, tests: Sequence[str] = ()
) -> Iterator[Undeclared]:
    """Yield each file of the repository that the code of a step or its tests names, undeclared.

    A warning, for code may never come to it; a sealed run is the proof.
    """
    scan = inspection.code.get(step.slug)
    if scan is None or step.interactive or not step.enabled:
        return
    known = [*step.inputs, *step.outputs, *scan.files, *tests]
    called = frozenset().union(*(calls_in(inspection.tree, path) for path in scan.files))
    looking = _Looking(Declared(inspection, step, known), called)
    for path in (*scan.files, *tests):
        yield from looking.at(path)


def undeclared_in_commands(inspection: Inspection, step: Step) -> Iterator[Undeclared]:
    """Yield files of the repository that commands name and the step does not declare.

    A file that is named is taken as read: what a step writes is told from what became of it.
    """
    scan = inspection.code.get(step.slug)
    named = named_by(step.commands, step.directory)
    known = [*step.inputs, *step.outputs, *(scan.files if scan else ()), *named.scripts]
    known += [*(step.declared_scripts or ()), *filter(None, [step.notebook])]
    declared = Declared(inspection, step, known)
    values = expanded_by(step.commands, step.directory)  # what a shell has put values into
    for path in (*named.mentioned, *values.mentioned):
        if declared.is_missed(path):
            maker = declared.maker(path)
            made = f", which step {maker!r} makes: it is not" if maker else ", which is not"
            text = f"a command names {path!r}{made} declared"
            more = "" if maker else ", or to the outputs if the step makes it"
            known.append(path)
            told = _told(step, text, path, _OF_COMMANDS + more)
            yield Undeclared(told, (path,), named.reads(path) and values.reads(path))
        elif path in (*named.given, *values.given) and not declared.holds(path):
            yield Undeclared(None, (path,), named.reads(path) and values.reads(path))
    for name in (*named.patterns, *values.patterns, *named.given, *values.given):
        is_pattern = name in named.patterns or name in values.patterns
        if paths := declared.missed_by(name) if is_pattern else declared.missed_in(name):
            text = f"a command names {shown(name)!r}: {declared.tell(paths)} not declared"
            told = _told(step, text, paths[0], _ALL_OF_COMMANDS)
            yield Undeclared(told, tuple(paths), is_pattern or declared.is_raw(name, paths))
    yield from _in_variables(step, declared)


def _in_variables(step: Step, declared: Declared) -> Iterator[Undeclared]:
    for name, value in step.environment.items():
        place = _inside(step.directory, value)
        if place and declared.is_missed(place):
            text = f"dictEnvironment: {name} names {shown(place)!r}, which is not declared"
            yield Undeclared(_told(step, text, place, _PERHAPS), (place,))


@dataclass
class _Looking:
    """Tells of each file once."""

    declared: Declared
    called: frozenset[str]
    _written: set[str] = field(default_factory=set)
    _told: set[str] = field(default_factory=set)

    def at(self, path: str) -> Iterator[Undeclared]:
        """Yield what a file of code names."""
        tree, directory = self.declared.inspection.tree, self.declared.step.directory
        uses, mentions = said_in(tree, path, directory, self.called)
        self._written.update(one.path for one in uses if one.writes)
        for use in uses:
            if use.certain and is_of_one_machine(use.path):
                yield from self._elsewhere(path, use)
            elif not use.writes:
                yield from self._read(path, use)
                yield from self._fitting(path, use) if use.is_pattern else ()
        for mention in mentions:
            yield from self._named(path, mention)

    def _elsewhere(self, path: str, use: FileUse) -> Iterator[Undeclared]:
        if use.path not in self._told:
            self._told.add(use.path)
            said = f"names {shown(use.path[:200])!r}, which other people do not have"
            text, slug = f"{_place(path, use.line)} {said}", self.declared.step.slug
            yield Undeclared(Finding("warning", "absolute-path", text, slug, None, _FOREIGN))

    def _read(self, path: str, use: FileUse) -> Iterator[Undeclared]:
        place = _inside(self.declared.step.directory, use.path)
        if place is not None and not self.declared.is_missed(place):
            yield from (
                () if self.declared.holds(place) else (Undeclared(None, (place,), use.certain),)
            )
        elif place is not None:
            maker = self.declared.maker(place)
            made = f", which step {maker!r} makes: it" if maker else ", which"
            is_kept = use.path in self._written
            text = f"reads {shown(place)!r}{made} is not declared"
            told = self._told_at(path, use.line, text, place, _KEPT if is_kept else _DECLARE)
            yield Undeclared(told, (place,), use.certain and not is_kept)

    def _fitting(self, path: str, use: FileUse) -> Iterator[Undeclared]:
        """Yield one finding for a pattern: the first file that fits, and how many more do."""
        pattern = _inside(self.declared.step.directory, use.path)
        places = self.declared.missed_by(pattern) if pattern else ()
        if places:
            name = shown(use.path.removeprefix(ROOT_SIGN))
            text = f"reads {name!r}: {self.declared.tell(places)} not declared"
            told = self._told_at(path, use.line, text, places[0], _DECLARE_ALL)
            yield Undeclared(told, tuple(places), use.certain)

    def _named(self, path: str, mention: Mention) -> Iterator[Undeclared]:
        """Yield what a text names: from the step's folder, or, if it ends a path, near."""
        if mention.text in self._written:
            return
        bases = [self.declared.step.directory, *(_above(path) if mention.is_tail else ())]
        for base in dict.fromkeys(bases):
            place = _inside(base, mention.text)
            if place and self._is_missed_file(place):
                text = f"names {shown(place)!r}, which is not declared"
                told = self._told_at(path, mention.line, text, place, _PERHAPS)
                yield Undeclared(told, (place,))
                return
            if place and (inner := self.declared.missed_in(place)):
                text = (
                    f"names the folder {shown(place)!r}: {self.declared.tell(inner)} not declared"
                )
                told = self._told_at(path, mention.line, text, inner[0], _PERHAPS_ALL)
                yield Undeclared(told, tuple(inner))
                return

    def _is_missed_file(self, place: str) -> bool:
        is_file = self.declared.inspection.place(place).kind == "file"
        return is_file and not self.declared.holds(place)

    def _told_at(self, path: str, line: int, text: str, place: str, action: str) -> Finding:
        self.declared.known.append(place)
        return _told(self.declared.step, f"{_place(path, line)} {text}", place, action)


def _told(step: Step, text: str, path: str, action: str) -> Finding:
    return Finding("warning", "undeclared-input", text, step.slug, path, action)


def _place(path: str, line: int) -> str:
    return shown(path) if path.endswith(".ipynb") else f"{shown(path)}:{line}"


def _above(path: str) -> Iterator[str]:
    """Yield the folder of a file, and those above it."""
    while path:
        path = posixpath.dirname(path)
        yield path


def _inside(base: str, path: str) -> str | None:
    """Return the repository path that a path of the code means; None where it is no such."""
    if "://" in path or posixpath.isabs(path) or "\0" in path:
        return None
    if path.startswith(ROOT_SIGN):
        base, path = "", path.removeprefix(ROOT_SIGN)
    inner = posixpath.normpath(posixpath.join(base, path))
    return None if inner in ("..", ".") or inner.startswith("../") else inner
