"""Old outputs of a step, moved aside on the same file system while a run makes new ones.

A failed run puts them back; after a crash the next run does, under the lock. What the failed run
wrote is kept among its leftovers, never fed onwards.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.files.tree import Tree

ASIDE = f"{LOCAL}/aside"
_LIST = "outputs.json"


@dataclass(frozen=True, slots=True)
class Aside:
    """The old outputs of one step in one run."""

    tree: Tree
    run_id: str
    stem: str
    slug: str

    @property
    def folder(self) -> str:
        """Where they lie, repository path."""
        return f"{ASIDE}/{self.run_id}/{self.stem}/{self.slug}"

    @property
    def leftovers(self) -> str:
        """Where what a failed run wrote is kept, repository path."""
        return f"{LOCAL}/runs/{self.run_id}/leftovers/{self.slug}"

    def take(self, outputs: Sequence[str]) -> None:
        """Move every output that exists out of the way; declared folders move whole."""
        bare = [path.rstrip("/") for path in outputs]
        existed = [path for path in bare if self.tree.lstat(path) is not None]
        value = {"outputs": bare, "existed": existed, "step": self.slug, "stem": self.stem}
        self.tree.write(f"{self.folder}/{_LIST}", jsonio.dumps(value))
        for path in existed:
            if self.tree.lstat(path) is not None:  # a folder declared above it may have moved
                self.tree.move(path, f"{self.folder}/old/{path}")

    def put_back(self) -> list[str]:
        """Put the old outputs back; return those of the failed run that were set apart."""
        apart = []
        for path in self._listed("outputs"):
            if self._is_untouched(path):
                continue
            if self.tree.lstat(path) is not None:
                self.tree.move(path, _free(self.tree, f"{self.leftovers}/{path}"))
                apart.append(path)
            if self.tree.lstat(f"{self.folder}/old/{path}") is not None:
                self.tree.move(f"{self.folder}/old/{path}", path)
        self.drop()
        return apart

    def drop(self) -> None:
        """Forget the old outputs: the new ones are good."""
        _delete(self.tree.root / self.folder)
        with suppress(OSError):
            (self.tree.root / self.folder).parent.rmdir()
            (self.tree.root / self.folder).parent.parent.rmdir()

    def _listed(self, key: str) -> list[str]:
        try:
            value = json.loads(self.tree.read(f"{self.folder}/{_LIST}"))
        except (VaibifyError, ValueError):
            return []
        return [str(path) for path in value.get(key, ())]

    def _is_untouched(self, path: str) -> bool:
        """Tell whether an old output had not been moved yet when the runner died."""
        existed = path in self._listed("existed")
        return existed and self.tree.lstat(f"{self.folder}/old/{path}") is None


def left_aside(tree: Tree) -> list[Aside]:
    """Return what crashed runs left aside, oldest first."""
    found = []
    top = tree.root / ASIDE
    for run_id in _names(top):
        for stem in _names(top / run_id):
            found += [Aside(tree, run_id, stem, slug) for slug in _names(top / run_id / stem)]
    return found


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _free(tree: Tree, path: str) -> str:
    """Return the path, or one beside it when something is there already."""
    candidate, count = path, 0
    while tree.lstat(candidate) is not None:
        count += 1
        candidate = f"{path}.{count}"
    return candidate


def _delete(folder: Path) -> None:
    """Delete a folder of ours; a step may have left it without permissions."""
    for here, names, _ in os.walk(folder):
        for name in names:
            with suppress(OSError):
                os.chmod(os.path.join(here, name), 0o700, follow_symlinks=False)
    shutil.rmtree(folder, ignore_errors=True)
