"""What preflight looks at: plain things, gathered by whoever asks."""

from __future__ import annotations

import bisect
import glob
import importlib.util
import itertools
import os
import platform
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache, cached_property
from typing import Literal

from vaibify_lab.core.errors import CannotCheck, MissingFile, UnsafePath
from vaibify_lab.core.model import Workflow
from vaibify_lab.core.rules import Producers
from vaibify_lab.engines.base import Isolation
from vaibify_lab.engines.local.engine import LocalEngine
from vaibify_lab.engines.local.environment import search_path
from vaibify_lab.engines.local.python import asked_for
from vaibify_lab.engines.local.uvtool import find_python
from vaibify_lab.envelope import manifest
from vaibify_lab.envelope.lock import NAME as LOCK
from vaibify_lab.envelope.lock import Lock, parse_lock
from vaibify_lab.files.git import Repository
from vaibify_lab.files.imports import CodeScan
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.project_file import ProjectFile

_MOST_DEPTHS = 3  # ``**`` in one pattern: more of them take long, and nobody writes them
_WILD = re.compile(r"[*?\[]")
PlaceKind = Literal["file", "folder", "missing", "link", "other"]


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """What the engine offers to steps.

    Attributes
    ----------
    cannot_prevent : mapping of code to text
        As the engine describes itself.
    path : str or None
        PATH of a step; None where it cannot be known before a container starts.
    python : str or None
        Version of a step's Python; None when not known.
    python_fault : CannotCheck or None
        Why there is no Python for the lock.
    can_import : callable or None
        Tells whether a step can import a top-level module; None when only the lock can say.
    distributions : callable
        Returns which distributions bring which module on this machine: a hint also where steps
        run in another Python. Called only when a module is missing, because it takes long.
    is_ready : bool
        The environment for the lock is made, so that its programs can be looked for.
    """

    kind: str
    isolation: Isolation
    cannot_prevent: Mapping[str, str] = field(default_factory=dict)
    path: str | None = None
    python: str | None = None
    python_fault: CannotCheck | None = None
    can_import: Callable[[str], bool] | None = None
    distributions: Callable[[], Mapping[str, Sequence[str]]] = dict
    is_ready: bool = True


@dataclass(frozen=True, slots=True)
class Place:
    """What stands at a path; ``text`` says in words what is wrong with a link or another kind."""

    kind: PlaceKind
    size: int = 0
    text: str = ""


@dataclass(frozen=True)
class Inspection:
    """What preflight is given.

    Attributes
    ----------
    code : mapping of slug to CodeScan
        What each step's scripts reach.
    lock, requirements : bytes or None
        requirements.lock, and the file it is made from.
    source : str
        That file's name.
    asked : frozenset of slugs
        Steps that somebody named, and that therefore must be able to run.
    """

    tree: Tree
    repository: Repository
    workflow: Workflow
    project: ProjectFile
    code: Mapping[str, CodeScan]
    engine: EngineFacts
    lock: bytes | None = None
    requirements: bytes | None = None
    source: str = "requirements.in"
    asked: frozenset[str] = frozenset()

    @cached_property
    def locked(self) -> Lock | None:
        """The lock as read."""
        if self.lock is None:
            return None
        return parse_lock(self.lock, declared_none=self.workflow.no_python_packages)

    @cached_property
    def producers(self) -> Producers:
        """Who makes what."""
        return Producers.among(self.workflow.steps)

    def ending_with(self, ending: str) -> list[str]:
        """Return the files that git tracks or does not ignore whose path ends so, in whole parts.

        Shortest first.
        """
        same_name = self._known_files.get(ending.rpartition("/")[2], ())
        return [path for path in same_name if f"/{path}".endswith(f"/{ending}")]

    def fitting(self, pattern: str) -> list[str]:
        """Return the outputs and the files that git tracks or does not ignore that fit a pattern.

        As ``glob`` does: ``*`` is part of one name, ``**`` any number of folders, and what begins
        with a dot fits only what does.
        """
        wanted = pattern.split("/")
        if wanted.count("**") > _MOST_DEPTHS:
            return []
        known, plain = self._known_sorted, _WILD.split(pattern, maxsplit=1)[0]
        start = bisect.bisect_left(known, plain)
        near = itertools.takewhile(lambda path: path.startswith(plain), known[start:])
        return [path for path in near if _fits(path.split("/"), wanted)]

    def below(self, folder: str) -> list[str]:
        """Return those in a folder, at any depth; what begins with a dot is not among them."""
        return self.fitting(f"{glob.escape(folder)}/**/*")

    @cached_property
    def _known_sorted(self) -> list[str]:
        made = (path for step in self.workflow.steps for path in step.outputs)
        tracked = (path for paths in self._known_files.values() for path in paths)
        return sorted({*tracked, *made} - {self.workflow.path, LOCK, manifest.NAME})

    @cached_property
    def _known_files(self) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = {}
        for path in sorted(self.repository.files(), key=len):
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    def place(self, path: str) -> Place:
        """Look at a repository path; a link anywhere on it is a link."""
        bare = path.rstrip("/")
        try:
            status = self.tree.lstat(bare)
            if status is None:
                return Place("missing")
            if self.tree.exists_as_directory(bare):
                return Place("folder")
            os.close(self.tree.open_file(bare))
        except UnsafePath as error:
            return Place("link" if "link" in error.text else "other", text=error.text)
        except MissingFile as error:
            return Place("other", text=error.text)
        return Place("file", status.st_size)

    def fault_of_folder(self, folder: str) -> UnsafePath | MissingFile | None:
        """Return the first thing in a declared folder that is not a plain file."""
        try:
            self.tree.list_files(folder)
        except (UnsafePath, MissingFile) as error:
            return error
        return None


def facts_of_local(engine: LocalEngine, lock: bytes | None) -> EngineFacts:
    """Return the facts of the local engine, whether or not the lock's environment is made yet.

    Parameters
    ----------
    engine : LocalEngine
        One in the starter's Python will do; then nothing is installed to find this out.
    lock : bytes or None
        requirements.lock, which decides about Python and packages.
    """
    said = engine.describe()["cannot_prevent"]
    ready = lock is None or engine.python.source == "lock"
    python, fault = (engine.python.version, None) if ready else _python_for(lock or b"")
    return EngineFacts(
        kind=engine.kind,
        isolation=engine.isolation,
        cannot_prevent={one["code"]: one["text"] for one in said},
        path=search_path(engine.python.prefix),
        python=python,
        python_fault=fault,
        can_import=_is_installed if lock is None else None,
        distributions=_distributions,
        is_ready=ready,
    )


def _python_for(lock: bytes) -> tuple[str | None, CannotCheck | None]:
    """Return the version that an environment for the lock would have, or why it cannot be."""
    asked, own = asked_for(lock), platform.python_version()
    if asked is None or f"{own}.".startswith(f"{asked}."):
        return own, None
    try:
        find_python(asked)
    except CannotCheck as error:
        return None, error
    return asked, None


def _is_installed(module: str) -> bool:
    return module in sys.modules or importlib.util.find_spec(module) is not None


@cache
def _distributions() -> Mapping[str, Sequence[str]]:
    from importlib import metadata  # asked for only when a module is missing

    return metadata.packages_distributions()


def _fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        deeper = bool(parts) and parts[0][:1] != "." and _fits(parts[1:], pattern)
        return deeper or _fits(parts, pattern[1:])
    if not parts or (parts[0][:1] == "." and pattern[0][:1] != "."):
        return False
    return fnmatchcase(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])
