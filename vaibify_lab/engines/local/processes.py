"""Processes as the operating system shows them. Supervisor side: few imports."""

from __future__ import annotations

import os
import sys

LINUX = sys.platform == "linux"
PR_SET_PDEATHSIG, PR_CAPBSET_DROP = 1, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
_JOIN_SESSION_KEYRING = 1
_KEYCTL = {"x86_64": 250, "aarch64": 219, "riscv64": 219, "loongarch64": 219}


def prctl(option: int, value: int) -> None:
    """Set one property of the calling process (Linux).

    Raises
    ------
    OSError
        The kernel refused.
    """
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), f"prctl {option}")


def leave_keyrings() -> None:
    """Take a keyring of our own, so that no process we start finds the keys of the user's session.

    Where the kernel, or a container around us, knows no keys there is nothing to leave.
    """
    import ctypes

    number = _KEYCTL.get(os.uname().machine)
    if LINUX and number is not None:
        libc = ctypes.CDLL(None)
        libc.syscall(ctypes.c_long(number), ctypes.c_long(_JOIN_SESSION_KEYRING), None)


def stat_fields(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat from the state on (3rd is first); [] when gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:
            return stream.read().rpartition(b")")[2].decode("ascii").split()
    except OSError:
        return []


def start_time(pid: int) -> str:
    """Return when a living process started, "" when there is none.

    With the boot id this names a process for good: a number is used again, this pair is not.
    """
    if not LINUX:
        return _ask(["ps", "-o", "lstart=", "-p", str(pid)])
    fields = stat_fields(pid)
    return "" if not fields or fields[0] in "ZXx" else fields[19]


def command(pid: int) -> bytes:
    """Return a process's command line, NUL-separated; b"" when it is gone (or not Linux)."""
    try:
        return _read(f"/proc/{pid}/cmdline")
    except OSError:
        return b""


def boot_id() -> str:
    """Return a text that differs after each boot."""
    if not LINUX:
        return _ask(["sysctl", "-n", "kern.bootsessionuuid"])
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as stream:
        return stream.read().strip()


def send(pid: int, number: int) -> None:
    """Send a signal to a process that may be gone, or belong to somebody else (``sudo``)."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def descendants(pid: int) -> list[int]:
    """Return the living processes below ``pid`` (Linux), parents first, itself not among them."""
    found: dict[int, None] = {}
    waiting = _children(pid)
    for one in waiting:
        if one not in found:
            found[one] = None
            waiting += _children(one)
    return [one for one in found if start_time(one)]


def holders(links: frozenset[str]) -> set[int]:
    """Return the processes that hold one of these pipes (``pipe:[inode]``) open (Linux)."""
    return {
        int(name)
        for name in os.listdir("/proc")
        if name.isdigit() and not links.isdisjoint(_links(f"/proc/{name}/fd"))
    }


def with_variable(variable: str) -> set[int]:
    """Return the living processes that were started with an environment variable (Linux)."""
    wanted = os.fsencode(variable)
    return {
        int(name)
        for name in os.listdir("/proc")
        if name.isdigit() and wanted in _environment(name) and start_time(int(name))
    }


def out_of_memory_kills() -> int:
    """Return how often this machine's kernel has killed for want of memory since it started."""
    try:
        with open("/proc/vmstat", "rb") as stream:
            return int(stream.read().partition(b"\noom_kill ")[2].partition(b"\n")[0] or 0)
    except OSError:
        return 0


def _children(pid: int) -> list[int]:
    """Every thread's children; the file exists where the kernel has CONFIG_PROC_CHILDREN."""
    try:
        return [
            int(child)
            for task in os.listdir(f"/proc/{pid}/task")
            for child in _read(f"/proc/{pid}/task/{task}/children").split()
        ]
    except (FileNotFoundError, ProcessLookupError):  # it may end while it is looked at
        return _children_by_parent(pid) if start_time(pid) else []


def _children_by_parent(pid: int) -> list[int]:
    parent = str(pid)
    numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [one for one in numbers if stat_fields(one)[1:2] == [parent]]


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except ProcessLookupError:
        return b""


def _links(folder: str) -> set[str]:
    """Where a process's descriptors lead; nothing for one that is gone or not ours."""
    found = set()
    try:
        for name in os.listdir(folder):
            found.add(os.readlink(f"{folder}/{name}"))
    except OSError:
        return found
    return found


def _environment(name: str) -> list[bytes]:
    """Return the variables that a process was started with; nothing of one that is not ours."""
    try:
        return _read(f"/proc/{name}/environ").split(b"\0")
    except OSError:
        return []


def _ask(command: list[str]) -> str:
    import subprocess

    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
