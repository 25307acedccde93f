"""What a step would read, run or have written today beyond what its run pinned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from vaibify_lab.core.differences import UNKNOWABLE, undeclared
from vaibify_lab.core.facts import RunRecord
from vaibify_lab.core.model import Step
from vaibify_lab.core.observed import FileState
from vaibify_lab.core.paths import shown
from vaibify_lab.core.world import World

Role = Literal["input", "code", "output"]
Status = Literal["verified", "modified", "missing", "unknown", "no-pins"]


@dataclass(frozen=True, slots=True)
class Added:
    """A file that a step would read, run or have written today, and that its run did not pin.

    Also a folder that nobody can list, of which nobody can tell.
    """

    path: str
    role: Role
    status: Status
    text: str

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        return {"artifact_id": self.path, "role": self.role, "status": self.status}


def added_since(step: Step, passed: RunRecord, world: World) -> Iterator[Added]:
    """Yield what is there and was not pinned: in a folder, or before a module on its way.

    Also code that the run wrote itself, and what it read undeclared, that are others now.
    """
    pins = passed.pins
    there: tuple[tuple[Role, Iterable[str], Mapping[str, str]], ...] = (
        ("input", world.inputs(step), pins.inputs),
        ("code", world.code.get(step.slug, ()), pins.code),
        ("output", world.outputs(step), pins.outputs),
    )
    for role, paths, pinned in there:
        for path in paths:
            if path not in pinned and world.state(path).kind != "missing":
                yield Added(path, role, "modified", f"{role} added since: {shown(path)}")
    for path, sha256 in passed.own_code.items():  # which a clone need not have
        state = world.state(path)
        if state.kind != "missing" and state.sha256 != sha256:
            status = _status_of(state)
            text = f"code that it wrote itself is {status}: {shown(path)}"
            yield Added(path, "code", status, text)
    for path, state in undeclared(passed.undeclared_reads, step, world):
        if state.sha256 != passed.undeclared_reads[path] or state.kind != "file":
            status = _status_of(state)
            yield Added(path, "input", status, f"undeclared input is {status}: {shown(path)}")
    declared: tuple[tuple[Role, tuple[str, ...]], ...] = (
        ("input", step.inputs),
        ("output", step.outputs),
    )
    for role, folders in declared:
        for path in folders:
            if path in world.folder_faults:
                yield Added(path, role, "unknown", world.folder_faults[path])


def _status_of(state: FileState) -> Status:
    if state.kind in UNKNOWABLE:
        return "unknown"
    return "missing" if state.kind == "missing" else "modified"
