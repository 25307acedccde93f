"""What the verbs have in common: options, parsing, and opening the project."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from vaibify_lab.apps.catalogue import VERBS
from vaibify_lab.apps.screen import Screen
from vaibify_lab.core.arguments import Arguments
from vaibify_lab.core.errors import NotARepository

if TYPE_CHECKING:  # what it imports would make --help slow
    from vaibify_lab.project import Project

Namespace = argparse.Namespace
COMMAND = "jupyter vaibify"
_A_SECOND_ONE = "move it to .vaibify/workflows/NAME.json, or git init its folder"
_OUTCOMES = ("passed", "skipped", "failed", "tests-failed", "interrupted", "blocked")


class Parser(Arguments):
    """A parser of a command: its help goes out at once."""

    def print_help(self, file: object = None) -> None:
        """Print the help at once, so that a reader that went away is noticed here."""
        sys.stdout.write(self.format_help())
        sys.stdout.flush()


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb.

    ``more`` is said by ``--help`` below the catalogue's line. ``leaves`` says what is there after
    Ctrl-C. ``in_workflow``: it takes ``--workflow``; ``in_repository``: it takes ``--repo``.
    """

    name: str
    example: str
    execute: Callable[[Namespace, Screen], int]
    arguments: Callable[[Parser], None] = lambda parser: None
    more: str = ""
    leaves: str = "nothing was changed"
    in_workflow: bool = True
    in_repository: bool = True

    def parse(self, words: Sequence[str]) -> Namespace:
        """Parse what follows the verb.

        Raises
        ------
        UsageError
        """
        about = VERBS[self.name]
        width = max(20, shutil.get_terminal_size().columns - 2)  # as argparse itself
        parser = Parser(
            prog=f"{COMMAND} {self.name}",
            description=f"{about[0].upper()}{about[1:]}.\n\n{fill(self.more, width)}".strip(),
            epilog=f"example:\n  {self.example.replace(chr(10), chr(10) + '  ')}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.arguments(parser)
        if self.in_repository:
            parser.add_argument(
                "--repo", default=".", metavar="PATH", help="a folder of the repository (here)"
            )
        if self.in_workflow:
            parser.add_argument(
                "--workflow", metavar="W", help="which workflow, by path or name, of several"
            )
        parser.add_argument("--json", action="store_true", help="answer in JSON, for machines")
        parser.add_argument("--debug", action="store_true", help="show tracebacks")
        return parser.parse_intermixed_args(words)


def open_project(given: Namespace, *, cached: bool = True) -> Project:
    """Open the project that ``--repo`` and ``--workflow`` name.

    Raises
    ------
    MissingFile, UsageError
        There is no such workflow, also where the verb is one for all of them.
    """
    from vaibify_lab.project import Project

    named = getattr(given, "workflow", None)
    project = Project(place(given), named, cached=cached)
    if named is not None:
        project.opened.choose(named)
    elif "workflow" in given and (near := project.opened.passed_over(place(given))):
        text = f"note: {near} is passed over: a repository has one workflow.json; {_A_SECOND_ONE}"
        Screen(as_json=given.json).failed(f"{COMMAND}: {text}")
    return project


def place(given: Namespace) -> Path:
    """Return the folder that ``--repo`` names.

    Raises
    ------
    NotARepository
        Also when the current folder is gone.
    """
    if not os.path.isdir(given.repo):
        raise NotARepository("is not a folder", where=given.repo)
    try:
        return Path(os.path.abspath(given.repo))
    except FileNotFoundError:
        raise NotARepository("the current folder was deleted", action="cd elsewhere") from None


def slugs_of(project: Project, names: Iterable[str]) -> tuple[str, ...]:
    """Return the slugs of steps given by slug, name or StepNN."""
    return tuple(dict.fromkeys(project.step(name).slug for name in names))


def count_of(number: int, noun: str) -> str:
    """Return ``1 step``, ``2 steps``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def counted(outcomes: Iterable[str]) -> str:
    """Return how many steps came to which outcome, the good ones first."""
    given = list(outcomes)
    known = [one for one in _OUTCOMES if one in given]
    order = dict.fromkeys((*known, *given))
    return ", ".join(f"{given.count(one)} {one}" for one in order)
