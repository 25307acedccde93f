"""Two verdicts on one project, and when they may differ."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from vaibify_lab.apps.main import main


@dataclass(frozen=True)
class Ours:
    """What ``reproduce`` says of one tier."""

    passed: bool
    line: str
    problems: dict[str, list[str]]
    notes: tuple[str, ...]
    paths: frozenset[str]

    @property
    def texts(self) -> list[str]:
        return [text for texts in self.problems.values() for text in texts]

    def says(self, code: str) -> list[str]:
        """Return the texts of a code: of a problem, or of a note or line that holds the words."""
        found = [text for text in (self.line, *self.notes) if code in text]
        return [*self.problems.get(code, ()), *found]


@dataclass(frozen=True)
class Theirs:
    """What the plain tool says: whether all is well, and which paths are not."""

    passed: bool
    paths: frozenset[str] | None = None
    said: str = ""


@dataclass(frozen=True)
class Damage:
    """One way to damage a project.

    Attributes
    ----------
    name : str
    spoil : callable
        Does it; returns False where the project has nothing that can be damaged so.
    theirs : bool, optional
        Whether the plain tool passes it; None where that depends, and we refuse it.
    differs : str
        The code, or words of a note, by which we say why we do not say the same.
    says : str
        A code that we name where both refuse it.
    """

    name: str
    spoil: Callable[[Any, Random], bool | None]
    theirs: bool | None
    differs: str = ""
    says: str = ""

    @property
    def ours(self) -> bool:
        """Whether we pass it."""
        return self.theirs is True if not self.differs else self.theirs is False


@dataclass
class Tally:
    """What many projects came to, by damage."""

    seen: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def add(self, number: int, damage: Damage, ours: Ours, theirs: Theirs, names: str = "") -> None:
        """Compare two verdicts; keep what is not as it must be."""
        self.seen[damage.name] = self.seen.get(damage.name, 0) + 1
        if damage.differs:
            self.reasons[damage.name] = (ours.says(damage.differs) or [""])[0]
        for fault in faults_of(damage, ours, theirs, names):
            self.faults.append(f"project {number}, {damage.name}: {fault}; {ours} {theirs}")


def faults_of(damage: Damage, ours: Ours, theirs: Theirs, names: str) -> Iterator[str]:
    """Yield what is wrong: ``names`` is the tool that a reason must name."""
    if damage.theirs not in (None, theirs.passed):
        yield f"{names} {'passes' if theirs.passed else 'refuses'} it"
    if ours.passed is not damage.ours:
        yield f"we {'pass' if ours.passed else 'refuse'} it"
    if damage.differs and not any(names in text for text in ours.says(damage.differs)):
        yield f"no reason {damage.differs!r} that names {names}"
    if damage.says and not ours.says(damage.says):
        yield f"we do not say {damage.says!r}"
    for path in () if damage.differs else sorted(theirs.paths or ()):
        if path not in ours.paths and not any(path in text for text in ours.texts):
            yield f"we do not name {path}"


def reproduced(root: Path, tier: int) -> Ours:
    """Ask ``reproduce`` for one tier, as a program would."""
    skipped = [word for one in (1, 2, 3) if one != tier for word in ("--skip-tier", str(one))]
    code, answer = typed("reproduce", *skipped, "--json", "--repo", str(root))
    found = answer["tiers"][tier - 1]
    assert (code == 0) is answer["confirmed"] is (found["state"] == "passed"), answer
    problems: dict[str, list[str]] = {}
    for one in found["problems"]:
        problems.setdefault(one["code"], []).append(one["text"])
    paths = frozenset(one["path"] for one in found["problems"] if "path" in one)
    return Ours(code == 0, found["line"], problems, tuple(found["warnings"]), paths)


def typed(*words: str) -> tuple[int, dict[str, Any]]:
    """Type a command in this process; return its exit code and its JSON answer."""
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(words)
    out.flush()
    answer: dict[str, Any] = json.loads(out.buffer.getvalue() or b"{}")
    assert code in (0, 1, 2) and "error" not in answer, (words, answer, err.getvalue())
    return code, answer


@contextmanager
def variables(**values: str | None) -> Iterator[None]:
    """Set environment variables for a while; None takes one away."""
    before = {name: os.environ.get(name) for name in values}
    _set(values)
    try:
        yield
    finally:
        _set(before)


def _set(values: dict[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
