"""The record of a step's run, from its verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from vaibify_lab.core import components
from vaibify_lab.core.facts import Pins, RunRecord
from vaibify_lab.core.fingerprint import circumstances_of, run_fingerprint, seed_of
from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.core.report import Reason
from vaibify_lab.engines.base import Isolation
from vaibify_lab.runs.context import RunContext
from vaibify_lab.runs.journal import now
from vaibify_lab.runs.judge import Verdict

_WEAKEST_FIRST: tuple[Isolation, ...] = ("none", "sandbox", "container")


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a record keeps of a run beside its verdict, gathered as it went."""

    started: str
    commands_run: tuple[str, ...] = ()
    commit: str | None = None
    branch: str | None = None
    shallow: bool = False
    dirty: tuple[str, ...] = ()
    sealed: bool = False
    done_by: str | None = None
    notebook: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Way:
    """In which way all outputs of a step were made."""

    sealed: bool
    deterministic: bool
    isolation: Isolation


def _way_of(context: RunContext, step: Step, attempt: Attempt, last: RunRecord | None) -> _Way:
    """Return the way; with ``--plot-only`` no better than the run that made the data had it."""
    way = _Way(attempt.sealed, context.is_deterministic(), context.engine.isolation)
    made_all = not context.options.plot_only or not (step.data_commands or step.notebook)
    if made_all or last is None:
        return way
    found = {way.isolation, last.isolation}
    isolation = next((one for one in _WEAKEST_FIRST if one in found), way.isolation)
    return _Way(way.sealed and last.sealed, way.deterministic and last.deterministic, isolation)


def record_of(
    context: RunContext,
    step: Step,
    verdict: Verdict,
    attempt: Attempt,
    previous: RunRecord | None,
    seconds: float,
) -> RunRecord:
    """Return the record; a run that did not pass keeps the last one that did inside.

    Its contents have no version numbers: one that is to be written gets them by `with_versions`.
    """
    around, reason, engine = context.around, verdict.reason, context.engine
    passed = verdict.outcome == "passed"
    last = previous.passed if previous is not None else None
    way = _way_of(context, step, attempt, last)
    stood_on = components.of_step(around.components, attempt.variables)
    record = RunRecord(
        workflow=context.workflow.stem,
        step=step.slug,
        name=step.name,
        outcome=verdict.outcome,
        run_id=context.folder.run_id,
        started=attempt.started,
        ended=now(),
        reason_code=reason.code if reason else "",
        reason=_sentence(reason) if reason else "",
        exit_code=verdict.exit_code,
        person=around.person,
        machine=around.machine,
        directory=step.directory,
        commands=step.commands,
        commands_run=attempt.commands_run,
        engine=engine.describe(),
        isolation=way.isolation,
        image=around.image if engine.isolation == "container" else None,
        lock=around.lock,
        environment=step.environment,
        deterministic=way.deterministic,
        deterministic_by_flag=way.deterministic and not context.workflow.deterministic,
        network_isolation=context.project.network_isolation,
        sealed=passed and way.sealed,
        plot_only=context.options.plot_only,
        done_by=attempt.done_by,
        notebook=attempt.notebook,
        seed=seed_of(context.workflow, step, verdict.pins.inputs),
        seed_declared=context.workflow.seed is not None,
        source_date_epoch=around.epoch,
        host=around.host,
        env_hash=components.env_hash(stood_on),
        components=stood_on,
        variables=attempt.variables,
        pins=verdict.pins,
        unchanged_outputs=_unchanged(verdict.pins, last),
        undeclared_writes=verdict.undeclared,
        own_code=verdict.own_code,
        undeclared_reads=verdict.reads,
        undeclared_names={**verdict.names, **_of_data(context, step, last)},
        seconds=round(seconds, 3),
        commit=attempt.commit,
        branch=attempt.branch,
        shallow=attempt.shallow,
        dirty=attempt.dirty,
        last_passed=None if passed else last,
    )
    return _named(context.workflow, step, record)


def with_versions(context: RunContext, record: RunRecord) -> RunRecord:
    """Return a record that is to be written, with the version numbers of its contents."""
    return replace(record, pins=context.versions.numbered(record.pins))


def _named(workflow: Workflow, step: Step, record: RunRecord) -> RunRecord:
    """Name a run that passed; none that a person did, which no name can stand for."""
    if record.outcome != "passed" or step.interactive:
        return record
    name = run_fingerprint(workflow, step, circumstances_of(record))
    return replace(record, fingerprint=name)


def _of_data(context: RunContext, step: Step, last: RunRecord | None) -> dict[str, str]:
    """Return what the data may have been made from by an earlier run, with ``--plot-only``."""
    watched = context.watched.get(step.slug)
    if watched is None or last is None:
        return {}
    return {path: one for path, one in last.undeclared_names.items() if path in watched.of_data}


def _unchanged(pins: Pins, last: RunRecord | None) -> tuple[str, ...]:
    if last is None:
        return ()
    return tuple(path for path, pin in pins.outputs.items() if last.pins.outputs.get(path) == pin)


def left_out(step: Step, record: RunRecord, previous: RunRecord | None) -> tuple[str, ...]:
    """Return what the last run that passed wrote of a step's outputs and this one did not."""
    last = previous.passed if previous is not None else None
    before = step.made_among(last.pins.outputs) if last is not None else ()
    return tuple(path for path in before if path not in record.pins.outputs)


def _sentence(reason: Reason) -> str:
    return f"{reason.text}; {reason.action}" if reason.action else reason.text
