"""The steps that could start: their parents have ended."""

from __future__ import annotations

import heapq
from collections.abc import Mapping


class ReadySteps:
    """Offers steps in the plan's order; of those that write the same folders, one at a time.

    Steps that write the same folders never run together, so only the first of them is looked at.

    Parameters
    ----------
    folders : mapping of slug to the folders that a step may write, in the plan's order
    """

    def __init__(self, folders: Mapping[str, tuple[str, ...]]) -> None:
        self._folders = folders
        self._rank = {slug: rank for rank, slug in enumerate(folders)}
        self._offered: list[tuple[int, str]] = []
        self._behind: dict[tuple[str, ...], list[tuple[int, str]]] = {}

    def add(self, slug: str) -> None:
        """Add a step whose last parent has just ended."""
        folders = self._folders[slug]
        if folders and folders in self._behind:
            heapq.heappush(self._behind[folders], (self._rank[slug], slug))
        else:
            self._behind[folders] = []
            self.put_back(slug)

    def take(self) -> str | None:
        """Return the next step, which is offered no more; None when there is none."""
        return heapq.heappop(self._offered)[1] if self._offered else None

    def put_back(self, slug: str) -> None:
        """Offer a step that was taken and could not start."""
        heapq.heappush(self._offered, (self._rank[slug], slug))

    def ended(self, slug: str) -> None:
        """Let the next step that writes the same folders take its turn."""
        folders = self._folders[slug]
        waiting = self._behind.pop(folders, [])
        if waiting:
            heapq.heappush(self._offered, heapq.heappop(waiting))
            self._behind[folders] = waiting
