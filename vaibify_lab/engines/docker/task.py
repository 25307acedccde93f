"""Work beside other work, in a thread whose error becomes its caller's."""

from __future__ import annotations

import threading
from collections.abc import Callable

from vaibify_lab.core.errors import VaibifyError


class Task:
    """Work that has begun.

    Parameters
    ----------
    work : callable
        What it raises of our own errors, ``join`` raises.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self._error: VaibifyError | None = None
        self._work = work
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Wait until it is done."""
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            self._work()
        except VaibifyError as error:
            self._error = error
