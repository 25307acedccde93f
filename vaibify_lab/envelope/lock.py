"""requirements.lock: what it must hold before anybody needs pip or a network to say so.

The reader refuses whatever ``pip install --require-hashes -r requirements.lock`` refuses by its
text, on any platform: pip passes over a line whose marker is false where it runs, we do not.
Stricter than pip on purpose, because a lock must mean the same everywhere and forever: no path of a
machine, no nested file, no ``==1.*``, no hash but SHA-256 counted, no ``${VARIABLE}``, no bare URL.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from vaibify_lab.core.paths import shown
from vaibify_lab.envelope import lock_rules as rules
from vaibify_lab.envelope import requirements_text as text

NAME = "requirements.lock"
MAX_PROBLEMS = 200
MAX_PACKAGES = 5_000
MAX_TEXT = 300_000  # characters of requirements, hashes apart
_BRACKET_COSTS = 40  # ... since a bracket in a marker takes as long to read as so many
_PLATFORM = re.compile(r"# vaibify: python (\d{1,3}(?:\.\d{1,4}){1,2}) ([\w.-]{1,64})")
_SOURCE = re.compile(r"# source-sha256: ([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class LockedPackage:
    """One pinned package: canonical name, exact version (or URL), SHA-256 hashes in lower case."""

    name: str
    version: str
    marker: str | None
    hashes: tuple[str, ...]
    line: int
    url: str | None = None


@dataclass(frozen=True, slots=True)
class LockProblem:
    """Why the lock is refused; ``line`` is 0 when it is about the whole file."""

    line: int
    code: str
    text: str
    package: str | None = None


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock as read. The last three come from our header and are None in a lock without it."""

    packages: tuple[LockedPackage, ...]
    problems: tuple[LockProblem, ...] = ()
    indexes: tuple[str, ...] = ()
    python: str | None = None
    platform: str | None = None
    source_sha256: str | None = None

    def matches_source(self, source: bytes) -> bool | None:
        """Tell whether the lock was made from this source; None when it does not say."""
        if self.source_sha256 is None:
            return None
        return self.source_sha256 == source_digest(source)


def source_digest(source: bytes) -> str:
    """Return the SHA-256 of what a source asks for: its lines without blank and comment lines.

    So a comment makes no lock out of date, and with it no step stale.
    """
    lines = (line.strip() for line in source.splitlines())
    asked = [line for line in lines if line and not line.startswith(b"#")]
    return hashlib.sha256(b"\n".join(asked)).hexdigest()


def parse_lock(data: bytes, *, declared_none: bool = False) -> Lock:
    """Read a lock and say everything that is wrong with it.

    Parameters
    ----------
    data : bytes
        The file, which somebody else may have made: time and memory are bounded.
    declared_none : bool
        The workflow declares ``bNoPythonPackages``: no package is no problem.
    """
    reader = _Reader()
    python = platform = source = None
    try:
        lines = text.physical_lines(data)
        python, platform, source = _header(lines)
        for number, line in text.logical_lines(lines):
            if not reader.read(number, line):
                break
    except text.Unreadable as error:
        reader.refuse(error.line, error.code, str(error))
    if not reader.packages and not reader.problems and not declared_none:
        said = "lists no package, and the workflow does not declare that by bNoPythonPackages"
        reader.refuse(0, "no-packages", said)
    packages, problems = tuple(reader.packages), tuple(reader.problems)
    return Lock(packages, problems, tuple(reader.indexes), python, platform, source)


def _header(lines: list[str]) -> tuple[str | None, str | None, str | None]:
    python = platform = source = None
    for line in lines[:10]:
        if made := _PLATFORM.fullmatch(line):
            python, platform = made.groups()
        elif found := _SOURCE.fullmatch(line):
            source = found[1]
        elif not line.startswith("#"):
            break
    return python, platform, source


@dataclass(slots=True)
class _Reader:
    """What is known after some lines."""

    packages: list[LockedPackage] = field(default_factory=list)
    problems: list[LockProblem] = field(default_factory=list)
    indexes: list[str] = field(default_factory=list)
    seen: dict[str, dict[str | None, LockedPackage]] = field(default_factory=dict)
    length: int = 0

    def refuse(self, line: int, code: str, said: str, package: str | None = None) -> None:
        self.problems.append(LockProblem(line, code, said, package))

    def read(self, number: int, line: str) -> bool:
        """Take one logical line; False when there is no use in going on."""
        try:
            requirement, options = text.split_options(line)
        except text.Unreadable as error:
            self.refuse(number, error.code, str(error))
            return self._may_go_on()
        if rules.VARIABLE.search(line):
            self.refuse(number, "environment-variable", "takes a value from the environment")
        elif requirement:
            self._read_package(number, requirement, options)
        else:
            self._read_options(number, options)
        return self._may_go_on()

    def _may_go_on(self) -> bool:
        too_long = len(self.packages) >= MAX_PACKAGES or self.length > MAX_TEXT
        if too_long or len(self.problems) >= MAX_PROBLEMS:
            self.refuse(0, "too-large", "too many packages or problems; reading stopped")
            return False
        return True

    def _read_options(self, number: int, options: list[str]) -> None:
        for name, value in rules.option_pairs(options):
            if (fault := rules.fault_of_option(name, value)) is not None:
                self.refuse(number, *fault)
            elif name in rules.INDEXES and value:
                self.indexes.append(value)

    def _read_package(self, number: int, requirement: str, options: list[str]) -> None:
        self.length += len(requirement) + _BRACKET_COSTS * requirement.count("(")
        if (problem := rules.fault_of_text(requirement)) is not None:
            self.refuse(number, *problem)
            return
        try:
            parsed = Requirement(requirement)
        except InvalidRequirement:
            said = f"{shown(requirement[:80])!r} is not a requirement that pip reads"
            self.refuse(number, "malformed", said)
            return
        name = canonicalize_name(parsed.name)
        hashes, problems = rules.hashes_of(options, parsed.url)
        problems += rules.fault_of_pin(parsed, bool(hashes))
        for code, said in problems:
            self.refuse(number, code, f"{name} {said}", name)
        if not problems:
            version = "" if parsed.url else next(iter(parsed.specifier)).version
            marker = str(parsed.marker) if parsed.marker else None
            self._add(LockedPackage(name, version, marker, hashes, number, parsed.url))

    def _add(self, package: LockedPackage) -> None:
        """Take a package; with one marker, or without any, a name can stand for one thing only."""
        others = self.seen.setdefault(package.name, {})
        other = others.get(package.marker) or others.get(None)
        if other is None and package.marker is None:
            other = next(iter(others.values()), None)
        if other is None:
            others[package.marker] = package
            self.packages.append(package)
        elif (problem := _disagreement(other, package)) is not None:
            said = f"{package.name} {problem} on lines {other.line} and {package.line}"
            self.refuse(package.line, "duplicate", said, package.name)


def _disagreement(one: LockedPackage, other: LockedPackage) -> str | None:
    if (one.version, one.url) != (other.version, other.url):
        return "is pinned to different versions"
    if not set(one.hashes) & set(other.hashes):
        return "has no hash in common"
    return None
