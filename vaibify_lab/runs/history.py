"""The runs kept on this machine, each summed up from its journal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from vaibify_lab.core.errors import MissingFile
from vaibify_lab.runs.journal import ENDINGS, RunFolder, damaged_line, read_events, shown_time
from vaibify_lab.runs.live import is_gone

RunOutcome = Literal["passed", "failed", "interrupted", "refused", "running", "lost"]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run: ``lost`` has no end and no runner.

    ``text`` says why a refused one never began, or which line of its journal cannot be read.
    """

    run_id: str
    workflow: str
    person: str
    started: str
    seconds: float
    outcome: RunOutcome
    steps: dict[str, str]
    text: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        return {name: getattr(self, name) for name in self.__slots__}


def summary(folder: RunFolder) -> RunSummary:
    """Sum up a run."""
    events = read_events(folder)
    begun: dict[str, Any] = next((one for one in events if one["event"] == "runAccepted"), {})
    ends = (one for one in reversed(events) if one["event"] in ENDINGS)
    ending: dict[str, Any] = next(ends, {})
    times = [one["time"] for one in events if "time" in one]
    return RunSummary(
        run_id=folder.run_id,
        workflow=str(begun.get("workflow", "")),
        person=str(begun.get("person", "")),
        started=shown_time(times[0]) if times else "",
        seconds=round(times[-1] - times[0], 3) if times else 0.0,
        outcome=_outcome(folder, ending),
        steps=dict(ending.get("steps", {})),
        text=str(ending.get("text", "")) if ending else damage(folder),
    )


def find_run(kept: Sequence[RunFolder], name: str | None) -> RunFolder:
    """Return a run by its name or the beginning of it; the latest without a name.

    Raises
    ------
    MissingFile
        When there is none, or several begin so.
    """
    found = [one for one in kept if one.run_id.startswith(name or "")]
    if not kept:
        raise MissingFile("no run is kept on this machine", action="jupyter vaibify run")
    if not found or (len(found) > 1 and name is not None):
        which = "no run" if not found else f"{len(found)} runs"
        text = f"the name of {which} of this machine begins with {name!r}"
        raise MissingFile(text, action="jupyter vaibify runs lists them")
    return found[-1]


def damage(folder: RunFolder) -> str:
    """Say which line of the journal cannot be read; nothing where all of it can."""
    line = damaged_line(folder)
    return f"line {line} of its journal cannot be read, nor what follows it" if line else ""


def _outcome(folder: RunFolder, ending: dict[str, Any]) -> RunOutcome:
    if ending.get("event") == "runRefused":
        return "refused"
    for told in get_args(RunOutcome)[:3]:
        if ending.get("outcome") == told:
            return cast(RunOutcome, told)
    return "lost" if is_gone(folder) else "running"
