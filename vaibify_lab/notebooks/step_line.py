"""What stands behind ``%%vaibify step``: a name, and what the step reads, writes and needs."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from vaibify_lab.core.arguments import Arguments, nearest
from vaibify_lab.core.errors import UsageError
from vaibify_lab.core.naming import slug_of
from vaibify_lab.notebooks.languages import LANGUAGES
from vaibify_lab.notebooks.magic import NAME

SUBCOMMAND = "step"
# Option, key of workflow.json, what the help says of it.
_LISTS = {
    "input": ("saInputDataFiles", "P", "a file that it reads; a folder ends with '/'"),
    "output": ("saOutputFiles", "P", "a file that it writes"),
    "data": ("saDataFiles", "P", "a data file that it writes"),
    "plot": ("saPlotFiles", "P", "a plot that it writes"),
    "depends": ("saDependencies", "STEP", "a step whose outputs it reads"),
    "test": ("saTestCommands", "CMD", "a command that tests it"),
}
EXAMPLE = (
    "%%vaibify step Fit --input data/co2.csv --output results/fit.json --plot plots/fit.png\n"
    "import json, pandas"
)


@dataclass(frozen=True, slots=True)
class StepLine:
    """One such line. ``keys`` are its lists by the key of workflow.json, those it gives alone."""

    name: str
    keys: Mapping[str, tuple[str, ...]]
    directory: str = ""
    language: str = "python"
    workflow: str | None = None
    no_input: bool = False
    no_tests: bool = False
    declare_only: bool = False
    overwrite: bool = False

    @property
    def slug(self) -> str:
        """The name's slug; empty when it makes none."""
        return slug_of(self.name)

    @property
    def text(self) -> str:
        """The line that begins such a cell, as `parse_line` reads it."""
        dashed = self.name.startswith("-")
        words = [f"%%{NAME}", SUBCOMMAND, *([] if dashed else [self.name])]
        words += _given("directory", self.directory) if self.directory else ()
        words += _given("language", self.language) if self.language != "python" else ()
        for option, (key, _, _) in _LISTS.items():
            words += [word for one in self.keys.get(key, ()) for word in _given(option, one)]
        words += _given("workflow", self.workflow) if self.workflow else ()
        flags = ("no_input", "no_tests", "declare_only", "overwrite")
        words += [f"--{one.replace('_', '-')}" for one in flags if getattr(self, one)]
        return shlex.join([*words, *(["--", self.name] if dashed else [])])


def _given(option: str, value: str) -> tuple[str, ...]:
    return (f"--{option}={value}",) if value.startswith("-") else (f"--{option}", value)


def options() -> tuple[str, ...]:
    """Return every option, for completion."""
    return tuple(one for one in _parser()._option_string_actions if one.startswith("--"))


def usage() -> str:
    """Return the help."""
    return _parser().format_help()


def words_of(line: str) -> list[str]:
    """Return the words of a magic's line, quotes removed and nothing expanded.

    Raises
    ------
    UsageError
    """
    try:
        return shlex.split(line)
    except ValueError as error:
        text = f"the line is not closed: {str(error).lower()}"
        raise UsageError(text, where="%%vaibify", action="close the quote") from None


def parse_line(line: str) -> StepLine:
    """Read what follows ``%%vaibify``.

    Raises
    ------
    UsageError
        For anything but ``step NAME`` and its options.
    """
    words = words_of(line)
    if not words or words[0] != SUBCOMMAND:
        said = f"{words[0]!r} is nothing that a cell can be" if words else "is empty"
        hint = nearest(words[0], [SUBCOMMAND]) if words else ""
        action = "a cell is a step: %%vaibify step NAME; the verbs take one %: %vaibify status"
        raise UsageError(said + hint, where="%%vaibify", action=action)
    given = _parser().parse_args(words[1:])
    found = _line_of(given)
    if not found.slug:
        raise UsageError(f"the name {found.name!r} makes no file name", where="%%vaibify step")
    return found


def _line_of(given: Any) -> StepLine:
    lists = {key: getattr(given, option) for option, (key, _, _) in _LISTS.items()}
    if given.no_input and lists["saInputDataFiles"]:
        raise UsageError("--no-input and --input exclude each other", where="%%vaibify step")
    if given.no_tests and lists["saTestCommands"]:
        raise UsageError("--no-tests and --test exclude each other", where="%%vaibify step")
    return StepLine(
        given.name,
        {key: tuple(dict.fromkeys(paths)) for key, paths in lists.items() if paths},
        given.directory.rstrip("/").removeprefix("./").removeprefix("."),
        given.language,
        given.workflow,
        given.no_input,
        given.no_tests,
        given.declare_only,
        given.overwrite,
    )


@cache
def _parser() -> Arguments:
    parser = Arguments(
        prog="%%vaibify step",
        description="Make this cell a step: its code becomes the step's script, which is run.",
        epilog=f"example:\n  {EXAMPLE.replace(chr(10), chr(10) + '  ')}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        add_help=False,
    )
    parser.add_argument("name", metavar="NAME", help="what people call it; quote several words")
    for option, (_, letter, about) in _LISTS.items():
        parser.add_argument(
            f"--{option}", action="append", default=[], metavar=letter, help=f"{about}; repeat it"
        )
    flag = "store_true"
    parser.add_argument("--no-input", action=flag, help="it reads no data")
    parser.add_argument("--no-tests", action=flag, help="it needs no tests")
    parser.add_argument("--directory", default="", metavar="D", help="where it runs (the root)")
    parser.add_argument("--language", choices=LANGUAGES, default="python", help="the cell's")
    parser.add_argument("--workflow", metavar="W", help="which workflow, of several")
    parser.add_argument("--declare-only", action=flag, help="write it down, do not run it")
    parser.add_argument("--overwrite", action=flag, help="the cell replaces what others edited")
    return parser
