"""Landlock, Linux's sandbox for processes without rights, by system call.

An allow-list that a process puts on itself and its children: reading and executing everywhere,
writing only beneath the folders that are granted. See landlock(7). Supervisor side: few imports.
"""

from __future__ import annotations

import os
import stat
import sys

from vaibify_lab.engines.local import processes

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
READING = EXECUTE | READ_FILE | READ_DIR
# Root's rights that are about files; it loses the others (time, modules, other processes).
KEPT_CAPABILITIES = (0, 1, 3, 4)  # CHOWN, DAC_OVERRIDE, FOWNER, FSETID
# What the kernel's versions can forbid: 13 rights, then moving between folders, then truncation.
# Control of devices (version 5) is left alone: a step may use a graphics card it can open.
FIRST, REFER = (1 << 13) - 1, 1 << 13
MAKE_DEVICE = 1 << 6 | 1 << 11  # never granted: root could make a disk and write to it
TCP_VERSION, SCOPE_VERSION = 4, 6
TCP = SCOPES = 3  # bind and connect; abstract sockets and signals


def version() -> int:
    """Return the version of Landlock that this kernel offers, 0 for none."""
    try:
        return _call(CREATE_RULESET, None, 0, 1)
    except OSError:
        return 0


def restrict(folders: list[int], paths: list[str], deny_tcp: bool) -> None:
    """Confine the calling process for good.

    Parameters
    ----------
    folders : list of int
        Open folders to grant.
    paths : list of str
        Further files and folders to grant; those that do not exist are left out.
    deny_tcp : bool
        Forbid TCP, where the kernel can.

    Raises
    ------
    OSError
        The kernel refused.
    """
    offered = version()
    writing = FIRST | (REFER if offered >= 2 else 0) | (TRUNCATE if offered >= 3 else 0)
    ruleset = _ruleset(offered, writing, deny_tcp)
    _grant(ruleset, os.open("/", os.O_PATH | os.O_CLOEXEC), READING)
    for folder in folders:
        _grant(ruleset, folder, writing & ~MAKE_DEVICE)
    for path in filter(os.path.exists, paths):
        _grant(ruleset, os.open(path, os.O_PATH | os.O_CLOEXEC), writing & ~MAKE_DEVICE)
    if not os.geteuid():
        _lose_capabilities()
    processes.prctl(processes.PR_SET_NO_NEW_PRIVS, 1)
    _call(RESTRICT_SELF, ruleset, 0)


def _ruleset(offered: int, writing: int, deny_tcp: bool) -> int:
    words = [writing]
    if offered >= TCP_VERSION:
        words.append(TCP if deny_tcp else 0)
    if offered >= SCOPE_VERSION:
        words.append(SCOPES)
    attributes = b"".join(word.to_bytes(8, sys.byteorder) for word in words)
    return _call(CREATE_RULESET, attributes, len(attributes), 0)


def _grant(ruleset: int, handle: int, rights: int) -> None:
    """Grant rights beneath an open folder, or on an open file what files can have."""
    if not stat.S_ISDIR(os.fstat(handle).st_mode):
        rights &= EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
    rule = rights.to_bytes(8, sys.byteorder) + handle.to_bytes(4, sys.byteorder)
    _call(ADD_RULE, ruleset, 1, rule, 0)
    os.close(handle)


def _lose_capabilities() -> None:
    """Take root's other rights out of reach from the next program on."""
    for capability in range(64):
        if capability not in KEPT_CAPABILITIES:
            try:
                processes.prctl(processes.PR_CAPBSET_DROP, capability)
            except OSError:  # the last one this kernel knows was passed, or a container forbids it
                return


def _call(number: int, *arguments: int | bytes | None) -> int:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    passed = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result: int = libc.syscall(ctypes.c_long(number), *passed)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), "landlock")
    return result
