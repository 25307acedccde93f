"""What a clone would lack: files whose bytes here are not those that HEAD would give to others.

Whether there is a problem is decided by blob ids alone, without starting a process. Only why is
asked of git, by ``check-ignore`` and ``check-attr``, which run nothing of the repository's own;
whether a clean filter explains a difference is told from its attribute, never by running it.
"""

from __future__ import annotations

import re

from vaibify_lab.core.errors import InvalidFile, MissingFile, UnsafePath
from vaibify_lab.core.observed import CloneProblem, GitSnapshot
from vaibify_lab.files.attributes import blob_id
from vaibify_lab.files.clone_reasons import REGULAR, BlobIds, above, altered, explain, is_there
from vaibify_lab.files.git import Repository
from vaibify_lab.files.hashing import hash_many
from vaibify_lab.files.paths import join
from vaibify_lab.files.tree import Tree

# Attributes by which a checkout alters bytes; a file that names none of them alters nothing.
_ALTERING = re.compile(rb"eol\s*=\s*crlf|ident|working-tree-encoding")


def missing_from_clone(repo: Repository, blob_ids: BlobIds) -> list[CloneProblem]:
    """Return why a clone would not hold files as they are here, in the order given.

    Parameters
    ----------
    repo : Repository
        Where HEAD and the index are asked for.
    blob_ids : mapping of str to (str or None)
        The blob id of each path's working bytes; None where there are none to compare: then only
        what git holds at the path is judged.
    """
    return CloneCheck(repo).problems(blob_ids)


class CloneCheck:
    """`missing_from_clone` for a long-lived server: an unchanged look starts no process."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._tree = Tree(repo.root)
        self._snapshot: GitSnapshot | None = None
        self._attribute_files: list[str] = []
        self._compared: tuple[BlobIds, dict[str, str | None]] | None = None
        self._answered: tuple[object, list[CloneProblem]] | None = None

    def problems(self, blob_ids: BlobIds) -> list[CloneProblem]:
        """Return the problems of these paths now; the mapping may not be changed afterwards."""
        snapshot = self._repo.snapshot()
        if snapshot is not self._snapshot:
            self._snapshot, self._compared, self._answered = snapshot, None, None
            files = (path for path in snapshot.tree if path.endswith(".gitattributes"))
            self._attribute_files = [p for p in files if p.rpartition("/")[2] == ".gitattributes"]
        suspects = self._suspects(snapshot, blob_ids)
        doubtful = [path for path in blob_ids if path not in suspects] if self._may_alter() else []
        if not suspects and not doubtful:
            return []
        unread = [path for path, blob in suspects.items() if blob is None]
        there = [path for path in unread if is_there(self._tree, path)]
        rules = self._rule_files(suspects, doubtful)
        question = list(blob_ids), suspects, there, doubtful, rules
        if self._answered is None or self._answered[0] != question:
            found = {
                **{one.path: one for one in explain(self._repo, snapshot, suspects)},
                **{one.path: one for one in altered(self._repo, doubtful)},
            }
            self._answered = (question, [found[path] for path in blob_ids if path in found])
        return list(self._answered[1])

    def _suspects(self, snapshot: GitSnapshot, blob_ids: BlobIds) -> dict[str, str | None]:
        """Return the paths that HEAD does not hold as these blobs; the same are compared once."""
        if self._compared is None or self._compared[0] != blob_ids:
            suspects = {p: b for p, b in blob_ids.items() if not _is_held(snapshot, p, b)}
            self._compared = (blob_ids, suspects)
        return self._compared[1]

    def _may_alter(self) -> bool:
        """Tell whether a committed ``.gitattributes`` names what alters bytes; no process."""
        return any(_alters(self._tree, self._repo.snapshot(), one) for one in self._attribute_files)

    def _rule_files(self, suspects: BlobIds, doubtful: list[str]) -> object:
        """Return the state of every file of the repository that an answer depends on."""
        folders = {""}.union(*map(above, suspects), *map(above, doubtful))
        names = (".gitignore", ".gitattributes", ".git")
        files = sorted(join(folder, name) for folder in folders for name in names)
        info = self._repo.common_dir / "info"
        own = [hash_many(Tree(info), ["exclude", "attributes"])] if info.is_dir() else []
        return hash_many(self._tree, files), own


def _is_held(snapshot: GitSnapshot, path: str, blob: str | None) -> bool:
    entry = snapshot.tree.get(path)
    return entry is not None and entry[0] in REGULAR and blob in (None, entry[1])


def _alters(tree: Tree, snapshot: GitSnapshot, path: str) -> bool:
    try:
        data = tree.read(path)
    except (MissingFile, UnsafePath, InvalidFile):
        return True
    is_committed = blob_id(data, snapshot.object_format) == snapshot.tree[path][1]
    return not is_committed or _ALTERING.search(data) is not None
