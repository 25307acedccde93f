"""What git's answers about HEAD and the index depend on, and those answers kept between processes.

The key is made of content, not of times: HEAD, the branch it names, the index (which ends in a
checksum of itself) and git's few other small files. Equal key, equal answers.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from sys import intern

from vaibify_lab.core.errors import ToolFailed
from vaibify_lab.core.observed import GitSnapshot
from vaibify_lab.files.cachefile import cache_place, load_cache, save_cache

_SYMREFS = 5
# Long enough for the SHA-256 that ends an index; a SHA-1 is in its last 20 bytes.
_TAIL = 32


@dataclass(frozen=True, slots=True)
class RawState:
    """Git's answers as it gave them; ``tree`` and ``index`` are NUL-separated records."""

    commit: str | None
    branch: str | None
    shallow: bool
    commit_time: int | None
    object_format: str
    tree: bytes
    index: bytes

    def snapshot(self) -> GitSnapshot:
        """Parse them; what tree and index have in common is kept once."""
        tree = _tree(self.tree)
        index: dict[str, tuple[str, str]] = {}
        unmerged: set[str] = set()
        for record in os.fsdecode(self.index).split("\0")[:-1]:
            mode, identifier, stage_and_path = record.split(" ", 2)
            stage, _, path = stage_and_path.partition("\t")
            if stage == "0":
                entry, same = (mode, identifier), tree.get(path)
                index[intern(path)] = same if same == entry else entry
            else:
                unmerged.add(path)
        return GitSnapshot(
            commit=self.commit,
            branch=self.branch,
            shallow=self.shallow,
            commit_time=self.commit_time,
            object_format=self.object_format,
            tree=tree,
            index=index,
            unmerged=frozenset(unmerged),
        )


class SnapshotStore:
    """The last answers for a root, in the user's cache folder."""

    def __init__(self, root: Path) -> None:
        self._place = cache_place("git", root)
        self._label = f"git {root}"
        self._saved = ""

    def load(self, key: str) -> RawState | None:
        """Return the answers kept under this key."""
        body = load_cache(self._place, self._label)
        if body is None:
            return None
        head, _, records = body.partition(b"\n")
        facts = json.loads(head)
        if facts.pop("key") != key:
            return None
        self._saved = key
        cut = facts.pop("tree_bytes")
        return RawState(tree=records[:cut], index=records[cut:], **facts)

    def save(self, key: str, raw: RawState) -> None:
        """Keep answers, unless these are what is kept."""
        if key == self._saved:
            return
        facts = {
            "key": key,
            "commit": raw.commit,
            "branch": raw.branch,
            "shallow": raw.shallow,
            "commit_time": raw.commit_time,
            "object_format": raw.object_format,
            "tree_bytes": len(raw.tree),
        }
        head = json.dumps(facts).encode("ascii")
        save_cache(self._place, self._label, [head + b"\n", raw.tree, raw.index])
        self._saved = key


def state_key(git_dir: Path, common_dir: Path) -> str:
    """Return a digest of everything that a snapshot depends on."""
    digest = hashlib.sha256()
    for name, content in _sources(git_dir, common_dir):
        known = b"-" if content is None else hashlib.sha256(content).digest()
        digest.update(os.fsencode(name) + b"\0" + known)
    return digest.hexdigest()


def _sources(git_dir: Path, common_dir: Path) -> list[tuple[str, bytes | None]]:
    found = [("index", _index(git_dir / "index"))]
    name = "HEAD"
    for _ in range(_SYMREFS):
        own, shared = _content(git_dir / name), _content(common_dir / name)
        found += [(name, own), (f"common {name}", shared)]
        pointer = own or shared or b""
        if not pointer.startswith(b"ref: "):
            break
        name = os.fsdecode(pointer[5:].strip())
    places = (
        git_dir / "config.worktree",
        git_dir / "reftable" / "tables.list",
        common_dir / "reftable" / "tables.list",
        common_dir / "packed-refs",
        common_dir / "shallow",
        common_dir / "config",
    )
    return found + [(str(place), _content(place)) for place in places]


def _index(place: Path) -> bytes | None:
    """Return what identifies the index: its own checksum, or all of it where it has none."""
    try:
        with place.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - _TAIL))
            tail = file.read()
            if not tail.endswith(b"\0" * 20):
                return b"%d %s" % (size, tail)
            file.seek(0)
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ToolFailed(f"cannot be read: {error.strerror}", where=str(place)) from None


def _content(place: Path) -> bytes | None:
    try:
        return place.read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise ToolFailed(f"cannot be read: {error.strerror}", where=str(place)) from None


def _tree(records: bytes) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for record in os.fsdecode(records).split("\0")[:-1]:
        mode, _, identifier_and_path = record.split(" ", 2)
        identifier, _, path = identifier_and_path.partition("\t")
        found[intern(path)] = (intern(mode), intern(identifier))
    return found
