"""``derive``: what is true of every step now, from facts and bytes. Pure: no clock, no disk.

The rules are those of the design's state document; the first that fits decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vaibify_lab.core import differences
from vaibify_lab.core.facts import FactFault, Facts, RunRecord, SignOff, SignOffs, TestMarker
from vaibify_lab.core.graph import workflow_order
from vaibify_lab.core.model import Category, Step, Workflow
from vaibify_lab.core.paths import is_within, shown
from vaibify_lab.core.report import Reason, RunState, StepReport, TestState, UserState
from vaibify_lab.core.world import World


def derive(workflow: Workflow, facts: Facts, world: World) -> tuple[StepReport, ...]:
    """Return one report per step, in the workflow's order."""
    done: dict[str, StepReport] = {}
    for slug in workflow_order(workflow):
        done[slug] = _Look(workflow, facts, world, workflow.by_slug[slug], done).report()
    return tuple(done[step.slug] for step in workflow.steps)


@dataclass(frozen=True, slots=True)
class _Look:
    """One step seen with its facts, the world, and the reports of its parents."""

    workflow: Workflow
    facts: Facts
    world: World
    step: Step
    parents: Mapping[str, StepReport]

    def report(self) -> StepReport:
        record = self.facts.records.get(self.step.slug)
        passed = record.passed if isinstance(record, RunRecord) else None
        changed = self._differences(passed)
        run, reasons = self._run(record, changed)
        tests = {
            name: self._category(name) for name in ("integrity", "qualitative", "quantitative")
        }
        states = [state for state, _ in tests.values()]
        reasons += [reason for _, why in tests.values() for reason in why]
        unit = _unit_test(states)
        if unit == "none" and not self.step.no_tests:
            action = "add dictTests, or declare bNoTests"
            reasons.append(
                Reason("no-tests", "has no tests and does not declare that", None, action)
            )
        user, why_user = self._user(passed)
        upstream = list(self._upstream(passed))
        declared = bool(self.step.inputs) or self.step.no_input_data
        if not declared:
            reasons.append(_NO_INPUTS)
        if not self.step.enabled:
            reasons.append(Reason("disabled", "is disabled", None, "set bEnabled, or remove it"))
        tested = unit == "passed" or (unit == "none" and self.step.no_tests)
        green = run == "current" and tested and user == "passed" and not upstream and declared
        return StepReport(
            slug=self.step.slug,
            name=self.step.name,
            kind=self.step.kind,
            run=run,
            integrity=tests["integrity"][0],
            qualitative=tests["qualitative"][0],
            quantitative=tests["quantitative"][0],
            unit_test=unit,
            user=user,
            upstream_modified=bool(upstream),
            modified_files=_modified(changed),
            green=green and self.step.enabled,
            reasons=(*reasons, *why_user, *upstream),
            notes=tuple(self._notes(passed)),
            isolation=passed.isolation if passed else None,
            inputs_declared=declared,
            sealed=bool(passed and passed.sealed),
            enabled=self.step.enabled,
        )

    def _differences(self, passed: RunRecord | None) -> list[Reason]:
        if passed is None:
            return []
        return list(differences.since(self.step, passed, self.workflow, self.world))

    def _run(
        self, record: RunRecord | FactFault | None, changed: list[Reason]
    ) -> tuple[RunState, list[Reason]]:
        live = self.world.live.get(self.step.slug)
        if live is not None and live.state != "interrupted":
            return live.state, [Reason(live.state, live.text or f"is {live.state}")]
        if isinstance(record, FactFault):
            return "unknown", [Reason("record-unusable", record.text, record.path, record.action)]
        if live is not None:
            return "interrupted", [Reason("interrupted", live.text, None, _RUN_AGAIN)]
        if record is None:
            return "never-run", [Reason("never-run", "has never been run", None, _RUN_AGAIN)]
        if record.outcome != "passed" and record.acknowledged is None:
            code = record.reason_code or record.outcome
            text = record.reason or f"the last run {record.outcome}"
            state: RunState = "failed" if record.outcome == "failed" else "interrupted"
            return state, [Reason(code, text, None, _RUN_AGAIN), *changed]
        if record.passed is None:
            return "never-run", [Reason("never-run", "no run has passed yet", None, _RUN_AGAIN)]
        return self._compared(changed)

    def _compared(self, changed: list[Reason]) -> tuple[RunState, list[Reason]]:
        if self.world.environment_fault:
            text = self.world.environment_fault
            return "unknown", [Reason("environment-unusable", text), *changed]
        unknown = [one for one in changed if one.code.rsplit("-", 1)[-1] in differences.UNKNOWABLE]
        if unknown:
            return "unknown", unknown + [one for one in changed if one not in unknown]
        return ("stale" if changed else "current"), changed

    def _category(self, category: Category) -> tuple[TestState, list[Reason]]:
        commands = tuple(
            command
            for suite in self.step.suites
            if suite.category == category
            for command in suite.commands
        )
        if not commands:
            return "none", []
        marker = self.facts.markers.get(self.step.slug)
        if isinstance(marker, FactFault):
            return "unknown", [Reason("marker-unusable", marker.text, marker.path, marker.action)]
        if marker is None or category not in marker.categories:
            return "untested", [_untested(category, "have not been run")]
        result = marker.categories[category]
        if result.commands != commands:
            return "untested", [_untested(category, "have other commands than when they ran")]
        if result.collected == 0 and result.outcome != "failed":
            return "untested", [_untested(category, "collected no test")]
        stale = self._first_changed_since(marker)
        if stale is not None:
            text = f"ran before {shown(stale)} changed"
            return "untested", [_untested(category, text, stale)]
        if result.outcome == "failed":
            bad = [one.name for one in result.tests if one.outcome not in ("passed", "skipped")]
            text = f"failed: {', '.join(bad[:5]) or result.detail or 'see the log'}"
            return "failed", [Reason(f"{category}-failed", f"{category} tests {text}")]
        if result.outcome == "unknown":
            return "unknown", [Reason(f"{category}-unknown", result.detail or "tests told nothing")]
        return "passed", []

    def _first_changed_since(self, marker: TestMarker) -> str | None:
        inputs = self.world.expand((*self.step.inputs, *self.step.test_inputs))
        tests = self.world.test_files.get(self.step.slug, ())
        groups = (
            (self.world.outputs(self.step), marker.output_hashes),
            (inputs, marker.input_hashes),
            (tests, marker.test_hashes),
        )
        for paths, then in groups:
            now = dict.fromkeys(paths)
            for path in now | dict.fromkeys(then):
                state = self.world.state(path)
                listed = path in then and path in now
                if not listed or state.kind != "file" or state.sha256 != then[path]:
                    return path
        return None

    def _user(self, passed: RunRecord | None) -> tuple[UserState, list[Reason]]:
        found = self.facts.sign_offs.get(self.step.slug)
        sign = f"jupyter vaibify sign-off {self.step.slug} --pass"
        if isinstance(found, FactFault):
            return "unknown", [Reason("sign-off-unusable", found.text, found.path, found.action)]
        if not isinstance(found, SignOffs):
            return "untested", [Reason("not-signed", "nobody has signed it off", None, sign)]
        entry = found.entries[-1]
        if entry.signature_state == "invalid":
            text = (
                f"the signature of {entry.by} does not fit the sign-off: it was edited afterwards"
            )
            return "unknown", [Reason("signature-invalid", text, None, sign)]
        why = self._sign_off_gone(entry, passed)
        if why is not None:
            return "untested", [Reason("sign-off-gone", why[0], why[1], sign)]
        if entry.verdict == "failed":
            said = f": {entry.note}" if entry.note else ""
            return "failed", [Reason("signed-failed", f"{entry.by} signed it as failed{said}")]
        return "passed", []

    def _sign_off_gone(
        self, entry: SignOff, passed: RunRecord | None
    ) -> tuple[str, str | None] | None:
        if passed is None:
            return "no run has passed that it could be about", None
        if entry.run_id != passed.run_id and not self.workflow.keep_sign_off_if_identical:
            return f"the step was run again after {entry.by} signed", None
        now = dict.fromkeys(self.world.outputs(self.step))
        for path in now | dict.fromkeys(entry.hashes):
            if path not in entry.hashes:
                return f"{shown(path)} is not among what {entry.by} signed", path
            state = self.world.state(path)
            if path not in now or state.kind != "file" or state.sha256 != entry.hashes[path]:
                return f"{differences.describe(path, state)} since {entry.by} signed", path
        return None

    def _upstream(self, passed: RunRecord | None) -> Iterator[Reason]:
        for slug in self.step.parents:
            parent = self.parents[slug]
            if parent.run != "current":
                text = f"upstream step {slug!r} is {parent.run}"
                yield Reason("upstream-" + parent.run, text, None, "jupyter vaibify run")
            elif parent.upstream_modified:
                text = f"something upstream of {slug!r} was modified"
                yield Reason("upstream-modified", text, None, "jupyter vaibify run")
            if passed is not None:
                yield from self._consumed_differs(slug, passed)

    def _consumed_differs(self, parent: str, passed: RunRecord) -> Iterator[Reason]:
        made = self.workflow.by_slug[parent].outputs
        for path, pinned in passed.pins.inputs.items():
            if any(is_within(path, one) for one in made):
                state = self.world.state(path)
                if state.sha256 != pinned:
                    text = f"{shown(path)} of {parent!r} is not what this step's run consumed"
                    yield Reason("upstream-output-changed", text, path)

    def _notes(self, passed: RunRecord | None) -> Iterator[Reason]:
        if passed is None:
            return
        if self.world.machine and passed.machine.get("id") != self.world.machine:
            who = passed.person or "somebody"
            place = passed.machine.get("host", "another machine")
            text = f"recorded by {who} on {place}, not on this machine"
            yield Reason("recorded-elsewhere", text)
        if passed.isolation == "none":
            yield Reason("not-isolated", "ran without isolation, not in a container")
        elif passed.isolation == "sandbox":
            yield Reason("not-in-container", "ran in a sandbox, not in a container")
        if passed.cached_from:
            yield Reason("cached", f"cached from run {passed.cached_from}")
        for path in passed.undeclared_writes[:20]:
            yield Reason("undeclared-write", f"it also wrote {shown(path)}, undeclared", path)
        found = self.facts.sign_offs.get(self.step.slug)
        if isinstance(found, SignOffs) and found.entries[-1].signature_state != "valid":
            why = found.entries[-1].unsigned_reason or "its signature was not checked here"
            yield Reason("unsigned", f"the sign-off is not verified by a signature: {why}")


_RUN_AGAIN = "jupyter vaibify run"
_NO_TESTS = Reason(
    "no-tests",
    "has no tests and does not declare that",
    None,
    "add dictTests, or declare bNoTests",
)
_NO_INPUTS = Reason(
    "inputs-undeclared",
    "declares no input data",
    None,
    "list saInputDataFiles, or declare bNoInputData",
)


def _untested(category: str, text: str, path: str | None = None) -> Reason:
    return Reason(f"{category}-untested", f"{category} tests {text}", path, "jupyter vaibify test")


def _unit_test(states: list[TestState]) -> TestState:
    """Return the worst of the three: failed, unknown, untested, passed, none."""
    for state in ("failed", "unknown", "untested", "passed"):
        if state in states:
            return state
    return "none"


def _modified(changed: list[Reason]) -> tuple[str, ...]:
    roles = ("output-", "input-")
    return tuple(
        dict.fromkeys(one.path for one in changed if one.path and one.code.startswith(roles))
    )
