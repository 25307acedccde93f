"""Which files matter to a workflow now: declared folders listed, code and tests followed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.facts import Facts, RunRecord, TestMarker
from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.files.imports import CodeScan, CodeScanner
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.scouting import Own, Scouting

_NONE = Facts()


@dataclass(slots=True)
class Folders:
    """Declared folders, each listed once a look."""

    tree: Tree
    files: dict[str, tuple[str, ...]] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)

    def expand(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Replace declared folders by the files below them."""
        found: dict[str, None] = {}
        for path in paths:
            if path.endswith("/"):
                if path not in self.files:
                    self._list(path)
                found.update(dict.fromkeys(self.files[path]))
            else:
                found[path] = None
        return tuple(found)

    def _list(self, path: str) -> None:
        try:
            exists = self.tree.exists_as_directory(path)
            self.files[path] = tuple(self.tree.list_files(path)) if exists else ()
        except VaibifyError as error:
            self.faults[path] = str(error)
            self.files[path] = self._what_can_be_listed(path)

    def _what_can_be_listed(self, path: str) -> tuple[str, ...]:
        try:
            return tuple(self.tree.list_files(path, strict=False))
        except VaibifyError:
            return ()


@dataclass(frozen=True, slots=True)
class Reach:
    """The files that matter to each step, by slug; folders are those that were listed for it.

    ``declared`` are outputs, inputs and what only tests refer to; ``code`` what the commands reach;
    ``tests`` the files that decide what the tests say. ``notebooks`` are those that are run, and
    that nothing of the step reads otherwise.
    """

    declared: Mapping[str, tuple[str, ...]]
    code: Mapping[str, CodeScan]
    tests: Mapping[str, tuple[str, ...]]
    folders: Folders
    notebooks: Mapping[str, str] = field(default_factory=dict)


def _without(scan: CodeScan, own: Mapping[str, str]) -> CodeScan:
    """Return a scan without the files that the step makes itself."""
    if not own:
        return scan
    return dataclasses.replace(scan, files=tuple(one for one in scan.files if one not in own))


def _loaded_by_tests(facts: Facts) -> dict[str, Iterable[str]]:
    """Return, by slug, the files that decided what a step's tests said, as its marker has them."""
    markers = facts.markers.items()
    return {slug: one.test_hashes for slug, one in markers if isinstance(one, TestMarker)}


def _own_code(facts: Facts) -> dict[str, Mapping[str, str]]:
    """Return, by slug, the code that a step's last passed run made itself."""
    records = facts.records.items()
    passed = {slug: one.passed for slug, one in records if isinstance(one, RunRecord)}
    return {slug: one.own_code for slug, one in passed.items() if one and one.own_code}


class Scout:
    """Finds the files that matter; remembers what code said as long as it is the same."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._scanner = CodeScanner(tree)
        self._own: Own = {}

    def reach(self, workflow: Workflow, facts: Facts = _NONE) -> Reach:
        """Return every file that matters to a workflow, all seen at one moment.

        Files that tests said they loaded are among those of the tests, and code that a step made
        itself is none of its code.
        """
        loaded, own = _loaded_by_tests(facts), _own_code(facts)
        folders = Folders(self._tree)
        declared = {
            step.slug: folders.expand((*step.outputs, *step.inputs, *step.test_inputs))
            for step in workflow.steps
        }
        with self._scanner.moment() as moment:
            moment.look_ahead()
            look = Scouting(moment, self._tree, self._own)
            code = {
                step.slug: _without(look.code_of(step), own.get(step.slug, {}))
                for step in workflow.steps
            }
            tests = {
                step.slug: look.test_files(step, loaded.get(step.slug, ()))
                for step in workflow.steps
            }
            books = {step.slug: look.notebook_of(step) for step in workflow.steps}
        notebooks = {slug: path for slug, path in books.items() if path is not None}
        return Reach(declared, code, tests, folders, notebooks)

    def code_of(self, step: Step) -> CodeScan:
        """Return the code that a step's commands reach, and the modules it misses."""
        with self._scanner.moment() as moment:
            return Scouting(moment, self._tree, self._own).code_of(step)

    def notebook_of(self, step: Step) -> str | None:
        """Return the notebook of which nothing counts but what runs in it; None where all does."""
        with self._scanner.moment() as moment:
            return Scouting(moment, self._tree, self._own).notebook_of(step)

    def test_files(self, step: Step) -> tuple[str, ...]:
        """Return the files that decide what a step's tests say."""
        with self._scanner.moment() as moment:
            return Scouting(moment, self._tree, self._own).test_files(step)
