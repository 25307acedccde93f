"""Answers of pure functions, given again while what they were asked is equal."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

_Answer = TypeVar("_Answer")


class Memory:
    """Remembers the last arguments and the last answer of each function that it is given.

    Arguments are compared by value, so an answer can never be older than what it was made of; the
    functions must be pure, and neither arguments nor answers may be changed afterwards.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[tuple[Any, ...], object]] = {}

    def of(
        self, function: Callable[..., _Answer], *arguments: Any, name: Hashable = None
    ) -> _Answer:
        """Return ``function(*arguments)``; ``name`` keeps apart what one function is asked for."""
        key = (function, name)
        kept = self._kept.get(key)
        if kept is None or kept[0] != arguments:
            kept = self._kept[key] = (arguments, function(*arguments))
        return cast(_Answer, kept[1])
