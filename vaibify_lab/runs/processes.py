"""Who runs: a process named so that a reused process id is not mistaken for it."""

from __future__ import annotations

import functools
import os
import socket
import subprocess
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaibify_lab.files.cachefile import cache_folder


@dataclass(frozen=True, slots=True)
class ProcessId:
    """A process on this machine since its boot: pid, start time, boot id, host name."""

    pid: int
    started: str
    boot: str
    host: str

    @classmethod
    def mine(cls) -> ProcessId:
        """Name this process."""
        return cls(os.getpid(), _started(os.getpid()) or "", _boot_id(), socket.gethostname())

    @classmethod
    def from_json(cls, value: Any) -> ProcessId | None:
        """Read what ``to_json`` wrote; None for anything else."""
        if not isinstance(value, dict):
            return None
        pid, rest = value.get("pid"), [value.get(key) for key in ("started", "boot", "host")]
        if not isinstance(pid, int) or not all(isinstance(one, str) for one in rest):
            return None
        return cls(pid, *rest)  # type: ignore[arg-type]  # checked in the line above

    def to_json(self) -> dict[str, Any]:
        """Return a JSON form."""
        return {"pid": self.pid, "started": self.started, "boot": self.boot, "host": self.host}

    def alive(self) -> bool | None:
        """Tell whether it runs; None when it is on another machine and nobody here can know."""
        if self.host != socket.gethostname():
            return None
        return self.boot == _boot_id() and _started(self.pid) == self.started


def machine_id() -> str:
    """Return a name for this machine and user that says nothing else about them."""
    return _kept_id(cache_folder() / "vaibify_lab" / "machine")


@functools.cache
def _kept_id(path: Path) -> str:
    try:
        text = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        text = ""
    if len(text) == 32:
        return text
    text = uuid.uuid4().hex
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", "ascii")
    except OSError:
        return uuid.uuid5(uuid.NAMESPACE_DNS, f"{socket.gethostname()}:{os.getuid()}").hex
    return text


@functools.cache
def _boot_id() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        command = ["sysctl", "-n", "kern.bootsessionuuid"]
        return _output(command) if sys.platform == "darwin" else ""


def _started(pid: int) -> str | None:
    """Return a process's start time in whatever unit the system has; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return None if sys.platform == "linux" else _output(["ps", "-o", "lstart=", "-p", str(pid)])
    return None if fields[0] in "ZX" else fields[19]


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except OSError:
        return ""
    return done.stdout.strip()
