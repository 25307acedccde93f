"""``--plot-only``: new plots from data that is there, where that data is still what it would be.

A record says that the code and inputs it pins made the outputs it pins. So the data must be those
of the last passed run, and nothing that data came from may have changed since.
"""

from __future__ import annotations

import dataclasses

from vaibify_lab.core import differences
from vaibify_lab.core.commands import named_by
from vaibify_lab.core.facts import Pins, RunRecord
from vaibify_lab.core.model import Step
from vaibify_lab.core.report import Reason
from vaibify_lab.runs.context import RunContext


def made(step: Step) -> tuple[str, ...]:
    """Return the outputs that plot commands alone must write."""
    return tuple(dict.fromkeys(step.plot_files))


def kept_data(context: RunContext, step: Step, passed: RunRecord | None) -> dict[str, str] | Reason:
    """Return the hashes of the outputs that stay, or why new plots alone would not be honest."""
    action = step.how_to_run
    if passed is None:
        return Reason("data-stale", "has never passed, so it has no data to plot", None, action)
    data = without_plots(step)
    of_data = context.watched[step.slug].of_data
    code = frozenset(context.observer.scout.code_of(data).files)
    count = len(step.data_commands)
    before = dataclasses.replace(
        passed,
        commands=passed.commands[:count],
        pins=Pins(
            passed.pins.inputs,
            {path: pin for path, pin in passed.pins.code.items() if path in code},
            {path: passed.pins.outputs[path] for path in data.made_among(passed.pins.outputs)},
        ),
        undeclared_reads={
            path: sha256 for path, sha256 in passed.undeclared_reads.items() if path in of_data
        },
    )
    world = context.observer.step_world(context.workflow, data, context.project, before)
    first = next(differences.since(data, before, context.workflow, world), None)
    if first is not None:
        text = f"has data that would not come out so now: {first.text}"
        return Reason("data-stale", text, first.path, action)
    return dict(before.pins.outputs)


def without_plots(step: Step) -> Step:
    """Return the step as far as it makes data, without scripts that only plot commands name."""
    plotting = frozenset(named_by(step.plot_commands, step.directory).scripts)
    computing = frozenset(named_by(step.data_commands, step.directory).mentioned)
    declared = step.declared_scripts
    if declared is not None:
        declared = tuple(one for one in declared if one not in plotting or one in computing)
    plots = frozenset(step.plot_files)
    return dataclasses.replace(
        step,
        plot_commands=(),
        plot_files=(),
        data_files=tuple(path for path in step.data_files if path not in plots),
        output_files=tuple(path for path in step.output_files if path not in plots),
        declared_scripts=declared,
    )
