"""Fact files on disk: read with every doubt kept, written whole, never over one that is unread."""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TypeVar

from vaibify_lab.core import fact_files
from vaibify_lab.core.errors import LaterFormat, MissingFile, VaibifyError
from vaibify_lab.core.facts import FactFault, Facts, RunRecord, SignOffs, TestMarker
from vaibify_lab.core.paths import as_word
from vaibify_lab.files.directory import Directory
from vaibify_lab.files.hashing import Stamp, pointer_in
from vaibify_lab.files.tree import Tree
from vaibify_lab.files.trust import ChangeTimes, is_settled

RECORDS, MARKERS, SIGN_OFFS = "records", "test_markers", "sign_offs"
LOCAL = ".vaibify/local"
DRAFTS = f"{LOCAL}/drafts"
_KINDS = (RECORDS, MARKERS, SIGN_OFFS)
_ANEW = {
    RECORDS: "jupyter vaibify run {}",
    MARKERS: "jupyter vaibify test {}",
    SIGN_OFFS: "jupyter vaibify sign-off {} --pass",
}
_LIMIT = 16 * 2**20
_SUFFIX = ".json"
_Fact = TypeVar("_Fact")
_Stamp = tuple[int, int, int, int, int]
_Parser = Callable[[bytes, str, str, str], _Fact]


class FactStore:
    """The facts of one workflow, named by its stem; unchanged files are parsed once."""

    def __init__(self, tree: Tree, stem: str) -> None:
        self._tree = tree
        self.stem = stem
        self._parsed: dict[str, tuple[_Stamp, object]] = {}
        self._own: dict[str, _Stamp | None] = {}
        self._writing = threading.Lock()  # several steps of one run end at once

    def path(self, kind: str, slug: str) -> str:
        """Return the repository path of a fact."""
        return f".vaibify/{kind}/{self.stem}/{slug}{_SUFFIX}"

    def load(self, slugs: Iterable[str]) -> Facts:
        """Read every fact of the steps; what does not fit becomes a `FactFault`."""
        names = tuple(slugs)
        present = {kind: self._present(kind) for kind in _KINDS}
        mine = {kind: [slug for slug in names if slug in present[kind]] for kind in _KINDS}
        orphans = [
            self.path(kind, slug)
            for kind in _KINDS
            for slug in sorted(present[kind].difference(names))
        ]
        return Facts(
            self._those(RECORDS, mine[RECORDS], fact_files.parse_record),
            self._those(MARKERS, mine[MARKERS], fact_files.parse_marker),
            self._those(SIGN_OFFS, mine[SIGN_OFFS], fact_files.parse_sign_offs),
            tuple(orphans),
        )

    def record(self, slug: str) -> RunRecord | FactFault | None:
        """Read one step's record and look at nothing else."""
        return self._those(RECORDS, [slug], fact_files.parse_record).get(slug)

    def records(self) -> list[RunRecord]:
        """Read every record that can be read, also of steps that are not there any more."""
        found = self._those(RECORDS, sorted(self._present(RECORDS)), fact_files.parse_record)
        return [one for one in found.values() if isinstance(one, RunRecord)]

    def write_record(self, record: RunRecord) -> str | None:
        """Write a record; return where an unreadable one that stood there was kept."""
        data = fact_files.dump_record(record)
        return self._write(RECORDS, record.step, data, fact_files.parse_record)

    def write_marker(self, marker: TestMarker) -> str | None:
        """Write a test marker; return where an unreadable one that stood there was kept."""
        data = fact_files.dump_marker(marker)
        return self._write(MARKERS, marker.step, data, fact_files.parse_marker)

    def write_sign_offs(self, sign_offs: SignOffs) -> str | None:
        """Write a step's sign-offs; return where unreadable ones that stood there were kept."""
        data = fact_files.dump_sign_offs(sign_offs)
        return self._write(SIGN_OFFS, sign_offs.step, data, fact_files.parse_sign_offs)

    def paths(self, slugs: Iterable[str], facts: Facts | None = None) -> list[str]:
        """Return the repository paths of the fact files that exist; of ``facts`` if given."""
        present: Mapping[str, Container[str]] = (
            {kind: self._present(kind) for kind in _KINDS} if facts is None else _by_kind(facts)
        )
        return [self.path(kind, slug) for slug in slugs for kind in _KINDS if slug in present[kind]]

    def seen(self, facts: Facts) -> dict[str, list[Stamp]]:
        """Return the stamps of the files that loaded facts were read from, by folder, in order.

        A folder is left out where one of its facts is not known to be from such a file.
        """
        found = {}
        for kind, loaded in _by_kind(facts).items():
            known = [(self._parsed.get(self.path(kind, slug)), one) for slug, one in loaded.items()]
            stamps = [kept[0][:4] for kept, fact in known if kept and kept[1] is fact]
            if len(stamps) == len(loaded):
                found[f".vaibify/{kind}/{self.stem}"] = stamps
        return found

    def stamps(self, slug: str | None = None) -> dict[str, _Stamp | None]:
        """Return the stamps of every fact file, or of one step's, to notice forgeries later."""
        found: dict[str, _Stamp | None] = {}
        for kind in _KINDS:
            slugs = sorted(self._present(kind)) if slug is None else [slug]
            paths = [self.path(kind, one) for one in slugs]
            found.update(zip(paths, self._stamps(kind, slugs), strict=True))
        return found

    def changed_by_others(
        self, before: Mapping[str, _Stamp | None], slug: str, *, alone: bool
    ) -> list[str]:
        """Return fact files that changed since ``before`` and were not written by this store.

        Of the step's own ones ``alone``, or of all of them; but sign-offs of other steps are left
        out: people sign while a run goes on.
        """
        with self._writing:
            now = self.stamps(slug if alone else None)
        signed = self.path(SIGN_OFFS, slug)
        elsewhere = f".vaibify/{SIGN_OFFS}/"
        return [
            path
            for path in sorted(now.keys() | before.keys())
            if now.get(path) != before.get(path)
            and (path not in self._own or now.get(path) != self._own[path])
            and (not path.startswith(elsewhere) or path == signed)
        ]

    def _those(
        self, kind: str, slugs: Sequence[str], parse: _Parser[_Fact]
    ) -> dict[str, _Fact | FactFault]:
        """Read the facts of steps; one that has none has no entry."""
        found: dict[str, _Fact | FactFault] = {}
        started, times = time.time_ns(), ChangeTimes()
        try:
            with self._tree.inside(f".vaibify/{kind}/{self.stem}") as here:
                for slug, stamp in zip(slugs, _stamps(here, slugs), strict=True):
                    if here is not None and stamp is not None:
                        found[slug] = self._one(here, kind, slug, stamp, started, times, parse)
        except VaibifyError:  # a folder that cannot be looked into holds nothing that is believed
            return {}
        return found

    def _one(
        self,
        here: Directory,
        kind: str,
        slug: str,
        stamp: _Stamp,
        started: int,
        times: ChangeTimes,
        parse: _Parser[_Fact],
    ) -> _Fact | FactFault:
        path = self.path(kind, slug)
        known = self._parsed.get(path)
        if known is not None and known[0] == stamp:
            return known[1]  # type: ignore[return-value]  # one parser per path
        fact: _Fact | FactFault
        try:
            data = here.read(slug + _SUFFIX, _LIMIT)
            fact = _pointer(path, data) or parse(data, path, self.stem, slug)
        except MissingFile:
            fact = FactFault(path, f"{path} cannot be read", "make it readable")
        except VaibifyError as error:
            fact = _fault(path, error, _ANEW[kind].format(as_word(slug)))
        if is_settled(stamp[:4], started) and times.are_kept_on(here.device()):
            self._parsed[path] = (stamp, fact)
        return fact

    def _present(self, kind: str) -> frozenset[str]:
        """Return the slugs of the fact files of a kind."""
        try:
            with self._tree.inside(f".vaibify/{kind}/{self.stem}") as here:
                names = here.names() if here is not None else []
        except VaibifyError:
            return frozenset()
        return frozenset(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))

    def _stamps(self, kind: str, slugs: Sequence[str]) -> list[_Stamp | None]:
        try:
            with self._tree.inside(f".vaibify/{kind}/{self.stem}") as here:
                return _stamps(here, slugs)
        except VaibifyError:
            return [None] * len(slugs)

    def _write(self, kind: str, slug: str, data: bytes, parse: _Parser[object]) -> str | None:
        path = self.path(kind, slug)
        kept = None
        if isinstance(self._those(kind, [slug], parse).get(slug), FactFault):
            kept = f"{LOCAL}/replaced/{time.time_ns()}-{kind}-{self.stem}-{slug}.json"
            self._tree.move(path, kept)
        with self._writing:
            self._tree.write(path, data)
            self._parsed.pop(path, None)
            self._own[path] = self._stamps(kind, [slug])[0]
        return kept


def _by_kind(facts: Facts) -> Mapping[str, Mapping[str, object]]:
    return {RECORDS: facts.records, MARKERS: facts.markers, SIGN_OFFS: facts.sign_offs}


def recorded_stems(tree: Tree) -> list[str]:
    """Return the stems of the workflows of which something is recorded, sorted."""
    try:
        with tree.inside(f".vaibify/{RECORDS}") as here:
            names = sorted(here.names()) if here is not None else []
            statuses = here.statuses(names) if here is not None else []
    except VaibifyError:
        return []
    there = zip(names, statuses, strict=True)
    return [name for name, status in there if status and stat.S_ISDIR(status.st_mode)]


def _stamps(here: Directory | None, slugs: Sequence[str]) -> list[_Stamp | None]:
    if here is None:
        return [None] * len(slugs)
    statuses = here.statuses(slug + _SUFFIX for slug in slugs)
    return [None if one is None else _stamp_of(one) for one in statuses]


def _stamp_of(status: os.stat_result) -> _Stamp:
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return (status.st_size, *times, status.st_ino, status.st_mode)


def _pointer(path: str, data: bytes) -> FactFault | None:
    if pointer_in(data) is None:
        return None
    text = f"{path} holds a git LFS pointer, not the content"
    return FactFault(path, text, "git lfs pull", "pointer")


def _fault(path: str, error: VaibifyError, anew: str) -> FactFault:
    """Return what to say of a fact that does not read; of another version's nothing is replaced."""
    text = f"{path} {error.text}"
    if isinstance(error, LaterFormat):
        return FactFault(path, text, "update vaibify_lab")
    if error.action:
        return FactFault(path, text, error.action)
    return FactFault(path, text, anew, "damaged")
