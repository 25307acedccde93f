"""One step's run: prepare, launch, wait, judge, record. Old outputs survive whatever happens."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from vaibify_lab.core.differences import describe
from vaibify_lab.core.errors import DiskFull, VaibifyError
from vaibify_lab.core.facts import RunRecord
from vaibify_lab.core.fingerprint import seed_of
from vaibify_lab.core.model import Step
from vaibify_lab.core.references import as_run
from vaibify_lab.core.report import Reason
from vaibify_lab.engines.base import Launch, bash_script
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs import plotonly, sealed
from vaibify_lab.runs.aside import Aside, delete
from vaibify_lab.runs.bytecode import drop_byte_code
from vaibify_lab.runs.consuming import Consumption, consume
from vaibify_lab.runs.context import RunContext
from vaibify_lab.runs.determinism import (
    after_preamble,
    left_to_chance,
    preamble_of,
    step_environment,
)
from vaibify_lab.runs.exchange import Exchange, exchange_for
from vaibify_lab.runs.guard import Guard, prevents
from vaibify_lab.runs.journal import now
from vaibify_lab.runs.judge import Judge, Seal, Verdict
from vaibify_lab.runs.launching import fresh_state, launch_and_wait, resources_of
from vaibify_lab.runs.recording import Attempt, record_of, with_versions
from vaibify_lab.runs.waiting import Wait
from vaibify_lab.runs.writable import make_ready, require_git_apart, writable_folders


class Refused(Exception):
    """The step cannot start; the reason goes into its record."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.text)
        self.reason = reason


@dataclass(slots=True)
class StepRun:
    """Runs one step once and writes its record, which names not all ``hidden_writes``."""

    context: RunContext
    step: Step
    previous: RunRecord | None
    look_back: Callable[[Tree], None] | None = None  # at the old outputs, once new ones are good
    hidden_writes: int = field(default=0, init=False)
    _attempt: Attempt = field(default_factory=lambda: Attempt(now()), init=False)
    _aside: Aside | None = field(default=None, init=False)
    _stage: sealed.Stage | None = field(default=None, init=False)

    def run(self) -> RunRecord:
        """Run the step and write its record, which says what the step or its files did.

        Raises
        ------
        VaibifyError
            The record cannot be written; the old outputs are back in their places.
        """
        clock = time.monotonic()
        verdict = self._verdict()
        self.hidden_writes = verdict.hidden
        seconds = time.monotonic() - clock
        record = self._record(verdict, seconds)
        try:
            self._write(record)
        except VaibifyError as error:
            record = self._write_failure(record, error)
        if (text := sealed.doubt(self.previous, record)) is not None:
            self.context.journal.write("warning", step=self.step.slug, text=text)
        if self._aside is not None:
            if self.look_back is not None and record.outcome == "passed":
                self.look_back(Tree(self.context.tree.root / self._aside.old))
            self._aside.drop()
        return record

    def _verdict(self) -> Verdict:
        try:
            return self._guarded()
        except Refused as refused:
            return Verdict("failed", refused.reason)
        except VaibifyError as error:
            said = f"{error.where} {error.text}" if error.where else error.text
            text = f"could not be run: {said}"
            return Verdict("failed", Reason(error.code, text, error.where, error.action))
        finally:
            if self._stage is not None:
                self._stage.remove()

    def _guarded(self) -> Verdict:
        """Run with the old outputs out of the way; unless it passes they are put back."""
        context, step = self.context, self.step
        made = plotonly.made(step) if context.options.plot_only else step.outputs
        with context.busy.running(step, writable_folders(step)) as beside:
            consumed, kept = self._consumed(), self._kept()
            self._aside = Aside(
                context.tree, context.folder.run_id, context.workflow.stem, step.slug
            )
            passed = False
            try:
                self._aside.take(made)
                verdict = self._in_place(consumed, made, kept, beside)
                passed = verdict.outcome == "passed"
            finally:
                if not passed:
                    self._undo(made)
        return verdict

    def _consumed(self) -> Consumption:
        """Hash inputs and code; refuse when one is missing or not plain."""
        context, observer = self.context, self.context.observer
        consumed = consume(context, self.step, self.previous)
        for path, state in consumed.unusable.items():
            role = "input" if path in consumed.inputs else "code"
            text = f"could not be run: {role} {describe(path, state)}"
            raise Refused(Reason(f"{role}-{state.kind}", text, path))
        git, book = context.repository.snapshot(), observer.scout.notebook_of(self.step)
        self._attempt = dataclasses.replace(
            self._attempt,
            commit=git.commit,
            branch=git.branch,
            shallow=git.shallow,
            dirty=observer.dirty(consumed.paths),
            notebook=book and observer.notebooks.of(book, consumed.states[book]),
        )
        return consumed

    def _kept(self) -> dict[str, str]:
        if not self.context.options.plot_only:
            return {}
        passed = self.previous.passed if self.previous is not None else None
        kept = plotonly.kept_data(self.context, self.step, passed)
        if isinstance(kept, Reason):
            raise Refused(kept)
        return kept

    def _in_place(
        self, consumed: Consumption, made: Sequence[str], kept: dict[str, str], beside: set[str]
    ) -> Verdict:
        context, step = self.context, self.step
        make_ready(context.tree, step)
        require_git_apart(context.repository, step)
        held = (*consumed.paths, *kept)
        tree = self._staged(held) if context.is_sealed() else context.tree
        drop_byte_code(tree, consumed.code)
        root = context.engine.container_root(tree.root, context.project.name)
        guard = Guard.take(
            context,
            step,
            tree,
            writable_folders(step),
            mine=step.outputs,
            elsewhere=frozenset() if self._stage else frozenset(consumed.paths),
            beside=beside,
        )
        launch = self._launch(tree, root, consumed, guard.shields())
        context.journal.write("stepStarted", step=step.slug)
        for text in left_to_chance(context, step):
            context.journal.write("warning", step=step.slug, text=text)
        person = Wait(context, step, root) if step.interactive else None
        ended, timed_out = launch_and_wait(context, launch, step.slug, step.timeout_seconds, person)
        seal = Seal(tree, frozenset(held)) if self._stage else None
        verdict = Judge(
            context,
            step,
            consumed,
            made,
            kept,
            guard,
            ended,
            timed_out,
            launch.state,
            root,
            seal,
            person,
        ).verdict()
        if person is not None and person.word == "complete":
            self._attempt = dataclasses.replace(self._attempt, done_by=person.by)
        if self._stage is not None and verdict.outcome == "passed":
            self._stage.bring_home(made)
        return verdict

    def _staged(self, files: Sequence[str]) -> Tree:
        context = self.context
        folder = context.folder.step(self.step.slug).relative_to(context.tree.root)
        can_bind = prevents(context.engine, "links")
        self._stage = sealed.stage(
            context.tree, f"{folder.as_posix()}/tree", self.step, files, can_bind=can_bind
        )
        return self._stage.tree

    def _launch(
        self, tree: Tree, root: str, consumed: Consumption, shields: Mapping[str, Path]
    ) -> Launch:
        context, step = self.context, self.step
        plots_only = context.options.plot_only
        declared = step.plot_commands if plots_only else step.commands
        commands = () if step.interactive else as_run(declared, root, context.cores)
        notebook = None if plots_only or step.interactive else step.notebook
        shared = exchange_for(context, step, notebook) if notebook else Exchange()
        variables = step_environment(
            step,
            seed=seed_of(context.workflow, step, consumed.inputs),
            epoch=context.around.epoch,
            locale=context.around.locale if context.is_deterministic() else None,
        )
        self._attempt = dataclasses.replace(
            self._attempt,
            variables=variables,
            commands_run=(*shared.commands, *commands),
            sealed=self._stage is not None and prevents(context.engine, "read"),
        )
        return Launch(
            run_id=context.folder.run_id,
            slug=step.slug,
            tree=tree.root,
            project_name=context.project.name,
            directory=step.directory,
            script=after_preamble(context, shared.opening + bash_script(commands)),
            writable=writable_folders(step),
            environment={**variables, **shared.variables},
            network=not context.project.network_isolation,
            state=fresh_state(context.folder.step(step.slug)),
            read_only={**(self._stage.laid_in if self._stage else {}), **shields},
            exchange=shared.folder,
            preamble=preamble_of(context),
            resources=resources_of(step),
            for_terminals=step.interactive,
        )

    def _undo(self, made: Sequence[str]) -> None:
        """Put the old outputs back and keep what the run wrote among its leftovers.

        Where that fails the old outputs stay aside, and the next run puts them back.
        """
        aside, self._aside = self._aside, None
        if aside is None:
            return
        apart = aside.put_back()
        if self._stage is not None:
            with suppress(VaibifyError):  # a failed run's files that cannot be moved go with it
                apart += self._stage.keep(made, aside.leftovers)
        if apart:
            text = f"what it wrote was set apart in {aside.leftovers}"
            self.context.journal.write("note", step=self.step.slug, text=text)

    def _record(self, verdict: Verdict, seconds: float) -> RunRecord:
        told = (self.context, self.step, verdict, self._attempt, self.previous, seconds)
        return with_versions(self.context, record_of(*told))

    def _write(self, record: RunRecord) -> None:
        kept = self.context.facts.write_record(record)
        if kept is not None:
            text = f"an unreadable record was kept as {kept}"
            self.context.journal.write("warning", step=self.step.slug, text=text, path=kept)

    def _write_failure(self, record: RunRecord, error: VaibifyError) -> RunRecord:
        """Write a record once more: one that passed cannot stand, nobody would know its outputs.

        On a full disk what the run left goes first, to make room for that.
        """
        context, step = self.context, self.step
        if record.outcome == "passed":
            self._undo(step.outputs)
            text = f"could not be recorded: {error.where or 'it'} {error.text}"
            reason = Reason(error.code, text, error.where, error.action)
            code, undeclared = record.exit_code, record.undeclared_writes
            verdict = Verdict("failed", reason, code, undeclared=undeclared)
            record = self._record(verdict, record.seconds)
        if isinstance(error, DiskFull):
            delete(context.folder.path / "leftovers" / step.slug)
        self._write(record)
        return record
