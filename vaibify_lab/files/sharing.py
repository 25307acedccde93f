"""Many small files hashed by several processes at once: this one, and helpers of it.

To open, read and close a small file is work for the interpreter more than for the hash library, so
that threads of one process wait for each other. A helper (``sharer.py``) takes a piece of the list
at a time; where none can be started this process does all the work.
"""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import IO

from vaibify_lab.core.observed import FileState
from vaibify_lab.files import frames, sharer

States = Iterable[tuple[str, FileState | None]]

MANY = 4_000  # from so many files on a helper is worth its start
PIECE = 500
HELPERS = 3


def shared(
    root: Path, paths: list[str], hashed: Callable[[list[str]], States]
) -> Iterator[tuple[str, FileState | None]]:
    """Yield each file with its state, hashed here by ``hashed`` or by a helper alike.

    Parameters
    ----------
    root : Path
        The project's folder.
    paths : list of str
        Repository paths.
    hashed : callable
        Gives the states of some of them, None for a file that is left to the caller.
    """
    helpers = min(HELPERS, (os.cpu_count() or 1) - 1) if len(paths) >= MANY else 0
    if not helpers:
        yield from hashed(paths)
        return
    paths.sort()
    left = deque(paths[start : start + PIECE] for start in range(0, len(paths), PIECE))
    done: SimpleQueue[list[tuple[str, FileState | None]]] = SimpleQueue()
    with _helped(root, left, done, helpers) as threads:
        while piece := _next(left):
            yield from hashed(piece)
            while not done.empty():
                yield from done.get()
        for thread in threads:
            thread.join()
        while not done.empty():
            yield from done.get()
        while piece := _next(left):  # of a helper that failed
            yield from hashed(piece)


@contextmanager
def _helped(
    root: Path,
    left: deque[list[str]],
    done: SimpleQueue[list[tuple[str, FileState | None]]],
    helpers: int,
) -> Iterator[list[Thread]]:
    """Let helpers take pieces; give the threads that talk with them. They end with the block."""
    processes = [one for one in (_helper(root) for _ in range(helpers)) if one is not None]
    threads = [Thread(target=_talk, args=(one, left, done), daemon=True) for one in processes]
    for thread in threads:
        thread.start()
    try:
        yield threads
    finally:
        left.clear()
        for process in processes:
            process.kill()
            process.wait()
        for thread in threads:
            thread.join()


def _helper(root: Path) -> subprocess.Popen[bytes] | None:
    command = [sys.executable, "-I", "-S", sharer.__file__, str(root)]
    try:
        return subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None


def _talk(
    process: subprocess.Popen[bytes],
    left: deque[list[str]],
    done: SimpleQueue[list[tuple[str, FileState | None]]],
) -> None:
    """Hand pieces to a helper until there are none; one that it does not answer goes back."""
    assert process.stdin is not None and process.stdout is not None  # asked for
    with process.stdin as orders, process.stdout as answers:
        while piece := _next(left):
            if (answer := _ask(orders, answers, piece)) is None:
                left.append(piece)
                return
            done.put(answer)


def _ask(
    orders: IO[bytes], answers: IO[bytes], piece: list[str]
) -> list[tuple[str, FileState | None]] | None:
    try:
        frames.send(orders.fileno(), marshal.dumps(piece))
        answer = marshal.loads(frames.receive(answers.fileno()))  # noqa: S302  our own helper's
    except (OSError, EOFError, ValueError):
        return None
    return [(path, state and FileState(*state)) for path, state in answer]


def _next(left: deque[list[str]]) -> list[str] | None:
    try:
        return left.popleft()
    except IndexError:
        return None
