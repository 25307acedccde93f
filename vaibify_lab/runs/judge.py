"""Whether a step's run passed: told from how its processes ended and from the bytes it left."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.facts import Outcome, Pins, RunRecord
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import shown
from vaibify_lab.core.report import Reason
from vaibify_lab.engines.base import Ended
from vaibify_lab.files.hashing import hash_many
from vaibify_lab.files.other_form import instead_of
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs import explain
from vaibify_lab.runs.consuming import Consumption, read_beside
from vaibify_lab.runs.context import RunContext
from vaibify_lab.runs.guard import Guard
from vaibify_lab.runs.remedies import Place
from vaibify_lab.runs.waiting import Wait
from vaibify_lab.runs.writes import stamps

_DECLARE = "declare it in saInputDataFiles (or saScripts, for code)"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a run of a step is judged, with everything its record keeps.

    ``hidden`` is how many more undeclared files it wrote than ``undeclared`` names; ``own_code``
    are those of all of them that it also runs; ``reads`` and ``names`` are files that it reads, or
    may read, undeclared, with the hashes they had before; what it wrote itself is among ``names``,
    as it left it.
    """

    outcome: Outcome
    reason: Reason | None = None
    exit_code: int | None = None
    pins: Pins = field(default_factory=Pins)
    undeclared: tuple[str, ...] = ()
    hidden: int = 0
    own_code: Mapping[str, str] = field(default_factory=dict)
    reads: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Seal:
    """A sealed run's tree and what it held."""

    tree: Tree
    held: frozenset[str]


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges one run.

    ``made`` are the outputs that this run had to write, ``kept`` those that had to stay as they
    were, with the hashes they had (``--plot-only``). ``root`` is where the step saw its tree.
    ``person`` is whom an interactive step waited for.
    """

    context: RunContext
    step: Step
    consumed: Consumption
    made: Sequence[str]
    kept: Mapping[str, str]
    guard: Guard
    ended: Ended
    timed_out: bool
    state: Path
    root: str
    seal: Seal | None
    person: Wait | None = None

    def verdict(self) -> Verdict:
        """Return the verdict; the first fault that fits decides, the others go into the journal."""
        seen = self.guard.look()
        faults, undeclared = seen.faults, seen.named
        if faults:
            for fault in (*faults[1:], *self._changed()):
                write = self.context.journal.write
                write("warning", step=self.step.slug, text=f"also: {fault.text}", path=fault.path)
            return self._ended("failed", faults[0], undeclared)
        if self.ended.lost:
            detail = self.ended.detail or "the engine was lost"
            return self._ended("interrupted", Reason("engine-lost", detail), undeclared)
        if self.timed_out:
            text = f"was stopped after its time limit of {self.step.timeout_seconds:g} seconds"
            return self._ended(
                "failed", Reason("time-out", text, None, "raise fTimeoutSeconds"), undeclared
            )
        if self.person is not None and self.person.word == "abandon":
            reason = Reason("abandoned", f"was given up by {self.person.by}")
            return self._ended("interrupted", reason, undeclared)
        if self.ended.stopped and not self._is_done():
            reason = Reason("stopped", "was stopped on request")
            return self._ended("interrupted", reason, undeclared)
        found = self._exit() or next(self._changed(), None) or self._outputs(undeclared)
        if isinstance(found, Reason):
            return self._ended("failed", found, undeclared)
        for text in self._odd():
            self.context.journal.write("warning", step=self.step.slug, text=text)
        pins = Pins(dict(self.consumed.inputs), dict(self.consumed.code), found)
        written = frozenset(seen.undeclared)
        reads, names = read_beside(self.context, self.step, self.consumed, written)
        own = self._own_code(written)
        return Verdict("passed", None, 0, pins, undeclared, seen.hidden, own, reads, names)

    def _own_code(self, undeclared: frozenset[str]) -> dict[str, str]:
        """Return what it wrote, undeclared, and also runs, with the hashes.

        Or wrote in an earlier run, where it is as that left it; a sealed run's own files go with
        its tree.
        """
        before = self._passed.own_code if self._passed is not None else {}
        if not (undeclared or before):
            return {}
        home = self.context.tree
        code = self.context.observer.scout.code_of(self.step).files
        new = [path for path in code if path not in self.consumed.code]
        written = [path for path in new if path in undeclared]
        made = hash_many(self.seal.tree if self.seal else home, written)
        found = hash_many(home, [path for path in new if path in made or path in before])
        return {
            path: one.sha256
            for path, one in found.items()
            if one.sha256 and (one == made.get(path) or one.sha256 == before.get(path))
        }

    @property
    def _passed(self) -> RunRecord | None:
        """The last run of it that passed."""
        record = self.context.facts.record(self.step.slug)
        return record.passed if isinstance(record, RunRecord) else None

    def _ended(self, outcome: Outcome, reason: Reason, undeclared: tuple[str, ...]) -> Verdict:
        pins = Pins(dict(self.consumed.inputs), dict(self.consumed.code), {})
        return Verdict(outcome, reason, self.ended.returncode, pins, undeclared)

    def _odd(self) -> Iterator[str]:
        """Yield what is to be known of a step that passed all the same."""
        if self.ended.out_of_memory:  # a person saw it, and said that the step was done
            yield "one of its processes ran out of memory and was killed"
        if self.ended.detail:
            yield shown(self.ended.detail[:300])

    def _is_done(self) -> bool:
        """Tell whether a person said that their step is done: then it was stopped for that."""
        return self.person is not None and self.person.word == "complete"

    def _exit(self) -> Reason | None:
        if self._is_done():
            return None
        status = self.ended.returncode
        if self.ended.out_of_memory and status == 0:
            text = "went on after one of its processes ran out of memory and was killed"
            return Reason("out-of-memory", text)
        if self.ended.out_of_memory:
            return Reason("out-of-memory", "ran out of memory and was killed")
        if status is None:
            return Reason("unknown-exit", "nobody knows how it ended")
        if self.person is not None:
            text = f"ended before anybody said that it was done (exit status {status})"
            return Reason("ended-unasked", text, None, f"jupyter vaibify run {self.step.slug}")
        if status == 0:
            return self._missed(certain=True)
        reason = self._missed() or self._explained(status)
        if not self.ended.detail:
            return reason
        # its own words may be missing, and why: the disk is full
        text = f"{reason.text} ({shown(self.ended.detail[:300])})"
        is_full = os.strerror(errno.ENOSPC) in self.ended.detail
        return replace(reason, text=text, action="free some space" if is_full else reason.action)

    def _explained(self, status: int) -> Reason:
        log = explain.tail(self.state / "stderr")
        had = self._passed.pins.code if self._passed is not None else ()
        tree, steps = self.context.tree, self.context.workflow.steps
        gone = [path for path in had if tree.lstat(path) is None]
        home = str(tree.root)
        place = Place(self.step, self.root, home, steps, gone, lambda: _files_of(tree))
        return place.explained(explain.why_exit(status, log), log)

    def _missed(self, *, certain: bool = False) -> Reason | None:
        """Return which files of the repository a sealed run did not find, told from its log.

        Also when it ended well: a command may go on without them, and what it makes is then not
        what it makes where they are.
        """
        if self.seal is None:
            return None
        home = self.context.tree
        seen = explain.Sealed(
            self.step.directory,
            self.root,
            self.seal.held,
            lambda path: _is_file(home, path),
            lambda: _files_of(home),
        )
        log = explain.tail(self.state / "stdout") + "\n" + explain.tail(self.state / "stderr")
        paths = seen.missed(log, certain=certain)
        if not paths:
            return None
        names = ", ".join(shown(path) for path in paths)
        text = f"missed {names} in its sealed run"
        return Reason("sealed-missed", text, paths[0], _DECLARE)

    def _changed(self) -> Iterator[Reason]:
        now = stamps(self.context.tree, self.consumed.stamps)
        for path, seen in self.consumed.stamps.items():
            if now[path] != seen:
                is_code = path in self.consumed.code
                how = "declare it as an output" if is_code else "have it write to another file"
                text = f"ran while {shown(path)} was changed"
                action = f"jupyter vaibify run; if the step writes it itself, {how}"
                yield Reason("changed-while-running", text, path, action)

    def _outputs(self, undeclared: Sequence[str]) -> dict[str, str] | Reason:
        """Return the hashes of all outputs, or what is wrong with one."""
        tree = self.seal.tree if self.seal else self.context.tree
        paths = _listed(tree, self.made)
        if isinstance(paths, Reason):
            return paths
        found = _hashes(tree, paths, undeclared)
        if isinstance(found, Reason):
            return found
        old = [path for path in self.step.outputs if path not in self.made]
        kept = {
            path: state.sha256
            for path, state in hash_many(
                self.context.tree, self.context.observer.expand(old)
            ).items()
            if state.kind == "file"
        }
        for path in dict.fromkeys((*self.kept, *kept)):
            if kept.get(path) != self.kept.get(path):
                text = f"left {shown(path)} other than its last passed run did"
                return Reason("data-changed", text, path, f"jupyter vaibify run {self.step.slug}")
        return {**self.kept, **found}


def _listed(tree: Tree, outputs: Sequence[str]) -> list[str] | Reason:
    """Return the files that outputs stand for; a declared folder must hold something plain."""
    paths: list[str] = []
    for output in outputs:
        if not output.endswith("/"):
            paths.append(output)
            continue
        try:
            below = tree.list_files(output)
        except VaibifyError as error:
            return Reason("output-unusable", f"left an unusable output: {error}", output)
        if not below:
            return Reason("output-missing", f"left its output folder {output} empty", output)
        paths += below
    return paths


def _hashes(tree: Tree, paths: Sequence[str], undeclared: Sequence[str]) -> dict[str, str] | Reason:
    instead = f", but {shown(undeclared[0])}, which no step declares" if undeclared else ""
    found: dict[str, str] = {}
    for path, state in hash_many(tree, paths).items():
        if state.kind == "missing":
            other = instead_of(tree, path)
            text = f"did not write its output {shown(path)}{f': {other}' if other else instead}"
            return Reason("output-missing", text, path, "write it, or correct the declaration")
        if state.kind != "file" or state.sha256 is None:
            detail = f": {state.detail}" if state.detail else ""
            text = f"left its output {shown(path)} unusable ({state.kind}{detail})"
            return Reason("output-unusable", text, path)
        found[path] = state.sha256
    return found


def _is_file(tree: Tree, path: str) -> bool:
    try:
        os.close(tree.open_file(path))
    except VaibifyError:
        return False
    return True


def _files_of(tree: Tree) -> Iterator[str]:
    """Yield every file of the repository, whether git knows it or not."""
    files = tree.list_files("", strict=False)
    return (path for path in files if not path.startswith(".vaibify/"))
