"""The tests of one step: run by the same engine, judged by the host, kept as a marker."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from vaibify_lab.checks import session
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.facts import CategoryResult, FactFault, Surroundings, TestMarker
from vaibify_lab.core.fingerprint import seed_of
from vaibify_lab.core.model import CATEGORIES, Category, Step
from vaibify_lab.core.paths import shown
from vaibify_lab.core.references import as_run
from vaibify_lab.core.report import Reason
from vaibify_lab.core.verification import write_a_test
from vaibify_lab.engines.base import Ended, Launch
from vaibify_lab.runs import explain
from vaibify_lab.runs.aside import delete
from vaibify_lab.runs.bytecode import drop_byte_code
from vaibify_lab.runs.context import RunContext
from vaibify_lab.runs.determinism import after_preamble, preamble_of, step_environment
from vaibify_lab.runs.guard import Guard
from vaibify_lab.runs.journal import now
from vaibify_lab.runs.launching import fresh_state, launch_and_wait, resources_of
from vaibify_lab.runs.testfiles import (
    Hashes,
    changed_since,
    hashes_of,
    in_repository,
    touched_since,
)
from vaibify_lab.runs.writable import make_ready, require_git_apart, writable_folders

Results = dict[Category, CategoryResult]


@dataclass(slots=True)
class TestRun:
    """Runs the tests of a step once and returns its new marker; None where it has none to run."""

    context: RunContext
    step: Step

    def run(self) -> TestMarker | None:
        """Run the tests. Never raises for what they or their files did: the marker says it."""
        commands = self._commands()
        if not commands:
            return None
        hashes = hashes_of(self.context, self.step)
        cut_short = False
        try:
            found, hashes, cut_short = self._guarded(commands, hashes)
        except VaibifyError as error:
            found = _all_unknown(commands, f"could not be run: {error}")
        for category, result in found.items():
            self.context.journal.write(
                "tests",
                step=self.step.slug,
                category=category,
                outcome=result.outcome,
                collected=result.collected,
                text=result.detail,
                action=write_a_test(self.step, result) if result.outcome == "unknown" else None,
            )
        return self._marker(found, hashes, cut_short=cut_short)

    def _guarded(
        self, commands: Sequence[session.Command], hashes: Hashes
    ) -> tuple[Results, Hashes, bool]:
        """Run them with everything watched that is not theirs; tell whether they were cut short.

        The hashes come back with those of the files that the tests say they loaded.
        """
        context, step = self.context, self.step
        make_ready(context.tree, step)
        require_git_apart(context.repository, step)
        folder = context.folder.step(step.slug)
        state, exchange = fresh_state(folder, "tests"), fresh_state(folder, "exchange")
        session.prepare(exchange)
        old = self._marker_before()
        drop_byte_code(context.tree, (*hashes.tests, *(old.test_hashes if old else ())))
        folders = writable_folders(step)
        with context.busy.running(step, folders) as beside:
            guard = Guard.take(
                context,
                step,
                context.tree,
                folders,
                mine=(),
                elsewhere=frozenset(),
                beside=beside,
            )
            launch = self._launch(commands, state, exchange, hashes, guard.shields())
            context.journal.write("testsStarted", step=step.slug)
            began = time.time_ns()
            ended, timed_out = launch_and_wait(context, launch, step.slug, step.timeout_seconds)
            faults = guard.look().faults
            moved = changed_since(context, hashes)
        why, log = session.exit_words, explain.tail(state / "stderr")
        if len(commands) == 1:  # else nobody knows whose words the log holds
            why = partial(_why_exit, log)
        found = session.results(commands, exchange, _why_early(ended, timed_out), why, log)
        loaded = in_repository(context, step, session.files(commands, exchange))
        delete(exchange)  # it may hold anything, and no one needs it any more
        found = _doubted(found) if ended.out_of_memory else found
        cut_short = ended.lost or (ended.stopped and not timed_out)
        hashes, touched = self._with_loaded(hashes, loaded, began)
        if moved is not None:  # also when it is as it was again: they may have seen another
            found = _all_unknown(commands, f"ran while {shown(moved)} was changed")
        elif touched is not None:
            found = _all_unknown(commands, f"loaded {shown(touched)}, which changed meanwhile")
        return (_all_failed(found, faults) if faults else found), hashes, cut_short

    def _with_loaded(
        self, hashes: Hashes, loaded: Sequence[str], began: int
    ) -> tuple[Hashes, str | None]:
        """Add the hashes of what was loaded; tell a file that may have been another then."""
        more = tuple(path for path in loaded if path not in hashes.tests)
        states = self.context.observer.cache.observe(dict.fromkeys(more))
        known = {path: state.sha256 for path, state in states.items() if state.sha256}
        changed = touched_since(self.context, more, began)
        return dataclasses.replace(hashes, tests={**hashes.tests, **known}), changed

    def _commands(self) -> tuple[session.Command, ...]:
        suites = self.step.suites_of(self.context.options.category)
        root = self.context.engine.container_root(self.context.tree.root, self.context.project.name)
        declared = [text for suite in suites for text in suite.commands]
        run = dict(zip(declared, as_run(declared, root, self.context.cores), strict=True))
        return session.commands_of(suites, run)

    def _launch(
        self,
        commands: Sequence[session.Command],
        state: Path,
        exchange: Path,
        hashes: Hashes,
        shields: Mapping[str, Path],
    ) -> Launch:
        context, step = self.context, self.step
        return Launch(
            run_id=context.folder.run_id,
            slug=f"{step.slug}-tests",
            tree=context.tree.root,
            project_name=context.project.name,
            directory=step.directory,
            script=after_preamble(
                context, session.script(commands, context.engine.exchange_root(exchange))
            ),
            writable=writable_folders(step),
            environment=step_environment(
                step,
                seed=self._seed(hashes),
                epoch=context.around.epoch,
                locale=context.around.locale if context.is_deterministic() else None,
            ),
            network=not context.project.network_isolation,
            state=state,
            read_only=shields,
            exchange=exchange,
            preamble=preamble_of(context),
            resources=resources_of(step),
        )

    def _marker(self, found: Results, hashes: Hashes, *, cut_short: bool) -> TestMarker:
        """Return the marker: categories that did not run now stay while they still hold.

        So do those of a session that somebody stopped.
        """
        old = self._kept(hashes)
        kept = {} if old is None else dict(old.categories)
        new = {str(name): result for name, result in found.items()}
        categories = new | kept if cut_short else kept | new
        declared = {str(suite.category) for suite in self.step.suites}
        return TestMarker(
            workflow=self.context.workflow.stem,
            step=self.step.slug,
            run_id=self.context.folder.run_id,
            when=now(),
            categories={
                one: categories[one] for one in CATEGORIES if one in categories and one in declared
            },
            output_hashes=hashes.outputs,
            input_hashes=hashes.inputs,
            test_hashes={**(old.test_hashes if old else {}), **hashes.tests},
            surroundings=self._surroundings(hashes),
        )

    def _surroundings(self, hashes: Hashes) -> Surroundings:
        context, step = self.context, self.step
        contained = context.engine.isolation == "container"
        return Surroundings(
            directory=step.directory,
            environment=step.environment,
            image=context.around.image if contained else None,
            lock=context.around.lock,
            declared_deterministic=context.workflow.deterministic,
            network_isolation=context.project.network_isolation,
            seed=self._seed(hashes),
            seed_declared=context.workflow.seed is not None,
        )

    def _seed(self, hashes: Hashes) -> int:
        step = self.step
        return seed_of(self.context.workflow, step, _of(hashes.inputs, step.inputs))

    def _marker_before(self) -> TestMarker | None:
        old = self.context.facts.load([self.step.slug]).markers.get(self.step.slug)
        return None if isinstance(old, FactFault) else old

    def _kept(self, hashes: Hashes) -> TestMarker | None:
        """Return the marker that is there, if all that it is about is as it was."""
        old = self._marker_before()
        if old is None:
            return None
        named = self.context.observer.scout.test_files(self.step)
        states = self.context.observer.cache.observe(dict.fromkeys((*old.test_hashes, *named)))
        now = {path: state.sha256 or "" for path, state in states.items() if state.kind == "file"}
        same = (old.output_hashes, old.input_hashes, old.test_hashes, old.surroundings)
        return (
            old
            if same == (hashes.outputs, hashes.inputs, now, self._surroundings(hashes))
            else None
        )


def _of(hashes: Mapping[str, str], declared: Sequence[str]) -> dict[str, str]:
    """Return the hashes of what is declared, folders with all below them."""
    folders = tuple(path for path in declared if path.endswith("/"))
    files = frozenset(declared)
    return {path: pin for path, pin in hashes.items() if path in files or path.startswith(folders)}


def _all_unknown(commands: Sequence[session.Command], text: str) -> Results:
    found: Results = {}
    for category in dict.fromkeys(command.category for command in commands):
        declared = tuple(one.declared for one in commands if one.category == category)
        found[category] = CategoryResult("unknown", declared, None, 0, (), text)
    return found


def _all_failed(found: Results, faults: Sequence[Reason]) -> Results:
    """Fail every category: tests that write what is not theirs vouch for nothing."""
    text = f"the tests did what they may not: {faults[0].text}"
    return {
        name: dataclasses.replace(result, outcome="failed", detail=text)
        for name, result in found.items()
    }


def _why_exit(log: str, status: int) -> str:
    """Name the cause of a command's end where its log tells one; else its status alone."""
    cause = explain.why_exit(status, log)
    if session.PLUGIN in cause.text:
        return (
            "starts pytest without the PYTHONPATH it was given, by which pytest is asked what it "
            "did; write PYTHONPATH=lib:$PYTHONPATH, and no -I, -E or -S"
        )
    return session.exit_words(status) if cause.code == "exit" else cause.text


def _doubted(found: Results) -> Results:
    """Believe no pass of tests that went on after a process of theirs was killed."""
    text = "one of their processes ran out of memory and was killed"
    return {
        name: dataclasses.replace(result, outcome="unknown", detail=text)
        if result.outcome == "passed"
        else result
        for name, result in found.items()
    }


def _why_early(ended: Ended, timed_out: bool) -> str:
    if timed_out:
        return "were stopped after the step's time limit"
    if ended.stopped:
        return "were stopped on request"
    if ended.lost or ended.returncode is None:
        return f"were cut short: {ended.detail or 'the engine was lost'}"
    return ""
