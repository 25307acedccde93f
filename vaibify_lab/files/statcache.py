"""Hashes remembered by a file's status, so that an unchanged look reads no file.

The rule is that of git's index: size, mtime, ctime (both in nanoseconds) and inode equal means the
same bytes, unless the file's mtime or ctime lay within two seconds of the hashing, when a later
write could have left the same stamp; such a file is hashed again at the next look. A ctime cannot
be set, so an mtime that was put back is noticed.

Some file systems keep no ctime (`trust` names them; sshfs copies the mtime into it): what lies
there is read at every look, and remembered nowhere.

What the rule cannot see: a store through a live memory mapping into an already dirty page changes
no stamp, and a file server whose clock is more than two seconds behind and whose stamps are coarse
can hide a quick second write. So nothing is signed, enveloped or confirmed from this cache
(`hashing.hash_many` reads every byte).
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from sys import intern
from types import MappingProxyType
from typing import Any, NamedTuple

from vaibify_lab.core.observed import MISSING, FileState
from vaibify_lab.files.cachefile import cache_place, load_cache, save_cache
from vaibify_lab.files.descent import Descent
from vaibify_lab.files.hashing import Stamp, open_descent, read_at, state_of_error
from vaibify_lab.files.paths import split
from vaibify_lab.files.tree import Tree
from vaibify_lab.files.trust import ChangeTimes, is_settled, stamps_in

_NO_STAMP: Stamp = (0, 0, 0, 0)
_PLANS_KEPT = 8  # a look makes two, and a server looks at several workflows


class _Entry(NamedTuple):
    stamp: Stamp
    state: FileState
    blob: str | None


@dataclass(slots=True)
class _Group:
    """The files of one directory that are asked for, and what was seen there last.

    ``stamps`` is None until every one of them was seen with a stamp that can be trusted: then a
    pass over the directory is one comparison, which is what makes 100,000 files a short look.
    """

    directory: str
    names: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    stamps: list[Stamp] | None = None
    entries: list[_Entry] = field(default_factory=list)


@dataclass(slots=True)
class _Plan:
    """The paths of one question by directory, and what its last pass saw, all joined."""

    asked: list[str]
    groups: list[_Group]
    states: dict[str, FileState] = field(default_factory=dict)
    blobs: dict[str, str | None] = field(default_factory=dict)
    modified: dict[str, int] | None = None

    def entries(self) -> Iterator[tuple[str, _Entry]]:
        for group in self.groups:
            yield from zip(group.paths, group.entries, strict=True)

    def join(self) -> None:
        self.states = dict.fromkeys(self.asked, MISSING)
        self.blobs = dict.fromkeys(self.asked)
        self.modified = None
        for path, entry in self.entries():
            self.states[path], self.blobs[path] = entry.state, entry.blob


Seen = Mapping[str, Sequence[Stamp]]
NOTHING_SEEN: Seen = MappingProxyType({})


def default_store(root: Path) -> Path:
    """Return the file in the user's cache folder that remembers for this root."""
    return cache_place("stat", root)


class StatCache:
    """States of files beneath a tree; only those whose status changed are read again.

    Safe to share between threads: one look at a time.

    Parameters
    ----------
    tree : Tree
    store : Path or None
        Where to remember between processes (`default_store`); None keeps to memory.
    """

    def __init__(self, tree: Tree, store: Path | None) -> None:
        self._tree = tree
        self._store = store
        self._label = f"stat {tree.root}"
        self._entries: dict[str, _Entry] | None = None
        self._changed = False
        self._object_format: str | None = None
        self._plans: list[_Plan] = []
        self._times = ChangeTimes()
        self._lock = threading.Lock()

    def observe(self, paths: Iterable[str]) -> Mapping[str, FileState]:
        """Return the state of each path now, in the order given."""
        return self.observe_both(paths, None)[0]

    def blob_ids(
        self, paths: Iterable[str], object_format: str, seen: Seen = NOTHING_SEEN
    ) -> Mapping[str, str | None]:
        """Return the git blob id of each path's bytes now; None where there are no bytes."""
        return self.observe_both(paths, object_format, seen)[1]

    def observe_both(
        self, paths: Iterable[str], object_format: str | None, seen: Seen = NOTHING_SEEN
    ) -> tuple[Mapping[str, FileState], Mapping[str, str | None]]:
        """Return states and blob ids from one pass over the tree.

        Where nothing changed since the last pass over these paths, they are the same objects.
        ``seen`` holds the stamps, by folder and in the order of the paths, of files at which the
        caller looked just now: if they are those of the last pass, it is not looked there again.
        """
        wanted = list(paths)
        with self._lock, open_descent(self._tree) as descent:
            self._use_format(object_format)
            self._times = ChangeTimes()
            plan = self._plan(wanted)
            looked = [
                self._look(descent, group)
                for group in plan.groups
                if group.stamps is None or group.stamps != seen.get(group.directory)
            ]
            if any(looked) or not plan.states:
                plan.join()
            return plan.states, plan.blobs

    def modified(self, paths: Iterable[str]) -> Mapping[str, int]:
        """Return when files were written (ns), as the last pass over these paths saw them."""
        with self._lock:
            plan = self._plan(list(paths))
            if plan.modified is None:
                times = ((path, entry.stamp[1]) for path, entry in plan.entries())
                plan.modified = {path: time for path, time in times if time}
            return plan.modified

    def save(self) -> None:
        """Remember for the next process, if anything changed; a cache that cannot be kept is not.

        Entries that git's rule does not trust yet are not kept.
        """
        with self._lock:
            if self._store is not None and self._changed and self._entries is not None:
                save_cache(self._store, self._label, _packed(self._entries))
                self._changed = False

    def _look(self, descent: Descent, group: _Group) -> bool:
        """Bring a group up to date; return whether anything in it is new."""
        before = group.entries
        try:
            opened = descent.enter(group.directory)
        except OSError as error:
            group.stamps = None
            entry = _Entry(_NO_STAMP, state_of_error(error), None)
            group.entries = [entry] * len(group.paths)
            return group.entries != before
        if group.stamps is not None and group.stamps == stamps_in(opened, group.names):
            return False
        self._look_closely(opened, group)
        return group.entries != before

    def _look_closely(self, opened: int, group: _Group) -> None:
        known = self._loaded()
        named = zip(group.paths, group.names, strict=True)
        if not self._times.are_kept_on(os.fstat(opened).st_dev):
            group.entries = [self._read(opened, name)[0] for name in group.names]
            group.stamps = None
            return
        group.entries = [self._entry(known, path, opened, name) for path, name in named]
        all_known = all(path in known for path in group.paths)
        group.stamps = [entry.stamp for entry in group.entries] if all_known else None

    def _entry(self, known: dict[str, _Entry], path: str, directory: int, name: str) -> _Entry:
        """Return what holds of a file now; read it unless its status is the one remembered."""
        entry = known.get(path)
        if entry and [entry.stamp] == stamps_in(directory, [name]):
            return entry
        entry, is_lasting = self._read(directory, name)
        if is_lasting:
            known[path] = entry
            self._changed = True
        else:
            self._changed |= known.pop(path, None) is not None
        return entry

    def _read(self, directory: int, name: str) -> tuple[_Entry, bool]:
        """Read a file; return also whether a later write must leave another stamp."""
        reading = read_at(directory, name, self._object_format)
        entry = _Entry(reading.stamp or _NO_STAMP, reading.state, reading.blob)
        return entry, reading.stamp is not None and is_settled(reading.stamp, reading.started)

    def _use_format(self, object_format: str | None) -> None:
        """From the first question for blob ids on, an entry without one is no entry."""
        if object_format in (None, self._object_format):
            return
        self._object_format = object_format
        self._plans = []
        length = {"sha1": 40, "sha256": 64}[object_format]
        known = self._loaded().items()
        self._entries = {path: one for path, one in known if len(one.blob or "") == length}

    def _plan(self, wanted: list[str]) -> _Plan:
        """Group by directory; a server that asks for the same paths again gets the same plan."""
        for plan in self._plans:
            if plan.asked is wanted or plan.asked == wanted:
                return plan
        by_directory: dict[str, _Group] = {}
        for path in dict.fromkeys(wanted):
            directory, name = split(path)
            group = by_directory.setdefault(directory, _Group(directory))
            group.names.append(name)
            group.paths.append(path)
        plan = _Plan(wanted, [by_directory[directory] for directory in sorted(by_directory)])
        self._plans = [plan, *self._plans[: _PLANS_KEPT - 1]]
        return plan

    def _loaded(self) -> dict[str, _Entry]:
        if self._entries is None:
            body = load_cache(self._store, self._label) if self._store else None
            self._entries = _unpacked(body) if body else {}
        return self._entries


def _packed(entries: dict[str, _Entry]) -> list[bytes]:
    """Return entries as columns: a third of the time that a row each takes.

    In pieces, one column after the other, so that no more than one stands twice in memory.
    """
    columns: dict[str, Callable[[_Entry], Any]] = {
        "size": lambda row: row.stamp[0],
        "mtime": lambda row: row.stamp[1],
        "ctime": lambda row: row.stamp[2],
        "inode": lambda row: row.stamp[3],
        "kind": lambda row: row.state.kind,
        "sha256": lambda row: row.state.sha256,
        "detail": lambda row: row.state.detail,
        "blob": lambda row: row.blob,
    }
    pieces = [b'{"path":', _column(entries)]
    for name, of in columns.items():
        pieces += [b',"%s":' % name.encode("ascii"), _column(map(of, entries.values()))]
    return [*pieces, b"}"]


def _column(values: Iterable[Any]) -> bytes:
    return json.dumps(list(values), separators=(",", ":")).encode("ascii")


def _unpacked(body: bytes) -> dict[str, _Entry]:
    columns = json.loads(body)
    sizes = columns["size"]
    stamps = zip(sizes, columns["mtime"], columns["ctime"], columns["inode"], strict=True)
    kinds: Iterator[Any] = map(intern, columns["kind"])
    states = map(FileState, kinds, map(_shared, columns["sha256"]), sizes, columns["detail"])
    rows = map(_Entry, stamps, states, map(_shared, columns["blob"]))
    return dict(zip(map(intern, columns["path"]), rows, strict=True))


def _shared(text: str | None) -> str | None:
    """Return a text that facts and git's answers hold as well, kept once for all of them."""
    return text and intern(text)
