"""What everything of a project rests on: its repository, and which of its workflows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Self

from vaibify_lab.core.user import login_name
from vaibify_lab.runs.opened import Look, Opened

if TYPE_CHECKING:
    from vaibify_lab.core.model import Step


class ProjectBase:
    """One workflow of one repository.

    Parameters
    ----------
    start : Path
        Any folder of the repository.
    workflow : str, optional
        Repository path or stem of the workflow; the root's, or the only one, by default.
    cached : bool
        Use the stat cache of the user's cache folder.
    """

    def __init__(self, start: Path, workflow: str | None = None, *, cached: bool = True) -> None:
        self.opened = Opened(start, cached=cached)
        self._named = workflow

    @classmethod
    def of(cls, opened: Opened, workflow: str) -> Self:
        """Return a workflow's project in a repository that is open already."""
        project = cls.__new__(cls)
        project.opened, project._named = opened, workflow
        return project

    @property
    def path(self) -> str:
        """The workflow file's repository path."""
        return self.opened.choose(self._named)

    @property
    def root(self) -> Path:
        """The repository's root."""
        return self.opened.tree.root

    def look(self) -> Look:
        """Look at the workflow now."""
        return self.opened.look(self.path)

    def step(self, name: str) -> Step:
        """Return a step by slug, name or StepNN.

        Raises
        ------
        UnknownStep
        """
        from vaibify_lab.project.report import find_step

        return find_step(self.opened.workflow(self.path), name)

    def person(self) -> str:
        """Return who acts here: git's identity, else the account's name, else its number."""
        return self.opened.repository.identity() or login_name() or f"user {os.getuid()}"
