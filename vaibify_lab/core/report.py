"""What a look answers: the same words for command line, HTTP and magics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from vaibify_lab.core.paths import shown

RunState = Literal[
    "running",
    "queued",
    "waiting",
    "unknown",
    "interrupted",
    "failed",
    "never-run",
    "stale",
    "current",
]
TestState = Literal["none", "untested", "passed", "failed", "unknown"]
UserState = Literal["untested", "passed", "failed", "unknown"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is not green: a code that stays, a sentence, perhaps a path and a remedy.

    The sentence may quote facts of somebody else, so it is made safe to print.
    """

    code: str
    text: str
    path: str | None = None
    action: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", shown(self.text))

    def to_json(self) -> dict[str, str]:
        """Return the JSON answer's form."""
        value = {"code": self.code, "text": self.text}
        if self.path is not None:
            value["path"] = self.path
        if self.action is not None:
            value["action"] = self.action
        return value


@dataclass(frozen=True, slots=True)
class StepReport:
    """What is true of one step now."""

    slug: str
    name: str
    kind: str
    run: RunState
    integrity: TestState
    qualitative: TestState
    quantitative: TestState
    unit_test: TestState
    user: UserState
    upstream_modified: bool
    modified_files: tuple[str, ...]
    green: bool
    reasons: tuple[Reason, ...]
    notes: tuple[Reason, ...] = ()
    isolation: str | None = None
    inputs_declared: bool = False
    sealed: bool = False
    deterministic: bool = False
    enabled: bool = True
    in_pinned_image: bool = False
    tests_due: str | None = None
    ended: str | None = None
    tested: str | None = None
    signed: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form, with the requirement documents' names."""
        return {
            "slug": self.slug,
            "name": self.name,
            "kind": self.kind,
            "run": self.run,
            "sIntegrity": self.integrity,
            "sQualitative": self.qualitative,
            "sQuantitative": self.quantitative,
            "sUnitTest": self.unit_test,
            "sUser": self.user,
            "bUpstreamModified": self.upstream_modified,
            "listModifiedFiles": list(self.modified_files),
            "green": self.green,
            "isolation": self.isolation,
            "sealed": self.sealed,
            "enabled": self.enabled,
            "since": {"run": self.ended, "tests": self.tested, "user": self.signed},
            "reasons": [reason.to_json() for reason in self.reasons],
            "notes": [note.to_json() for note in self.notes],
        }


@dataclass(frozen=True, slots=True)
class Rung:
    """One rung of the ladder: met, not met, or unknown; what is missing, with the remedies."""

    level: str
    title: str
    met: bool | Literal["unknown"]
    missing: tuple[Reason, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        missing = [reason.to_json() for reason in self.missing]
        return {"level": self.level, "title": self.title, "met": self.met, "missing": missing}


def all_green(reports: Sequence[StepReport]) -> bool:
    """Tell whether there is a step and every step is green."""
    return bool(reports) and all(report.green for report in reports)
