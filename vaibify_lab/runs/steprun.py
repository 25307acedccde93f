"""One step's run: prepare, launch, wait, judge, record. Old outputs survive whatever happens."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.facts import Pins, RunRecord
from vaibify_lab.core.fingerprint import Circumstances, run_fingerprint, seed_of
from vaibify_lab.core.model import Step
from vaibify_lab.core.references import as_run
from vaibify_lab.core.report import Reason
from vaibify_lab.engines.base import Ended, Handle, Launch, Resources, bash_script
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs import sealed
from vaibify_lab.runs.aside import Aside
from vaibify_lab.runs.context import RunContext
from vaibify_lab.runs.determinism import step_environment
from vaibify_lab.runs.journal import now
from vaibify_lab.runs.judge import Judge, Verdict
from vaibify_lab.runs.writable import make_ready, writable_folders
from vaibify_lab.runs.writes import GitGuard, Snapshot, stamps

_POLL_SECONDS = (0.005, 0.1)


class Refused(Exception):
    """The step cannot start; the reason goes into its record."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.text)
        self.reason = reason


@dataclass(slots=True)
class StepRun:
    """Runs one step once and returns its record."""

    context: RunContext
    step: Step
    previous: RunRecord | None
    _pending: Aside | None = field(default=None, init=False)

    def run(self) -> RunRecord:
        """Run the step. Never raises for what the step or its files did: the record says it."""
        started, clock = now(), time.monotonic()
        try:
            verdict = self._attempt()
        except Refused as refused:
            verdict = Verdict("failed", refused.reason)
        except VaibifyError as error:
            verdict = Verdict("failed", Reason(error.code, error.text, error.where, error.action))
        return self._record(verdict, started, time.monotonic() - clock)

    def _attempt(self) -> Verdict:
        context, step = self.context, self.step
        inputs, code = self._consumed()
        folders = writable_folders(step)
        outputs = step.plot_files if context.options.plot_only else step.outputs
        aside = Aside(context.tree, context.folder.run_id, context.workflow.stem, step.slug)
        with context.busy.running(step, folders) as beside:
            aside.take(outputs)
            try:
                verdict = self._in_place(inputs, code, folders, beside)
            except BaseException:
                aside.put_back()
                raise
            if verdict.outcome == "passed":
                self._pending = aside
            else:
                verdict = self._undo(aside, verdict)
        return verdict

    def settle(self) -> None:
        """Forget the old outputs, once the record of the new ones is on disk."""
        if self._pending is not None:
            self._pending.drop()
            self._pending = None

    def _undo(self, aside: Aside, verdict: Verdict) -> Verdict:
        apart = aside.put_back()
        if apart:
            text = f"what it wrote was set apart in {aside.leftovers}"
            self.context.journal.write("note", step=self.step.slug, text=text)
        return verdict

    def _consumed(self) -> tuple[dict[str, str], dict[str, str]]:
        """Hash inputs and code; refuse when one is missing or not plain."""
        seen = self.context.observer.consumed(self.step)
        for role, states in (("input", seen.inputs), ("code", seen.code)):
            for path, state in states.items():
                if state.kind != "file" or state.sha256 is None:
                    text = f"{role} {path} is {state.kind}"
                    raise Refused(Reason(f"{role}-{state.kind}", text, path))
        inputs = {path: state.sha256 or "" for path, state in seen.inputs.items()}
        return inputs, {path: state.sha256 or "" for path, state in seen.code.items()}

    def _in_place(
        self,
        inputs: dict[str, str],
        code: dict[str, str],
        folders: tuple[str, ...],
        beside: set[str],
    ) -> Verdict:
        context, step = self.context, self.step
        make_ready(context.tree, step)
        watched = stamps(context.tree, [*inputs, *code])
        staged = self._stage([*inputs, *code]) if context.is_sealed() else None
        tree = staged.tree if staged else context.tree
        confined = context.engine.isolation != "none"
        before = Snapshot.take(tree, folders if confined else ("",))
        guard = GitGuard.take(context.repository)
        facts_before = context.facts.stamps()
        root = context.engine.container_root(tree.root, context.project.name)
        launch = self._launch(tree, root, folders, staged, inputs)
        ended, timed_out = self._execute(launch)
        judge = Judge(
            context=context,
            step=step,
            tree=tree,
            root=root,
            ended=ended,
            timed_out=timed_out,
            state=launch.state,
            inputs=inputs,
            code=code,
            watched=watched,
            before=before,
            guard=guard,
            facts_before=facts_before,
            beside=frozenset(beside),
            staged=staged.files if staged else None,
            commands_run=as_run(self._commands(), root, context.cores),
            previous=self.previous,
        )
        verdict = judge.verdict()
        if staged and verdict.outcome == "passed":
            sealed.bring_home(staged.tree, context.tree, step)
        return verdict

    def _commands(self) -> tuple[str, ...]:
        return self.step.plot_commands if self.context.options.plot_only else self.step.commands

    def _stage(self, files: list[str]) -> sealed.Stage:
        folder = self.context.folder.step(self.step.slug) / "tree"
        described = self.context.engine.describe()
        can_bind = described["kind"] == "docker" or described.get("tier") == "bwrap"
        return sealed.stage(self.context.tree, folder, self.step, files, can_bind=can_bind)

    def _launch(
        self,
        tree: Tree,
        root: str,
        folders: tuple[str, ...],
        staged: sealed.Stage | None,
        inputs: dict[str, str],
    ) -> Launch:
        context, step = self.context, self.step
        return Launch(
            run_id=context.folder.run_id,
            slug=step.slug,
            tree=tree.root,
            project_name=context.project.name,
            directory=step.directory,
            script=bash_script(as_run(self._commands(), root, context.cores)),
            writable=folders,
            environment=self._environment(inputs),
            network=not context.project.network_isolation,
            state=fresh_state(context.folder.step(step.slug)),
            read_only=staged.laid_in if staged else {},
            resources=Resources(
                step.resources.cpus,
                step.resources.memory_megabytes,
                step.resources.gpus,
                step.resources.shm_megabytes,
            ),
        )

    def _environment(self, inputs: dict[str, str]) -> dict[str, str]:
        return step_environment(
            self.context.workflow,
            self.step,
            seed=seed_of(self.context.workflow, self.step, inputs),
            epoch=self.context.around.epoch,
            deterministic=self.context.options.deterministic,
        )

    def _execute(self, launch: Launch) -> tuple[Ended, bool]:
        self.context.journal.write("stepStarted", step=self.step.slug)
        handle = self.context.engine.launch(launch)
        told = pump(self.context, self.step.slug, launch.state)
        return wait(self.context, handle, self.step.timeout_seconds, told)

    def _record(self, verdict: Verdict, started: str, seconds: float) -> RunRecord:
        context, step = self.context, self.step
        around, reason = context.around, verdict.reason
        passed = verdict.outcome == "passed"
        last = self.previous.passed if self.previous is not None else None
        engine = context.engine
        return RunRecord(
            workflow=context.workflow.stem,
            step=step.slug,
            name=step.name,
            outcome=verdict.outcome,
            run_id=context.folder.run_id,
            started=started,
            ended=now(),
            reason_code=reason.code if reason else "",
            reason=_sentence(reason) if reason else "",
            exit_code=verdict.exit_code,
            person=around.person,
            machine=around.machine,
            directory=step.directory,
            commands=step.commands,
            commands_run=verdict.commands_run,
            engine=engine.describe(),
            isolation=engine.isolation,
            image=around.image if engine.isolation == "container" else None,
            lock=around.lock,
            environment=step.environment,
            deterministic=context.workflow.deterministic,
            network_isolation=context.project.network_isolation,
            sealed=passed and context.is_sealed() and engine.isolation != "none",
            plot_only=context.options.plot_only,
            seed=seed_of(context.workflow, step, verdict.pins.inputs),
            source_date_epoch=around.epoch,
            host=around.host,
            fingerprint=self._fingerprint(verdict.pins) if passed else None,
            pins=verdict.pins,
            unchanged_outputs=_unchanged(verdict.pins, last),
            undeclared_writes=verdict.undeclared[:200],
            seconds=round(seconds, 3),
            commit=around.commit,
            dirty=context.observer.dirty([*verdict.pins.inputs, *verdict.pins.code]),
            last_passed=None if passed else last,
        )

    def _fingerprint(self, pins: Pins) -> str:
        context = self.context
        around = Circumstances(
            inputs=pins.inputs,
            code=pins.code,
            image=context.around.image if context.engine.isolation == "container" else None,
            lock=context.around.lock,
            engine=context.engine.kind,
            network=not context.project.network_isolation,
            source_date_epoch=context.around.epoch,
        )
        return run_fingerprint(context.workflow, self.step, around)


def wait(
    context: RunContext, handle: Handle, seconds: float | None, tell: Callable[[], None]
) -> tuple[Ended, bool]:
    """Wait for a launched step; end it when its time is up or the run is to stop.

    Returns how it ended, and whether its time ran out.
    """
    end = None if seconds is None else time.monotonic() + seconds
    pause, timed_out = _POLL_SECONDS[0], False
    while True:
        ended = handle.poll()
        tell()
        if ended is not None:
            return ended, timed_out
        if context.stopping.is_set():
            handle.stop()
        elif end is not None and time.monotonic() > end:
            timed_out = True
            handle.stop()
        time.sleep(pause)
        pause = min(pause * 1.5, _POLL_SECONDS[1])


def pump(context: RunContext, slug: str, state: Path) -> Callable[[], None]:
    """Return what tells the journal of new output: stream, offset and length, never the bytes."""
    told = {"stdout": 0, "stderr": 0}

    def tell() -> None:
        for stream, offset in told.items():
            try:
                size = os.stat(state / stream).st_size
            except OSError:
                continue
            if size > offset:
                length = size - offset
                context.journal.write(
                    "output",
                    step=slug,
                    stream=stream,
                    offset=offset,
                    length=length,
                    log=f"{state.name}/{stream}",
                )
                told[stream] = size

    return tell


def fresh_state(folder: Path, kind: str = "attempt") -> Path:
    """Return a new, empty folder for an engine's state: a run may launch a step more than once."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 1
    while (state := folder / f"{kind}-{count}").exists():
        count += 1
    state.mkdir()
    return state


def _unchanged(pins: Pins, last: RunRecord | None) -> tuple[str, ...]:
    if last is None:
        return ()
    return tuple(path for path, pin in pins.outputs.items() if last.pins.outputs.get(path) == pin)


def _sentence(reason: Reason) -> str:
    return f"{reason.text}; {reason.action}" if reason.action else reason.text
