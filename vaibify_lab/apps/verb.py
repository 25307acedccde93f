"""What the verbs have in common: options, parsing, and opening the project."""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, NoReturn

from vaibify_lab.apps.catalogue import VERBS
from vaibify_lab.apps.screen import Screen
from vaibify_lab.core.errors import NotARepository, UsageError

if TYPE_CHECKING:  # what it imports would make --help slow
    from vaibify_lab.project import Project

Namespace = argparse.Namespace
COMMAND = "jupyter vaibify"
_OUTCOMES = ("passed", "skipped", "failed", "tests-failed", "interrupted", "blocked")
_UNKNOWN = "unrecognized arguments: "
_ARGUMENT = re.compile(r"argument (?:-\w/)?(\S+?)(?:/\S+)?: ")


class Parser(argparse.ArgumentParser):
    """A parser whose errors are ours: one line, with the nearest name."""

    def print_help(self, file: object = None) -> None:
        """Print the help at once, so that a reader that went away is noticed here."""
        sys.stdout.write(self.format_help())
        sys.stdout.flush()

    def error(self, message: str) -> NoReturn:
        """Raise what argparse found wrong."""
        action = f"see: {self.prog} --help"
        if message.startswith(_UNKNOWN):
            word = message.removeprefix(_UNKNOWN).split(" ")[0]
            known = [one for one in self._option_string_actions if one.startswith("--")]
            kind = "option" if word.startswith("-") else "argument"
            text = f"there is no {kind} {word!r} here{nearest(word.split('=')[0], known)}"
            raise UsageError(text, action=action)
        found = _ARGUMENT.match(message)
        if found is None:
            raise UsageError(message, action=action)
        rest = message[found.end() :]
        text = rest if rest.startswith(found[1]) else f"{found[1]}: {rest}"
        raise UsageError(text, action=action)


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
    """Open the project that ``--repo`` and ``--workflow`` name."""
    from vaibify_lab.project import Project

    return Project(place(given), getattr(given, "workflow", None), cached=cached)


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


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a question that offers the nearest known name; empty when none is near."""
    found = difflib.get_close_matches(word, list(known), 1)
    return f" (did you mean {found[0]!r}?)" if found else ""


def count_of(number: int, noun: str) -> str:
    """Return ``1 step``, ``2 steps``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def counted(outcomes: Iterable[str]) -> str:
    """Return how many steps came to which outcome, the good ones first."""
    given = list(outcomes)
    known = [one for one in _OUTCOMES if one in given]
    order = dict.fromkeys((*known, *given))
    return ", ".join(f"{given.count(one)} {one}" for one in order)
