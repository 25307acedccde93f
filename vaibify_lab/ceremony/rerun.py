"""Tier 4: the workflow run again on a copy, its outputs compared with those that are here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from vaibify_lab.ceremony.copying import Tell, copied, copy_file, watch
from vaibify_lab.ceremony.notebooks import own_patterns
from vaibify_lab.core.facts import RunRecord
from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.core.paths import shown
from vaibify_lab.envelope import environment
from vaibify_lab.files.hashing import hash_many
from vaibify_lab.files.tree import Tree
from vaibify_lab.provenance.compare.noise import Rules
from vaibify_lab.provenance.outputs import Compared, compare_outputs
from vaibify_lab.runs.enveloping import manifested
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.plan import Mode
from vaibify_lab.runs.start import start_run

_NOTHING = "there is nothing to compare"


@dataclass(frozen=True, slots=True)
class Rerun:
    """What a rerun came to. ``problems`` are sentences: why it could not begin, or what failed."""

    outputs: tuple[Compared, ...]
    problems: tuple[str, ...]
    engine: str
    deterministic: bool = True
    in_container: bool = False

    @property
    def hint(self) -> str:
        """A likely cause of a difference, "" where there is none to name."""
        if self.passed or self.deterministic or not self.outputs:
            return ""
        return (
            "the workflow does not declare bDeterministic, so dates, hash order and the number of "
            "threads were free to differ; set it to true and run again"
        )

    @property
    def passed(self) -> bool:
        """Tell whether there was something to compare and all of it says the same."""
        same = all(one.passes for one in self.outputs)
        return bool(self.outputs) and same and not self.problems

    @property
    def line(self) -> str:
        """The right part of the printed line."""
        same = sum(one.verdict == "identical" for one in self.outputs)
        near = sum(one.passes for one in self.outputs) - same
        head = "" if self.passed else "FAILED, "
        if not self.outputs and self.problems:
            return f"FAILED, {self.problems[0]}"
        also = f", {near} the same in other bytes" if near else ""
        return f"{head}{same} of {len(self.outputs)} outputs identical{also} ({self.engine})"

    def as_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        return {
            "passed": self.passed,
            "engine": self.engine,
            "in_container": self.in_container,
            "outputs": [one.as_json() for one in self.outputs],
            "problems": list(self.problems),
        }


def rerun(
    opened: Opened,
    workflow: Workflow,
    person: str,
    changed: tuple[str, ...] = (),
    tell: Tell | None = None,
    only: Sequence[str] = (),
) -> Rerun:
    """Run a workflow again on a copy beside the repository, without any cache.

    ``changed`` is what `changed_since_pinned` said, which keeps it from passing. The copy holds the
    tracked and the manifested files, not the whole tree, and none of the outputs of the steps that
    are run (all, or those named by slug in ``only``); hashes of these are taken before.
    """
    steps = [step for step in workflow.steps if step.slug in only] or list(workflow.steps)
    refusal = refusal_of(steps)
    if refusal:
        return Rerun((), (refusal,), "nothing was run")
    outputs = [path for step in steps for path in opened.observer.expand(step.outputs)]
    before = hash_many(opened.tree, outputs)
    mode: Mode = "only" if only else "all"
    rules = Rules(workflow.tolerance, own=own_patterns(opened))
    begin = datetime.now(UTC)
    flag = _ran_deterministic(opened, workflow, steps)
    options = RunOptions(
        workflow.path,
        mode,
        tuple(only),
        engine="any",
        deterministic=flag,
        tests=False,
        no_cache=True,
    )
    with copied(opened, lambda copy: fill(opened, workflow, steps, copy)) as copy:
        followed = watch(start_run(copy, options, person), tell)
        made = outputs_of(copy, steps)
        rules = replace(rules, ran=(begin, datetime.now(UTC)))
        compared = compare_outputs(opened.tree, before, copy, made, rules)
    problems = (*changed, *followed.failures, *(() if compared else (_NOTHING,)))
    engine, contained = followed.engine, followed.in_container
    return Rerun(compared, problems, engine, workflow.deterministic or flag, contained)


def _ran_deterministic(opened: Opened, workflow: Workflow, steps: Sequence[Step]) -> bool:
    """Tell whether each step's recorded run was deterministic, be it by a flag alone."""
    records = opened.facts_of(workflow).load(step.slug for step in steps).records
    passed = [one.passed if isinstance(one, RunRecord) else None for one in records.values()]
    return bool(passed) and all(one is not None and one.deterministic for one in passed)


def refusal_of(steps: Sequence[Step]) -> str:
    """Say why steps cannot be run again by themselves; "" when they can."""
    if not steps:
        return "the workflow has no step"
    for step in steps:
        if not step.enabled:
            return f"step {step.slug!r} is disabled"
        if step.interactive:
            return f"step {step.slug!r} is interactive and cannot be run again by itself"
    if not any(step.outputs for step in steps):
        return f"{_NOTHING}: no output is declared"
    return ""


def changed_since_pinned(opened: Opened, workflow: Workflow) -> tuple[str, ...]:
    """Name inputs whose bytes are not those that the recorded run consumed."""
    facts = opened.facts_of(workflow).load(step.slug for step in workflow.steps)
    found = []
    for slug, record in facts.records.items():
        passed = record.passed if isinstance(record, RunRecord) else None
        pins = passed.pins.inputs if passed is not None else {}
        made = {path for step in workflow.steps for path in step.made_among(pins)}
        raw = [path for path in pins if path not in made]
        for path, state in hash_many(opened.tree, raw).items():
            if state.sha256 != pins[path]:
                found.append(f"input {shown(path)} of {slug!r} differs from its pin")
    return tuple(found)


def fill(opened: Opened, workflow: Workflow, steps: Sequence[Step], copy: Tree) -> None:
    """Copy what is tracked or manifested, without facts, and without outputs of these steps."""
    outputs = [path for step in steps for path in step.outputs]
    index = opened.repository.snapshot().index
    tracked = [path for path, (mode, _) in index.items() if mode.startswith("10")]
    wanted = dict.fromkeys((*tracked, *manifested(opened, [workflow])))
    for path in wanted:
        ours = path.startswith(".vaibify/") and path not in (environment.NAME, workflow.path)
        made = any(path == one or (one[-1] == "/" and path.startswith(one)) for one in outputs)
        seen = opened.tree.lstat(path)
        if ours or made or seen is None:
            continue
        copy_file(opened.tree, path, copy, seen.st_mode & 0o777)


def outputs_of(copy: Tree, steps: Sequence[Step]) -> list[str]:
    """Return the outputs that steps have there, declared folders as the files below them."""
    found: list[str] = []
    for step in steps:
        for path in step.outputs:
            if path.endswith("/") and copy.exists_as_directory(path):
                found += copy.list_files(path, strict=False)
            elif not path.endswith("/"):
                found.append(path)
    return found
