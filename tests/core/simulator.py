"""A project without a disk: files are a dict, a run is a function, facts are kept as ours are.

It also writes its own log of what happened, in terms of bytes, from which `truth` judges without
any of the code under test.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from vaibify_lab.core import facts
from vaibify_lab.core.facts import (
    CategoryResult,
    FactFault,
    Facts,
    Pins,
    RunRecord,
    SignOff,
    SignOffs,
)
from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.core.observed import FileState
from vaibify_lab.core.report import StepReport
from vaibify_lab.core.status import derive
from vaibify_lab.core.workflow_file import parse
from vaibify_lab.core.world import Live, World

Bytes = dict[str, bytes | None]


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@lru_cache(64)
def _parsed(text: str) -> Workflow:
    return parse(text.encode(), "workflow.json")


def code_of(step: Step) -> list[str]:
    return list(step.declared_scripts or ())


@dataclass
class Ran:
    """One run as the log has it."""

    run_id: str
    passed: bool
    how: tuple[Any, ...]
    inputs: Bytes
    code: Bytes
    outputs: Bytes


@dataclass
class Lab:
    document: dict[str, Any]
    files: dict[str, bytes]
    records: dict[str, RunRecord | FactFault] = field(default_factory=dict)
    markers: dict[str, facts.TestMarker | FactFault] = field(default_factory=dict)
    signed: dict[str, SignOffs | FactFault] = field(default_factory=dict)
    states: dict[str, FileState] = field(default_factory=dict)
    live: dict[str, Live] = field(default_factory=dict)
    folder_faults: dict[str, str] = field(default_factory=dict)
    image: str | None = None
    lock: str | None = None
    network_isolation: bool = False
    environment_fault: str = ""
    machine: str = "here"
    count: int = 0
    ran: dict[str, list[Ran]] = field(default_factory=dict)
    tested: dict[tuple[str, str], tuple[bool, tuple[Any, ...]]] = field(default_factory=dict)
    vouched: dict[str, tuple[str, str, Bytes]] = field(default_factory=dict)

    # what is there

    @property
    def workflow(self) -> Workflow:
        return _parsed(json.dumps(self.document))

    def step(self, slug: str) -> Step:
        return self.workflow.by_slug[slug]

    def declared(self, slug: str) -> dict[str, Any]:
        number = self.step(slug).number
        return self.document["listSteps"][number - 1]

    def expand(self, paths: Iterable[str]) -> list[str]:
        found: dict[str, None] = {}
        for path in paths:
            if path.endswith("/"):
                found.update(dict.fromkeys(sorted(x for x in self.files if x.startswith(path))))
            else:
                found[path] = None
        return list(found)

    def bytes_of(self, paths: Iterable[str]) -> Bytes:
        return {path: self.files.get(path) for path in self.expand(paths)}

    def tests_of(self, step: Step) -> list[str]:
        return [path for suite in step.suites for path in suite.files]

    def consumed_by_tests(self, step: Step) -> list[str]:
        return [*step.inputs, *step.test_inputs]

    def how(self, step: Step) -> tuple[Any, ...]:
        return (step.commands, *self.around(step))

    def around(self, step: Step) -> tuple[Any, ...]:
        top = self.workflow
        environment = tuple(sorted(step.environment.items()))
        outside = (top.deterministic, self.image, self.lock, self.network_isolation, top.seed)
        return (step.directory, environment, *outside)

    # what happens

    def edit(self, path: str, text: str = "edited") -> None:
        self.files[path] = self.files.get(path, b"") + text.encode() + b"\n"

    def touch(self, path: str) -> None:
        """A new time of change: nothing that the world holds."""

    def delete(self, path: str) -> None:
        self.files.pop(path, None)

    def run(self, slug: str, passes: bool = True, *, flag: bool = False, **changes: Any) -> None:
        """Run a step; ``flag``: deterministic mode was asked for, whatever the workflow says."""
        step = self.step(slug)
        self.count += 1
        run_id = f"run-{self.count}"
        inputs, code = self.bytes_of(step.inputs), self.bytes_of(code_of(step))
        if passes:
            for path in self.expand(one for one in step.outputs if one.endswith("/")):
                del self.files[path]
            for path in step.outputs:
                name = path + "part.csv" if path.endswith("/") else path
                self.files[name] = self._made(step, name)
        outputs = self.bytes_of(step.outputs)
        self.ran.setdefault(slug, []).append(
            Ran(run_id, passes, self.how(step), inputs, code, outputs)
        )
        before = self.records.get(slug)
        record = self._record(step, run_id, inputs, code, outputs if passes else {})
        declared = self.workflow.deterministic
        record = dataclasses.replace(
            record, deterministic=declared or flag, deterministic_by_flag=flag and not declared
        )
        if not passes:
            last = before.passed if isinstance(before, RunRecord) else None
            reason = "ended with exit status 1"
            record = dataclasses.replace(
                record, outcome="failed", reason_code="exit", reason=reason, last_passed=last
            )
        self.records[slug] = dataclasses.replace(record, **changes)

    def _made(self, step: Step, name: str) -> bytes:
        """What a run writes: decided by its inputs, and by its code apart from comments."""
        seen = hashlib.sha256(repr((name, step.commands, dict(step.environment))).encode())
        for path, data in self.bytes_of(step.inputs).items():
            seen.update(path.encode() + (data or b"-"))
        for data in self.bytes_of(code_of(step)).values():
            lines = [line for line in (data or b"").splitlines() if not line.startswith(b"#")]
            seen.update(b"\n".join(lines))
        return seen.hexdigest().encode()

    def _record(
        self, step: Step, run_id: str, inputs: Bytes, code: Bytes, outputs: Bytes
    ) -> RunRecord:
        hashed = [{p: sha(d) for p, d in one.items() if d is not None}
                  for one in (inputs, code, outputs)]  # fmt: skip
        return RunRecord(
            "workflow", step.slug, step.name, "passed", run_id, "2026-01-01T00:00:00Z",
            "2026-01-01T00:00:01Z", person="Ana", machine={"id": self.machine, "host": "lab"},
            directory=step.directory, commands=step.commands, image=self.image, lock=self.lock,
            environment=step.environment, network_isolation=self.network_isolation,
            isolation="container", pins=Pins(*hashed), **self._seed(),
        )  # fmt: skip

    def _seed(self) -> dict[str, Any]:
        """A seed that is declared, else drawn; the number drawn decides nothing."""
        declared = self.workflow.seed
        return {"seed": 5 if declared is None else declared, "seed_declared": declared is not None}

    def test(self, slug: str, passes: bool = True) -> None:
        step = self.step(slug)
        groups = (step.outputs, self.consumed_by_tests(step), self.tests_of(step))
        seen = tuple(self.bytes_of(group) for group in groups)
        results = {}
        for suite in step.suites:
            outcome = "passed" if passes else "failed"
            one = facts.TestResult(f"{suite.category}::test", outcome)
            results[suite.category] = CategoryResult(outcome, suite.commands, 0, 1, (one,))
            how = (suite.commands, *self.around(step))
            self.tested[slug, suite.category] = (passes, (how, *seen))
        hashed = [{p: sha(d) for p, d in one.items() if d is not None} for one in seen]
        around = facts.Surroundings(
            step.directory, step.environment, self.image, self.lock,
            self.workflow.deterministic, self.network_isolation, **self._seed(),
        )  # fmt: skip
        self.markers[slug] = facts.TestMarker(
            "workflow", slug, "run", "now", results, *hashed, around
        )

    def sign(self, slug: str, verdict: str = "passed", **changes: Any) -> None:
        record = self.records.get(slug)
        passed = record.passed if isinstance(record, RunRecord) else None
        run_id = passed.run_id if passed else "none"
        outputs = self.bytes_of(self.step(slug).outputs)
        hashes = {p: sha(d) for p, d in outputs.items() if d is not None}
        entry = SignOff(verdict, "Ana", "now", run_id, hashes, unsigned_reason="no signing key")
        before = self.signed.get(slug)
        earlier = before.entries if isinstance(before, SignOffs) else ()
        entry = dataclasses.replace(entry, **changes)
        self.signed[slug] = SignOffs("workflow", slug, (*earlier, entry))
        self.vouched[slug] = (verdict, run_id, outputs)

    def finish(self, order: Iterable[str]) -> None:
        """Run, test and sign the steps, parents first."""
        for slug in order:
            self.run(slug)
            self.test(slug)
            self.sign(slug)

    # what is seen

    def world(self) -> World:
        top = self.workflow
        wanted: set[str] = set()
        for step in top.steps:
            wanted.update(step.outputs, step.inputs, step.test_inputs, code_of(step))
            wanted.update(self.tests_of(step))
        wanted.update(self._spoken_of())
        folders = {one: tuple(self.expand([one])) for one in wanted if one.endswith("/")}
        files = {path: self._state(path) for path in self.expand(wanted)}
        return World(
            files=files | self.states,
            folders=folders,
            folder_faults=self.folder_faults,
            code={step.slug: tuple(self.expand(code_of(step))) for step in top.steps},
            test_files={step.slug: tuple(self.tests_of(step)) for step in top.steps},
            image=self.image,
            lock=self.lock,
            network_isolation=self.network_isolation,
            environment_fault=self.environment_fault,
            live=self.live,
            machine=self.machine,
        )

    def _spoken_of(self) -> set[str]:
        found: set[str] = set()
        for record in self.records.values():
            passed = record.passed if isinstance(record, RunRecord) else None
            if passed:
                found.update(passed.pins.inputs, passed.pins.code, passed.pins.outputs)
        for signed in self.signed.values():
            if isinstance(signed, SignOffs):
                found.update(signed.entries[-1].hashes)
        return found

    def _state(self, path: str) -> FileState:
        data = self.files.get(path)
        return FileState("missing") if data is None else FileState("file", sha(data), len(data))

    def facts(self) -> Facts:
        return Facts(self.records, self.markers, self.signed)

    def reports(self) -> dict[str, StepReport]:
        return {one.slug: one for one in derive(self.workflow, self.facts(), self.world())}


def said(report: StepReport) -> str:
    """One line: run, tests, person, upstream, green | the reasons' codes and paths."""
    words = [report.run, report.unit_test, report.user]
    words += ["upstream"] * report.upstream_modified + ["green"] * report.green
    reasons = [f"{one.code} {one.path}" if one.path else one.code for one in report.reasons]
    return " ".join(words) + (" | " + ", ".join(reasons) if reasons else "")


# The same questions, answered from the log and the bytes alone.


@dataclass(frozen=True)
class Truth:
    run: str
    upstream: bool
    tests: Mapping[str, str]
    user: str
    green: bool
    modified: frozenset[str]


def truth(lab: Lab, slug: str) -> Truth:
    step = lab.step(slug)
    above = _ancestors(lab.workflow, slug)
    run = _run_state(lab, slug)
    last = _last_passed(lab, slug)
    made = {p for one in step.parents for p in lab.expand(lab.step(one).outputs)}
    eaten = {p: data for p, data in last.inputs.items() if data is not None} if last else {}
    gone = {p for one in step.parents for p in eaten if _makes(lab.step(one), p)}
    consumed = any(lab.files.get(p) != eaten[p] for p in (made | gone) & set(eaten))
    upstream = any(_run_state(lab, one) != "current" for one in above) or consumed
    tests = {suite.category: _test_state(lab, step, suite) for suite in step.suites}
    user = _user_state(lab, slug, last)
    declared = bool(step.inputs) or step.no_input_data
    tested = set(tests.values()) == {"passed"} or (not tests and step.no_tests)
    green = run == "current" and not upstream and tested and user == "passed" and declared
    return Truth(run, upstream, tests, user, green, _modified(lab, step, last))


def _makes(step: Step, path: str) -> bool:
    return any(path == one or (one.endswith("/") and path.startswith(one)) for one in step.outputs)


def _ancestors(workflow: Workflow, slug: str) -> set[str]:
    found: set[str] = set()
    todo = list(workflow.by_slug[slug].parents)
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo += workflow.by_slug[one].parents
    return found


def _last_passed(lab: Lab, slug: str) -> Ran | None:
    return next((one for one in reversed(lab.ran.get(slug, [])) if one.passed), None)


def _run_state(lab: Lab, slug: str) -> str:
    runs = lab.ran.get(slug, [])
    if not runs:
        return "never-run"
    if not runs[-1].passed:
        return "failed"
    step, last = lab.step(slug), runs[-1]
    now = [lab.bytes_of(group) for group in (step.inputs, code_of(step), step.outputs)]
    then = [last.inputs, last.code, last.outputs]
    there = all(None not in one.values() for one in now)
    same = now == then and lab.how(step) == last.how
    return "current" if same and there else "stale"


def _test_state(lab: Lab, step: Step, suite: Any) -> str:
    found = lab.tested.get((step.slug, suite.category))
    if found is None:
        return "untested"
    groups = (step.outputs, lab.consumed_by_tests(step), lab.tests_of(step))
    now = tuple(lab.bytes_of(group) for group in groups)
    there = all(None not in one.values() for one in now)
    if ((suite.commands, *lab.around(step)), *now) != found[1] or not there:
        return "untested"
    return "passed" if found[0] else "failed"


def _user_state(lab: Lab, slug: str, last: Ran | None) -> str:
    found = lab.vouched.get(slug)
    if found is None or last is None:
        return "untested"
    verdict, run_id, outputs = found
    now = lab.bytes_of(lab.step(slug).outputs)
    there = None not in now.values()
    keep = lab.workflow.keep_sign_off_if_identical
    holds = (keep or run_id == last.run_id) and outputs == now and there
    return verdict if holds else "untested"


def _modified(lab: Lab, step: Step, last: Ran | None) -> frozenset[str]:
    if last is None:
        return frozenset()
    found = set()
    for paths, then in ((step.inputs, last.inputs), (step.outputs, last.outputs)):
        now = lab.bytes_of(paths)
        listed = set(now) | {p for p in then if paths is not step.outputs or _makes(step, p)}
        found |= {p for p in listed if now.get(p) is None or now[p] != then.get(p)}
    return frozenset(found)
