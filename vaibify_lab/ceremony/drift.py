"""What is not as a recorded run found it, layer by layer, before that run is made again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vaibify_lab.core import components
from vaibify_lab.core.components import NONE, Drift
from vaibify_lab.core.differences import code_pins, undeclared
from vaibify_lab.core.facts import RunRecord
from vaibify_lab.core.fingerprint import seed_of
from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.core.paths import shown
from vaibify_lab.core.world import World
from vaibify_lab.runs.determinism import step_environment
from vaibify_lab.runs.standing import Standing

# nearest to the researcher first: where a layer drifted, those after it drift along
LAYERS = ("input", "code", "lock", "image", "system", "machine")
NONE_FOUND = "none found: not deterministic by itself, or it reads what it does not declare"
_ABSENT = "not there"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not what it was: in which layer, then and now."""

    layer: str
    name: str
    then: str
    now: str

    @property
    def text(self) -> str:
        """Both values, in a line."""
        return shown(f"{self.name}: then {_short(self.then)}, now {_short(self.now)}")

    def to_json(self) -> dict[str, str]:
        """Return the JSON answer's form."""
        return {"layer": self.layer, "name": self.name, "then": self.then, "now": self.now}


def first_layer(found: Iterable[Difference]) -> str | None:
    """Return the layer that drifted, the one nearest to the researcher; None without any."""
    return min((one.layer for one in found), key=LAYERS.index, default=None)


def of_step(
    workflow: Workflow, step: Step, passed: RunRecord, world: World, standing: Standing
) -> list[Difference]:
    """Return how a step, and what it would stand on, differ from its last passed run.

    Parameters
    ----------
    workflow, step : Workflow, Step
        As they are now.
    passed : RunRecord
        The run.
    world : World
        What is here now.
    standing : Standing
        What a run would stand on now.
    """
    variables = step_environment(
        step,
        seed=passed.seed or 0,
        epoch=passed.source_date_epoch or 0,
        locale=standing.locale if passed.deterministic else None,
    )
    now = components.of_step(standing.components, variables)
    return [
        *_files("input", world.inputs(step), passed.pins.inputs, world),
        *_undeclared(step, passed, world),
        *_files("code", world.code.get(step.slug, ()), code_pins(step, passed, world), world),
        *_declared(workflow, step, passed, world),
        *of_components(passed.components, now),
    ]


def of_components(then: Mapping[str, str], now: Mapping[str, str]) -> list[Difference]:
    """Return how components differ."""
    return [_of_drift(one) for one in components.drifted(then, now)]


def around_it(then: RunRecord, now: RunRecord) -> list[Difference]:
    """Return what differs of two runs beside their components: it may be why bytes differ."""
    pairs = (
        ("processors", then.host.get("cpus"), now.host.get("cpus")),
        ("usable processors", then.host.get("usable_cpus"), now.host.get("usable_cpus")),
        ("isolation", then.engine.get("tier"), now.engine.get("tier")),
    )
    return [
        Difference("machine", name, str(one), str(other))
        for name, one, other in pairs
        if None not in (one, other) and one != other
    ]


def of_inputs(then: Mapping[str, str], now: Mapping[str, str]) -> list[Difference]:
    """Return which inputs of a replay came out otherwise of the steps before."""
    return [
        Difference("input", path, then.get(path, _ABSENT), now.get(path, _ABSENT))
        for path in dict.fromkeys((*then, *now))
        if then.get(path) != now.get(path)
    ]


def _undeclared(step: Step, passed: RunRecord, world: World) -> Iterator[Difference]:
    for path, state in undeclared(passed.undeclared_reads, step, world):
        then, now = passed.undeclared_reads[path], state.sha256 or state.kind
        if then != now:
            yield Difference("input", f"{path}, undeclared", then, now)


def _files(
    layer: str, now: Iterable[str], pins: Mapping[str, str], world: World
) -> Iterator[Difference]:
    listed = dict.fromkeys(now)
    for path in dict.fromkeys((*pins, *listed)):
        state = world.state(path)
        there = state.sha256 or state.kind if path in listed else "not one any more"
        then = pins.get(path, "not one of them")
        if there != then:
            yield Difference(layer, path, then, there)


def _declared(
    workflow: Workflow, step: Step, passed: RunRecord, world: World
) -> Iterator[Difference]:
    """Yield what the workflow says otherwise."""
    deterministic = workflow.deterministic or passed.deterministic_by_flag
    for name, then, now in (
        ("commands", "; ".join(passed.commands), "; ".join(step.commands)),
        ("sDirectory", passed.directory, step.directory),
        ("bDeterministic", str(passed.deterministic), str(deterministic)),
        ("networkIsolation", str(passed.network_isolation), str(world.network_isolation)),
    ):
        if then != now:
            yield Difference("code", name, then, now)
    yield from _variables_differ(step, passed)
    seed = seed_of(workflow, step, passed.pins.inputs)
    is_declared_otherwise = (step.commands, step.directory, dict(step.environment)) != (
        passed.commands,
        passed.directory,
        dict(passed.environment),
    )
    if passed.seed != seed and not (workflow.seed is None and is_declared_otherwise):
        yield Difference("code", "seed", str(passed.seed), str(seed))
    made = set(step.made_among(passed.pins.outputs))
    for path in passed.pins.outputs:
        if path not in made:
            yield Difference("code", f"output {path}", "declared", "not declared")


def _variables_differ(step: Step, passed: RunRecord) -> Iterator[Difference]:
    """Yield the step's own variables that differ; those that are a component are told as such."""
    for name in dict.fromkeys((*passed.environment, *step.environment)):
        then, now = passed.environment.get(name), step.environment.get(name)
        if then != now and not _is_component(name):
            yield Difference("code", f"dictEnvironment {name}", then or NONE, now or NONE)


def _is_component(name: str) -> bool:
    return name in ("LANG", "LD_PRELOAD") or name.startswith("LC_")


def _of_drift(one: Drift) -> Difference:
    return Difference(one.layer, one.component, one.then or "not recorded", one.now or "not told")


def _short(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:117]}..."


def as_json(found: Iterable[Difference]) -> list[dict[str, Any]]:
    """Return differences in the JSON answer's form."""
    return [one.to_json() for one in found]
