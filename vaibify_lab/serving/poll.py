"""The poll of one project: an unchanged answer is compared, not written again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from vaibify_lab.core import jsonio
from vaibify_lab.core.report import StepReport
from vaibify_lab.project import Project
from vaibify_lab.project.file_status import FileStatus
from vaibify_lab.serving.shared import Shared
from vaibify_lab.serving.shelf import Entry, Shelf


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to the poll."""

    status: FileStatus
    body: bytes
    etag: str


class Poll:
    """Answers the poll of one project.

    Parameters
    ----------
    shelf, entry
        Whose.
    tell : callable
        Called on the loop with each answer that differs from the one before, and the steps that do.
    """

    def __init__(
        self,
        shelf: Shelf,
        entry: Entry,
        tell: Callable[[Entry, Answer, list[StepReport]], None],
    ) -> None:
        self.entry = entry
        self._shelf = shelf
        self._tell = tell
        self._last: Answer | None = None
        self._shared = Shared(self._look)

    async def answer(self) -> Answer:
        """Look, and return what is true."""
        return await self._shared.ask()

    async def _look(self) -> Answer:
        before = self._last
        answer = await self._shelf.ask(self.entry, self._answer)
        self._last = answer
        if before is not None and before is not answer:
            old = {one.slug: one for one in before.status.report.steps}
            changed = [one for one in answer.status.report.steps if old.get(one.slug) != one]
            self._tell(self.entry, answer, changed)
        elif before is None:
            self._tell(self.entry, answer, [])
        return answer

    def _answer(self, project: Project) -> Answer:
        status = project.file_status()
        if self._last is not None and self._last.status == status:
            return self._last
        value: dict[str, Any] = {"id": self.entry.id, **status.to_json()}
        body = jsonio.line(value)
        return Answer(status, body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
