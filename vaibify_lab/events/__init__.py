"""Notices on Jupyter's own bus: something changed, look again."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

BASE = "https://events.vaibify-lab.org/vaibify_lab"
STEP, RUN, NOTEBOOK = (f"{BASE}/{name}/v1" for name in ("step", "run", "notebook"))
SCHEMAS = tuple(Path(__file__).with_name(f"{name}.yaml") for name in ("step", "run", "notebook"))


class Logger(Protocol):
    """What of jupyter_events' logger is used."""

    def emit(self, *, schema_id: str, data: dict[str, Any]) -> Any:
        """Record an event."""


class Emitter:
    """Emits notices. Its methods are called on the event loop, where alone that works."""

    def __init__(self, logger: Logger) -> None:
        self._logger = logger

    def step(self, project: str, step: str, change: str, **more: Any) -> None:
        """Say that a step changed."""
        data = {"project": project, "step": step, "change": change, **more}
        self._logger.emit(schema_id=STEP, data=data)

    def run(self, project: str, run_id: str, change: str, **more: Any) -> None:
        """Say that a run started or ended."""
        data = {"project": project, "run_id": run_id, "change": change, **more}
        self._logger.emit(schema_id=RUN, data=data)

    def notebook(self, project: str, contents: str, path: str) -> None:
        """Say that a notebook of a project was saved."""
        data = {"project": project, "contents": contents, "path": path}
        self._logger.emit(schema_id=NOTEBOOK, data=data)
