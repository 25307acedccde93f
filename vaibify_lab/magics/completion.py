"""Tab in a ``%vaibify`` line: verbs, options, steps and paths."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from vaibify_lab.apps.catalogue import VERBS
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.notebooks.languages import LANGUAGES
from vaibify_lab.notebooks.step_line import SUBCOMMAND, options
from vaibify_lab.project import Project

_OF_STEPS = frozenset(
    {
        "run",
        "cite",
        "pins",
        "lineage",
        "test",
        "sign-off",
        "status",
        "acknowledge",
        "pause",
        "resume",
    }
)
_TAKES_PATH = frozenset({"--input", "--output", "--data", "--plot", "--directory", "--repo"})


def complete(shell: Any, event: Any) -> list[str]:
    """Return what may stand at the end of the line up to the cursor."""
    words = event.text_until_cursor.split()
    begun = "" if event.text_until_cursor[-1:].isspace() else words.pop()
    is_cell = bool(words) and words[0].startswith("%%")
    offered = _after(words[1:], begun, is_cell=is_cell)
    return [one for one in offered if one.startswith(begun)]


def _after(words: list[str], begun: str, *, is_cell: bool) -> list[str]:
    if not words:
        return [SUBCOMMAND] if is_cell else list(VERBS)
    last = words[-1]
    if begun.startswith("-"):
        return list(options()) if is_cell else _options_of(words[0])
    if last in _TAKES_PATH:
        return _paths(begun)
    if last == "--language":
        return list(LANGUAGES)
    if last in ("--depends", "--from") or words in ([SUBCOMMAND],):
        return _steps()
    return _steps() if not is_cell and words[0] in _OF_STEPS else []


def _options_of(verb: str) -> list[str]:
    if verb not in VERBS:
        return []
    from vaibify_lab.apps.verb import Parser

    parser = Parser(add_help=True)
    import_module(f"vaibify_lab.apps.{verb.replace('-', '_')}").VERB.arguments(parser)
    shared = ("--repo", "--workflow", "--json")
    return [one for one in (*parser._option_string_actions, *shared) if one.startswith("--")]


def _steps() -> list[str]:
    with suppress(VaibifyError):
        project = Project(Path.cwd())
        return [step.slug for step in project.opened.workflow(project.path).steps]
    return []


def _paths(begun: str) -> list[str]:
    """Return the files and folders of the repository that a path may go on with."""
    folder = begun.rpartition("/")[0]
    prefix = f"{folder}/" if folder else ""
    with suppress(VaibifyError, OSError):
        root = Project(Path.cwd()).root
        with os.scandir(root / folder) as entries:
            names = [(one.name, one.is_dir(follow_symlinks=False)) for one in entries]
        return sorted(
            f"{prefix}{name}{'/' if is_folder else ''}"
            for name, is_folder in names
            if not name.startswith(".")
        )
    return []
