"""Runs as front doors see them: started, followed to their end, found again, kept apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vaibify_lab.core.errors import NotPassed, RunInProgress, VaibifyError
from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.runs.explain import tail
from vaibify_lab.runs.history import damage, find_run
from vaibify_lab.runs.journal import ENDINGS, RunFolder, follow, read_events, run_folders
from vaibify_lab.runs.live import current_run, is_ended, is_gone, unfinished
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.start import start_run


def begin(opened: Opened, options: RunOptions, person: str) -> RunFolder:
    """Start a detached run and return its folder; a runner that refuses at once raises."""
    folder = start_run(opened.tree, options, person)
    first = read_events(folder)[0]
    if first["event"] == "runRefused":
        raise refusal(first)
    return folder


def events_of(folder: RunFolder) -> Iterator[dict[str, Any] | None]:
    """Yield a run's events to its end; None whenever nothing is new."""
    after = 0
    for event in follow(folder):
        yield event
        if event is None and is_gone(folder):
            rest = read_events(folder, after)  # what it said between our look and its death
            yield from rest
            if not rest or rest[-1]["event"] not in ENDINGS:
                if text := damage(folder):
                    yield {"event": "warning", "text": text, "sequence": 0}
                yield _loss(folder)
            return
        if event is not None:
            after = event["sequence"]
            if event["event"] in ENDINGS:
                return


def kept(opened: Opened) -> list[RunFolder]:
    """Return the runs kept on this machine, oldest first.

    Raises
    ------
    NotPassed
        When git tracks this machine's files: then somebody else may have written them.
    """
    if opened.local_is_tracked():
        text = "is tracked by git, so what lies there is not believed"
        raise NotPassed(text, where=LOCAL, action=f"git rm -r -q {LOCAL}")
    return run_folders(opened.tree.root)


def latest(opened: Opened) -> RunFolder | None:
    """Return the latest run; None also where git tracks this machine's files."""
    return None if opened.local_is_tracked() else current_run(opened.tree.root)


def find(opened: Opened, name: str | None = None) -> RunFolder:
    """Return a run by its name or the beginning of it.

    Without a name: the one in progress, else the latest.
    """
    runs = kept(opened)
    current = latest(opened) if name is None else None
    if current is not None and not is_ended(current):
        return current
    return find_run(runs, name)


def require_idle(opened: Opened, *, elsewhere: bool = True) -> None:
    """Refuse to write beside a run: it would be taken for a forgery of the running step.

    One on another machine counts too, unless ``elsewhere`` is False.

    Raises
    ------
    RunInProgress
    """
    run = None if opened.local_is_tracked() else unfinished(opened.tree.root)
    if run is None or run.alive is False:
        return
    if run.alive or (elsewhere and not run.acknowledged):
        raise RunInProgress(
            f"run {run.folder.run_id} is in progress",
            action="wait for it, or end it with: jupyter vaibify stop-run",
        )


def refusal(event: dict[str, Any]) -> VaibifyError:
    """Return a runner's refusal as the error it was."""
    error = NotPassed(str(event["text"]), where=event.get("where"), action=event.get("action"))
    error.code = str(event.get("code", "refused"))
    error.exit_code = int(event.get("exit_code", 1))
    return error


def _loss(folder: RunFolder) -> dict[str, Any]:
    """Return the end of a run that has none, with its runner's last words where it had any."""
    lines = tail(folder.path / "runner.log").strip().splitlines()
    said = f": {lines[-1][:300]}" if lines else ""
    lost = {"outcome": "interrupted", "steps": {}, "text": f"the run lost its runner{said}"}
    return {"event": "runComplete", "sequence": 0, **lost}
