"""Limits of processor time that slow and busy machines keep: a ratio to work of the same moment.

They tell what grows with its length from what grows with the square of it or never ends. How fast
something is, is measured in ``benchmarks/``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

FAST = 0.01  # seconds that the reference takes on a faster machine than any of today


def reference() -> float:
    """Return the processor seconds of a fixed piece of work (0.04 on a quiet machine of 2023)."""
    began = time.process_time()
    made = {str(at): at for at in range(200_000)}
    took = time.process_time() - began
    assert len(made) == 200_000
    return took


def assert_took_at_most(times: float, seconds: float) -> None:
    """Require that ``seconds`` of processing are no more than so many times the reference."""
    if seconds > times * FAST:
        unit = max(reference() for _ in range(3))
        assert seconds <= times * unit, (seconds, unit, seconds / unit)


@contextmanager
def takes_at_most(times: float) -> Iterator[None]:
    """Require that the body takes no more processor time than so many times the reference."""
    began = time.process_time()
    yield
    assert_took_at_most(times, time.process_time() - began)
