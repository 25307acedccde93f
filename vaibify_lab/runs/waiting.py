"""A step that waits for its person: what they ask for, the runner does, and writes down.

Whoever speaks for the person leaves a small file in the step's folder of the run, which no step
can write; the runner alone acts on it. So a step cannot say of itself that it is done.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import InvalidFile, VaibifyError
from vaibify_lab.core.model import Step
from vaibify_lab.core.references import as_run
from vaibify_lab.engines import state_files
from vaibify_lab.engines.base import Handle
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.context import RunContext
from vaibify_lab.runs.hostfiles import os_errors
from vaibify_lab.runs.journal import RunFolder

Word = Literal["abandon", "complete", "pause", "resume"]
_EVENTS: dict[Word, str] = {
    "abandon": "stepAbandoned",
    "complete": "stepCompleted",
    "pause": "stepPaused",
    "resume": "stepResumed",
}
_LONGEST = 1000


def ask(folder: RunFolder, slug: str, word: Word, by: str) -> None:
    """Leave a person's word for the runner."""
    Tree(folder.step(slug)).write(_name(word), jsonio.dumps({"by": by}))


def _name(word: Word) -> str:
    return f"asked-{word}.json"


@dataclass(slots=True)
class Wait:
    """One launch of a step that waits.

    Attributes
    ----------
    word, by : str
        How it was ended, and by whom; "" while it was not.
    """

    context: RunContext
    step: Step
    root: str
    word: Literal["", "abandon", "complete"] = ""
    by: str = ""
    _still: float = field(default=0.0, init=False)
    _paused_at: float | None = field(default=None, init=False)

    def begin(self, state: Path) -> None:
        """Tell the readers that somebody is waited for, and forget what was asked before."""
        with os_errors(str(state)):
            for word in get_args(Word):
                self._file(word).unlink(missing_ok=True)
        step = self.step
        self.context.journal.write(
            "stepWaiting",
            step=step.slug,
            text="waits for you",
            description=step.description,
            commands=list(as_run(step.commands, self.root, self.context.cores)),
            outputs=list(step.outputs),
            state=state.name,
        )

    def look(self, handle: Handle) -> bool:
        """Do what was asked for since the last look; tell whether the step is to end."""
        for word in get_args(Word):
            by = self._asked(word)
            if by is not None and not self.word:
                self._do(word, by, handle)
        return bool(self.word)

    def still_seconds(self) -> float:
        """Return how long it has stood still, which its time limit does not count."""
        now = time.monotonic()
        return self._still + (0.0 if self._paused_at is None else now - self._paused_at)

    def _file(self, word: Word) -> Path:
        return self.context.folder.step(self.step.slug) / _name(word)

    def _asked(self, word: Word) -> str | None:
        """Return who asked, once; None when nobody did."""
        file = self._file(word)
        if not file.exists():
            return None
        by = ""
        with suppress(InvalidFile):
            by = str(state_files.parsed(state_files.small(file), file.name).get("by", ""))
        with suppress(OSError):
            file.unlink()
        return by[:_LONGEST] or "somebody"

    def _do(self, word: Word, by: str, handle: Handle) -> None:
        if word == "pause" or word == "resume":
            try:
                with os_errors(str(self._file(word))):
                    self._hold(handle, still=word == "pause")
            except VaibifyError as error:
                text = f"cannot {word}: {error}"
                self.context.journal.write("warning", step=self.step.slug, text=text)
                return
        else:
            self.word, self.by = word, by
        self.context.journal.write(_EVENTS[word], step=self.step.slug, by=by)

    def _hold(self, handle: Handle, *, still: bool) -> None:
        if still:
            handle.pause()
            self._paused_at = self._paused_at or time.monotonic()
            return
        handle.resume()
        self._still, self._paused_at = self.still_seconds(), None
