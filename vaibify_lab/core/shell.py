"""A shell command's words, read from its text alone: no expansion, no execution.

Enough of bash's grammar to find programs and their arguments: quotes, comments, redirections,
here-documents, pipes, lists and subshells. What only a running shell knows (variables, functions,
what ``eval`` is given) stays as it stands.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""(?P<skip>[ \t\r]+|\\\n|\#[^\n]*)
    |(?P<redirect>[0-9]*(?:&>>?|<<<|<<-?|<>|>\||>>|>&|<&|<(?!\()|>(?!\()))
    |(?P<stop>[<>]\(|[;&|()\n])
    |(?P<word>(?:[^\s'"\\;&|()<>]|\\.|'[^']*'|"(?:[^"\\]|\\.)*"|['"\\])+)""",
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)""", re.DOTALL)
_ESCAPED = re.compile(r"\\([\"\\$`])|\\\n")
_WILD = re.compile(r"[*?\[]")
_HERE = re.compile(r"(?<!<)<<-?[ \t]*(['\"\\]?)([A-Za-z_][A-Za-z0-9_]*)")


@dataclass(frozen=True, slots=True)
class Simple:
    """One simple command: its words without quotes, and the files that it is redirected to.

    ``patterns`` are those of the words that the shell replaces by the files that fit, ``written``
    those of the targets that it writes.
    """

    words: tuple[str, ...]
    targets: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    written: tuple[str, ...] = ()


def parts(command: str) -> Iterator[Simple | str]:
    """Yield the simple commands of a command line, and ``(`` and ``)`` where a subshell begins.

    Those of a ``$(...)`` come before the command in which its output stands as ``$()``.
    """
    around: list[_Reading | None] = []  # for each open parenthesis, the command that goes on after
    now, end, closed = _Reading(), -1, -1
    for token in _TOKEN.finditer(split_here_documents(command)[0]):
        kind, text = token.lastgroup, token[0]
        if kind == "word" and token.start() == closed:
            now.goes_on(text)
            closed = token.end() if text.endswith("$") else -1
        elif kind == "word":
            now.word(text)
        elif kind == "redirect":
            now.redirected = text
        elif kind == "stop":
            inside = text == "(" and token.start() == end and now.ends_in_dollar()
            yield from () if inside else now.simple()
            if text[-1] == "(":
                around.append(now if inside else None)
            if text[-1] in "()":
                yield text[-1]
            now = _Reading()
            if text == ")" and around and (before := around.pop()) is not None:
                now, closed = before, token.end()
        end = token.end() if kind == "word" else -1
    for left in (now, *filter(None, reversed(around))):
        yield from left.simple()


def has_pipe(command: str) -> bool:
    """Tell whether a command's output is another's input somewhere in a command line."""
    tokens = _TOKEN.finditer(split_here_documents(command)[0])
    bars = {one.start() for one in tokens if one.lastgroup == "stop" and one[0] == "|"}
    return any(at - 1 not in bars and at + 1 not in bars for at in bars)


@dataclass(slots=True)
class _Reading:
    """One simple command while it is read."""

    words: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    patterns: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    redirected: str = ""  # by which operator the next word is a target
    last: list[str] = field(default_factory=list)  # which of both was added to

    def word(self, text: str) -> None:
        self.last = self.targets if self.redirected else self.words
        self.last.append(unquoted(text))
        self.patterns += [self.last[-1]] if not self.redirected and _is_pattern(text) else []
        self.written += [self.last[-1]] if ">" in self.redirected else []
        self.redirected = ""

    def ends_in_dollar(self) -> bool:
        """Tell whether ``(`` begins a substitution now; note it."""
        if not (self.last and self.last[-1].endswith("$")):
            return False
        self.last[-1] += "()"
        return True

    def goes_on(self, text: str) -> None:
        """Add to the last word what stands right behind a substitution."""
        self.last[-1] += unquoted(text)

    def simple(self) -> Iterator[Simple]:
        if self.words or self.targets:
            found = (self.words, self.targets, self.patterns, self.written)
            yield Simple(*map(tuple, found))


def unquoted(word: str) -> str:
    """Return a word as the program gets it, when nothing in it is expanded."""
    return _QUOTED.sub(_without_quotes, word)


def _is_pattern(word: str) -> bool:
    """Tell whether a word, as written, has a wildcard outside of quotes."""
    return _WILD.search(word) is not None and _WILD.search(_QUOTED.sub("", word)) is not None


def split_here_documents(command: str) -> tuple[str, list[str]]:
    """Return a command line without the bodies of its here-documents, and the bodies."""
    if "<<" not in command:
        return command, []
    lines = command.split("\n")
    places: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        places.setdefault(line.strip("\t"), []).append(number)
    kept: list[str] = []
    bodies: list[str] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        kept.append(line)
        index += 1
        for match in _HERE.finditer(line):
            ends = places.get(match[2], [])
            place = bisect.bisect_left(ends, index)
            if place < len(ends):  # else it was no here-document
                bodies.append("\n".join(lines[index : ends[place]]))
                index = ends[place] + 1
    return "\n".join(kept), bodies


def _without_quotes(match: re.Match[str]) -> str:
    single, double, escaped = match.groups()
    if single is not None:
        return single
    if double is not None:
        return _ESCAPED.sub(lambda inner: inner[1] or "", double)
    return "" if escaped == "\n" else escaped
