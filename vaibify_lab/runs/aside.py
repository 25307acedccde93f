"""Old outputs of a step, moved aside on the same file system while a run makes new ones.

A failed run puts them back; after a crash the next run does, under the lock. What the failed run
wrote is kept among its leftovers, never fed onwards.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vaibify_lab.core import jsonio
from vaibify_lab.core.errors import DiskFull, InvalidFile, VaibifyError
from vaibify_lab.core.facts import RunRecord
from vaibify_lab.core.paths import fault_of, is_protected, is_within
from vaibify_lab.engines.scratch import remove_tree
from vaibify_lab.files.factstore import LOCAL, RECORDS, FactStore
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
    def old(self) -> str:
        """Where they lie under their own paths."""
        return f"{self.folder}/old"

    @property
    def leftovers(self) -> str:
        """Where what a failed run wrote is kept, repository path."""
        return f"{LOCAL}/runs/{self.run_id}/leftovers/{self.slug}"

    def take(self, outputs: Sequence[str], *, restores: str | None = None) -> None:
        """Move every output that exists out of the way; declared folders move whole.

        ``restores`` is the run whose outputs and record come in their place, from the cache.
        """
        bare = outermost(path.rstrip("/") for path in outputs)
        existed = [path for path in bare if self.tree.lstat(path) is not None]
        value = {"outputs": bare, "existed": existed, "record": self._record_digest()}
        value |= {"restores": restores} if restores is not None else {}
        self.tree.write(f"{self.folder}/{_LIST}", jsonio.dumps(value))
        for path in existed:
            self._move(path, f"{self.old}/{path}")

    def put_back(self) -> list[str]:
        """Put the old outputs back; return those of the failed run that were set apart.

        May be repeated after a crash at any point of it.
        """
        if self.is_empty():
            return []
        apart = []
        for path in self._listed("outputs"):
            if self._is_untouched(path):
                continue
            apart += self._clear_way(path)
            if self.tree.lstat(path) is not None:
                apart += self._set_apart(path)
            if self.tree.lstat(f"{self.old}/{path}") is not None:
                self._move(f"{self.old}/{path}", path)
        self.drop()
        return apart

    def drop(self) -> None:
        """Forget the old outputs: the new ones are good. The list of them goes last."""
        here = self.tree.root / self.folder
        delete(self.tree.root / self.old)
        delete(here)

    def is_settled(self) -> bool:
        """Tell whether the run had recorded that its step passed: then the new outputs are good.

        The record must be another than when the outputs were moved: a run may make a step twice.
        """
        record = FactStore(self.tree, self.stem).record(self.slug)
        if not isinstance(record, RunRecord) or record.outcome != "passed":
            return False
        content = self._content()
        maker = record.cached_from if "restores" in content else record.run_id
        mine = maker == content.get("restores", self.run_id)
        return mine and self._record_digest() != content.get("record")

    def is_empty(self) -> bool:
        """Tell whether the runner died before it had moved, or noted, anything."""
        return all(self.tree.lstat(f"{self.folder}/{one}") is None for one in (_LIST, "old"))

    def held_any(self) -> bool:
        """Tell whether there were old outputs to move."""
        return bool(not self.is_empty() and self._listed("existed"))

    def fault(self) -> str | None:
        """Say why this is not to be believed, None when it is: nothing strange is ever moved."""
        try:
            value = self._content()
        except VaibifyError as error:
            return str(error)
        for key in ("outputs", "existed"):
            paths = value.get(key)
            if not isinstance(paths, list) or not all(map(_is_movable, paths)):
                return f"{self.folder}/{_LIST} names what no step can make"
        return None

    def _clear_way(self, path: str) -> list[str]:
        """Set apart what a failed run put in place of a folder above an output: a link, a file."""
        parts = path.split("/")[:-1]
        for folder in ("/".join(parts[: count + 1]) for count in range(len(parts))):
            seen = self.tree.lstat(folder)
            if seen is not None and not stat.S_ISDIR(seen.st_mode):
                return self._set_apart(folder)
        return []

    def _set_apart(self, path: str) -> list[str]:
        """Keep what a failed run wrote; where the disk has no room for that, it goes."""
        try:
            self._move(path, _free(self.tree, f"{self.leftovers}/{path}"))
        except DiskFull:
            delete(self.tree.root / path)
            return []
        return [path]

    def _move(self, source: str, target: str) -> None:
        """Rename; a folder that its maker left unwritable first becomes movable."""
        seen = self.tree.lstat(source)
        if seen is not None and stat.S_ISDIR(seen.st_mode) and not seen.st_mode & stat.S_IWUSR:
            with suppress(OSError):
                os.chmod(self.tree.root / source, seen.st_mode | stat.S_IRWXU)
        # Not durable: the list is, and wherever a power cut leaves the output, it is looked for.
        self.tree.move(source, target, durable=False)

    def _record_digest(self) -> str:
        """Return what tells the step's record of now from a later one; "" without one."""
        path = FactStore(self.tree, self.stem).path(RECORDS, self.slug)
        try:
            return hashlib.sha256(self.tree.read(path)).hexdigest()
        except VaibifyError:
            return ""

    def _content(self) -> dict[str, Any]:
        value = jsonio.loads(self.tree.read(f"{self.folder}/{_LIST}"), f"{self.folder}/{_LIST}")
        if not isinstance(value, dict):
            raise InvalidFile("is not an object", where=f"{self.folder}/{_LIST}")
        return value

    def _listed(self, key: str) -> list[str]:
        paths = self._content().get(key)
        return [path for path in paths if _is_movable(path)] if isinstance(paths, list) else []

    def _is_untouched(self, path: str) -> bool:
        """Tell whether an old output had not been moved yet when the runner died."""
        existed = path in self._listed("existed")
        return existed and self.tree.lstat(f"{self.old}/{path}") is None


def left_aside(tree: Tree) -> Iterator[Aside]:
    """Yield what crashed runs left aside, oldest first."""
    for run_id in _folders(tree, ASIDE):
        for stem in _folders(tree, f"{ASIDE}/{run_id}"):
            for slug in _folders(tree, f"{ASIDE}/{run_id}/{stem}"):
                yield Aside(tree, run_id, stem, slug)


def remove_empty(tree: Tree) -> None:
    """Remove the folders of runs that have left nothing aside.

    Not while steps run: what one step finds empty another may be about to use.
    """
    for run_id in _folders(tree, ASIDE):
        for stem in _folders(tree, f"{ASIDE}/{run_id}"):
            with suppress(OSError):
                os.rmdir(tree.root / ASIDE / run_id / stem)
        with suppress(OSError):
            os.rmdir(tree.root / ASIDE / run_id)


def outermost(paths: Iterable[str]) -> list[str]:
    """Return paths without those that lie in another of them."""
    given = list(dict.fromkeys(paths))
    return [one for one in given if not any(one != two and is_within(one, two) for two in given)]


def delete(path: Path) -> None:
    """Delete a file or a folder, never what a link leads to; folders may have lost their rights."""
    if not path.is_symlink() and path.is_dir():
        remove_tree(str(path))
    else:
        with suppress(OSError):
            path.unlink()


def _is_movable(path: object) -> bool:
    return isinstance(path, str) and fault_of(path) is None and not is_protected(path)


def _folders(tree: Tree, path: str) -> list[str]:
    """Return the names of real folders in a folder."""
    if not tree.exists_as_directory(path):
        return []
    names = sorted(os.listdir(tree.root / path))
    return [name for name in names if tree.exists_as_directory(f"{path}/{name}")]


def _free(tree: Tree, path: str) -> str:
    """Return the path, or one beside it when something is there already."""
    candidate, count = path, 0
    while tree.lstat(candidate) is not None:
        count += 1
        candidate = f"{path}.{count}"
    return candidate
