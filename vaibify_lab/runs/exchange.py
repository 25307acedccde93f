"""What a step's notebook needs beside the step: a folder with its runner, and the command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vaibify_lab.core.model import Step
from vaibify_lab.notebooks import session
from vaibify_lab.runs.context import RunContext
from vaibify_lab.runs.launching import fresh_state


@dataclass(frozen=True, slots=True)
class Exchange:
    """The folder that is shared with a step, and what comes first there; nothing without one."""

    folder: Path | None = None
    commands: tuple[str, ...] = ()
    opening: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)


def exchange_for(context: RunContext, step: Step, notebook: str) -> Exchange:
    """Make a notebook ready to be run before the step's commands."""
    folder = fresh_state(context.folder.step(step.slug), "exchange")
    session.prepare(folder)
    copy = session.copy_among(step.outputs, notebook)
    command = session.command(notebook, copy, step.directory)
    runner = session.runner_at(context.engine.exchange_root(folder))
    return Exchange(folder, (command,), session.script(command), {session.VARIABLE: runner})
