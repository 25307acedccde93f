"""What every part of one run shares."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.engines.base import Engine
from vaibify_lab.files.factstore import FactStore
from vaibify_lab.files.git import Repository
from vaibify_lab.files.gitconfig import GitConfig
from vaibify_lab.files.packstore import PackStore
from vaibify_lab.files.tree import Tree
from vaibify_lab.provenance.versions import Versions
from vaibify_lab.runs.journal import JournalWriter, RunFolder
from vaibify_lab.runs.look import Observer
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.preflight.undeclared import Watched
from vaibify_lab.runs.project_file import ProjectFile


@dataclass(frozen=True, slots=True)
class Circumstance:
    """What of the world a record keeps: who, on which machine, with which lock, on what."""

    person: str
    machine: dict[str, str]
    host: dict[str, str]
    epoch: int
    lock: str | None
    image: str | None
    components: Mapping[str, str]
    locale: str


@dataclass(frozen=True, slots=True)
class Protected:
    """What belongs to somebody: declared files, and the declared folders with all below them."""

    files: frozenset[str]
    folders: tuple[str, ...]

    def holds(self, path: str) -> bool:
        """Tell whether a path is one of them."""
        return path in self.files or path.startswith(self.folders)


@dataclass(frozen=True, slots=True)
class RunContext:
    """One run: where, what, with what, told to whom.

    ``watched`` is what each step reads or may read undeclared, ``cache`` holds outputs that may be
    put back.
    """

    tree: Tree
    repository: Repository
    git: GitConfig
    workflow: Workflow
    project: ProjectFile
    engine: Engine
    observer: Observer
    facts: FactStore
    folder: RunFolder
    journal: JournalWriter
    options: RunOptions
    around: Circumstance
    cores: int
    protected: Protected
    busy: Busy
    versions: Versions
    watched: Mapping[str, Watched]
    cache: PackStore | None = None
    stopping: threading.Event = field(default_factory=threading.Event)

    def is_deterministic(self) -> bool:
        """Tell whether deterministic mode is in force, declared or asked for."""
        return self.options.deterministic or self.workflow.deterministic

    def is_sealed(self) -> bool:
        """Tell whether steps run sealed."""
        return self.options.sealed or self.workflow.sealed


@dataclass(slots=True)
class Busy:
    """Which steps run now, and which folders others wrote while a step ran."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _now: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _beside: dict[str, set[str]] = field(default_factory=dict)

    @contextmanager
    def running(self, step: Step, folders: tuple[str, ...]) -> Iterator[set[str]]:
        """Mark a step as running; gives the folders that other steps may write meanwhile."""
        with self._lock:
            mine: set[str] = {one for others in self._now.values() for one in others}
            for beside in self._beside.values():
                beside.update(folders)
            self._now[step.slug] = folders
            self._beside[step.slug] = mine
        try:
            yield mine
        finally:
            with self._lock:
                del self._now[step.slug]
                del self._beside[step.slug]
