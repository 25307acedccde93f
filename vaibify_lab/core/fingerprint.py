"""Seed and run fingerprint: pure functions of what decides a step's bytes.

In neither: names, descriptions, time-outs, resources, tolerances, time stamps, absolute paths,
host, user, git state, our own version. The format number is in both, so that a change of format
misses instead of hitting by accident.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vaibify_lab.core import jsonio
from vaibify_lab.core.facts import RunRecord
from vaibify_lab.core.model import Step, Workflow

FINGERPRINT_FORMAT = 2


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a run adds to the step's own text: content hashes and the environment.

    ``deterministic`` is what was in force, declared or asked for.
    """

    inputs: Mapping[str, str] = field(default_factory=dict)
    code: Mapping[str, str] = field(default_factory=dict)
    image: str | None = None
    lock: str | None = None
    deterministic: bool = False
    engine: str = "local"
    network: bool = True
    source_date_epoch: int | None = None


def seed_of(workflow: Workflow, step: Step, inputs: Mapping[str, str]) -> int:
    """Return the seed of a step's run, 0 to 2**32 - 1: ``iSeed``, else drawn from what it is.

    The same commands, environment and input contents give the same seed on every machine.
    """
    if workflow.seed is not None:
        return workflow.seed
    value = {
        "format": FINGERPRINT_FORMAT,
        "commands": list(step.commands),
        "directory": step.directory,
        "environment": dict(step.environment),
        "inputs": sorted(inputs.values()),
    }
    return int(jsonio.digest(value)[:8], 16)


def circumstances_of(record: RunRecord) -> Circumstances:
    """Return what a run added to its step's own text, from its record."""
    return Circumstances(
        inputs=record.pins.inputs,
        code=record.pins.code,
        image=record.image,
        lock=record.lock,
        deterministic=record.deterministic,
        engine=str(record.engine.get("kind", "")),
        network=not record.network_isolation,
        source_date_epoch=record.source_date_epoch,
    )


def configuration(workflow: Workflow, step: Step, around: Circumstances) -> dict[str, Any]:
    """Return everything that decides a run's bytes; the hash of its canonical form names the run.

    That form is a text that anybody can hash: see `vaibify_lab.core.jsonio.canonical`.
    """
    return {
        "format": FINGERPRINT_FORMAT,
        "commands": list(step.commands),
        "directory": step.directory,
        "outputs": sorted(step.outputs),
        "notebook": step.notebook,
        "environment": dict(step.environment),
        "inputs": dict(around.inputs),
        "code": dict(around.code),
        "image": around.image,
        "lock": around.lock,
        "deterministic": around.deterministic,
        "engine": around.engine,
        "network": around.network,
        "seed": seed_of(workflow, step, around.inputs),
        "source_date_epoch": around.source_date_epoch,
    }


def run_fingerprint(workflow: Workflow, step: Step, around: Circumstances) -> str:
    """Return the name of a run: 64 hex digits, equal when nothing that decides bytes differs."""
    return jsonio.digest(configuration(workflow, step, around))
