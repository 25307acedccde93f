"""The answer to the poll: the report, and what requirement document 001 asks to stand beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vaibify_lab.core.fact_files import plain_marker
from vaibify_lab.core.facts import TestMarker
from vaibify_lab.core.report import Reason, StepReport
from vaibify_lab.project.report import Report, report_on
from vaibify_lab.runs.journal import shown_time
from vaibify_lab.runs.live import Unfinished, unfinished
from vaibify_lab.runs.opened import Look, Opened

_GONE = "sign-off-gone"
_UNTESTED = "-untested"


@dataclass(frozen=True, slots=True)
class CurrentRun:
    """The repository's run that has not ended; ``alive`` None where nobody here can know."""

    run_id: str
    workflow: str
    person: str
    started: str
    alive: bool | None
    acknowledged: bool

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        state = {True: "running", False: "lost", None: "unknown"}[self.alive]
        kept = {name: getattr(self, name) for name in self.__slots__ if name != "alive"}
        return {**kept, "state": state}


@dataclass(frozen=True, slots=True)
class FileStatus:
    """What the poll answers. Two that are equal give the same JSON."""

    report: Report
    current: CurrentRun | None
    modified: Mapping[str, int]
    markers: Mapping[str, TestMarker]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        return {
            **self.report.to_json(),
            "current": self.current.to_json() if self.current else None,
            "dictModTimes": {path: time / 1e9 for path, time in self.modified.items()},
            "dictInvalidatedSteps": {
                one.slug: [reason.to_json() for reason in found]
                for one in self.report.steps
                if (found := invalidated(one))
            },
            "dictTestMarkers": {slug: plain_marker(one) for slug, one in self.markers.items()},
        }


def file_status(opened: Opened, look: Look) -> FileStatus:
    """Return the answer that follows from a look."""
    markers = look.facts.markers.items()
    modified = opened.cache.modified(look.world.files)  # of this look, before the next pass
    return FileStatus(
        report=report_on(opened, look),
        current=_current(opened),
        modified=modified,
        markers={slug: one for slug, one in markers if isinstance(one, TestMarker)},
    )


def invalidated(report: StepReport) -> tuple[Reason, ...]:
    """Return why a step's word no longer holds; nothing for one that never had any."""
    if report.run in ("never-run", "running", "queued", "waiting"):
        return ()
    degraded = report.run == "stale" or report.upstream_modified or bool(report.modified_files)
    if degraded:
        return report.reasons
    gone = (one.code == _GONE or one.code.endswith(_UNTESTED) for one in report.reasons)
    return report.reasons if any(gone) else ()


def _current(opened: Opened) -> CurrentRun | None:
    run = None if opened.local_is_tracked() else unfinished(opened.tree.root)
    return None if run is None else _of(run)


def _of(run: Unfinished) -> CurrentRun:
    begun = run.accepted
    return CurrentRun(
        run_id=run.folder.run_id,
        workflow=str(begun.get("workflow", "")),
        person=str(begun.get("person", "")),
        started=shown_time(begun.get("time")),
        alive=run.alive,
        acknowledged=run.acknowledged,
    )
