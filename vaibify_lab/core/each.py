"""What ``find -exec`` and ``xargs`` run, on files that are named elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from vaibify_lab.core.holes import HOLE, with_holes
from vaibify_lab.core.interpreters import program_of

_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_NAMED_BY = frozenset({"-name", "-iname", "-path", "-wholename"})
_DEEP = ("", "*/", "*/*/")


@dataclass(frozen=True, slots=True)
class Each:
    """A command that is run on each of some files.

    ``words`` are its words, with holes for those files; ``fitting`` are names with holes of what
    they may be; ``unknown``: code is run of whose name nothing is known.
    """

    words: tuple[str, ...]
    fitting: tuple[str, ...] = ()
    unknown: bool = False


def each_of(words: tuple[str, ...]) -> Each | None:
    """Read a simple command that runs another on each of some files; None for every other."""
    if "xargs" in words:
        return _of_xargs(words, words.index("xargs"))
    at = next((n for n, word in enumerate(words) if word in _RUNS), None)
    return _of_find(words, at) if words[:1] == ("find",) and at is not None else None


def _of_xargs(words: tuple[str, ...], at: int) -> Each:
    stands = {"{}"}
    for word, following in zip(words[at:], (*words[at + 1 :], ""), strict=True):
        if word.startswith("-I"):
            stands.add(word[2:] or following)
    run = list(words[at:])
    for name in filter(None, stands):
        run = [one if one in (name, f"-I{name}") else one.replace(name, HOLE) for one in run]
    program = program_of(run)
    given = program is not None and (program.kind == "stdin" or program.text in stands)
    return Each((*words[:at], *run), unknown=given)


def _of_find(words: tuple[str, ...], at: int) -> Each:
    folders = tuple(takewhile(lambda one: one[:1] not in "-(!", words[1:at])) or (".",)
    names = _after(words[:at], _NAMED_BY)
    run = words[at + 1 :]
    is_known = bool(names) and all("." in with_holes(one) for one in names)
    fitting = (f"{folder}/{deep}{name}" for folder in folders for name in names for deep in _DEEP)
    starts_code = program_of(run) is not None and "{}" in run
    return Each(words, tuple(fitting), starts_code and not is_known)


def _after(words: Sequence[str], options: frozenset[str]) -> list[str]:
    return [value for option, value in pairwise(words) if option in options]
