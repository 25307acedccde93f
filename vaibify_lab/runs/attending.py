"""A person's side of a step that waits: found in the journal, spoken for, opened a terminal in."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaibify_lab.core.errors import CannotCheck, NotPassed
from vaibify_lab.core.model import Workflow
from vaibify_lab.engines.base import Terminal
from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.runs.engine_choice import engine_of
from vaibify_lab.runs.hostfiles import os_errors
from vaibify_lab.runs.journal import RunFolder, read_events
from vaibify_lab.runs.live import Unfinished, unfinished
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.waiting import Word, ask

_STATE = re.compile(r"[a-z]+-[0-9]{1,9}")
_KIND = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,62}")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A step that waits for its person now: what is to be done there, and where it is."""

    run: Unfinished
    told: Mapping[str, Any]

    @property
    def slug(self) -> str:
        """Which step."""
        return str(self.told["step"])

    @property
    def folder(self) -> RunFolder:
        """Which run."""
        return self.run.folder

    @property
    def paused(self) -> bool:
        """Whether it stands still."""
        return self.run.states.get(self.slug) == "paused"

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        told = {name: self.told.get(name) for name in ("description", "commands", "outputs")}
        own = {"slug": self.slug, "run_id": self.folder.run_id, "paused": self.paused}
        return {**own, "since": self.told.get("time"), **told}


def waiting_in(opened: Opened, workflow: Workflow) -> tuple[Waiting, ...]:
    """Return the steps of a workflow that wait now, longest first."""
    run = None if opened.local_is_tracked() else unfinished(opened.tree.root)
    if run is None or run.alive is False or run.started.get("stem") != workflow.stem:
        return ()
    told = {
        str(event.get("step")): event
        for event in read_events(run.folder)
        if event["event"] == "stepWaiting"
    }
    return tuple(
        Waiting(run, event)
        for slug, event in told.items()
        if run.states.get(slug) in ("waiting", "paused") and slug in workflow.by_slug
    )


def waiting_for(opened: Opened, workflow: Workflow, slug: str) -> Waiting:
    """Return one step that waits now.

    Raises
    ------
    NotPassed
        When it does not, and why.
    """
    for one in waiting_in(opened, workflow):
        if one.slug == slug:
            return one
    step = workflow.by_slug.get(slug)
    action = step.how_to_run if step is not None else f"jupyter vaibify run {slug}"
    if opened.local_is_tracked():
        text = "is tracked by git, so no run that is told of there is believed"
        raise NotPassed(text, where=LOCAL, action=f"git rm -r -q {LOCAL}")
    lost = unfinished(opened.tree.root)
    if lost is not None and lost.alive is False and slug in lost.begun:
        text = f"the run in which step {slug!r} waited lost its runner, so it was interrupted"
        raise NotPassed(text, action=f"{action} (sets apart what was written)")
    raise NotPassed(f"step {slug!r} does not wait for anybody", action=action)


def speak(opened: Opened, workflow: Workflow, slug: str, word: Word, by: str) -> Waiting:
    """Give the runner a person's word about a step that waits.

    Raises
    ------
    NotPassed
        When it does not wait, or stands or goes on as asked already.
    """
    one = waiting_for(opened, workflow, slug)
    if word == "pause" and one.paused:
        raise NotPassed(f"step {slug!r} is paused already", action=f"jupyter vaibify resume {slug}")
    if word == "resume" and not one.paused:
        raise NotPassed(f"step {slug!r} is not paused")
    with os_errors(str(one.folder.path)):
        ask(one.folder, slug, word, by)
    return one


def open_terminal(one: Waiting, kind: str, size: os.terminal_size) -> Terminal:
    """Open a shell in a step that waits; ``kind`` is what ``TERM`` says here.

    Raises
    ------
    NotPassed
        It is paused, or has just ended.
    CannotCheck
        It is on another machine, or its engine gives no terminal.
    """
    if one.paused:
        text, action = f"step {one.slug!r} is paused", f"jupyter vaibify resume {one.slug}"
        raise NotPassed(text, action=action)
    if one.run.alive is None and one.run.runner is not None:
        text = f"step {one.slug!r} waits on {one.run.runner.host}, not on this machine"
        raise CannotCheck(text, action="open a terminal there")
    described = one.run.started.get("engine")
    engine = engine_of(described if isinstance(described, dict) else {})
    known = kind if _KIND.fullmatch(kind) else "xterm"
    return engine.terminal(_state_of(one), known, size)


def _state_of(one: Waiting) -> Path:
    name = str(one.told.get("state"))
    if not _STATE.fullmatch(name):
        raise NotPassed("the journal does not say where it waits", where=str(one.folder.journal))
    return one.folder.step(one.slug) / name
