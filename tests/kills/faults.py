"""A process that dies, or meets an error of the disk, at the n-th thing that it does to the disk.

Everything that changes a file passes one of Python's audit events or one of a few calls of ``os``,
so that counting them reaches each state in which a death can leave the disk.
"""

from __future__ import annotations

import errno
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

MODES: dict[str, tuple[int | None, bool]] = {
    "kill": (None, False),
    "full": (errno.ENOSPC, True),  # from then on
    "full-once": (errno.ENOSPC, False),
    "broken": (errno.EIO, True),
    "broken-once": (errno.EIO, False),
    "read-only": (errno.EROFS, True),
}
NO_FILES = frozenset({"os.exec", "os.fork", "os.kill", "subprocess.Popen"})
CHANGES = NO_FILES | {
    *("os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove"),
    *("os.rename", "os.rmdir", "os.symlink", "os.truncate", "os.utime"),
}
# What fails for want of space; a disk that became read-only refuses all but what is open already.
NEEDS_SPACE = frozenset(("open", "os.link", "os.mkdir", "os.symlink", "os.write"))
SILENT = ("write", "fsync", "ftruncate", "fchmod")  # calls of os that raise no audit event
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@dataclass
class Fault:
    """What happens at the n-th change, and whether it goes on happening.

    ``error`` is an errno, or None to be killed. Only changes count that have ``where`` in their
    description. ``said`` is told of the change, just before.
    """

    nth: int
    error: int | None = None
    lasting: bool = False
    where: str = ""
    said: Callable[[str], None] = lambda what: None
    count: int = 0
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _busy: threading.local = field(default_factory=threading.local)

    def install(self) -> None:
        """Begin to count, in this process for good."""
        for name in SILENT:
            setattr(os, name, self._counted(getattr(os, name)))
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open" and not _is_change(*args[:3]):
            return
        if event == "open" or event in CHANGES:
            self._meet(event, args)

    def _fits(self, what: str) -> bool:
        """Count a change; tell whether it is one that meets the fault."""
        self.count += self.where in what
        return self.count == self.nth or (self.lasting and self.count > self.nth)

    def _can_fail(self, event: str) -> bool:
        if self.error == errno.ENOSPC:
            return event in NEEDS_SPACE
        if self.error == errno.EROFS:
            return event not in NO_FILES and event not in ("os.write", "os.fsync")
        return self.error is None or event not in NO_FILES

    def _counted(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def counted(handle: int, *args: Any) -> Any:
            if _is_on_disk(os.fstat(handle).st_mode):
                self._meet(f"os.{original.__name__}", ())
            return original(handle, *args)

        return counted

    def _meet(self, event: str, args: tuple[Any, ...]) -> None:
        with self._lock:
            if getattr(self._busy, "now", False):
                return
            what = " ".join([event, *(str(one) for one in args[:2])])
            if not self._fits(what) or not self._can_fail(event):
                return
            self._busy.now = True
            try:
                self.said(what)
                if self.error is None:
                    os.kill(os.getpid(), signal.SIGKILL)
                    signal.pause()
            finally:
                self._busy.now = False
        raise OSError(self.error, os.strerror(self.error or errno.EIO))


def _is_change(path: object, mode: object, flags: object) -> bool:
    named = isinstance(path, str | bytes | os.PathLike)
    elsewhere = str(path).startswith(("/dev/", "/proc/"))
    return named and not elsewhere and isinstance(flags, int) and bool(flags & WRITING)


def _is_on_disk(mode: int) -> bool:
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)
