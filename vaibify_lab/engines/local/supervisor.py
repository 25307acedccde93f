"""One step's supervisor: a process that starts it, watches it to its end and says how it ended.

Runs in the state folder. On disk there: ``stdout``, ``stderr``; ``supervisor.json`` before the
step begins; ``status.json`` at the end, which counts only once the supervisor is gone, so that no
step ends itself by writing one; ``stop``, written by whoever wants the step stopped, with the
seconds of grace; ``supervisor.log``, empty unless the supervisor itself failed.
"""

from __future__ import annotations

import os

from vaibify_lab.engines.local import notes, processes
from vaibify_lab.engines.local.child import Child
from vaibify_lab.engines.local.order import Order
from vaibify_lab.engines.local.signals import signal
from vaibify_lab.engines.local.streams import Stream
from vaibify_lab.engines.local.watch import Watch
from vaibify_lab.engines.scratch import remove_tree

DEAF_TO = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)


def begin(order: Order, ready: int) -> Watch:
    """Begin a step, once it is on record who we are, and said on ``ready``."""
    processes.leave_keyrings()
    streams = [Stream(name, order.log_limit) for name in ("stdout", "stderr")]
    child = Child(order, streams[0].entry, streams[1].entry)
    _settle()
    notes.reserve()
    record = notes.record(child.pid, [one.source for one in streams])
    watch = Watch(child, streams, sandboxed=bool(order.sandbox))
    os.write(ready, record)
    _let_go(ready)
    child.release()
    return watch


def finish(order: Order, watch: Watch) -> None:
    """See a step to its end and put on record how it ended."""
    notes.write_status(watch.until_end())
    remove_tree(order.scratch)


def _settle() -> None:
    """Become the one that inherits orphans, deaf to hang-ups."""
    if processes.LINUX:
        processes.prctl(processes.PR_SET_CHILD_SUBREAPER, 1)
    for number in DEAF_TO:
        signal.signal(number, signal.SIG_IGN)


def _let_go(ready: int) -> None:
    """Close what ties us to the starter, which until now would have seen a failure of ours."""
    os.close(ready)
    null = os.open(os.devnull, os.O_RDWR)
    log = os.open("supervisor.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for source, target in ((null, 0), (null, 1), (log, 2)):
        os.dup2(source, target)
