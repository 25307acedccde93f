"""The scheduler: parents first, as many steps at once as asked for, none beside one it nests."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Literal

from vaibify_lab.core import differences
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.facts import FactFault, RunRecord
from vaibify_lab.core.model import Step
from vaibify_lab.runs.context import RunContext
from vaibify_lab.runs.plan import Planned, nested, on_a_terminal
from vaibify_lab.runs.steprun import StepRun
from vaibify_lab.runs.testrun import TestRun
from vaibify_lab.runs.writable import writable_folders

StepOutcome = Literal[
    "passed", "failed", "interrupted", "blocked", "skipped", "tests-failed", "differs"
]
_STOPS = frozenset({"failed", "interrupted", "blocked"})


@dataclass(slots=True)
class Scheduler:
    """Walks a plan. One thread a running step; decisions in the caller's thread."""

    context: RunContext
    planned: tuple[Planned, ...]
    jobs: int
    outcomes: dict[str, StepOutcome] = field(default_factory=dict)
    _waiting: dict[str, Planned] = field(default_factory=dict)
    _running: dict[Future[StepOutcome], str] = field(default_factory=dict)

    def run(self) -> Mapping[str, StepOutcome]:
        """Run the plan to its end, or until somebody asks to stop."""
        steps = self.context.workflow.by_slug
        ordered = sorted(self.planned, key=lambda one: steps[one.slug].interactive)
        self._waiting = {one.slug: one for one in ordered}
        persons = sum(steps[one.slug].interactive for one in ordered)
        with ThreadPoolExecutor(max_workers=self.jobs + persons) as pool:
            while self._waiting or self._running:
                self._start_what_can(pool)
                if self._running:
                    self._collect()
        return self.outcomes

    def _start_what_can(self, pool: ThreadPoolExecutor) -> None:
        progressed = True
        while progressed:
            progressed = False
            for slug in list(self._waiting):
                if self._is_full(slug):
                    continue
                progressed |= self._settle_or_start(slug, pool)

    def _is_full(self, slug: str) -> bool:
        """Tell whether a step must wait for its turn; one that waits for a person takes none."""
        steps = self.context.workflow.by_slug
        busy = sum(not steps[one].interactive for one in self._running.values())
        return busy >= self.jobs and not steps[slug].interactive

    def _settle_or_start(self, slug: str, pool: ThreadPoolExecutor) -> bool:
        context = self.context
        step = context.workflow.by_slug[slug]
        planned = self._waiting[slug]
        if planned.action == "skip":
            return self._end(slug, "skipped", planned.why)
        if context.stopping.is_set():
            return self._end(slug, "interrupted", "the run was stopped before it began")
        pending = [one for one in step.parents if one in self._waiting or self._is_running(one)]
        if pending:
            return False
        stopped = [one for one in step.parents if self.outcomes.get(one) in _STOPS]
        if stopped and not context.options.tests_only:
            text = f"upstream step {stopped[0]!r} {_participle(self.outcomes[stopped[0]])}"
            return self._end(slug, "blocked", text)
        if planned.action == "if-needed":
            needed = self._why_needed(step)
            if needed is None:
                return self._end(slug, "skipped", "what it consumes is what it last consumed")
        if step.interactive and not (context.options.interactive or context.options.tests_only):
            text = f"needs a person, and nobody is there; {on_a_terminal(slug)}"
            return self._end(slug, "blocked", text, "needs-person")
        if self._nests(step):
            return False
        del self._waiting[slug]
        self._running[pool.submit(self._one, step)] = slug
        return True

    def _is_running(self, slug: str) -> bool:
        return slug in self._running.values()

    def _nests(self, step: Step) -> bool:
        mine = writable_folders(step)
        steps = self.context.workflow.by_slug
        return any(nested(mine, writable_folders(steps[slug])) for slug in self._running.values())

    def _end(self, slug: str, outcome: StepOutcome, text: str, code: str = "") -> bool:
        del self._waiting[slug]
        self.outcomes[slug] = outcome
        event = {"blocked": "stepBlocked", "skipped": "stepSkipped"}.get(outcome, "stepFail")
        self.context.journal.write(event, step=slug, text=text, code=code or outcome)
        return True

    def _collect(self) -> None:
        done, _ = wait(self._running, timeout=0.5, return_when=FIRST_COMPLETED)
        for future in done:
            slug = self._running.pop(future)
            self.outcomes[slug] = future.result()

    def _why_needed(self, step: Step) -> str | None:
        """Return the first difference from the last passed run; None when there is none."""
        record = self._record(step)
        if record is None or record.passed is None:
            return "has never passed"
        if record.outcome != "passed" and record.acknowledged is None:
            return f"its last run {record.outcome}"
        context = self.context
        world = context.observer.step_world(context.workflow, step, context.project, record)
        first = next(differences.since(step, record.passed, context.workflow, world), None)
        return first.text if first is not None else None

    def _record(self, step: Step) -> RunRecord | None:
        found = self.context.facts.record(step.slug)
        return None if isinstance(found, FactFault) else found

    def _one(self, step: Step) -> StepOutcome:
        """Run one step and its tests; called in a thread of its own."""
        write = self.context.journal.write
        try:
            outcome = self._made(step)
        except VaibifyError as error:
            outcome = "failed"
            write("stepFail", step=step.slug, code=error.code, text=str(error), outcome=outcome)
        write("stepSettled", step=step.slug, outcome=outcome)
        return outcome

    def _made(self, step: Step) -> StepOutcome:
        options = self.context.options
        if options.tests_only:
            return self._tests(step, "passed")
        if options.twice and not step.interactive:
            return self._twice(step)
        return self._once(step, tests=options.tests)

    def _twice(self, step: Step) -> StepOutcome:
        """Run a step two times, keep the second, and tell whether its outputs were the same."""
        outcome = self._once(step, tests=False)
        first = self._record(step)
        if outcome != "passed" or first is None:
            return outcome
        outcome = self._once(step, tests=self.context.options.tests)
        second = self._record(step)
        if second is None or second.outcome != "passed":
            return outcome
        one, two = first.pins.outputs, second.pins.outputs
        differing = sorted(path for path in {*one, *two} if one.get(path) != two.get(path))
        self.context.journal.write(
            "twice", step=step.slug, identical=not differing, differing=differing
        )
        return "differs" if differing and outcome == "passed" else outcome

    def _once(self, step: Step, *, tests: bool) -> StepOutcome:
        record = StepRun(self.context, step, self._record(step)).run()
        write = self.context.journal.write
        if record.outcome != "passed":
            write(
                "stepFail",
                step=step.slug,
                code=record.reason_code,
                text=record.reason,
                exit_code=record.exit_code,
                outcome=record.outcome,
            )
            return record.outcome
        outputs, same = len(record.pins.outputs), len(record.unchanged_outputs)
        write(
            "stepPass",
            step=step.slug,
            seconds=record.seconds,
            outputs=outputs,
            identical=outputs > 0 and outputs == same,
        )
        return self._tests(step, "passed") if tests else "passed"

    def _tests(self, step: Step, otherwise: StepOutcome) -> StepOutcome:
        marker = TestRun(self.context, step).run()
        if marker is None:
            return otherwise
        kept = self.context.facts.write_marker(marker)
        if kept is not None:
            text = f"an unreadable test marker was kept as {kept}"
            self.context.journal.write("warning", step=step.slug, text=text, path=kept)
        only = self.context.options.category
        bad = [
            name
            for name, result in marker.categories.items()
            if result.outcome != "passed" and only in (None, name)
        ]
        return "tests-failed" if bad else otherwise


def _participle(outcome: StepOutcome) -> str:
    return {"failed": "failed", "interrupted": "was interrupted"}.get(outcome, "is blocked")


def watch_stop(context: RunContext, ended: threading.Event) -> None:
    """Set the stop flag when the stop request appears; returns when the run has ended."""
    while not ended.wait(0.1):
        if context.folder.stop_request.exists():
            context.stopping.set()
