"""One thing that preflight, ``check`` or ``doctor`` found: how bad, what, where, what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Level = Literal["ok", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding. ``error`` stops a run and makes ``check`` exit 1; ``warning`` is only said."""

    level: Level
    code: str
    text: str
    step: str | None = None
    path: str | None = None
    action: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        value = {"level": self.level, "code": self.code, "text": self.text}
        optional = {"step": self.step, "path": self.path, "action": self.action}
        return value | {key: item for key, item in optional.items() if item is not None}

    def __str__(self) -> str:
        """One line: the step, what, what to do."""
        head = f"step {self.step!r}: {self.text}" if self.step else self.text
        return f"{head}; {self.action}" if self.action else head
