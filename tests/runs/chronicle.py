"""What happened to a project, kept by whoever made it happen; from it and the bytes on disk follows
what is true of every step, without any of the code under test.

A fact file counts as what was written down when it came to hold exactly these bytes, and as nothing
when nobody ever saw it written so: a file that git merged out of two says nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from tests.runs.declarations import READ

Bytes = Mapping[str, bytes | None]
KINDS = ("records", "test_markers", "sign_offs")
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Ran:
    """One run of a step; ``last`` is the last that passed before it, when it did not.

    ``beside`` is what it read and did not declare.
    """

    run_id: str
    passed: bool
    how: object
    inputs: Bytes
    code: Bytes
    outputs: Bytes
    last: Ran | None = None
    beside: Bytes = field(default_factory=dict)
    acknowledged: bool = False

    @property
    def good(self) -> Ran | None:
        return self if self.passed else self.last


@dataclass(frozen=True)
class Examined:
    """What each category's tests said, of which bytes, with which variables."""

    said: Mapping[str, bool]
    commands: Mapping[str, tuple[str, ...]]
    seen: tuple[Bytes, Bytes, Bytes]
    variables: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Signed:
    verdict: str
    run_id: str
    outputs: Bytes


@dataclass(frozen=True)
class Truth:
    run: str
    upstream: bool
    tests: Mapping[str, str]
    user: str
    green: bool


@dataclass(frozen=True)
class Declared:
    """A step as the document has it, read by nobody but this."""

    slug: str
    commands: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    code: tuple[str, ...]
    tests: Mapping[str, tuple[str, ...]]
    no_tests: bool

    @property
    def how(self) -> tuple[Any, ...]:
        """What is run, and how."""
        return self.commands, self.variables

    def makes(self, path: str) -> bool:
        """Tell whether a file is an output."""
        return any(path == one or (one[-1] == "/" and path.startswith(one)) for one in self.outputs)

    @classmethod
    def of(cls, step: Mapping[str, Any]) -> Declared:
        commands = tuple(step["saDataCommands"])
        tests = {k: tuple(v["saCommands"]) for k, v in step.get("dictTests", {}).items()}
        return cls(
            slug=step["sName"],
            commands=commands,
            variables=tuple(sorted(step.get("dictEnvironment", {}).items())),
            outputs=tuple(step["saDataFiles"]),
            inputs=tuple(step["saInputDataFiles"]),
            code=scripts(commands),
            tests={name[len("dict") :].lower(): commands for name, commands in tests.items()},
            no_tests=bool(step.get("bNoTests")),
        )


def had(files: Bytes) -> Bytes:
    """Return those that were there: what was missing then may as well not have been declared."""
    return {path: data for path, data in files.items() if data is not None}


def scripts(commands: Iterable[str]) -> tuple[str, ...]:
    """Return the second word of each command: ``bash SCRIPT``."""
    return tuple(dict.fromkeys(command.split()[1] for command in commands))


@dataclass
class Chronicle:
    """Everything that ever happened in one project and its branches."""

    root: Path
    kept: dict[tuple[str, str, bytes], Ran | Examined | Signed] = field(default_factory=dict)

    # what happens

    def note(self, kind: str, slug: str, what: Ran | Examined | Signed) -> None:
        """Keep what a fact file that has just been written stands for."""
        data = self._fact(kind, slug) or b""
        self.kept[kind, slug, data] = what
        if isinstance(what, Ran):
            self.kept[kind, slug, unseen(data)] = replace(what, acknowledged=False)

    def found(self, kind: str, slug: str) -> Any:
        """Return what a fact file stands for now; None without one, UNKNOWN for what nobody wrote.

        A record into which git merged that somebody acknowledged another one says what it said
        before.
        """
        data = self._fact(kind, slug)
        if data is None:
            return None
        found = self.kept.get((kind, slug, data))
        return found or self.kept.get((kind, slug, unseen(data)), UNKNOWN)

    def _fact(self, kind: str, slug: str) -> bytes | None:
        path = self.root / f".vaibify/{kind}/workflow/{slug}.json"
        return path.read_bytes() if path.is_file() else None

    # what is there

    def steps(self) -> dict[str, Declared]:
        """Return the steps as declared now, in the document's order."""
        document = json.loads((self.root / "workflow.json").read_bytes())
        return {one.slug: one for one in map(Declared.of, document["listSteps"])}

    def expand(self, paths: Iterable[str]) -> list[str]:
        found: dict[str, None] = {}
        for path in paths:
            if path.endswith("/"):
                below = sorted(one for one in (self.root / path).rglob("*") if one.is_file())
                found |= dict.fromkeys(str(one.relative_to(self.root)) for one in below)
            else:
                found[path] = None
        return list(found)

    def bytes_of(self, paths: Iterable[str]) -> Bytes:
        return {path: self.read(path) for path in self.expand(paths)}

    def read(self, path: str) -> bytes | None:
        place = self.root / path
        return place.read_bytes() if place.is_file() else None

    def seen_by_tests(self, step: Declared) -> tuple[Bytes, Bytes, Bytes]:
        """Return what the tests depend on; a test file that is not there is part of none."""
        named = scripts(command for commands in step.tests.values() for command in commands)
        files = [path for path in named if self.read(path) is not None]
        return self.bytes_of(step.outputs), self.bytes_of(step.inputs), self.bytes_of(files)

    # what is true

    def truth(self) -> dict[str, Truth]:
        """Return what is true of every step."""
        steps = self.steps()
        return {slug: self._of(step, steps) for slug, step in steps.items()}

    def may_be_signed(self, slug: str) -> bool:
        """Tell whether the outputs are, all of them, what the last passed run wrote."""
        record = self.found("records", slug)
        good = record.good if isinstance(record, Ran) else None
        now = self.bytes_of(self.steps()[slug].outputs)
        return good is not None and all(
            data is not None and good.outputs.get(path) == data for path, data in now.items()
        )

    def _of(self, step: Declared, steps: Mapping[str, Declared]) -> Truth:
        record = self.found("records", step.slug)
        good = record.good if isinstance(record, Ran) else None
        beside = {slug: self._beside(slug) for slug in steps}
        above = ancestors(step, steps, beside)
        run = self._run(step)
        moved = self._eaten_differs(good, [steps[one] for one in parents(step, steps, beside)])
        upstream = moved or any(self._run(steps[one]) != "current" for one in above)
        tests = {name: self._tests(step, name) for name in step.tests}
        user = self._user(step, good)
        tested = set(tests.values()) == {"passed"} or (not tests and step.no_tests)
        green = run == "current" and not upstream and tested and user == "passed"
        return Truth(run, upstream, tests, user, green and bool(step.inputs))

    def _beside(self, slug: str) -> tuple[str, ...]:
        """Return what the last passed run of a step read and did not declare."""
        record = self.found("records", slug)
        good = record.good if isinstance(record, Ran) else None
        return tuple(good.beside) if good is not None else ()

    def _run(self, step: Declared) -> str:
        record = self.found("records", step.slug)
        if record is None:
            return "never-run"
        if record == UNKNOWN:
            return UNKNOWN
        if not record.passed and not record.acknowledged:
            return "failed"
        good = record.good
        if good is None:
            return "never-run"
        now = [self.bytes_of(group) for group in (step.inputs, step.code, step.outputs)]
        then = [had(group) for group in (good.inputs, good.code, good.outputs)]
        there = all(None not in one.values() for one in now)
        known = {path for group in now for path in group}
        same = all(self.read(path) == good.beside[path] for path in {*good.beside} - known)
        return "current" if there and now == then and same and step.how == good.how else "stale"

    def files(self) -> Bytes:
        """Return every file of the project, but for git's and ours."""
        below = self.expand(["./"])
        return self.bytes_of(path for path in below if not path.startswith((".git/", ".vaibify/")))

    def read_beside(self, step: Declared, there: Bytes, before: Bytes) -> Bytes:
        """Return what the code of a step reads and it does not declare.

        ``there`` is what lies there when it starts, ``before`` what did when the run began, by
        which patterns are read.
        """
        declared = (*step.inputs, *step.outputs, *step.code)
        texts = [(self.read(path) or b"").decode() for path in step.code]
        names = [name for text in texts for name in READ.get(text, ())]
        found = {
            path: data
            for path, data in there.items()
            if path in names
            or any("*" in one and fnmatch(path, one) for one in names if path in before)
        }
        return {
            path: data
            for path, data in found.items()
            if not any(path == one or (one[-1] == "/" and path.startswith(one)) for one in declared)
        }

    def _eaten_differs(self, good: Ran | None, above: list[Declared]) -> bool:
        eaten = good.inputs if good else {}
        made = [one for path in above for one in path.outputs]
        mine = [path for path in eaten if any(path == one or path.startswith(one) for one in made)]
        return any(self.read(path) != eaten[path] for path in mine if eaten[path] is not None)

    def _tests(self, step: Declared, name: str) -> str:
        marker = self.found("test_markers", step.slug)
        if marker == UNKNOWN:
            return UNKNOWN
        if marker is None or name not in marker.said:
            return "untested"
        now = self.seen_by_tests(step)
        there = all(None not in one.values() for one in now)
        same = (now, step.variables) == (tuple(map(had, marker.seen)), marker.variables)
        if marker.commands[name] != step.tests[name] or not same or not there:
            return "untested"
        return "passed" if marker.said[name] else "failed"

    def _user(self, step: Declared, good: Ran | None) -> str:
        signed = self.found("sign_offs", step.slug)
        if signed == UNKNOWN:
            return UNKNOWN
        if signed is None or good is None or signed.run_id != good.run_id:
            return "untested"
        now = self.bytes_of(step.outputs)
        holds = None not in now.values() and now == signed.outputs
        return signed.verdict if holds else "untested"


def unseen(data: bytes) -> bytes:
    """Return a record without the acknowledgement of its end; other bytes as they are."""
    try:
        record = json.loads(data)
    except ValueError:
        return data
    return json.dumps({**record, "acknowledged": None}).encode()


def parents(
    step: Declared, steps: Mapping[str, Declared], beside: Mapping[str, tuple[str, ...]]
) -> list[str]:
    """Return the steps of whose outputs it declares one as its input, or read one undeclared."""
    read = (*step.inputs, *beside[step.slug])
    return [
        other.slug
        for other in steps.values()
        if other is not step
        and any(path == one or path.startswith(one) for path in read for one in other.outputs)
    ]


def ancestors(
    step: Declared, steps: Mapping[str, Declared], beside: Mapping[str, tuple[str, ...]]
) -> set[str]:
    found: set[str] = set()
    todo = parents(step, steps, beside)
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += parents(steps[one], steps, beside)
    return found
