"""One run of a workflow at a time: a lock that dies with its holder, and says who holds it."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import CannotCheck, RunInProgress
from vaibify_lab.files.factstore import LOCAL

LOCKS = f"{LOCAL}/locks"


class RunLock:
    """The lock of one repository's runs, held by the runner's process.

    One run a repository, not a workflow: two workflows may write the same folders, and a step of
    one must not see the other's half-written files.
    """

    def __init__(self, root: Path) -> None:
        self._folder = root / LOCKS
        self._holder = self._folder / "run.json"
        self._lock = FileLock(self._folder / "run.lock", blocking=False)

    def acquire(self, holder: dict[str, object]) -> None:
        """Take the lock.

        Raises
        ------
        RunInProgress
            Naming who holds it and since when.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout:
            raise RunInProgress(
                f"a run is in progress: {self.holder_text()}",
                action="wait for it, or end it with: jupyter vaibify stop-run",
            ) from None
        except OSError as error:
            raise CannotCheck(
                f"cannot take the run lock: {error.strerror}", where=str(self._folder)
            ) from None
        self._holder.write_bytes(jsonio.dumps(holder))

    def release(self) -> None:
        """Let go."""
        with suppress(OSError):
            os.unlink(self._holder)
        self._lock.release()

    def holder(self) -> dict[str, object]:
        """Return what the holder wrote about itself; empty when nobody can read it."""
        try:
            value = json.loads(self._holder.read_bytes())
        except (OSError, ValueError):
            return {}
        return value if isinstance(value, dict) else {}

    def holder_text(self) -> str:
        """Say who holds it, since when."""
        held = self.holder()
        who, since = held.get("person", "somebody"), held.get("since", "an unknown time")
        return f"{held.get('run_id', 'a run')}, started by {who} at {since}"
