"""References and variables in commands and paths.

``{Step02.fit}`` and ``{step:fit-model.fit}`` stand for the output whose file name without its last
suffix is ``fit``; ``{sPlotDirectory}`` and own variables for their text. A ``$`` before the brace
makes it the shell's own. ``{sRepoRoot}`` and ``{iNumberOfCores}`` stay symbolic until a step is
launched, so that what is recorded does not depend on the machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.core.quoting import fill

_TOKEN = re.compile(
    r"(?<!\$)\{(?:(?:Step(?P<number>[0-9]{1,6})|step:(?P<slug>[^{}.\n]{1,200}))"
    r"\.(?P<stem>[^{}\n]{1,255})"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]{0,99}|step:[^{}.\n]{1,200}))\}"
)
ROOT = "sRepoRoot"
CORES = "iNumberOfCores"
SYMBOLIC = frozenset({ROOT, CORES})
LONGEST = 100_000  # characters of a command
ROOM = 2**24  # characters that the variables and references of one step may grow to


@dataclass(frozen=True, slots=True)
class Outputs:
    """What other steps offer to references: slugs by step number, output paths by slug."""

    where: str
    by_number: Mapping[int, str]
    made: Mapping[str, Iterable[str]]
    _stems: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict, init=False)

    def find(self, token: str, slug: str | None, stem: str, user: str) -> tuple[str, str]:
        """Return (producing step's slug, output path) for a reference.

        Raises
        ------
        InvalidFile
            When the step or the stem does not exist, or two outputs share the stem.
        """
        if not self.made:
            text = f"step {user!r} uses {token} where only a path of its own can stand"
            raise InvalidFile(text, where=self.where)
        if slug is None or slug not in self.made:
            raise InvalidFile(f"step {user!r} refers to {token}, no such step", where=self.where)
        if slug not in self._stems:
            self._stems[slug] = stems_of(self.made[slug])
        found = self._stems[slug].get(stem, ())
        if not found:
            have = ", ".join(sorted(self._stems[slug])) or "none"
            text = f"step {user!r} refers to {token}, but {slug!r} has no output of that stem"
            raise InvalidFile(f"{text} (it has: {have})", where=self.where)
        if len(found) > 1:
            text = f"step {user!r} refers to {token}, which could be {found[0]!r} or {found[1]!r}"
            raise InvalidFile(text, where=self.where, action="rename one of them")
        return slug, found[0]


@dataclass(slots=True)
class Expander:
    """Expands the text of one step, and remembers what it used."""

    outputs: Outputs
    variables: Mapping[str, str]
    user: str
    used: dict[str, str] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)
    grown: int = 0

    def command(self, text: str) -> str:
        """Expand a command: references become paths below the symbolic root.

        Raises
        ------
        InvalidFile
            When it refers to what is not there, or grows too long.
        """
        expanded = self._expand(text, lambda path: "{" + ROOT + "}/" + path.rstrip("/"))
        if len(expanded) > LONGEST:
            text = f"step {self.user!r}: a command grows to more than {LONGEST} characters"
            raise InvalidFile(text, where=self.outputs.where)
        return expanded

    def path(self, text: str) -> str:
        """Expand a declared path: references become repository paths.

        Raises
        ------
        InvalidFile
            When it holds what is only known when a step is launched.
        """
        for name in SYMBOLIC if "{" in text else ():
            if "{" + name + "}" in text:
                text = f"step {self.user!r}: {{{name}}} stands in a path; it is for commands only"
                action = "paths start at the repository's root; leave it out"
                raise InvalidFile(text, where=self.outputs.where, action=action)
        return self._expand(text, lambda path: path)

    def _expand(self, text: str, render: Callable[[str], str]) -> str:
        if "{" not in text:
            return text

        def replace(match: re.Match[str]) -> str:
            name = match["name"]
            if name is None:
                return self._count(render(self._reference(match)))
            if name in self.variables:
                return self._count(self.variables[name])
            if name not in SYMBOLIC:
                self.unknown.add(match[0])
            return match[0]

        return _TOKEN.sub(replace, text)

    def _count(self, text: str) -> str:
        self.grown += len(text)
        if self.grown > ROOM:
            text = f"step {self.user!r}: its variables and references grow to too much text"
            raise InvalidFile(text, where=self.outputs.where)
        return text

    def _reference(self, match: re.Match[str]) -> str:
        slug = match["slug"]
        if match["number"] is not None:
            slug = self.outputs.by_number.get(int(match["number"]))
        producer, path = self.outputs.find(match[0], slug, match["stem"], self.user)
        self.used[path] = producer
        return path


def as_run(commands: Iterable[str], root: str, cores: int) -> tuple[str, ...]:
    """Return commands as a shell gets them: the root and the number of cores filled in.

    A root with a space or another special character stays one word, inside quotes and out.
    """
    values = {ROOT: root, CORES: str(cores)}
    return tuple(fill(command, values) for command in commands)


def stems_of(paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Group output paths by file name without its last suffix."""
    found: dict[str, list[str]] = {}
    for path in paths:
        name = path.rstrip("/").rsplit("/", 1)[-1]
        stem, dot, _ = name.rpartition(".")
        found.setdefault(stem if dot and stem.strip(".") else name, []).append(path)
    return {stem: tuple(those) for stem, those in found.items()}
