"""What runs in the notebooks of steps, worked out only where their bytes alone do not tell."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.facts import Facts, RunRecord
from vaibify_lab.core.observed import MISSING, FileState
from vaibify_lab.files.directory import READ_LIMIT
from vaibify_lab.files.tree import Tree
from vaibify_lab.notebooks.what_runs import what_runs

_KEPT = 4096


class NotebookDigests:
    """Digests of what notebooks run, remembered by the hash of their bytes."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._known: dict[str, str | None] = {}

    def of(self, path: str, state: FileState) -> str | None:
        """Return the digest of a notebook in this very state; None where it cannot be told."""
        if state.kind != "file" or state.sha256 is None:
            return None
        if state.sha256 not in self._known:
            try:
                data = self._tree.read(path, READ_LIMIT)
            except VaibifyError:
                return None
            if hashlib.sha256(data).hexdigest() != state.sha256:  # it was changed since
                return None
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[state.sha256] = what_runs(data)
        return self._known.get(state.sha256)

    def saved_again(
        self, notebooks: Mapping[str, str], facts: Facts, files: Mapping[str, FileState]
    ) -> Mapping[str, str]:
        """Return the digests of those whose bytes are not those of the last passed run, by slug."""
        found = {}
        for slug, path in notebooks.items():
            record = facts.records.get(slug)
            passed = record.passed if isinstance(record, RunRecord) else None
            if passed is None or passed.notebook is None:
                continue
            state = files.get(path, MISSING)
            digest = self.of(path, state) if passed.pins.code.get(path) != state.sha256 else None
            found.update({slug: digest} if digest is not None else {})
        return found
