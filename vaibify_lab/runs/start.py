"""Starting the runner, from whichever front door."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from vaibify_lab.core import disk, jsonio
from vaibify_lab.core.errors import CannotCheck, ToolFailed, VaibifyError
from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.explain import tail
from vaibify_lab.runs.journal import REQUEST, RUNS, RunFolder, new_run_id, read_events
from vaibify_lab.runs.live import current_run, is_ended
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.stopping import ask_to_stop

GITIGNORE = ".vaibify/.gitignore"
_FIRST_EVENT_SECONDS = 30.0
_STOP_SECONDS = 15.0
_PAUSE_SECONDS = 0.01


def ignore_local(tree: Tree) -> None:
    """See to it that git ignores this machine's own files."""
    if tree.lstat(GITIGNORE) is None:
        tree.write(GITIGNORE, b"local/\n")
    if tree.lstat(f"{LOCAL}/.gitignore") is None:
        tree.write(f"{LOCAL}/.gitignore", b"*\n")  # also where somebody edited the other one


def start_run(tree: Tree, options: RunOptions, person: str) -> RunFolder:
    """Start a detached runner and return once whoever looks sees its run, or its refusal.

    Whoever is interrupted before that knows of no run: it is stopped, and its end awaited.

    Raises
    ------
    ToolFailed
        When the runner died before it could say anything.
    """
    run_id = new_run_id()
    ignore_local(tree)
    request = {"root": str(tree.root), "options": options.to_json(), "person": person}
    tree.write(f"{RUNS}/{run_id}/{REQUEST}", jsonio.dumps(request))
    folder = RunFolder(tree.root / RUNS / run_id)
    runner = _spawn(folder)
    try:
        _until_seen(tree, folder, runner)
    except BaseException:  # Ctrl-C above all: nobody would know of the run
        _stop(folder, runner)
        raise
    return folder


def _until_seen(tree: Tree, folder: RunFolder, runner: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _FIRST_EVENT_SECONDS
    while not read_events(folder):
        if runner.poll() is not None and not read_events(folder):
            raise _did_not_start(folder)
        if time.monotonic() > deadline:
            raise CannotCheck("the runner says nothing", where=str(folder.path / "runner.log"))
        time.sleep(_PAUSE_SECONDS)
    # After its first word it mends what a lost run left, and only then its run is the current one.
    while not (_is_seen(tree, folder) or runner.poll() is not None):
        time.sleep(_PAUSE_SECONDS)


def _stop(folder: RunFolder, runner: subprocess.Popen[bytes]) -> None:
    with suppress(VaibifyError):
        ask_to_stop(folder)
    deadline = time.monotonic() + _STOP_SECONDS
    while runner.poll() is None and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS)


def _is_seen(tree: Tree, folder: RunFolder) -> bool:
    return current_run(tree.root) == folder or is_ended(folder)


def _did_not_start(folder: RunFolder) -> ToolFailed:
    log = folder.path / "runner.log"
    lines = tail(log).strip().splitlines()
    said = f": {lines[-1][:300]}" if lines else ""
    return ToolFailed(f"the runner did not start{said}", where=str(log))


def _spawn(folder: RunFolder) -> subprocess.Popen[bytes]:
    path: Path = folder.path / "runner.log"
    try:
        with path.open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-P", "-m", "vaibify_lab.runs.child", str(folder.path)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=os.sep,
                start_new_session=True,
            )
    except OSError as error:
        raise disk.failure(error, "cannot start the runner", str(path)) from None
