"""Fact files on disk: read with every doubt kept, written whole, never over one that is unread."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from vaibify_lab.core import fact_files
from vaibify_lab.core.errors import MissingFile, VaibifyError
from vaibify_lab.core.facts import FactFault, Facts, RunRecord, SignOffs, TestMarker
from vaibify_lab.core.paths import as_word
from vaibify_lab.files.statcache import is_settled
from vaibify_lab.files.tree import Tree

RECORDS, MARKERS, SIGN_OFFS = "records", "test_markers", "sign_offs"
LOCAL = ".vaibify/local"
_LIMIT = 16 * 2**20
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
        return f".vaibify/{kind}/{self.stem}/{slug}.json"

    def load(self, slugs: Iterable[str]) -> Facts:
        """Read every fact of the steps; what does not fit becomes a `FactFault`."""
        names = tuple(slugs)
        records = self._all(RECORDS, names, fact_files.parse_record)
        markers = self._all(MARKERS, names, fact_files.parse_marker)
        sign_offs = self._all(SIGN_OFFS, names, fact_files.parse_sign_offs)
        return Facts(records, markers, sign_offs, self._orphans(frozenset(names)))

    def write_record(self, record: RunRecord) -> str | None:
        """Write a record; return where an unreadable one that stood there was kept."""
        return self._write(RECORDS, record.step, fact_files.dump_record(record))

    def write_marker(self, marker: TestMarker) -> str | None:
        """Write a test marker; return where an unreadable one that stood there was kept."""
        return self._write(MARKERS, marker.step, fact_files.dump_marker(marker))

    def write_sign_offs(self, sign_offs: SignOffs) -> str | None:
        """Write a step's sign-offs; return where unreadable ones that stood there were kept."""
        return self._write(SIGN_OFFS, sign_offs.step, fact_files.dump_sign_offs(sign_offs))

    def paths(self, slugs: Iterable[str]) -> list[str]:
        """Return the repository paths of the fact files that exist."""
        kinds = (RECORDS, MARKERS, SIGN_OFFS)
        candidates = [self.path(kind, slug) for slug in slugs for kind in kinds]
        return [path for path in candidates if self._stamp(path) is not None]

    def stamps(self) -> dict[str, _Stamp | None]:
        """Return the stamps of every fact file of the workflow, to notice forgeries later."""
        found = {}
        for kind in (RECORDS, MARKERS, SIGN_OFFS):
            for name in self._present(kind):
                path = f".vaibify/{kind}/{self.stem}/{name}"
                found[path] = self._stamp(path)
        return found

    def changed_by_others(self, before: Mapping[str, _Stamp | None], slug: str) -> list[str]:
        """Return fact files that changed since ``before`` and were not written by this store.

        Sign-offs of steps other than ``slug`` are left out: people sign while a run goes on.
        """
        with self._writing:
            now = self.stamps()
        signed = self.path(SIGN_OFFS, slug)
        elsewhere = f".vaibify/{SIGN_OFFS}/"
        return [
            path
            for path in sorted(now.keys() | before.keys())
            if now.get(path) != before.get(path)
            and (path not in self._own or now.get(path) != self._own[path])
            and (not path.startswith(elsewhere) or path == signed)
        ]

    def _all(
        self, kind: str, slugs: tuple[str, ...], parse: _Parser[_Fact]
    ) -> dict[str, _Fact | FactFault]:
        present = self._present(kind)
        found: dict[str, _Fact | FactFault] = {}
        for slug in slugs:
            if f"{slug}.json" in present:
                fact = self._one(self.path(kind, slug), slug, parse)
                if fact is not None:
                    found[slug] = fact
        return found

    def _one(self, path: str, slug: str, parse: _Parser[_Fact]) -> _Fact | FactFault | None:
        started = time.time_ns()
        stamp = self._stamp(path)
        known = self._parsed.get(path)
        if known is not None and stamp is not None and known[0] == stamp:
            return known[1]  # type: ignore[return-value]  # one parser per path
        fact: _Fact | FactFault
        try:
            fact = parse(self._tree.read(path, _LIMIT), path, self.stem, slug)
        except MissingFile:
            if stamp is None:
                return None
            fact = FactFault(path, f"{path} cannot be read", "make it readable")
        except VaibifyError as error:
            fact = FactFault(path, f"{path} {error.text}", _remedy(path, error))
        if stamp is not None and is_settled(stamp[:4], started):
            self._parsed[path] = (stamp, fact)
        return fact

    def _present(self, kind: str) -> frozenset[str]:
        folder = f".vaibify/{kind}/{self.stem}"
        try:
            files = self._tree.list_files(folder, strict=False)
        except VaibifyError:
            return frozenset()
        return frozenset(path.removeprefix(folder + "/") for path in files)

    def _orphans(self, slugs: frozenset[str]) -> tuple[str, ...]:
        found = []
        for kind in (RECORDS, MARKERS, SIGN_OFFS):
            present = sorted(name for name in self._present(kind) if name.endswith(".json"))
            stems = [name.removesuffix(".json") for name in present]
            found += [self.path(kind, stem) for stem in stems if stem not in slugs]
        return tuple(found)

    def _write(self, kind: str, slug: str, data: bytes) -> str | None:
        path = self.path(kind, slug)
        kept = None
        fault = self._all_of(kind, slug)
        if isinstance(fault, FactFault):
            kept = f"{LOCAL}/replaced/{time.time_ns()}-{kind}-{self.stem}-{slug}.json"
            self._tree.move(path, kept)
        with self._writing:
            self._tree.write(path, data)
            self._parsed.pop(path, None)
            self._own[path] = self._stamp(path)
        return kept

    def _all_of(self, kind: str, slug: str) -> object:
        parsers: dict[str, _Parser[object]] = {
            RECORDS: fact_files.parse_record,
            MARKERS: fact_files.parse_marker,
            SIGN_OFFS: fact_files.parse_sign_offs,
        }
        return self._all(kind, (slug,), parsers[kind]).get(slug)

    def _stamp(self, path: str) -> _Stamp | None:
        try:
            status = self._tree.lstat(path)
        except VaibifyError:
            return (0, 0, 0, 0, 0)
        if status is None:
            return None
        return (*_times(status), status.st_ino, status.st_mode)


def _times(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _remedy(path: str, error: VaibifyError) -> str:
    if "conflict markers" in error.text:
        return f"git checkout --ours -- {as_word(path)}, or run the step again"
    return error.action or f"git checkout -- {as_word(path)}, or run the step again"
