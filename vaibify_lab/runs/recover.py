"""What a crashed run left: its processes ended, its old outputs put back. Under the lock only."""

from __future__ import annotations

import os
import time
from pathlib import Path

from vaibify_lab.core.facts import RunRecord
from vaibify_lab.engines.base import Engine, Handle
from vaibify_lab.files.factstore import FactStore
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.aside import Aside, left_aside
from vaibify_lab.runs.engine_choice import engine_of
from vaibify_lab.runs.journal import JournalWriter, RunFolder, read_events
from vaibify_lab.runs.live import current_run, is_ended


def recover(tree: Tree, journal: JournalWriter) -> None:
    """End what still runs of an unfinished run, and restore every output it had moved aside.

    Raises
    ------
    CannotCheck
        When the engine of that run does not answer: its steps may still be writing.
    """
    folder = current_run(tree.root)
    if folder is not None and not is_ended(folder):
        engine = _engine_of(folder)
        for slug, state in _states(folder) if engine else []:
            handle = engine.find(state) if engine else None
            if handle is not None and handle.poll() is None:
                journal.write(
                    "note", step=slug, text=f"ended what run {folder.run_id} left running"
                )
                _end(handle)
    for aside in left_aside(tree):
        if _is_settled(tree, aside):
            aside.drop()
            continue
        apart = aside.put_back()
        text = f"put back the outputs of {aside.slug} that run {aside.run_id} had moved aside"
        if apart:
            text += f"; what that run wrote is in {aside.leftovers}"
        journal.write("note", step=aside.slug, text=text)


def _engine_of(folder: RunFolder) -> Engine | None:
    """Return the engine that an unfinished run used; None when it had not begun."""
    started = (one for one in read_events(folder) if one["event"] == "runStarted")
    described = next(started, {}).get("engine")
    return engine_of(described) if isinstance(described, dict) else None


def _end(handle: Handle) -> None:
    handle.stop()
    deadline = time.monotonic() + 10.0
    while handle.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)


def _states(folder: RunFolder) -> list[tuple[str, Path]]:
    found = []
    steps = folder.path / "steps"
    for slug in sorted(os.listdir(steps)) if steps.is_dir() else []:
        found += [(slug, state) for state in sorted((steps / slug).iterdir()) if state.is_dir()]
    return found


def _is_settled(tree: Tree, aside: Aside) -> bool:
    """Tell whether the run had recorded its step as passed: then the new outputs are good."""
    record = FactStore(tree, aside.stem).load([aside.slug]).records.get(aside.slug)
    return (
        isinstance(record, RunRecord)
        and record.run_id == aside.run_id
        and record.outcome == "passed"
    )
