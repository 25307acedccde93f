"""A staged tree that holds only what a step declared: inputs, code and empty output folders.

It lies in the run's own folder, on the repository's file system, so that outputs come home by a
rename.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.facts import RunRecord
from vaibify_lab.core.model import Step
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.aside import delete, outermost
from vaibify_lab.runs.hostfiles import os_errors
from vaibify_lab.runs.writable import make_ready

_COPY_LIMIT = 4 * 2**20


def doubt(before: RunRecord | None, sealed: RunRecord) -> str | None:
    """Return what to think where a seal alone may have changed what came out."""
    last = before.passed if before is not None else None
    if last is None or last.sealed or not sealed.sealed or sealed.outcome != "passed":
        return None
    same = [
        (one.pins.inputs, one.pins.code, one.image, one.commands, dict(one.environment))
        for one in (last, sealed)
    ]
    if same[0] != same[1] or last.pins.outputs == sealed.pins.outputs:
        return None
    return (
        "its outputs are other than those of its last run, which was not sealed and had the same "
        "declared files: it may have read what it does not declare, or is not deterministic"
    )


@dataclass(frozen=True, slots=True)
class Stage:
    """A staged tree at ``path`` of the repository ``home``.

    ``laid_in`` are large files that the engine binds instead of a copy.
    """

    home: Tree
    path: str
    tree: Tree
    laid_in: Mapping[str, Path]

    def bring_home(self, outputs: Sequence[str]) -> None:
        """Move outputs from the staged tree to their places in the repository."""
        for path in outermost(output.rstrip("/") for output in outputs):
            if self.home.exists_as_directory(path):
                with os_errors(path):
                    os.rmdir(self.home.root / path)  # made ready, empty
            self.home.move(f"{self.path}/{path}", path, durable=False)

    def keep(self, outputs: Sequence[str], leftovers: str) -> list[str]:
        """Move what a failed run wrote to its leftovers; return what there was."""
        kept = []
        for path in outermost(output.rstrip("/") for output in outputs):
            if self.tree.lstat(path) is None or self._is_empty(path):
                continue
            self.home.move(f"{self.path}/{path}", f"{leftovers}/{path}", durable=False)
            kept.append(path)
        return kept

    def remove(self) -> None:
        """Delete the staged tree with all that is left in it."""
        delete(self.tree.root)

    def _is_empty(self, path: str) -> bool:
        return self.tree.exists_as_directory(path) and not os.listdir(self.tree.root / path)


def stage(home: Tree, path: str, step: Step, files: Iterable[str], *, can_bind: bool) -> Stage:
    """Copy ``files`` (repository paths) into a new tree at ``path`` and make it ready.

    Files over 4 MiB are left to the engine to lay in read-only where it can.
    """
    home.make_directory(path)
    made = Stage(home, path, Tree(home.root / path), {})
    try:
        laid_in = dict(_fill(made, files, can_bind=can_bind))
        if step.directory:
            made.tree.make_directory(step.directory)
        make_ready(made.tree, step)
    except VaibifyError:
        made.remove()
        raise
    return replace(made, laid_in=laid_in)


def _fill(made: Stage, files: Iterable[str], *, can_bind: bool) -> Iterator[tuple[str, Path]]:
    """Copy files; yield those that are left to the engine."""
    for file in dict.fromkeys(files):
        seen = made.home.lstat(file)
        if can_bind and seen is not None and seen.st_size > _COPY_LIMIT:
            made.tree.write(file, b"")  # the place that the read-only file is laid over
            yield file, made.home.root / file
        else:
            _copy(made.home, file, made.tree)


def _copy(home: Tree, path: str, staged: Tree) -> None:
    """Copy a file with its mode and its time, which programs like make look at."""
    staged.make_directory(path.rpartition("/")[0])
    target = staged.root / path
    with os.fdopen(home.open_file(path), "rb") as read, os_errors(path):
        try:
            with target.open("xb") as write:
                shutil.copyfileobj(read, write, 2**20)
                seen = os.fstat(read.fileno())
                if not os.geteuid():  # so that the step, which is its owner's, can read it
                    os.fchown(write.fileno(), seen.st_uid, seen.st_gid)
                os.fchmod(write.fileno(), seen.st_mode & 0o777 | 0o400)
                os.utime(write.fileno(), ns=(seen.st_atime_ns, seen.st_mtime_ns))
        except OSError:
            with suppress(OSError):
                target.unlink()
            raise
