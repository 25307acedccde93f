"""Pins verified: what recorded runs read and wrote, beside what is there now, the whole way back.

Pure: a look's workflow, facts and files in, an answer out. A step whose input another step makes
rests on that step's pins too; the first step, in the order of the workflow, of which something does
not hold is where its chain breaks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vaibify_lab.core import differences
from vaibify_lab.core.facts import FactFault, Facts, RunRecord
from vaibify_lab.core.graph import workflow_order
from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.core.observed import FileKind, FileState
from vaibify_lab.core.paths import shown
from vaibify_lab.core.world import World
from vaibify_lab.provenance.added import Added, Role, Status, added_since
from vaibify_lab.provenance.versions import Versions

_WORST: tuple[Status, ...] = ("missing", "modified", "unknown")
_OF_KIND: Mapping[FileKind, Status] = {
    "missing": "missing",
    "lfs-pointer": "missing",  # the content was not fetched
    "link": "modified",
    "not-regular": "modified",
    "unreadable": "unknown",
    "changing": "unknown",
}


@dataclass(frozen=True, slots=True)
class Pinned:
    """One content that a run read or wrote, beside what is there now.

    ``maker`` is the step that makes the artifact, None for one that no step makes.
    """

    path: str
    role: Role
    sha256: str
    version: int
    status: Status
    now: str | None
    maker: str | None = None
    text: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the pin itself, with the key names of the requirement document."""
        pin = {
            "artifact_id": self.path,
            "version_number": self.version,
            "content_hash": f"sha256:{self.sha256}",
        }
        if self.role == "output":
            return pin
        return {**pin, "role": self.role, "made_by": self.maker}

    def check(self) -> dict[str, Any]:
        """Return what a check of it said."""
        value: dict[str, Any] = {"artifact_id": self.path, "role": self.role}
        value |= {"status": self.status, "version_number": self.version}
        if self.status != "verified":
            value["expected_hash"] = f"sha256:{self.sha256}"
            value["current_hash"] = self.now and f"sha256:{self.now}"
        return value | ({"text": self.text} if self.text else {})


@dataclass(frozen=True, slots=True)
class StepPins:
    """What the last passed run of a step pinned; ``fault`` says why nobody knows."""

    slug: str
    run_id: str | None = None
    contents: tuple[Pinned, ...] = ()
    added: tuple[Added, ...] = ()
    fault: str = ""

    @property
    def status(self) -> Status:
        """The worst of its contents, and of what was added since."""
        if self.fault:
            return "unknown"
        found = [*(one.status for one in self.contents), *(one.status for one in self.added)]
        return _worst(found) if found else "no-pins"

    @property
    def version(self) -> int | None:
        """The number of the newest content that it made; None where it made nothing."""
        return max((one.version for one in self.of("output")), default=None)

    def of(self, *roles: Role) -> tuple[Pinned, ...]:
        """Return the contents of some roles."""
        return tuple(one for one in self.contents if one.role in roles)


@dataclass(frozen=True, slots=True)
class Break:
    """Where a chain does not hold: at which step, at what of it, and why."""

    step: str
    status: Status
    text: str
    path: str | None = None
    pinned: Pinned | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        value = {"artifact_id": self.path, "status": self.status}
        check = self.pinned.check() if self.pinned else value
        return {"analysis_id": self.step, **check, "text": self.text}


@dataclass(frozen=True, slots=True)
class Chain:
    """Steps in the order of the workflow, each with its pins, and where they do not hold.

    ``going_on`` says of each that a run is at now: its files are on their way.
    """

    steps: tuple[StepPins, ...]
    breaks: tuple[Break, ...]
    going_on: tuple[str, ...] = ()

    @property
    def status(self) -> Status:
        """The worst that was found on the whole way."""
        if not self.breaks and not any(one.contents for one in self.steps):
            return "no-pins"
        return _worst(one.status for one in self.breaks)

    @property
    def broken_at(self) -> str | None:
        """The first step at which something does not hold."""
        return self.breaks[0].step if self.breaks else None

    def to_json(self) -> dict[str, Any]:
        """Return what a check of the whole chain said."""
        return {
            "status": self.status,
            "broken_at": self.broken_at,
            "breaks": [one.to_json() for one in self.breaks],
        }


class PinCheck:
    """The pins of a workflow's steps against one look at the files."""

    def __init__(self, workflow: Workflow, facts: Facts, world: World, versions: Versions) -> None:
        self.workflow = workflow
        self._facts, self._world, self._versions = facts, world, versions
        self._makers = {path: step.slug for step in workflow.steps for path in step.outputs}
        self._order = {slug: rank for rank, slug in enumerate(workflow_order(workflow))}
        self._checked: dict[str, StepPins] = {}

    def maker(self, path: str) -> str | None:
        """Return the step that declares a file as its output, by itself or by a folder."""
        place, found = path, self._makers.get(path)
        while found is None and "/" in place:
            place = place.rpartition("/")[0]
            found = self._makers.get(f"{place}/")
        return found

    def of(self, slug: str) -> StepPins:
        """Return a step's pins, each checked."""
        if slug not in self._checked:
            self._checked[slug] = self._check(self.workflow.by_slug[slug])
        return self._checked[slug]

    def chain(self, slug: str) -> Chain:
        """Return a step and, the whole way back, the steps that what it read came from."""
        seen, todo = {slug}, [slug]
        while todo:
            for maker in self._makers_behind(todo.pop()):
                if maker not in seen:
                    seen.add(maker)
                    todo.append(maker)
        return self._chain(seen)

    def whole(self) -> Chain:
        """Return every step of the workflow."""
        return self._chain(self._order)

    def _makers_behind(self, slug: str) -> Iterator[str]:
        for one in self.of(slug).of("input", "code"):
            if one.maker is not None and one.maker != slug:
                yield one.maker

    def _chain(self, slugs: Iterable[str]) -> Chain:
        steps = [self.of(slug) for slug in sorted(slugs, key=self._order.__getitem__)]
        wanted: dict[str, dict[str, Pinned]] = {}
        for step in steps:
            for one in step.of("input", "code"):
                if one.maker is not None and one.maker != step.slug:
                    wanted.setdefault(one.maker, {})[one.path] = one
        is_empty = not any(step.contents or step.added or step.fault for step in steps)
        breaks = [
            broken
            for step in steps
            for broken in self._breaks(step, wanted.get(step.slug, {}))
            if not is_empty
        ]
        live = ((one.slug, self._world.live.get(one.slug)) for one in steps)
        going_on = tuple(f"{slug} {one.text}" for slug, one in live if one is not None)
        return Chain(tuple(steps), tuple(breaks), going_on)

    def _breaks(self, step: StepPins, wanted: Mapping[str, Pinned]) -> Iterator[Break]:
        """Yield what of a step does not hold; ``wanted`` is what others read of its outputs."""
        if step.fault or step.run_id is None:
            text = step.fault or f"no run of step {step.slug!r} that passed is on record"
            yield Break(step.slug, "unknown", text)
            return
        made = {one.path for one in step.of("output")}
        unmade = wanted.keys() - made
        for path in sorted(unmade):
            text = f"its last passed run did not make {shown(path)}"
            yield Break(step.slug, "unknown", text, path)
        for one in step.contents:
            if one.status != "verified":
                text = one.text or f"{one.role} {shown(one.path)} is {one.status}"
                yield Break(step.slug, one.status, text, one.path, one)
        for new in (one for one in step.added if one.path not in unmade):
            yield Break(step.slug, new.status, new.text, new.path)

    def _check(self, step: Step) -> StepPins:
        record = self._facts.records.get(step.slug)
        if isinstance(record, FactFault):
            return StepPins(step.slug, fault=f"its record cannot be believed: {record.text}")
        passed = record.passed if record is not None else None
        if passed is None:
            return StepPins(step.slug)
        added = tuple(added_since(step, passed, self._world))
        return StepPins(step.slug, passed.run_id, tuple(self._contents(step, passed)), added)

    def _contents(self, step: Step, passed: RunRecord) -> Iterator[Pinned]:
        code = differences.code_pins(step, passed, self._world)
        yield from self._those("input", passed.pins.inputs, passed.pins.inputs)
        yield from self._those("code", passed.pins.code, code)
        # an output that was withdrawn since is nobody's, or another step's
        made = {path: passed.pins.outputs[path] for path in step.made_among(passed.pins.outputs)}
        yield from self._those("output", made, made)

    def _those(
        self, role: Role, pins: Mapping[str, str], standing: Mapping[str, str]
    ) -> Iterator[Pinned]:
        """Yield the contents of a role; ``standing`` are the hashes that may stand for them now."""
        for path, sha256 in sorted(pins.items()):
            state = self._world.state(path)
            status = _status(state, standing[path])
            maker = None if role == "output" else self.maker(path)
            text = self._why(path, state, status, maker)
            if status == "verified" and state.sha256 != sha256:
                text = f"{shown(path)} was saved again; what runs in it is the same"
            number = self._versions.of(path, sha256)
            now = state.sha256 if state.kind == "file" else None
            yield Pinned(path, role, sha256, number, status, now, maker, text)

    def _why(self, path: str, state: FileState, status: Status, maker: str | None) -> str:
        """Say what the status leaves open."""
        if state.kind not in ("file", "missing"):
            return differences.describe(path, state)
        record = self._facts.records.get(maker or "")
        passed = record.passed if isinstance(record, RunRecord) else None
        if status == "modified" and passed and passed.pins.outputs.get(path) == state.sha256:
            return f"step {maker!r} has made {shown(path)} anew since"
        return ""


def _status(state: FileState, expected: str) -> Status:
    if state.kind == "file":
        return "verified" if state.sha256 == expected else "modified"
    return _OF_KIND[state.kind]


def _worst(found: Iterable[Status]) -> Status:
    there = frozenset(found)
    return next((one for one in _WORST if one in there), "verified")
