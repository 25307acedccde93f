"""``replay``: recorded runs made again in the environment that they stood on, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby

from vaibify_lab.ceremony import drift
from vaibify_lab.ceremony.copying import Tell, copied, watch
from vaibify_lab.ceremony.drift import Difference
from vaibify_lab.ceremony.notebooks import own_patterns
from vaibify_lab.ceremony.replayed import Replay, StepReplay
from vaibify_lab.ceremony.replays import keep
from vaibify_lab.ceremony.rerun import fill, outputs_of, refusal_of
from vaibify_lab.core import components
from vaibify_lab.core.errors import CannotCheck, ImageRefused, UsageError
from vaibify_lab.core.facts import RunRecord
from vaibify_lab.core.graph import workflow_order
from vaibify_lab.core.model import Step
from vaibify_lab.core.observed import FileState
from vaibify_lab.envelope import environment
from vaibify_lab.files.tree import Tree
from vaibify_lab.provenance.compare.noise import Rules
from vaibify_lab.provenance.kept import as_record, find_kept
from vaibify_lab.provenance.outputs import Compared, compare_outputs
from vaibify_lab.runs.engine_choice import choose
from vaibify_lab.runs.enveloping import read_environment
from vaibify_lab.runs.opened import Look, Opened
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.standing import Standing
from vaibify_lab.runs.start import start_run


@dataclass(frozen=True, slots=True)
class _Captured:
    """A step and the run of it that is to be made again."""

    step: Step
    run: RunRecord

    @property
    def way(self) -> tuple[int | None, bool, bool, str]:
        """What runs must have in common to be made again in one."""
        run = self.run
        kind = "docker" if run.engine.get("kind") == "docker" else "local"
        return run.source_date_epoch, run.deterministic_by_flag, run.sealed, kind


@dataclass(slots=True)
class Replaying:
    """One replay of steps.

    Parameters
    ----------
    opened : Opened
    look : Look
        The workflow as it is now.
    names : sequence of str
        Steps, by slug, or kept runs, by the beginning of their fingerprints; none: all steps.
    accept : sequence of str
        Components that may differ.
    person : str
    tell : callable or None
        Gets the events of the runs.
    """

    opened: Opened
    look: Look
    names: Sequence[str]
    accept: Sequence[str]
    person: str
    tell: Tell | None = None
    _kept: dict[str, RunRecord] = field(default_factory=dict, init=False)
    _standing: dict[str, Standing | str] = field(default_factory=dict, init=False)

    def run(self) -> Replay:
        """Replay; what did not come out bit-identical is kept.

        Raises
        ------
        UsageError
            For a component that there is none of.
        """
        unknown = [one for one in self.accept if one not in components.LAYERS]
        if unknown:
            known = ", ".join(components.LAYERS)
            raise UsageError(f"there is no component {unknown[0]!r}", action=f"one of: {known}")
        workflow = self.look.workflow
        wanted = [self._slug(name) for name in self.names] or list(workflow.by_slug)
        steps = [workflow.by_slug[slug] for slug in workflow_order(workflow) if slug in wanted]
        refusal = refusal_of(steps)
        if refusal:
            return Replay(tuple(StepReplay(one.slug, problems=(refusal,)) for one in steps))
        captured = [self._captured(step) for step in steps]
        before = [self._before(one) for one in captured]
        if any(one.is_refused for one in before):
            return keep(self.opened.tree, Replay(tuple(before)))
        return self._made([one for one in captured if isinstance(one, _Captured)], before)

    def _slug(self, name: str) -> str:
        """Return the slug of a step; of a kept run, which is then the one that is made again.

        Raises
        ------
        UsageError
            The kept run is of no step of this workflow.
        """
        workflow = self.look.workflow
        kept = find_kept(self.opened.tree, name) if name not in workflow.by_slug else None
        if kept is None:
            return name
        if kept.workflow != workflow.path or kept.step not in workflow.by_slug:
            text = f"the run {name!r} is of step {kept.step!r} of {kept.workflow}, not here now"
            raise UsageError(text, action="name its workflow with --workflow")
        run = as_record(kept)
        by_flag = run.deterministic and not workflow.deterministic
        self._kept[kept.step] = replace(run, deterministic_by_flag=by_flag)
        return kept.step

    def _captured(self, step: Step) -> _Captured | StepReplay:
        record = self.look.facts.records.get(step.slug)
        run = record.passed if isinstance(record, RunRecord) else None
        run = self._kept.get(step.slug, run)
        why = _why_not(run)
        return (
            StepReplay(step.slug, problems=(why,)) if run is None or why else _Captured(step, run)
        )

    def _before(self, one: _Captured | StepReplay) -> StepReplay:
        """Return what is known before anything runs."""
        if isinstance(one, StepReplay):
            return one
        run = one.run
        found = StepReplay(one.step.slug, run.run_id, run.env_hash, deterministic=run.deterministic)
        standing = self._standing_on(one.way[3])
        if isinstance(standing, str):
            layer = "image" if run.image else "lock"
            then = run.image or run.lock or components.NONE
            missing = Difference(layer, layer, then, f"cannot be had: {standing}")
            return replace(found, drift=(missing,))
        world = self.look.world
        differing = drift.of_step(self.look.workflow, one.step, run, world, standing)
        accepted = tuple(one for one in differing if one.name in self.accept)
        return replace(
            found,
            drift=tuple(one for one in differing if one not in accepted),
            accepted=accepted,
        )

    def _standing_on(self, kind: str) -> Standing | str:
        """Return what a run on an engine stands on now, or why it cannot be had."""
        if kind not in self._standing:
            options = RunOptions(self.look.workflow.path, engine=kind)
            pinned = read_environment(self.opened)
            try:
                chosen = choose(self.opened, options, pinned, lambda _: None)
                self._standing[kind] = chosen.standing
            except (CannotCheck, ImageRefused, UsageError) as error:
                self._standing[kind] = error.text
        return self._standing[kind]

    def _made(self, captured: Sequence[_Captured], before: Sequence[StepReplay]) -> Replay:
        """Make the runs again on a copy, and compare."""
        steps = [one.step for one in captured]
        workflow = self.look.workflow
        begin = datetime.now(UTC)
        with copied(self.opened, lambda copy: fill(self.opened, workflow, steps, copy)) as copy:
            failures = [text for group in _groups(captured) for text in self._again(copy, group)]
            rules = Rules(
                workflow.tolerance, own=own_patterns(self.opened), ran=(begin, datetime.now(UTC))
            )
            compared = self._compared(copy, captured, rules)
            now = Opened(copy.root).facts_of(workflow)
            records = {step.slug: now.record(step.slug) for step in steps}
            found = [
                _after(one, known, compared[one.step.slug], records[one.step.slug], failures)
                for one, known in zip(captured, before, strict=True)
            ]
            return keep(self.opened.tree, Replay(tuple(found)), copy)

    def _again(self, copy: Tree, group: Sequence[_Captured]) -> tuple[str, ...]:
        """Run steps that have everything in common; return what failed."""
        epoch, by_flag, sealed, kind = group[0].way
        pinned = read_environment(Opened(copy.root))
        if epoch is not None:
            asked = replace(pinned or environment.EnvironmentFile(), source_date_epoch=epoch)
            copy.write(environment.NAME, asked.to_bytes())
        options = RunOptions(
            self.look.workflow.path,
            "only",
            tuple(one.step.slug for one in group),
            engine=kind,
            deterministic=by_flag,
            sealed=sealed,
            tests=False,
            no_cache=True,
        )
        return watch(start_run(copy, options, self.person), self.tell).failures

    def _compared(
        self, copy: Tree, captured: Sequence[_Captured], rules: Rules
    ) -> dict[str, list[Compared]]:
        """Compare the outputs of all steps at once, with those that their runs recorded."""
        pinned = [one.run.pins.outputs for one in captured]
        before = {path: FileState("file", pin) for one in pinned for path, pin in one.items()}
        made = {one.step.slug: outputs_of(copy, [one.step]) for one in captured}
        every = [path for paths in made.values() for path in paths]
        found = {
            one.path: one for one in compare_outputs(self.opened.tree, before, copy, every, rules)
        }
        return {
            one.step.slug: [
                found[path] for path in dict.fromkeys((*one.run.pins.outputs, *made[one.step.slug]))
            ]
            for one in captured
        }


def _why_not(run: RunRecord | None) -> str:
    """Say why a run cannot be made again; "" when it can."""
    if run is None:
        return "no run of it that passed is on record"
    if run.done_by is not None:
        return "its last run was done by a person"
    if run.plot_only:
        return "its last run made only plots; run it whole first"
    if not run.components or run.env_hash is None:
        return "its record does not say what it stood on; run it again first"
    if components.env_hash(run.components) != run.env_hash:
        return "its record's env_hash is not that of its components"
    return ""


def _groups(captured: Sequence[_Captured]) -> Iterator[list[_Captured]]:
    for _, group in groupby(captured, key=lambda one: one.way):
        yield list(group)


def _after(
    one: _Captured,
    known: StepReplay,
    outputs: Sequence[Compared],
    record: object,
    failures: Sequence[str],
) -> StepReplay:
    """Return what came of one step."""
    head = f"step {one.step.slug!r} "
    mine = tuple(text.removeprefix(head) for text in failures if text.startswith(head))
    general = tuple(text for text in failures if not text.startswith("step "))
    if not isinstance(record, RunRecord):
        return replace(known, problems=mine or general or ("it was not run",))
    around = [
        *drift.of_inputs(one.run.pins.inputs, record.pins.inputs),
        *_surprises(known, one.run, record),
        *drift.around_it(one.run, record),
    ]
    return replace(
        known,
        outputs=tuple(outputs),
        problems=mine,
        found=tuple(around),
        env_hash_now=record.env_hash,
    )


def _surprises(known: StepReplay, then: RunRecord, now: RunRecord) -> list[Difference]:
    """Return what nobody foresaw: it changed between the look and the run."""
    seen = {one.name for one in known.accepted}
    found = drift.of_components(then.components, now.components)
    return [one for one in found if one.name not in seen]
