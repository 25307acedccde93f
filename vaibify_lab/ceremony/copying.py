"""A copy of the project beside it, as a repository of its own, and a run in it that is followed."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.engines.scratch import remove_tree
from vaibify_lab.files.git import Repository
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.journal import ENDINGS, RunFolder, follow
from vaibify_lab.runs.live import is_ended, is_gone
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.stopping import ask_to_stop

Tell = Callable[[dict[str, Any]], None]
_STOP_SECONDS = 15.0


@contextmanager
def copied(opened: Opened, fill: Callable[[Tree], None]) -> Iterator[Tree]:
    """Give a folder beside the project that ``fill`` fills, as a repository; removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=".vaibify-rerun-", dir=_place_beside(opened.tree.root)))
    try:
        root = folder / opened.tree.root.name
        root.mkdir()
        fill(Tree(root))
        Repository.make(root)
        yield Tree(root)
    finally:
        remove_tree(str(folder))


def _place_beside(root: Path) -> str | None:
    return str(root.parent) if os.access(root.parent, os.W_OK) else None


def copy_file(source: Tree, path: str, copy: Tree, mode: int) -> None:
    """Copy one file; what is no plain file is left out."""
    try:
        opened = source.open_file(path)
    except VaibifyError:
        return  # a link or a special file: no step may rest on it
    parent = path.rpartition("/")[0]
    if parent:
        copy.make_directory(parent)
    target = copy.root / path
    with os.fdopen(opened, "rb") as read, target.open("xb") as write:
        shutil.copyfileobj(read, write, 2**20)
    target.chmod(mode)


@dataclass(frozen=True, slots=True)
class Followed:
    """How a run went: what failed, the engine in words, whether in a container."""

    failures: tuple[str, ...]
    engine: str
    in_container: bool


def watch(folder: RunFolder, tell: Tell | None) -> Followed:
    """Follow a run to its end; stop it when who follows is interrupted."""
    try:
        return _follow(folder, tell)
    except BaseException:  # Ctrl-C: nothing may go on in a folder that is about to be removed
        with suppress(VaibifyError):
            ask_to_stop(folder)
        deadline = time.monotonic() + _STOP_SECONDS
        while not is_ended(folder) and time.monotonic() < deadline:
            time.sleep(0.05)
        raise


def _follow(folder: RunFolder, tell: Tell | None) -> Followed:
    failures: list[str] = []
    engine, contained = "local engine", False
    for event in follow(folder):
        if event is None:
            if _is_lost(folder):
                return Followed((*failures, "the rerun lost its runner"), engine, contained)
            continue
        if tell is not None:
            tell(event)
        if event["event"] == "runStarted":
            engine, contained = _words(event["engine"]), event["engine"]["kind"] == "docker"
        if event["event"] in ("stepFail", "stepBlocked"):
            failures.append(f"step {event['step']!r} {event.get('text', '')}")
        if event["event"] == "runRefused":
            failures.append(str(event["text"]))
        if event["event"] in ENDINGS:
            break
    return Followed(tuple(failures), engine, contained)


def _is_lost(folder: RunFolder) -> bool:
    return is_gone(folder) and not is_ended(folder)


def _words(described: dict[str, Any]) -> str:
    if described["kind"] == "docker":
        return f"in the pinned image, {described['product']} {described['version']}"
    return f"local engine, {described['tier']}, not in a container"
