"""One run of a repository at a time: a lock that dies with its holder, and says who holds it."""

from __future__ import annotations

import stat
import time
from contextlib import suppress

from filelock import FileLock, Timeout

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import CannotCheck, RunInProgress, UnsafePath, VaibifyError
from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.processes import ProcessId

LOCKS = f"{LOCAL}/locks"
_LOCK, _HOLDER = f"{LOCKS}/run.lock", f"{LOCKS}/run.json"
_ENDING = 2.0


class RunLock:
    """The lock of one repository's runs, held by the runner's process.

    One run a repository, not a workflow: two workflows may write the same folders, and a step of
    one must not see the other's half-written files.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._lock = FileLock(tree.root / _LOCK, blocking=False)
        self._held: dict[str, object] = {}

    def acquire(self, holder: dict[str, object]) -> None:
        """Take the lock; no link is followed on the way to it.

        Raises
        ------
        RunInProgress
            Naming who holds it and since when.
        UnsafePath, CannotCheck, DiskFull
        """
        self._tree.make_directory(LOCKS)
        seen = self._tree.lstat(_LOCK)
        if seen is not None and not stat.S_ISREG(seen.st_mode):
            raise UnsafePath("is not a regular file", where=_LOCK, action=f"rm -r {_LOCK}")
        try:
            taken = self._take()
        except OSError as error:
            raise CannotCheck(f"cannot take the run lock: {error.strerror}", where=_LOCK) from None
        if not taken:
            raise self._refusal()
        self._held = holder | {"process": ProcessId.mine().to_json()}
        self._tree.write(_HOLDER, jsonio.dumps(self._held))

    def about_to_release(self) -> None:
        """Let the next one wait the moment that it takes, rather than be refused."""
        with suppress(VaibifyError):  # on a full disk it is refused
            self._tree.write(_HOLDER, jsonio.dumps(self._held | {"ends": True}))

    def _take(self) -> bool:
        """Try to take it; whoever lets go of it, or was killed, may need a moment more."""
        until = time.monotonic() + _ENDING
        while True:
            with suppress(Timeout):
                self._lock.acquire()
                return True
            if not self._changes_hands() or time.monotonic() > until:
                return False
            time.sleep(0.02)

    def _changes_hands(self) -> bool:
        """Tell whether it is held by one that ends, or that has not yet, or no longer, said who."""
        held = self._holder()
        if not held:
            return True
        process = ProcessId.from_json(held.get("process"))
        return held.get("ends") is True or (process is not None and process.alive() is False)

    def release(self) -> None:
        """Let go."""
        with suppress(VaibifyError):
            self._tree.remove(_HOLDER)
        self._lock.release()

    def _refusal(self) -> RunInProgress:
        """Say who holds it, since when, as far as that can be read."""
        held = self._holder()
        who, since = held.get("person", "somebody"), held.get("since", "an unknown time")
        if "what" in held:
            text = f"{held['what']}, begun by {who} at {since}"
            return RunInProgress(text, action="wait for it, or cancel it where it was begun")
        return RunInProgress(
            f"a run is in progress: {held.get('run_id', 'a run')}, started by {who} at {since}",
            action="wait for it, or end it with: jupyter vaibify stop-run",
        )

    def _holder(self) -> dict[str, object]:
        try:
            value = jsonio.loads(self._tree.read(_HOLDER), _HOLDER)
        except VaibifyError:
            return {}
        return value if isinstance(value, dict) else {}
