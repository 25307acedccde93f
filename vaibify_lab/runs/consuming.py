"""What a run consumes, as it is when the run begins."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.facts import RunRecord
from vaibify_lab.core.model import Step
from vaibify_lab.core.observed import FileState
from vaibify_lab.files.stamps import Stamp
from vaibify_lab.runs.context import RunContext
from vaibify_lab.runs.preflight.undeclared import Watched
from vaibify_lab.runs.writes import stamps

MOST_BYTES = 2**33  # of undeclared files of one step, which nobody asked to have hashed


@dataclass(frozen=True, slots=True)
class Consumption:
    """What a run consumes: hashes, and stamps that were taken before those were made.

    ``reads`` and ``names`` are files that it reads, or may read, beside those that it declares,
    ``absent`` those of them that are not there.
    ``states`` are those of its inputs and code.
    """

    inputs: Mapping[str, str]
    code: Mapping[str, str]
    stamps: Mapping[str, Stamp | None]
    reads: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, FileState] = field(default_factory=dict)
    absent: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """Every declared file and the code, once."""
        return tuple(dict.fromkeys((*self.inputs, *self.code)))

    @property
    def unusable(self) -> dict[str, FileState]:
        """Those of them that no run can take, missing or not plain."""
        return {path: state for path, state in self.states.items() if state.kind != "file"}


def consume(context: RunContext, step: Step, previous: RunRecord | None) -> Consumption:
    """Stamp, then hash what a step would consume now."""
    cache = context.observer.cache
    inputs, code = context.observer.consumed_paths(step, previous)
    before = stamps(context.tree, (*inputs, *code))
    states = cache.observe(before)
    watched = context.watched.get(step.slug, Watched())
    beside = _affordable(context, step, [path for path in watched.paths if path not in before])
    seen = cache.observe(beside)
    known = {path: one.sha256 for path, one in seen.items() if one.sha256}
    return Consumption(
        _hashes(inputs, states),
        _hashes(code, states),
        before,
        {path: known[path] for path in watched.reads if path in known},
        {path: known[path] for path in watched.names if path in known},
        states,
        tuple(path for path, one in seen.items() if one.kind == "missing"),
    )


def read_beside(
    context: RunContext, step: Step, consumed: Consumption, written: Container[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return what a run read, or may have read, undeclared, and did not write.

    By the hashes from before; of what was not there then, and another step made meanwhile, by
    those of now. What it wrote itself is only named: another run begins with what this one left.
    """
    watched = context.watched.get(step.slug, Watched())
    late = [path for path in watched.paths if path in consumed.absent or path in written]
    states = context.observer.cache.observe(_affordable(context, step, late))
    now = {path: one.sha256 for path, one in states.items() if one.sha256}
    kept = {path: sha256 for path, sha256 in now.items() if path in written}
    made = {path: now[path] for path in watched.reads if path in now and path not in written}
    reads = {path: one for path, one in consumed.reads.items() if path not in written}
    return {**reads, **made}, {**consumed.names, **kept}


def _affordable(context: RunContext, step: Step, paths: Sequence[str]) -> list[str]:
    """Return as many of the undeclared files as can be hashed soon; the others are told of."""
    kept: list[str] = []
    left = MOST_BYTES
    for path in paths:
        with suppress(VaibifyError):  # below a link: it cannot be watched
            status = context.tree.lstat(path)
            size = status.st_size if status is not None else 0
            if size <= left:
                kept.append(path)
                left -= size
    if more := len(paths) - len(kept):
        text = f"{more} of the files that it may read undeclared are too large to be watched"
        context.journal.write("note", step=step.slug, text=text)
    return kept


def _hashes(paths: Iterable[str], states: Mapping[str, FileState]) -> dict[str, str]:
    return {path: states[path].sha256 or "" for path in paths}
