"""Answers about a tree at one moment, each looked up once, and noted for who asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

Answer = TypeVar("Answer")


class Answers(Generic[Answer]):
    """What one kind of question was answered, path by path.

    What was worked out from some answers holds again, at another moment, while they are `the_same`.
    """

    def __init__(self, find: Callable[[str], Answer]) -> None:
        self._find = find
        self._given: dict[str, tuple[str, Answer]] = {}
        self._noted: dict[str, tuple[str, Answer]] = {}

    def __call__(self, path: str) -> Answer:
        """Answer, and note it."""
        pair = self._noted[path] = self._given.get(path) or self._first(path)
        return pair[1]

    def noted(self) -> tuple[tuple[str, Answer], ...]:
        """Return what was asked since the last call, with the answers."""
        noted, self._noted = self._noted, {}
        return tuple(noted.values())

    def the_same(self, noted: Iterable[tuple[str, Answer]]) -> bool:
        """Tell whether the answers now are those noted."""
        for path, answer in noted:
            now = (self._given.get(path) or self._first(path))[1]
            if now is not answer and now != answer:
                return False
        return True

    def _first(self, path: str) -> tuple[str, Answer]:
        pair = self._given[path] = (path, self._find(path))
        return pair
