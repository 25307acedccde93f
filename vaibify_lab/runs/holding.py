"""Keeps runs away while something else changes what they rest on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.belonging import hand_over_local
from vaibify_lab.runs.journal import now
from vaibify_lab.runs.lock import RunLock
from vaibify_lab.runs.start import ignore_local


@contextmanager
def no_run_beside(tree: Tree, what: str, person: str) -> Iterator[None]:
    """Hold the lock of runs; one that is started meanwhile is refused, and says what goes on.

    Parameters
    ----------
    tree : Tree
        The repository.
    what : str
        What goes on, as a sentence without its end.
    person : str
        Who does it.

    Raises
    ------
    RunInProgress
    """
    ignore_local(tree)
    lock = RunLock(tree)
    lock.acquire({"what": what, "person": person, "since": now()})
    try:
        yield
    finally:
        lock.release()
        hand_over_local(tree.root)
