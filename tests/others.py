"""What is said of memory kills of other tests: the machine counts them, and tells not whose."""

from __future__ import annotations

import re
from typing import Any

OTHERS = "meanwhile this machine killed a process for want of memory"


def plain(text: str) -> str:
    """Return what was said without the lines, and parts of lines, that tell of them."""
    text = text.replace(f" ({OTHERS})", "")
    return re.sub(rf"^[^{{\n].*{OTHERS}\n", "", text, flags=re.MULTILINE)


def plain_event(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event whose text does not tell of them beside something else."""
    text = event.get("text")
    return event | {"text": plain(text)} if isinstance(text, str) else event


def but_others(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return events without those that tell of nothing else."""
    return [plain_event(one) for one in events if one.get("text") != OTHERS]
