"""One answer at a time: who asks while one is made shares the next, and never gets an old one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

_Answer = TypeVar("_Answer")


class Shared(Generic[_Answer]):
    """Makes an answer for everybody who asks before its making begins.

    An answer that is in the making when somebody asks may have missed what that somebody did just
    before; so it is waited for, and the next one is shared.
    """

    def __init__(self, make: Callable[[], Coroutine[Any, Any, _Answer]]) -> None:
        self._make = make
        self._running: asyncio.Task[_Answer] | None = None
        self._next: asyncio.Task[_Answer] | None = None

    async def ask(self) -> _Answer:
        """Return an answer whose making began after this call."""
        if self._next is None:
            self._next = asyncio.create_task(self._after(self._running))
            self._next.add_done_callback(_look_at)
        return await asyncio.shield(self._next)

    async def _after(self, before: asyncio.Task[_Answer] | None) -> _Answer:
        if before is not None:
            await asyncio.wait([before])
        self._running, self._next = self._next, None
        return await self._make()


def _look_at(task: asyncio.Task[Any]) -> None:
    """Take the exception of an answer that nobody waits for any more."""
    if not task.cancelled():
        task.exception()
