"""What every step is given, and what takes chance out of a run: variables, and a preamble."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from vaibify_lab.core.commands import simple_commands
from vaibify_lab.core.interpreters import ignores_environment
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import shown
from vaibify_lab.runs.context import RunContext
from vaibify_lab.runs.hostfiles import os_errors

PREAMBLE = Path(__file__).with_name("preamble") / "sitecustomize.py"
_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def step_environment(step: Step, *, seed: int, epoch: int, locale: str | None) -> dict[str, str]:
    """Return the variables of a step: ours first, the step's own ``dictEnvironment`` over them.

    No byte code is written, so that running a step leaves none in the repository. ``locale`` is
    that of deterministic mode; None where that is not in force.
    """
    found = {
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "MPLBACKEND": "agg",
        "VAIBIFY_STEP": step.slug,
        "VAIBIFY_SEED": str(seed),
    }
    if locale is not None:
        found |= fixed_variables(epoch, locale)
    return found | dict(step.environment)


def fixed_variables(epoch: int, locale: str) -> dict[str, str]:
    """Return the variables of deterministic mode."""
    return {
        "PYTHONHASHSEED": "0",
        "SOURCE_DATE_EPOCH": str(epoch),
        "TZ": "UTC",
        "LC_ALL": locale,
        "MKL_CBWR": "COMPATIBLE",
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
        **dict.fromkeys(_ONE_THREAD, "1"),
    }


def preamble_of(context: RunContext) -> Path | None:
    """Return the folder of what the steps' Pythons run first; None outside deterministic mode.

    A container engine may see no more of this machine than the project, so it gets a copy there.
    """
    if not context.is_deterministic():
        return None
    inside = context.engine.isolation == "container"
    return context.folder.path / "preamble" if inside else PREAMBLE.parent


def lay_preamble(context: RunContext) -> None:
    """Put what the steps' Pythons run first where steps can see it, and none can write it."""
    folder = preamble_of(context)
    if folder is None:
        return
    if folder != PREAMBLE.parent:
        _copy_to(folder)
    if context.around.locale == "C":
        text = "there is no locale C.UTF-8 where steps run, so they run in C"
        context.journal.write("warning", text=text)


def _copy_to(folder: Path) -> None:
    with os_errors(str(folder)):
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)  # whoever the step runs as
        (folder / PREAMBLE.name).write_bytes(PREAMBLE.read_bytes())
        (folder / PREAMBLE.name).chmod(0o644)


def after_preamble(context: RunContext, script: str) -> str:
    """Return a script whose Pythons run the preamble first, where deterministic mode is in force.

    Before what the image, or the step's own variables, have in the path already.
    """
    folder = preamble_of(context)
    if folder is None:
        return script
    place = shlex.quote(context.engine.preamble_root(folder))
    return f"export PYTHONPATH={place}${{PYTHONPATH:+:$PYTHONPATH}}\n{script}"


def left_to_chance(context: RunContext, step: Step) -> Iterator[str]:
    """Say what of a step deterministic mode does not reach, because the step itself says so."""
    if not context.is_deterministic():
        return
    around = context.around
    for name, ours in fixed_variables(around.epoch, around.locale).items():
        if (own := step.environment.get(name, ours)) != ours:
            yield f"its dictEnvironment has {name}={shown(own)}, deterministic mode {name}={ours}"
    for command in step.commands:
        if any(map(ignores_environment, simple_commands(command))):
            text = (
                "starts Python with -I, -E or -S: its hash order and its seeds are left to chance"
            )
            yield f"{shown(command)!r} {text}"
