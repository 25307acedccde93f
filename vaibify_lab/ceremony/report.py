"""What one tier of the ceremony found, in the words that are printed and sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from vaibify_lab.core.paths import shown

TierState = Literal["passed", "failed", "skipped", "not-checkable"]


@dataclass(frozen=True, slots=True)
class TierProblem:
    """One thing that is wrong. ``path`` is printable: odd bytes and control characters escaped."""

    code: str
    text: str
    path: str | None = None

    @property
    def line(self) -> str:
        """The problem as one line of text, never markup."""
        text = " ".join(self.text.split())
        return f"{self.path}: {text}" if self.path else text

    def as_json(self) -> dict[str, str]:
        """Return the problem as the JSON answer holds it."""
        found = {"code": self.code, "text": self.text}
        return found if self.path is None else {"path": self.path, **found}


@dataclass(frozen=True, slots=True)
class TierReport:
    """One tier's verdict.

    Attributes
    ----------
    line : str
        The right part of the printed line, after ``[n/4] ... ...``.
    listed, checked : int
        How many things the file lists, and how many were really looked at.
    missing_input : bool
        A file that the question needs is missing, unreadable or malformed as a whole: exit 2.
    """

    tier: int
    state: TierState
    line: str
    listed: int = 0
    checked: int = 0
    problems: tuple[TierProblem, ...] = ()
    warnings: tuple[str, ...] = ()
    missing_input: bool = False

    def __post_init__(self) -> None:
        """Refuse to exist as a pass that is none."""
        if self.state == "passed" and (self.problems or self.checked != self.listed):
            raise ValueError(f"tier {self.tier} cannot pass: {self}")

    @property
    def exit_code(self) -> int:
        """0 passed or skipped, 2 an input file is missing or malformed, 1 anything else."""
        if self.state in ("passed", "skipped"):
            return 0
        return 2 if self.missing_input else 1

    def as_json(self) -> dict[str, Any]:
        """Return the tier as the JSON answer of ``reproduce`` holds it."""
        return {
            "tier": self.tier,
            "state": self.state,
            "line": self.line,
            "listed": self.listed,
            "checked": self.checked,
            "problems": [problem.as_json() for problem in self.problems],
            "warnings": list(self.warnings),
        }


def problem(code: str, text: str, path: str | None = None) -> TierProblem:
    """Make a problem about a raw path, which may hold any bytes."""
    return TierProblem(code, text, None if path is None else shown(path))


def some(items: list[str], most: int = 20) -> str:
    """Join the first items and say how many more there are."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more
