"""The scheduler: parents first, as many steps at once as asked for, none beside one it nests."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Literal

from vaibify_lab.core import differences
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.facts import FactFault, RunRecord
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import shown
from vaibify_lab.runs.cache import keep
from vaibify_lab.runs.context import RunContext
from vaibify_lab.runs.plan import Planned, nested, on_a_terminal
from vaibify_lab.runs.ready import ReadySteps
from vaibify_lab.runs.recording import left_out
from vaibify_lab.runs.restoring import Restoring
from vaibify_lab.runs.steprun import StepRun
from vaibify_lab.runs.testrun import TestRun
from vaibify_lab.runs.twice import Twice
from vaibify_lab.runs.writable import writable_folders

StepOutcome = Literal[
    "passed", "failed", "interrupted", "blocked", "skipped", "tests-failed", "differs"
]
_NAMED = 5
_STOPS = frozenset({"failed", "interrupted", "blocked"})


@dataclass(slots=True)
class Scheduler:
    """Walks a plan. One thread a running step; decisions in the caller's thread."""

    context: RunContext
    planned: tuple[Planned, ...]
    jobs: int
    outcomes: dict[str, StepOutcome] = field(default_factory=dict)
    _waiting: dict[str, Planned] = field(init=False)
    _folders: dict[str, tuple[str, ...]] = field(init=False)
    _order: TopologicalSorter[str] = field(init=False)
    _ready: ReadySteps = field(init=False)
    _for_persons: ReadySteps = field(init=False)
    _alone: set[str] = field(default_factory=set)  # steps of which the tests alone are run
    _asked_for: frozenset[str] = field(init=False)
    _running: dict[Future[StepOutcome], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        steps = self.context.workflow.by_slug
        self._waiting = {one.slug: one for one in self.planned}
        self._asked_for = frozenset(one.slug for one in self.planned if one.asked_for)
        self._folders = {
            one.slug: () if one.is_idle else writable_folders(steps[one.slug])
            for one in self.planned
        }
        self._ready, self._for_persons = ReadySteps(self._folders), ReadySteps(self._folders)
        self._order = TopologicalSorter(
            {slug: self._waiting.keys() & steps[slug].parents for slug in self._waiting}
        )
        self._order.prepare()

    def run(self) -> Mapping[str, StepOutcome]:
        """Run the plan to its end, or until somebody asks to stop."""
        steps = self.context.workflow.by_slug
        persons = sum(steps[slug].interactive for slug in self._waiting)
        self._line_up()
        with ThreadPoolExecutor(max_workers=self.jobs + persons) as pool:
            while self._order.is_active():
                self._start_what_can(pool)
                if self._running:
                    self._collect()
        return self.outcomes

    def _line_up(self) -> None:
        """Let the steps queue whose last parent has just ended."""
        for slug in self._order.get_ready():
            self._queue_of(slug).add(slug)

    def _queue_of(self, slug: str) -> ReadySteps:
        interactive = self.context.workflow.by_slug[slug].interactive
        return self._for_persons if interactive else self._ready

    def _start_what_can(self, pool: ThreadPoolExecutor) -> None:
        """Look at what is ready until enough steps run: each step is looked at once, as a rule.

        A step that waits for a person takes no other's turn, and comes after those that do not.
        """
        held = []
        while (slug := self._next()) is not None:
            step = self.context.workflow.by_slug[slug]
            if self._nests(step):
                held.append(slug)
            elif not self._settles(step):
                self._running[pool.submit(self._one, step)] = slug
        for slug in held:
            self._queue_of(slug).put_back(slug)

    def _next(self) -> str | None:
        steps = self.context.workflow.by_slug
        busy = sum(not steps[one].interactive for one in self._running.values())
        slug = self._ready.take() if busy < self.jobs else None
        return slug if slug is not None else self._for_persons.take()

    def _settles(self, step: Step) -> bool:
        """Tell whether there is nothing to run, not even tests; then the step has its outcome."""
        slug = step.slug
        planned = self._waiting.pop(slug)
        if planned.is_idle:
            return self._end(slug, "skipped", planned.why)
        if self.context.stopping.is_set():
            return self._end(slug, "interrupted", "the run was stopped before it began")
        if (why := self._why_blocked(step)) is not None:
            return self._end(slug, "blocked", why)
        if self._is_current(step, planned):
            if not planned.tests_due:
                return self._end(slug, "skipped", "what it consumes is what it last consumed")
            self._alone.add(slug)
        elif step.interactive and not self._is_attended():
            text = f"needs a person, and nobody is there; {on_a_terminal(slug)}"
            return self._end(slug, "blocked", text, "needs-person")
        return False

    def _is_current(self, step: Step, planned: Planned) -> bool:
        """Tell whether a step that is to be looked at needs no run of its own."""
        if planned.action == "if-needed":
            return self._why_needed(step) is None
        return planned.action == "skip"

    def _why_blocked(self, step: Step) -> str | None:
        stopped = [one for one in step.parents if self.outcomes.get(one) in _STOPS]
        if not stopped or self.context.options.tests_only:
            return None
        return f"upstream step {stopped[0]!r} {_participle(self.outcomes[stopped[0]])}"

    def _is_attended(self) -> bool:
        return self.context.options.interactive or self.context.options.tests_only

    def _nests(self, step: Step) -> bool:
        mine = self._folders[step.slug]
        return any(nested(mine, self._folders[slug]) for slug in self._running.values())

    def _end(self, slug: str, outcome: StepOutcome, text: str, code: str = "") -> bool:
        event = {"blocked": "stepBlocked", "skipped": "stepSkipped"}.get(outcome, "stepFail")
        self.context.journal.write(event, step=slug, text=text, code=code or outcome)
        self._has_ended(slug, outcome)
        return True

    def _collect(self) -> None:
        done, _ = wait(self._running, timeout=0.5, return_when=FIRST_COMPLETED)
        for future in done:
            self._has_ended(self._running.pop(future), future.result())

    def _has_ended(self, slug: str, outcome: StepOutcome) -> None:
        self.outcomes[slug] = outcome
        self._order.done(slug)
        self._queue_of(slug).ended(slug)
        self._line_up()

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
        """Run one step and its tests, or those alone; called in a thread of its own."""
        write = self.context.journal.write
        try:
            alone = self.context.options.tests_only or step.slug in self._alone
            outcome = self._tests(step, "passed") if alone else self._made(step)
        except VaibifyError as error:
            outcome = "failed"
            write("stepFail", step=step.slug, code=error.code, text=str(error), outcome=outcome)
        write("stepSettled", step=step.slug, outcome=outcome)
        return outcome

    def _made(self, step: Step) -> StepOutcome:
        options = self.context.options
        if options.twice and not step.interactive:
            return self._twice(step)
        if step.slug not in self._asked_for and not options.plot_only:
            restored = Restoring(self.context, step, self._record(step)).run()
            if restored is not None:
                return self._tests(step, "passed") if options.tests else "passed"
        return self._once(StepRun(self.context, step, self._record(step)), tests=options.tests)

    def _twice(self, step: Step) -> StepOutcome:
        """Run a step two times, keep the second, and tell whether its outputs were the same."""
        comparing = Twice(self.context)
        made = StepRun(self.context, step, self._record(step))
        outcome = self._once(made, tests=False)
        first = self._record(step)
        if outcome != "passed" or first is None:
            return outcome
        hidden = made.hidden_writes
        left = [*first.undeclared_writes, *([f"what git ignores ({hidden})"] if hidden else [])]
        look_back = comparing.of(step, first.pins.outputs, left)
        again = StepRun(self.context, step, first, look_back)
        outcome = self._once(again, tests=self.context.options.tests)
        return "differs" if comparing.differs and outcome == "passed" else outcome

    def _once(self, made: StepRun, *, tests: bool) -> StepOutcome:
        step, record = made.step, made.run()
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
        keep(self.context, step, record, made.hidden_writes)
        outputs, same = len(record.pins.outputs), len(record.unchanged_outputs)
        gone = left_out(step, record, made.previous)
        write(
            "stepPass",
            step=step.slug,
            seconds=record.seconds,
            outputs=outputs,
            identical=outputs > 0 and outputs == same and not gone,
        )
        if gone:
            write("warning", step=step.slug, text=_not_written(gone), path=gone[0])
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


def _not_written(gone: Sequence[str]) -> str:
    more = f" and {len(gone) - _NAMED} more" if len(gone) > _NAMED else ""
    names = ", ".join(shown(path) for path in gone[:_NAMED])
    return f"did not write {names}{more}, which its last run that passed wrote"


def _participle(outcome: StepOutcome) -> str:
    return {"failed": "failed", "interrupted": "was interrupted"}.get(outcome, "is blocked")


def watch_stop(context: RunContext, ended: threading.Event) -> None:
    """Set the stop flag when the stop request appears; returns when the run has ended."""
    while not ended.wait(0.1):
        if context.folder.stop_request.exists():
            context.stopping.set()
