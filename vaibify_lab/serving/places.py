"""Contents paths, places on disk and repository paths: the one border between the three."""

from __future__ import annotations

import hashlib
import os
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from vaibify_lab.core.errors import MissingFile, NotARepository, RepositoryAboveRoot, UnsafePath
from vaibify_lab.core.paths import MOST_PARTS, shown
from vaibify_lab.files.git import Repository

DRIVES = ("RTC:",)  # jupyter-collaboration's, for the same files


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder of the contents API.

    Attributes
    ----------
    contents : str
        Its contents path, without a drive.
    disk : Path
        Where it is, canonical.
    """

    contents: str
    disk: Path


@dataclass(frozen=True, slots=True)
class ServerRoot:
    """The folder that the server serves; ``path`` is canonical."""

    given: Path
    path: Path = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", self.given.expanduser().resolve())

    def place(self, contents: str) -> Place:
        """Return where a contents path leads, links followed as the contents API follows them.

        Raises
        ------
        UnsafePath
            A path that is not plain.
        MissingFile
        """
        plain = without_drive(contents).strip("/")
        parts = plain.split("/") if plain else []
        if "\0" in plain or "\\" in plain or len(parts) > MOST_PARTS or {"", ".", ".."} & {*parts}:
            raise UnsafePath("is not a plain contents path", where=shown(contents[:200]))
        disk = self.path.joinpath(*parts)
        if not os.path.exists(disk):
            raise MissingFile("does not exist below the server's root", where=shown(plain))
        return Place(plain, disk.resolve())

    def contents_of(self, disk: Path) -> str | None:
        """Return the contents path of a canonical place; None when it lies outside."""
        if not disk.is_relative_to(self.path):
            return None
        relative = disk.relative_to(self.path).as_posix()
        return "" if relative == "." else relative

    def above(self, root: Path) -> RepositoryAboveRoot:
        """Return why a repository is refused that is not wholly below the server's root."""
        text = (
            f"the repository {root} is not below the folder that this server serves ({self.path})"
        )
        action = f"start Jupyter on it: jupyter lab --ServerApp.root_dir={shlex.quote(str(root))}"
        return RepositoryAboveRoot(text, action=action)


def without_drive(contents: str) -> str:
    """Take off the prefix by which the contents API names a drive for the same files."""
    for drive in DRIVES:
        if contents.startswith(drive):
            return contents.removeprefix(drive)
    return contents


def enclosing(place: Place) -> Repository:
    """Return the repository that a file or folder lies in.

    Raises
    ------
    NotARepository
        With ``git init`` as the action, for the folder.
    """
    folder = place.disk if place.disk.is_dir() else place.disk.parent
    try:
        return Repository.find(folder)
    except NotARepository as error:
        action = error.action and f"git init {shlex.quote(str(folder))}"
        raise NotARepository(error.text, where=error.where, action=action) from None


def project_id(root: Path, workflow: str) -> str:
    """Return a project's id: the same for the same canonical root and workflow file."""
    named = os.fsencode(root) + b"\0" + workflow.encode("utf-8", "surrogateescape")
    return hashlib.sha256(named).hexdigest()[:16]
