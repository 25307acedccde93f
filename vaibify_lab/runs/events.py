"""One line of a journal: an event whose every key is of its kind, or none."""

from __future__ import annotations

from typing import Any

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.core.spec import Anything, Either, Flag, Kind, Listed, Mapped, Number, Shape, Text

Event = dict[str, Any]
LONGEST = 16 * 2**20
_TEXT = Text(LONGEST)
_OR_NULL = Either((_TEXT,), null=True)
_COUNT = Number(0, 2**53, whole=True)
_TEXTS = ("text", "path", "code", "outcome", "category", "level", "workflow", "person")
_NAMES = ("step", "stream", "log", "run_id", "isolation", "by", "state", "description", "stem")
_KEYS: dict[str, Kind] = {
    **dict.fromkeys((*_TEXTS, *_NAMES), _TEXT),
    **dict.fromkeys(("where", "action"), _OR_NULL),
    **dict.fromkeys(("sequence", "outputs", "collected", "offset", "length"), _COUNT),
    "event": Text(100, 1),
    "time": Number(0, 1e11),
    "seconds": Number(0, 1e11),
    "exit_code": Either((Number(-(2**31), 2**31, whole=True),), null=True),
    "identical": Flag(),
    "steps": Mapped(_TEXT),
    **dict.fromkeys(("differing", "commands"), Listed(_TEXT)),
    "found": Listed(Mapped(_TEXT)),
    "engine": Mapped(Anything()),
    "process": Mapped(Anything()),
    "plan": Listed(Shape({"slug": _TEXT, "action": _TEXT}, frozenset({"slug", "action"}))),
}
_EVENT = Shape(_KEYS, frozenset({"event", "sequence"}))
_OF = {"stepWaiting": Shape({**_KEYS, "outputs": Listed(_TEXT)}, frozenset({"step", "state"}))}


def parse_event(line: bytes) -> Event | None:
    """Return a whole line's event; None for a torn line, and for what no runner of ours wrote."""
    if not line.endswith(b"\n"):
        return None
    try:
        event: Event = jsonio.loads(line, "", limit=LONGEST)
    except InvalidFile:
        return None
    shape = _OF.get(str(event.get("event")), _EVENT) if isinstance(event, dict) else _EVENT
    return None if shape.fault(event) else event
