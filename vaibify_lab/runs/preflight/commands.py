"""What a step's commands say: programs that are not there, paths of one machine, silent inputs."""

from __future__ import annotations

import os
import posixpath
import re
import shutil
from collections.abc import Iterable, Iterator

from vaibify_lab.core import shell
from vaibify_lab.core.finding import Finding
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import COMMON, as_word, shown
from vaibify_lab.runs.preflight.inspection import Inspection
from vaibify_lab.runs.preflight.undeclared import told_of, undeclared_in_commands

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_PROGRAM = re.compile(r"[A-Za-z0-9_.+][A-Za-z0-9_.+-]*")
_LEADING = "if then else elif while until do time exec command builtin { !"
_BEFORE_A_COMMAND = frozenset(_LEADING.split())
# Words that bash itself knows; what follows the last few is no command.
_BUILTIN = """
    . : [ [[ alias bg break caller cd continue coproc declare dirs disown done echo enable esac eval
    exit export false fc fg fi getopts hash help history in jobs kill let local logout mapfile popd
    printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap
    true type typeset ulimit umask unalias unset wait } case for function select
"""
_OF_BASH = frozenset(_BUILTIN.split())
_PERSONAL = tuple(
    f"/{one}/" for one in ["home", "Users", "root", "mnt", "media", "scratch", "Volumes"]
)
_PUT_IN = re.compile(r"\$(?:\{\w+\}|\(|[A-Za-z_]\w*)|\{s[A-Z]\w*\}|^~/|`")
_ABSOLUTE = re.compile(r"(?:/[^/\s]+)+/?")


def command_findings(inspection: Inspection, step: Step) -> Iterator[Finding]:
    """Yield what is doubtful in a step's commands."""
    yield from _programs(inspection, step)
    yield from _foreign_paths(step)
    yield from _literal_values(step)
    yield from told_of(undeclared_in_commands(inspection, step))


def _programs(inspection: Inspection, step: Step) -> Iterator[Finding]:
    path = inspection.engine.path
    if path is None or not inspection.engine.is_ready or "PATH" in step.environment:
        return
    scan = inspection.code.get(step.slug)
    own = {path.rpartition("/")[2] for path in (scan.files if scan else ())}
    for program in programs_of(step.commands):
        if program not in own and shutil.which(program, path=path) is None:
            text = f"the program {program!r} is not on the PATH of a step ({path})"
            own_one = next(iter(inspection.ending_with(program)), None)
            action = f"name it as {_from(step.directory, own_one)}" if own_one else "install it"
            yield Finding("warning", "program-missing", text, step.slug, own_one, action)


def _from(directory: str, path: str) -> str:
    """Return a file of the repository as a command that runs in ``directory`` names it."""
    near = posixpath.relpath(path, directory or ".")
    return as_word(near if near.startswith("../") else f"./{near}")


def _literal_values(step: Step) -> Iterator[Finding]:
    """Yield variables whose value looks as if something would put another in."""
    for name, value in step.environment.items():
        if (found := _PUT_IN.search(value)) is not None:
            text = f"dictEnvironment: {name} is {shown(value[:200])!r} as it stands: nothing puts"
            action = f"set it in the command: export {name}=..."
            yield Finding(
                "warning", "value-literal", f"{text} {found[0]!r} in", step.slug, None, action
            )


def programs_of(commands: tuple[str, ...]) -> list[str]:
    """Return the bare names of programs that commands start; what only a shell can know is not."""
    found: dict[str, None] = {}
    for command in commands:
        if re.search(r"\(\s*\)", command):  # it defines functions
            continue
        for simple in _simple([command]):
            first = next((word for word in simple.words if not _leads_on(word)), "")
            if _PROGRAM.fullmatch(first) and first not in _OF_BASH and not first.isdigit():
                found[first] = None
    return list(found)


def _simple(commands: Iterable[str]) -> Iterator[shell.Simple]:
    for command in commands:
        for part in shell.parts(command):
            if isinstance(part, shell.Simple):
                yield part


def _leads_on(word: str) -> bool:
    return word in _BEFORE_A_COMMAND or _ASSIGNMENT.match(word) is not None


def _foreign_paths(step: Step) -> Iterator[Finding]:
    for word in _words(step.commands):
        if _is_foreign(word):
            text = f"a command names {shown(word)!r}, which other people do not have"
            action = "put the file into the repository and declare it as an input"
            yield Finding("warning", "absolute-path", text, step.slug, None, action)


def _is_foreign(word: str) -> bool:
    if word.startswith(("~/", "$HOME/", "${HOME}/")) or word in ("~", "$HOME", "${HOME}"):
        return True
    if word.startswith(_PERSONAL):
        return True
    if not _ABSOLUTE.fullmatch(word) or word.startswith(COMMON):
        return False
    return os.path.lexists(word)  # else it may be a pattern for sed or awk


def _words(commands: tuple[str, ...]) -> list[str]:
    words = [word for one in _simple(commands) for word in (*one.words, *one.targets)]
    values = [word.partition("=")[2] for word in words if "=" in word]
    return list(dict.fromkeys([*words, *values]))
