"""Whether a step's run passed: told from how its processes ended and from the bytes it left."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.facts import Outcome, Pins, RunRecord
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import is_within, shown
from vaibify_lab.core.report import Reason
from vaibify_lab.engines.base import Ended
from vaibify_lab.files.hashing import hash_many
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs import explain
from vaibify_lab.runs.context import RunContext
from vaibify_lab.runs.writes import GitGuard, Snapshot, Stamp, quarantine, stamps


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a run of a step is judged, with everything its record keeps."""

    outcome: Outcome
    reason: Reason | None = None
    exit_code: int | None = None
    pins: Pins = field(default_factory=Pins)
    undeclared: tuple[str, ...] = ()
    commands_run: tuple[str, ...] = ()


@dataclass(slots=True)
class Judge:
    """Judges one run. ``tree`` is what the step saw; in a sealed run, not the repository."""

    context: RunContext
    step: Step
    tree: Tree
    root: str
    ended: Ended
    timed_out: bool
    state: Path
    inputs: Mapping[str, str]
    code: Mapping[str, str]
    watched: Mapping[str, Stamp | None]
    before: Snapshot
    guard: GitGuard
    facts_before: Mapping[str, Stamp | None]
    beside: frozenset[str]
    staged: tuple[str, ...] | None
    commands_run: tuple[str, ...]
    previous: RunRecord | None
    _undeclared: tuple[str, ...] = field(default=())

    def verdict(self) -> Verdict:
        """Return the verdict; the first fault that fits decides."""
        fault = next(self._planted(), None)
        if fault is not None:
            return self._failed(fault)
        if self.ended.lost:
            detail = self.ended.detail or "the engine was lost"
            return self._ended("interrupted", Reason("engine-lost", detail))
        if self.timed_out:
            text = f"was stopped after its time limit of {self.step.timeout_seconds:g} seconds"
            return self._failed(Reason("time-out", text))
        if self.ended.stopped:
            return self._ended("interrupted", Reason("stopped", "was stopped on request"))
        fault = self._exit() or next(self._faults(), None)
        if fault is not None:
            return self._failed(fault)
        outputs = self._outputs()
        if isinstance(outputs, Reason):
            return self._failed(outputs)
        return Verdict(
            "passed",
            None,
            0,
            Pins(dict(self.inputs), dict(self.code), outputs),
            self._undeclared,
            self.commands_run,
        )

    def _planted(self) -> Iterator[Reason]:
        """Yield what would let the step act outside itself, moved out of reach."""
        written = self.before.written_since()
        if written.nested_git:
            quarantine(self.tree, written.nested_git, self.context.folder.run_id)
            first = written.nested_git[0]
            text = f"made a git repository at {shown(first)}, which was moved out of reach"
            yield Reason("planted-repository", text, first)
        if self.guard.changed():
            text = "git's hooks or executing configuration changed while it ran"
            yield Reason("git-changed", text, ".git", "look at .git/hooks and .git/config")
        for path in self.context.facts.changed_by_others(self.facts_before, self.step.slug):
            text = f"the fact {path} was changed while it ran, and not by the runner"
            yield Reason("fact-changed", text, path, f"git checkout -- {path}")
        yield from self._writes(written.paths)

    def _writes(self, paths: tuple[str, ...]) -> Iterator[Reason]:
        undeclared = []
        for path in paths:
            if self._is_declared(path) or any(is_within(path, one) for one in self.beside):
                continue
            if path in self.inputs or path in self.code:
                continue  # told as changed while running
            if path in self.context.protected:
                text = f"wrote {shown(path)}, which is not its own"
                yield Reason("forbidden-write", text, path, f"git checkout -- {shown(path)}")
            undeclared.append(path)
        self._undeclared = self.context.observer.not_ignored(undeclared)
        for path in self._undeclared[:5]:
            text = f"wrote {shown(path)}, which no step declares"
            self.context.journal.write("warning", step=self.step.slug, text=text, path=path)

    def _is_declared(self, path: str) -> bool:
        return any(
            path == one or (one.endswith("/") and path.startswith(one)) for one in self.step.outputs
        )

    def _exit(self) -> Reason | None:
        status = self.ended.returncode
        if self.ended.out_of_memory:
            return Reason("out-of-memory", "ran out of memory and was killed")
        if status is None:
            return Reason("unknown-exit", "nobody knows how it ended")
        if status == 0:
            return None
        stderr = explain.tail(self.state / "stderr")
        if self.staged is not None:
            found = self._missed(stderr)
            if found is not None:
                return found
        return explain.why_exit(status, stderr)

    def _missed(self, stderr: str) -> Reason | None:
        text = stderr + "\n" + explain.tail(self.state / "stdout")
        home = self.context.tree
        paths = explain.missed_files(
            text,
            self.step.directory,
            self.root,
            lambda path: _is_file(home, path),
            self.staged or (),
            self.context.repository.snapshot().index,
        )
        if not paths:
            return None
        names = ", ".join(shown(path) for path in paths)
        action = "declare it in saInputDataFiles (or saScripts, for code)"
        return Reason("sealed-missed", f"missed {names} in its sealed run", paths[0], action)

    def _faults(self) -> Iterator[Reason]:
        now = stamps(self.context.tree, self.watched)
        for path, seen in self.watched.items():
            if now[path] != seen:
                text = f"{shown(path)} changed while it was running"
                yield Reason("changed-while-running", text, path, "jupyter vaibify run")
        if self.context.options.plot_only:
            yield from self._data_changed()

    def _data_changed(self) -> Iterator[Reason]:
        passed = self.previous.passed if self.previous is not None else None
        pins = passed.pins.outputs if passed is not None else {}
        data = self.context.observer.expand(self.step.data_files)
        for path, state in hash_many(self.context.tree, data).items():
            if pins.get(path) != state.sha256 or state.kind != "file":
                text = f"data file {shown(path)} is not that of the last passed run"
                yield Reason("data-changed", text, path, f"jupyter vaibify run {self.step.slug}")

    def _outputs(self) -> dict[str, str] | Reason:
        paths: list[str] = []
        for output in self.step.outputs:
            if not output.endswith("/"):
                paths.append(output)
                continue
            try:
                below = self.tree.list_files(output)
            except VaibifyError as error:
                return Reason("output-unusable", f"output {error}", output)
            if not below:
                return Reason("output-missing", f"left its output folder {output} empty", output)
            paths += below
        found: dict[str, str] = {}
        for path, state in hash_many(self.tree, paths).items():
            if state.kind == "missing":
                text = f"did not write its output {shown(path)}{self._instead()}"
                return Reason("output-missing", text, path, "write it, or correct the declaration")
            if state.kind != "file" or state.sha256 is None:
                text = f"left {shown(path)} as something that is no regular file ({state.kind})"
                return Reason("output-unusable", text, path)
            found[path] = state.sha256
        return found

    def _instead(self) -> str:
        first = next(iter(self._undeclared), None)
        return f", but {shown(first)}, which no step declares" if first is not None else ""

    def _failed(self, reason: Reason) -> Verdict:
        return self._ended("failed", reason)

    def _ended(self, outcome: Outcome, reason: Reason) -> Verdict:
        pins = Pins(dict(self.inputs), dict(self.code), {})
        code = self.ended.returncode
        return Verdict(outcome, reason, code, pins, self._undeclared, self.commands_run)


def _is_file(tree: Tree, path: str) -> bool:
    try:
        os.close(tree.open_file(path))
    except VaibifyError:
        return False
    return True
