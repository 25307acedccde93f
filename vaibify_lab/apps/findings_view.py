"""Findings as a person reads them: how bad, what, what to do."""

from __future__ import annotations

from collections.abc import Sequence

from vaibify_lab.apps.screen import Colour, Screen
from vaibify_lab.core.finding import Finding

_MARKS: dict[str, tuple[str, str, str, Colour]] = {
    "ok": ("✓", "+", "ok     ", "green"),
    "warning": ("!", "!", "warning", "yellow"),
    "error": ("✗", "x", "error  ", "red"),
}


def show(screen: Screen, findings: Sequence[Finding]) -> None:
    """Show findings, one a line."""
    for one in findings:
        fancy, plain, word, colour = _MARKS[one.level]
        screen.line(f"{screen.symbol(fancy, plain)} {word} {one}", hang=10, colour=colour)
