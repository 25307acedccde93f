"""A look: everything that ``derive`` needs to know of the disk, hashed only where it changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.facts import Facts, RunRecord, SignOffs, TestMarker
from vaibify_lab.core.memory import Memory
from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.core.observed import FileState, GitSnapshot
from vaibify_lab.core.world import Live, World
from vaibify_lab.envelope import environment
from vaibify_lab.files.clone_reasons import GITLINK, above, ignore_rules
from vaibify_lab.files.git import Repository
from vaibify_lab.files.own import read_own
from vaibify_lab.files.statcache import StatCache
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.notebook_digests import NotebookDigests
from vaibify_lab.runs.processes import machine_id
from vaibify_lab.runs.project_file import ProjectFile
from vaibify_lab.runs.reach import Folders, Reach, Scout

LOCK = "requirements.lock"
States = Mapping[str, FileState]
Blobs = Mapping[str, str | None]


class Observer:
    """Looks at one repository; keeps what it learnt for the next look."""

    def __init__(self, tree: Tree, repository: Repository, cache: StatCache) -> None:
        self.tree = tree
        self.repository = repository
        self.cache = cache
        self.scout = Scout(tree)
        self.memory = Memory()
        self.notebooks = NotebookDigests(tree)

    def seen(self, reach: Reach, facts: Facts) -> tuple[States, Blobs]:
        """Return states and git blob ids of the files that matter, or that facts speak of, now."""
        object_format = self.repository.snapshot().object_format
        return self.cache.observe_both(self.memory.of(_wanted, reach, facts), object_format)

    def world(
        self,
        reach: Reach,
        facts: Facts,
        files: States,
        project: ProjectFile,
        live: Mapping[str, Live] | None = None,
    ) -> World:
        """Return what surrounds the files that were seen, and them."""
        image, fault = self.pinned_image()
        return World(
            files=files,
            folders=reach.folders.files,
            folder_faults=reach.folders.faults,
            code={slug: scan.files for slug, scan in reach.code.items()},
            code_computed={slug: scan.computed for slug, scan in reach.code.items()},
            test_files=reach.tests,
            notebooks=self.notebooks.saved_again(reach.notebooks, facts, files),
            image=image,
            lock=files[LOCK].sha256,
            network_isolation=project.network_isolation,
            environment_fault=fault,
            live=live or {},
            machine=machine_id(),
        )

    def consumed_paths(
        self, step: Step, previous: RunRecord | None
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the files that a step would consume now: inputs, then code.

        Without the code that its last passed run made itself.
        """
        passed = previous.passed if previous is not None else None
        own = passed.own_code if passed is not None else {}
        code = self.scout.code_of(step).files
        return self.expand(step.inputs), tuple(path for path in code if path not in own)

    def step_world(
        self, workflow: Workflow, step: Step, project: ProjectFile, record: RunRecord
    ) -> World:
        """Return what is seen of one step alone, enough to compare it with its last passed run."""
        alone = Workflow(path=workflow.path, name=workflow.name, steps=(step,))
        facts = Facts(records={step.slug: record})
        reach = self.scout.reach(alone, facts)
        files, _ = self.seen(reach, facts)
        return self.world(reach, facts, files, project)

    def pinned_image(self) -> tuple[str | None, str]:
        """Return the config digest that environment.json pins, and why it cannot be believed."""
        try:
            if self.tree.lstat(environment.NAME) is None:
                return None, ""
            found = environment.parse_environment(read_own(self.tree, environment.NAME))
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


def _wanted(reach: Reach, facts: Facts) -> list[str]:
    """Return the paths to look at: the files that matter, and those that facts speak of."""
    wanted: dict[str, None] = {LOCK: None}
    for slug, declared in reach.declared.items():
        wanted.update(dict.fromkeys(declared))
        wanted.update(dict.fromkeys(reach.code[slug].files))
        wanted.update(dict.fromkeys(reach.tests[slug]))
    wanted.update(dict.fromkeys(_pinned(facts)))
    return list(wanted)


def _pinned(facts: Facts) -> Iterable[str]:
    """Yield every path that a fact speaks of."""
    for record in facts.records.values():
        passed = record.passed if isinstance(record, RunRecord) else None
        if passed is not None:
            yield from passed.pins.inputs
            yield from passed.pins.outputs
            yield from passed.pins.code
            yield from passed.own_code
            yield from passed.undeclared_reads
            yield from passed.undeclared_names
    for marker in facts.markers.values():
        if isinstance(marker, TestMarker):
            yield from marker.output_hashes
            yield from marker.input_hashes
            yield from marker.test_hashes
    for signed in facts.sign_offs.values():
        if isinstance(signed, SignOffs):
            yield from signed.entries[-1].hashes
