"""A merge that nobody finished: git's marks in a step's inputs, code and tests.

Git writes into files that it knows; others, which may be large, are not read for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vaibify_lab.core.commands import named_by
from vaibify_lab.core.errors import MissingFile, UnsafePath
from vaibify_lab.core.finding import Finding
from vaibify_lab.core.model import Step
from vaibify_lab.core.observed import GitSnapshot
from vaibify_lab.core.paths import as_word, shown
from vaibify_lab.files.conflicts import Conflict, conflict_in
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.preflight.inspection import Inspection

_KEEP_ONE = "keep what is right, and take out the lines that begin with <<<<<<<, ======= or >>>>>>>"


class Conflicts:
    """Looks for conflicts in what steps read, run and are tested with; in each file once."""

    def __init__(self, tree: Tree, snapshot: GitSnapshot) -> None:
        self._tree, self._snapshot = tree, snapshot
        self._found: dict[str, Conflict | None] = {}

    def before(
        self, inspection: Inspection, step: Step, planned: frozenset[str]
    ) -> Iterator[Finding]:
        """Yield those that a run would meet: what a planned step makes anew is passed over."""
        makers = inspection.producers
        inputs = [one for one in step.inputs if not planned.intersection(makers.of([one]))]
        return self.of(step, [*inputs, *inspection.code[step.slug].files])

    def of(self, step: Step, paths: Iterable[str]) -> Iterator[Finding]:
        """Yield those in files and folders of a step, and in its tests."""
        wanted = [*paths, *filter(None, [step.notebook])]
        for suite in step.suites:
            wanted += filter(None, [suite.file, suite.standards])
            wanted += named_by(suite.commands, step.directory).scripts
        for path in dict.fromkeys(one for each in wanted for one in _files(self._tree, each)):
            found = self._in(path)
            if found is not None:
                is_unmerged = path in self._snapshot.unmerged
                yield _finding(step, path, found, is_unmerged=is_unmerged)

    def _in(self, path: str) -> Conflict | None:
        if path not in self._found:
            is_known = path in self._snapshot.index or path in self._snapshot.unmerged
            self._found[path] = conflict_in(self._tree, path) if is_known else None
        return self._found[path]


def _files(tree: Tree, path: str) -> list[str]:
    if not path.endswith("/"):
        return [path]
    try:
        return tree.list_files(path, strict=False)
    except (MissingFile, UnsafePath):  # which is said as such
        return []


def _finding(step: Step, path: str, found: Conflict, *, is_unmerged: bool) -> Finding:
    """Return an error where git says so too; else somebody may mean these lines."""
    where = f"line {found.line}: {found.mark!r}"
    if is_unmerged:
        text = f"{shown(path)!r} is in conflict: a merge is not finished ({where})"
        action = f"{_KEEP_ONE}, then git add -- {as_word(path)}"
        return Finding("error", "in-conflict", text, step.slug, path, action)
    text = f"{shown(path)!r} holds what git writes where a merge has a conflict ({where})"
    return Finding("warning", "conflict-marks", text, step.slug, path, _KEEP_ONE)
