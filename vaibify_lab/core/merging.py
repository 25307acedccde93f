"""What is advised while a merge is not finished: first to finish it."""

from __future__ import annotations

_ENVELOPE = "jupyter vaibify envelope"
_FIRST = "finish the merge (git status shows what is left), then: "


def after_merge(action: str | None) -> str | None:
    """Return what to do where a merge goes on: the envelope is of what comes out of it."""
    return f"{_FIRST}{action}" if action and _ENVELOPE in action else action
