"""``derive``: what is true of every step now, from facts and bytes. Pure: no clock, no disk.

The rules are those of the design's state document; the first that fits decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vaibify_lab.core import differences
from vaibify_lab.core.facts import FactFault, Facts, RunRecord, SignOffs, TestMarker
from vaibify_lab.core.graph import workflow_order
from vaibify_lab.core.model import CATEGORIES, Step, Workflow
from vaibify_lab.core.paths import shown
from vaibify_lab.core.report import Reason, RunState, StepReport, TestState
from vaibify_lab.core.verification import of_category, of_person, why_due
from vaibify_lab.core.world import Live, World


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
        marker = self.facts.markers.get(self.step.slug)
        tests = {
            name: of_category(self.step, name, marker, self.workflow, self.world)
            for name in CATEGORIES
        }
        states = [state for state, _ in tests.values()]
        why_tests = [reason for _, why in tests.values() for reason in why]
        reasons += why_tests
        unit = _unit_test(states)
        if unit == "none" and not self.step.no_tests:
            reasons.append(_NO_TESTS)
        signed = self.facts.sign_offs.get(self.step.slug)
        user, why_user = of_person(
            self.step, signed, passed, self.world, self.workflow.keep_sign_off_if_identical
        )
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
            deterministic=bool(passed and passed.deterministic),
            enabled=self.step.enabled,
            in_pinned_image=_in_pinned_image(passed, self.world),
            tests_due=why_due(why_tests) if run == "current" else None,
            ended=record.ended if isinstance(record, RunRecord) else None,
            tested=marker.when if isinstance(marker, TestMarker) else None,
            signed=signed.entries[-1].when if isinstance(signed, SignOffs) else None,
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
            return live.state, [self._going(live)]
        if isinstance(record, FactFault):
            return "unknown", [Reason("record-unusable", record.text, record.path, record.action)]
        if live is not None:
            return "interrupted", [Reason("interrupted", live.text, None, self._again)]
        if record is None:
            return "never-run", [Reason("never-run", "has never been run", None, self._again)]
        if record.outcome != "passed" and record.acknowledged is None:
            code = record.reason_code or record.outcome
            text = record.reason or f"the last run {record.outcome}"
            state: RunState = "failed" if record.outcome == "failed" else "interrupted"
            again = None if _RUN_AGAIN in text else self._again  # a record's reason may say it
            return state, [Reason(code, text, None, again), *changed]
        if record.passed is None:
            return "never-run", [Reason("never-run", "no run has passed yet", None, self._again)]
        return self._compared(changed)

    @property
    def _again(self) -> str | None:
        """What to type; of a disabled step it is said what to do before that."""
        return _RUN_AGAIN if self.step.enabled else None

    def _going(self, live: Live) -> Reason:
        code, action = live.state, None
        if live.state == "waiting":
            verb = "resume" if live.paused else "attach"
            action = f"jupyter vaibify {verb} {self.step.slug}"
        text = live.text or f"is {live.state}"
        return Reason("paused" if live.paused else code, text, None, action)

    def _compared(self, changed: list[Reason]) -> tuple[RunState, list[Reason]]:
        if self.world.environment_fault:
            text = self.world.environment_fault
            return "unknown", [Reason("environment-unusable", text), *changed]
        unknown = [one for one in changed if one.code.rsplit("-", 1)[-1] in differences.UNKNOWABLE]
        if unknown:
            return "unknown", unknown + [one for one in changed if one not in unknown]
        return ("stale" if changed else "current"), changed

    def _upstream(self, passed: RunRecord | None) -> Iterator[Reason]:
        moved = self._consumed_differs(passed)
        for slug in self.step.parents:
            parent = self.parents[slug]
            if parent.run != "current":
                text = f"upstream step {slug!r} is {parent.run}"
                action = _RUN_AGAIN if parent.enabled else self.workflow.by_slug[slug].how_to_run
                yield Reason("upstream-" + parent.run, text, None, action)
            elif parent.upstream_modified:
                text = f"something upstream of {slug!r} was modified"
                yield Reason("upstream-modified", text, None, "jupyter vaibify run")
            for path in self.workflow.by_slug[slug].made_among(moved) if moved else ():
                yield Reason("upstream-output-changed", moved[path], path)

    def _consumed_differs(self, passed: RunRecord | None) -> dict[str, str]:
        """Return every input that is not what this step's run consumed, with what to say of it."""
        moved = {}
        for path, pinned in passed.pins.inputs.items() if passed else ():
            state = self.world.state(path)
            if state.kind != "file":
                moved[path] = f"{differences.describe(path, state)}; this step's run consumed it"
            elif state.sha256 != pinned:
                moved[path] = f"{shown(path)} is not what this step's run consumed"
        return moved

    def _notes(self, passed: RunRecord | None) -> Iterator[Reason]:
        if passed is None:
            return
        record = self.facts.records.get(self.step.slug)
        if isinstance(record, RunRecord) and record is not passed and record.acknowledged:
            ended = "failed" if record.outcome == "failed" else "was interrupted"
            text = f"a later run {ended}; that was acknowledged"
            yield Reason("acknowledged", text)
        if self.world.machine and passed.machine.get("id") != self.world.machine:
            who = passed.person or "somebody"
            place = passed.machine.get("host", "another machine")
            text = f"recorded by {who} on {place}, not on this machine"
            yield Reason("recorded-elsewhere", text)
        if passed.isolation == "none":
            yield Reason("not-isolated", "ran without isolation, not in a container")
        elif passed.isolation == "sandbox":
            yield Reason("not-in-container", "ran in a sandbox, not in a container")
        if passed.done_by is not None:
            yield Reason("done-by-hand", f"done by a person, {passed.done_by}")
        if differences.code_pins(self.step, passed, self.world) != passed.pins.code:
            book = self.step.notebook or ""
            text = f"{shown(book)} was saved again since; what runs in it is the same"
            yield Reason("notebook-saved", text, book)
        computed = () if passed.sealed else self.world.code_computed.get(self.step.slug, ())
        for text in computed[:20]:  # a sealed run had nothing but what is known
            yield Reason("code-computed", f"{text}{UNSEEN}", None, LIST_IT)
        yield from self._undeclared(passed)
        if passed.cached_from:
            yield Reason("cached", f"cached from run {passed.cached_from}")
        for path in passed.undeclared_writes[:20]:
            yield Reason("undeclared-write", f"it also wrote {shown(path)}, undeclared", path)
        found = self.facts.sign_offs.get(self.step.slug)
        if isinstance(found, SignOffs) and found.entries[-1].signature_state != "valid":
            why = found.entries[-1].unsigned_reason or "its signature was not checked here"
            yield Reason("unsigned", f"the sign-off is not verified by a signature: {why}")

    def _undeclared(self, passed: RunRecord) -> Iterator[Reason]:
        """Yield what its run read undeclared, and what it may have read and is another now.

        Of what it did read a difference makes it stale, and is said as such.
        """
        for path, state in differences.undeclared(passed.undeclared_names, self.step, self.world):
            if state.sha256 != passed.undeclared_names[path]:
                text = f"names, but does not declare, {differences.describe(path, state)}"
                yield Reason("undeclared-name", text, path, _PERHAPS)
        found = differences.undeclared(passed.undeclared_reads, self.step, self.world)
        same = [path for path, now in found if now.sha256 == passed.undeclared_reads[path]]
        for path in same[:_FEW]:
            text = f"reads {shown(path)}, which is not declared"
            yield Reason("undeclared-read", text, path, _DECLARE)
        if len(same) > _FEW:
            text = f"reads {len(same) - _FEW} more files, which are not declared"
            yield Reason("undeclared-read", text, None, _DECLARE_ALL)


# Of code of whose name nothing is known before it runs, after where that is.
UNSEEN = "; that file is not followed, so a change in it is not noticed"
LIST_IT = "list what it may be, or its folder, in saScripts"
_DECLARE = "add it to saInputDataFiles"
_DECLARE_ALL = "add them, or their folder, to saInputDataFiles"
_FEW = 5
_PERHAPS = "if the step reads it, add it to saInputDataFiles"
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


def _in_pinned_image(passed: RunRecord | None, world: World) -> bool:
    return passed is not None and passed.image is not None and passed.image == world.image


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
