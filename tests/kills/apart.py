"""Work in a process of its own, which may meet a fault."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from tests.kills.faults import Fault
from tests.kills.truth import Truth

Work = Callable[[], int]
TRACEBACK = 120  # the exit code of work that raised what nobody expects


def log_of(truth: Truth) -> Path:
    """Return where processes that have to do with a project write what they say."""
    return truth.made.root.with_name(f"{truth.made.root.name}.log")


def apart(truth: Truth, work: Work, fault: Fault | None = None) -> int:
    """Do something in a process of its own; return its exit code, below zero for a signal."""
    pid = os.fork()
    if pid == 0:
        code = TRACEBACK
        try:
            code = _alone(work, log_of(truth), fault)
        except BaseException:
            traceback.print_exc()
        finally:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _alone(work: Work, log: Path, fault: Fault | None) -> int:
    os.setsid()
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (handle, 1), (handle, 2)):
        os.dup2(source, target)
    sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
    if fault is None:
        return work()
    write = os.write
    fault.said = lambda what: print(f"FAULT at {what}", flush=True)
    fault.install()
    code = work()
    write(handle, f"\nCHANGES {fault.count}\n".encode())
    return code
