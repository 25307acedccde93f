"""Several ways to the same end, each timed once a turn."""

from __future__ import annotations

import time
from collections.abc import Callable


def measured(ways: tuple[Callable[[], None], ...], turn: int) -> tuple[float, ...]:
    """Time each way once, in an order that changes with every turn."""
    seconds = [0.0] * len(ways)
    order = range(len(ways)) if turn % 2 else reversed(range(len(ways)))
    for index in order:
        began = time.perf_counter()
        ways[index]()
        seconds[index] = time.perf_counter() - began
    return tuple(seconds)
