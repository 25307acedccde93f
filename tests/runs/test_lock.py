"""The lock of a repository's runs when its holder was killed and something of it is still there."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from threading import Event, Thread

import pytest

from vaibify_lab.core.errors import RunInProgress
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.lock import RunLock

WHO = {"run_id": "r1", "person": "Ada", "since": "noon"}


def descriptor_of(path: Path) -> int:
    """Return this process's descriptor of a file that it has open."""
    mine = [one for one in Path("/proc/self/fd").iterdir() if one.exists()]
    return next(int(one.name) for one in mine if os.readlink(one) == str(path))


def killed_holder(root: Path, lingers: float) -> int:
    """Kill a process that held the lock; what it forked holds the descriptor for a while longer."""
    held, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        lock = RunLock(Tree(root))
        lock.acquire(WHO)
        os.dup(descriptor_of(root / ".vaibify/local/locks/run.lock"))
        child = os.fork()
        if child == 0:
            time.sleep(lingers)
            os._exit(0)
        os.write(told, b"%d\n" % child)
        time.sleep(600)
    child = int(os.read(held, 20))
    os.close(held)
    os.close(told)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return child


def test_what_a_killed_holder_still_holds_for_a_moment_is_waited_for(tmp_path: Path) -> None:
    killed_holder(tmp_path, 0.3)
    lock = RunLock(Tree(tmp_path))
    lock.acquire(WHO)
    lock.release()


def test_a_holder_that_has_said_that_it_ends_is_waited_for(tmp_path: Path) -> None:
    held, ends = Event(), Event()

    def hold() -> None:
        lock = RunLock(Tree(tmp_path))
        lock.acquire(WHO)
        held.set()
        ends.wait()
        lock.about_to_release()
        held.set()
        time.sleep(0.2)
        lock.release()

    holder = Thread(target=hold)
    holder.start()
    held.wait()
    mine = RunLock(Tree(tmp_path))
    with pytest.raises(RunInProgress, match="r1, started by Ada"):
        mine.acquire(WHO)
    held.clear()
    ends.set()
    held.wait()
    mine.acquire(WHO | {"run_id": "r2"})
    holder.join()
    with pytest.raises(RunInProgress, match="r2, started by Ada"):
        RunLock(Tree(tmp_path)).acquire(WHO)
    mine.release()


def test_between_the_record_of_who_holds_it_and_the_lock_itself_nobody_is_refused(
    tmp_path: Path,
) -> None:
    """A holder's record is removed before it lets go, and written after it has taken the lock."""
    between = Event()

    def hold() -> None:
        lock = RunLock(Tree(tmp_path))
        lock.acquire(WHO)
        (tmp_path / ".vaibify/local/locks/run.json").unlink()
        between.set()
        time.sleep(0.2)
        lock.release()

    before = Thread(target=hold)
    before.start()
    between.wait()
    mine = RunLock(Tree(tmp_path))
    mine.acquire(WHO | {"run_id": "r2"})
    before.join()
    mine.release()


def test_one_that_never_says_who_holds_it_refuses_the_next(tmp_path: Path) -> None:
    before = RunLock(Tree(tmp_path))
    before.acquire(WHO)
    (tmp_path / ".vaibify/local/locks/run.json").unlink()
    with pytest.raises(RunInProgress, match="a run, started by somebody at an unknown time"):
        RunLock(Tree(tmp_path)).acquire(WHO | {"run_id": "r2"})
    before.release()


def test_what_goes_on_after_its_holder_was_killed_refuses_the_next(tmp_path: Path) -> None:
    child = killed_holder(tmp_path, 600)
    try:
        with pytest.raises(RunInProgress, match="a run is in progress: r1, started by Ada at noon"):
            RunLock(Tree(tmp_path)).acquire(WHO)
    finally:
        os.kill(child, signal.SIGKILL)
