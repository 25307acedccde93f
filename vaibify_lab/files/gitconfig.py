"""Git's configuration: its files, and what all of them together say."""

from __future__ import annotations

import os
from dataclasses import dataclass

from vaibify_lab.files.git import Repository
from vaibify_lab.files.plainfile import read_plain

OWN_FILES = ("config", "config.worktree")
_LONGEST = 2**24  # bytes; git's own are a few hundred
OwnFiles = tuple[bytes | None, bytes | None]


@dataclass(frozen=True, slots=True)
class Setting:
    """One value: in which file it stands, its key in lower case, what it says."""

    origin: str
    key: str
    value: str


class GitConfig:
    """The configuration of one repository, read once as long as its own files stay the same."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self._kept: tuple[OwnFiles, tuple[Setting, ...]] | None = None

    def own_files(self) -> OwnFiles:
        """Return the bytes of the repository's own: shared, and of this work tree."""
        folders = (self.repository.common_dir, self.repository.git_dir)
        places = [folder / name for folder, name in zip(folders, OWN_FILES, strict=True)]
        shared, own = (read_plain(place, _LONGEST, follow=True) for place in places)
        return shared, own

    def settings(self) -> tuple[Setting, ...]:
        """Return all settings that hold, those of the user and the machine too."""
        files = self.own_files()
        if self._kept is None or self._kept[0] != files:
            self._kept = (files, _listed(self.repository))
        return self._kept[1]


def _listed(repository: Repository) -> tuple[Setting, ...]:
    fields = os.fsdecode(repository.run("config", "--list", "--show-origin", "-z")).split("\0")[:-1]
    lines = (line.partition("\n") for line in fields[1::2])
    return tuple(
        Setting(origin, key, value)
        for origin, (key, _, value) in zip(fields[::2], lines, strict=True)
    )
