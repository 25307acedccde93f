"""``stop-run``: asks the run in progress to stop, and waits until it has."""

from __future__ import annotations

from vaibify_lab.apps.screen import Screen
from vaibify_lab.apps.verb import Namespace, Verb, open_project


def _execute(given: Namespace, screen: Screen) -> int:
    project = open_project(given)
    folder = project.stop_run()
    screen.progress(f"run {folder.run_id} is stopping ...")
    last = [event for event in project.events(folder) if event is not None][-1]
    outcome = last.get("outcome", "refused")
    screen.line(f"run {folder.run_id} {outcome}")
    for slug, how in (last.get("steps") or {}).items():
        screen.line(f"  {slug}: {how}")
    steps = last.get("steps") or {}
    screen.document({"run_id": folder.run_id, "outcome": outcome, "steps": steps})
    return 0


VERB = Verb(
    "stop-run",
    example="jupyter vaibify stop-run",
    execute=_execute,
    more="Steps that run get SIGTERM, then are killed; their old outputs are put back.",
    leaves="the run was asked to stop and does",
)
