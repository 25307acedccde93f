"""What ``derive`` is given beside the workflow and the facts: the world at one moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from vaibify_lab.core.model import Step
from vaibify_lab.core.observed import MISSING, FileState

LiveState = Literal["running", "queued", "waiting", "interrupted"]


@dataclass(frozen=True, slots=True)
class Live:
    """What a journal says of a step in a run that has not ended, or never will.

    ``paused``: it waits, and stands still meanwhile.
    """

    state: LiveState
    run_id: str
    text: str = ""
    paused: bool = False


@dataclass(frozen=True, slots=True)
class World:
    """Everything seen at one look.

    Attributes
    ----------
    files : mapping of path to FileState
        Every file that matters; a path that is not here was not looked at and counts as missing.
    folders : mapping of declared folder (final slash) to the files below it, sorted
    folder_faults : mapping of declared folder to why it cannot be listed
    code : mapping of slug to the code files its scripts reach, sorted
    code_computed : mapping of slug to where it runs code of whose name nothing is known, in words
    test_files : mapping of slug to the files that decide what its tests say
    notebooks : mapping of slug to a digest of what its notebook runs
        Of those alone that differ from what a run pinned.
    image, lock : config digest pinned by environment.json, SHA-256 of requirements.lock; or None
    environment_fault : why environment.json cannot be believed ("" when it can)
    live : mapping of slug to what a journal says
    machine : id of this machine, to tell facts recorded here from claims
    """

    files: Mapping[str, FileState] = field(default_factory=dict)
    folders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    folder_faults: Mapping[str, str] = field(default_factory=dict)
    code: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    code_computed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    test_files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notebooks: Mapping[str, str] = field(default_factory=dict)
    image: str | None = None
    lock: str | None = None
    network_isolation: bool = False
    environment_fault: str = ""
    live: Mapping[str, Live] = field(default_factory=dict)
    machine: str = ""

    def state(self, path: str) -> FileState:
        """Return a file's state."""
        return self.files.get(path, MISSING)

    def expand(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Replace each declared folder by the files below it."""
        found: dict[str, None] = {}
        for path in paths:
            if path.endswith("/"):
                found.update(dict.fromkeys(self.folders.get(path, ())))
            else:
                found[path] = None
        return tuple(found)

    def outputs(self, step: Step) -> tuple[str, ...]:
        """Return a step's outputs as files."""
        return self.expand(step.outputs)

    def inputs(self, step: Step) -> tuple[str, ...]:
        """Return a step's inputs as files."""
        return self.expand(step.inputs)
