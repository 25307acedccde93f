"""Work counted, not timed: what is asked of the operating system, and how many calls are made."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

ASKED = ("stat", "lstat", "open", "listdir", "scandir", "fsync", "rename")


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Give counts: of each kind of question, of ``processes``, and of Python ``calls``."""
    counts: Counter[str] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        for name in ASKED:
            patch.setattr(os, name, _counting(counts, name, getattr(os, name)))
        patch.setattr(subprocess, "Popen", _process_counting(counts))

        def note(frame: Any, event: str, argument: Any) -> None:
            if event == "call":
                counts["calls"] += 1

        gc.collect()  # what earlier tests left is not to end, and call, within the counting
        gc.disable()
        threading.setprofile(note)
        sys.setprofile(note)
        try:
            yield counts
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            gc.enable()


def _counting(counts: Counter[str], name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def ask(*args: Any, **named: Any) -> Any:
        counts[name] += 1
        return real(*args, **named)

    return ask


def _process_counting(counts: Counter[str]) -> type[subprocess.Popen[Any]]:
    class Process(subprocess.Popen):  # type: ignore[type-arg]  # whatever its streams hold
        def __init__(self, *args: Any, **named: Any) -> None:
            counts["processes"] += 1
            super().__init__(*args, **named)

    return Process
