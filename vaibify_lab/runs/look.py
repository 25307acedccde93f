"""A look: everything that ``derive`` needs to know of the disk, hashed only where it changed."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from vaibify_lab.core.commands import Named, looks_like_code, named_by
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.facts import Facts, RunRecord, SignOffs, TestMarker
from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.core.observed import GitSnapshot
from vaibify_lab.core.world import Live, World
from vaibify_lab.envelope import environment
from vaibify_lab.files.clone_reasons import GITLINK, above, ignore_rules
from vaibify_lab.files.git import Repository
from vaibify_lab.files.imports import CodeScan, CodeScanner
from vaibify_lab.files.statcache import StatCache
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.processes import machine_id
from vaibify_lab.runs.project_file import ProjectFile

LOCK = "requirements.lock"
_TEST_FILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test)\.py$")


@dataclass(slots=True)
class Folders:
    """Declared folders, each listed once a look."""

    tree: Tree
    files: dict[str, tuple[str, ...]] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)

    def add(self, paths: Iterable[str]) -> None:
        """List every declared folder among the paths."""
        for path in paths:
            if path.endswith("/") and path not in self.files:
                self._list(path)

    def expand(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Replace declared folders by the files below them."""
        given = tuple(paths)
        self.add(given)
        found: dict[str, None] = {}
        for path in given:
            found.update(dict.fromkeys(self.files[path] if path.endswith("/") else (path,)))
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


class Observer:
    """Looks at one repository; keeps what it learnt for the next look."""

    def __init__(self, tree: Tree, repository: Repository, cache: StatCache) -> None:
        self.tree = tree
        self.repository = repository
        self.cache = cache
        self._scanner = CodeScanner(tree)

    def world(
        self,
        workflow: Workflow,
        facts: Facts,
        project: ProjectFile,
        live: Mapping[str, Live] | None = None,
    ) -> World:
        """Return everything seen of a workflow now."""
        folders = Folders(self.tree)
        code = {step.slug: self.code_of(step).files for step in workflow.steps}
        tests = {step.slug: self.test_files(step) for step in workflow.steps}
        wanted: dict[str, None] = {LOCK: None}
        for step in workflow.steps:
            declared = (*step.outputs, *step.inputs, *step.test_inputs)
            wanted.update(dict.fromkeys(folders.expand(declared)))
            wanted.update(dict.fromkeys(code[step.slug]))
            wanted.update(dict.fromkeys(tests[step.slug]))
        wanted.update(dict.fromkeys(_pinned(facts)))
        files = self.cache.observe(wanted)
        image, fault = self.pinned_image()
        return World(
            files=files,
            folders=folders.files,
            folder_faults=folders.faults,
            code=code,
            test_files=tests,
            image=image,
            lock=files[LOCK].sha256,
            network_isolation=project.network_isolation,
            environment_fault=fault,
            live=live or {},
            machine=machine_id(),
        )

    def consumed_paths(self, step: Step) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the files that a step would consume now: inputs, then code."""
        return self.expand(step.inputs), self.code_of(step).files

    def step_world(
        self, workflow: Workflow, step: Step, project: ProjectFile, record: RunRecord
    ) -> World:
        """Return what is seen of one step alone, enough to compare it with its last passed run."""
        alone = Workflow(path=workflow.path, name=workflow.name, steps=(step,))
        return self.world(alone, Facts(records={step.slug: record}), project)

    def code_of(self, step: Step) -> CodeScan:
        """Return the code that a step's commands reach, and the modules it misses."""
        named = named_by(step.commands, step.directory)
        scripts = step.declared_scripts
        if scripts is None:
            scripts = self.scripts(named, step.directory)
        if step.notebook:
            scripts = (*scripts, step.notebook)
        scan = self._scanner.scan(scripts, step.directory, named.modules)
        if not any(_is_own(path, step) for path in scan.files):
            return scan
        files = tuple(path for path in scan.files if not _is_own(path, step))
        return dataclasses.replace(scan, files=files)

    def scripts(self, named: Named, directory: str) -> tuple[str, ...]:
        """Return the code files that commands name; those that must exist are kept when missing."""
        mentioned = [
            path for path in named.mentioned if looks_like_code(path) and self._is_file(path)
        ]
        return tuple(dict.fromkeys((*named.scripts, *mentioned)))

    def test_files(self, step: Step) -> tuple[str, ...]:
        """Return the files that decide what a step's tests say.

        Those that its test commands name (for a folder, or a bare ``pytest``, the tests below),
        conftest.py above them, the repository's own modules that these import, and the standards.
        """
        found: dict[str, None] = {}
        others: dict[str, None] = {}
        for suite in step.suites:
            found.update(dict.fromkeys(self._named_tests(suite.commands, step.directory)))
            found.update({suite.file: None} if suite.file else {})
            others.update({suite.standards: None} if suite.standards else {})
        for path in list(found):
            found.update(dict.fromkeys(self._conftests(path)))
        reached = self._scanner.scan(tuple(found), step.directory).files if found else ()
        files = dict.fromkeys((*found, *reached, *others))
        return tuple(sorted(path for path in files if not _is_own(path, step)))

    def _named_tests(self, commands: Iterable[str], directory: str) -> list[str]:
        found: list[str] = []
        for command in commands:
            named = named_by([command], directory)
            mentioned = []
            for path in (*named.scripts, *named.mentioned):
                if looks_like_code(path) and self._is_file(path):
                    mentioned.append(path)
                elif path not in (directory, "") and self.tree_has_folder(path):
                    below = self.tree.list_files(path, strict=False)
                    mentioned += [one for one in below if one.endswith(".py")]
            if not mentioned and "pytest" in command:
                below = self.tree.list_files(directory, strict=False)
                mentioned = [one for one in below if _TEST_FILE.search(one)]
            found += mentioned
        return found

    def tree_has_folder(self, path: str) -> bool:
        """Tell whether a path is a folder of the repository."""
        try:
            return self.tree.exists_as_directory(path)
        except VaibifyError:
            return False

    def pinned_image(self) -> tuple[str | None, str]:
        """Return the config digest that environment.json pins, and why it cannot be believed."""
        try:
            if self.tree.lstat(environment.NAME) is None:
                return None, ""
            found = environment.parse_environment(self.tree.read(environment.NAME))
        except VaibifyError as error:
            return None, str(error)
        return found.config_digest, ""

    def expand(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Replace declared folders by the files below them."""
        return Folders(self.tree).expand(paths)

    def dirty(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Return the files whose bytes are not those that HEAD holds."""
        snapshot = self.repository.snapshot()
        blobs = self.cache.blob_ids(paths, snapshot.object_format)
        tree = snapshot.tree
        return tuple(path for path in paths if path not in tree or tree[path][1] != blobs.get(path))

    def not_ignored(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Return the paths that git does not ignore."""
        snapshot = self.repository.snapshot()
        askable = [path for path in paths if not self._is_beyond(path, snapshot)]
        rules = ignore_rules(self.repository, askable)
        return tuple(path for path in paths if path not in rules)

    def _is_beyond(self, path: str, snapshot: GitSnapshot) -> bool:
        """Tell whether a path lies behind a link or in a submodule, of which git will not speak."""
        if any(snapshot.index.get(one, ("",))[0] == GITLINK for one in above(path)):
            return True
        try:
            self.tree.lstat(path)
        except VaibifyError:
            return True
        return False

    def _is_file(self, path: str) -> bool:
        return self.cache.observe([path])[path].kind in ("file", "lfs-pointer", "link")

    def _conftests(self, path: str) -> list[str]:
        parts = path.split("/")[:-1]
        above = ["/".join([*parts[:count], "conftest.py"]) for count in range(len(parts) + 1)]
        return [one for one in above if self._is_file(one)]


def _is_own(path: str, step: Step) -> bool:
    """Tell whether a file is one of the step's own outputs, and so none of its code."""
    return any(path == one or (one[-1] == "/" and path.startswith(one)) for one in step.outputs)


def _pinned(facts: Facts) -> Iterable[str]:
    """Yield every path that a fact speaks of."""
    for record in facts.records.values():
        passed = record.passed if isinstance(record, RunRecord) else None
        if passed is not None:
            yield from passed.pins.inputs
            yield from passed.pins.outputs
            yield from passed.pins.code
    for marker in facts.markers.values():
        if isinstance(marker, TestMarker):
            yield from marker.output_hashes
            yield from marker.input_hashes
            yield from marker.test_hashes
    for signed in facts.sign_offs.values():
        if isinstance(signed, SignOffs):
            yield from signed.entries[-1].hashes
