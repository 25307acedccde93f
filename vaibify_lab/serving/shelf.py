"""The projects of a server: found below its root, opened once, looked at one look at a time."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from vaibify_lab.core.errors import UnknownProject, VaibifyError
from vaibify_lab.files.git import Repository
from vaibify_lab.project import Project
from vaibify_lab.runs.opened import Opened
from vaibify_lab.serving.places import Place, ServerRoot, enclosing, project_id, without_drive
from vaibify_lab.serving.shared import Shared
from vaibify_lab.serving.walk import Limits, find_repositories

_Value = TypeVar("_Value")
_Identity = tuple[int, int, int, int]


@dataclass(slots=True)
class Shelved:
    """An opened repository.

    Attributes
    ----------
    contents : str
        Its contents path.
    lock : asyncio.Lock
        Held while something is asked of ``opened``, which remembers and is no two threads' at once.
    """

    contents: str
    opened: Opened
    identity: _Identity
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class Entry:
    """One workflow of one repository."""

    id: str
    shelved: Shelved
    workflow: str

    @property
    def root(self) -> Path:
        """The repository's root."""
        return self.shelved.opened.tree.root

    @property
    def stands(self) -> bool:
        """Whether this repository and this workflow file are still there."""
        same = _identity(self.shelved.opened) == self.shelved.identity
        return same and os.path.lexists(self.root / self.workflow)

    @property
    def project(self) -> Project:
        """The project that remembers its last look: to be asked through `Shelf.ask` only."""
        return Project.of(self.shelved.opened, self.workflow)

    def afresh(self, *, cached: bool = True) -> Project:
        """Open the project anew, for what takes long or reads every byte."""
        return Project(self.root, self.workflow, cached=cached)


@dataclass(frozen=True, slots=True)
class Refused:
    """A repository that is not served, and why."""

    contents: str
    error: VaibifyError


@dataclass(frozen=True, slots=True)
class Found:
    """What one search found."""

    repositories: tuple[Shelved, ...]
    entries: tuple[Entry, ...]
    refused: tuple[Refused, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class Here:
    """Where a file or folder of the contents API belongs: ``path`` below the repository's root."""

    contents: str
    path: str | None
    error: VaibifyError | None
    found: Found
    entries: tuple[Entry, ...] = ()


class Shelf:
    """What the server keeps of its projects. ``instance`` names this server process."""

    def __init__(self, root: ServerRoot, limits: Limits) -> None:
        self.root = root
        self._limits = limits
        self.instance = secrets.token_hex(8)
        self._shelved: dict[Path, Shelved] = {}
        self._entries: dict[str, Entry] = {}
        self._asked: list[Path] = []
        self._search = Shared(self._searched)

    async def find(self) -> Found:
        """Search below the server's root."""
        return await self._search.ask()

    async def entry(self, identity: str) -> Entry:
        """Return a project by its id; search again where it is not known or was replaced.

        Raises
        ------
        UnknownProject
        """
        known = self._entries.get(identity)
        if known is None or not known.stands:
            await self.find()
            known = self._entries.get(identity)
        if known is None:
            text = f"there is no project {identity} below the server's root"
            raise UnknownProject(text, action="look at the list of projects again")
        return known

    async def ask(self, entry: Entry, question: Callable[[Project], _Value]) -> _Value:
        """Ask something of a kept project, off the loop; one question a repository at a time."""
        async with entry.shelved.lock:
            return await asyncio.to_thread(question, entry.project)

    async def here(self, contents: str) -> Here:
        """Return to which repository a contents path belongs."""
        found = await self.find()
        plain = without_drive(contents).strip("/")
        try:
            place, repository = await asyncio.to_thread(self._located, contents)
        except VaibifyError as error:
            return Here(plain, None, error, found)
        if repository.root not in self._shelved:  # too deep, or in a folder that is passed over
            self._asked.append(repository.root)
            found = await self.find()
        path = place.disk.relative_to(repository.root).as_posix()
        entries = tuple(one for one in found.entries if one.root == repository.root)
        return Here(plain, "" if path == "." else path, None, found, entries)

    async def repository_of(self, contents: str) -> Repository:
        """Return the repository of a file or folder.

        Raises
        ------
        NotARepository, RepositoryAboveRoot
        """
        await self.find()
        return (await asyncio.to_thread(self._located, contents))[1]

    def _located(self, contents: str) -> tuple[Place, Repository]:
        place = self.root.place(contents)
        repository = enclosing(place)
        within = self.root.contents_of(repository.root) is not None
        if not within and repository.root not in self._shelved:
            raise self.root.above(repository.root)
        return place, repository

    async def _searched(self) -> Found:
        found = await asyncio.to_thread(self._look_for_them)
        self._shelved = {one.opened.tree.root: one for one in found.repositories}
        self._entries = {one.id: one for one in found.entries}
        return found

    def _look_for_them(self) -> Found:
        walk = find_repositories(self.root.path, self._limits)
        for root in self._asked:
            walk.found.setdefault(root, self.root.contents_of(root) or "")
        refused = [*self._above()]
        shelved: list[Shelved] = []
        entries: list[Entry] = []
        for folder, contents in walk.found.items():
            if not folder.is_dir():
                continue
            try:
                one = self._shelve(folder, contents)
                entries += _entries(one)
            except VaibifyError as error:
                refused.append(Refused(contents, error))
            else:
                shelved.append(one)
        return Found(tuple(shelved), tuple(entries), tuple(refused), walk.complete)

    def _shelve(self, folder: Path, contents: str) -> Shelved:
        known = self._shelved.get(folder)
        if known is not None and _identity(known.opened) == known.identity:
            return known
        opened = Opened(folder)
        if opened.tree.root != folder:  # its work tree is elsewhere
            raise self.root.above(opened.tree.root)
        return Shelved(contents, opened, _identity(opened))

    def _above(self) -> list[Refused]:
        """Say when the server's root itself lies inside a repository."""
        try:
            repository = enclosing(Place("", self.root.path))
        except VaibifyError:
            return []
        outside = repository.root != self.root.path
        return [Refused("", self.root.above(repository.root))] if outside else []


def titled(project: Project) -> dict[str, Any]:
    """Return name and size of a workflow; one that cannot be read is listed with the reason."""
    try:
        workflow = project.opened.workflow(project.path)
    except VaibifyError as error:
        return {"name": project.path, "steps": None, "error": error.to_json()}
    return {"name": workflow.name, "steps": len(workflow.steps), "error": None}


def _entries(shelved: Shelved) -> list[Entry]:
    opened = shelved.opened
    paths = opened.workflow_paths()
    return [Entry(project_id(opened.tree.root, path), shelved, path) for path in paths]


def _identity(opened: Opened) -> _Identity:
    """Return what changes when a folder of that name is another repository."""
    try:
        root, git = os.stat(opened.tree.root), os.stat(opened.repository.git_dir)
    except OSError:
        return 0, 0, 0, 0
    return root.st_dev, root.st_ino, git.st_dev, git.st_ino
