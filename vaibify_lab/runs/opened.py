"""A repository opened: its tree, its git, its workflows, and one way to look at each of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from vaibify_lab.core import workflow_file
from vaibify_lab.core.errors import InvalidFile, MissingFile, UsageError
from vaibify_lab.core.facts import (
    FactFault,
    Facts,
    RunRecord,
    SignatureState,
    SignOff,
    SignOffs,
)
from vaibify_lab.core.memory import Memory
from vaibify_lab.core.model import Workflow
from vaibify_lab.core.observed import GitSnapshot
from vaibify_lab.core.paths import as_word, fault_of
from vaibify_lab.core.report import StepReport
from vaibify_lab.core.status import derive
from vaibify_lab.core.unsaid import with_readers
from vaibify_lab.core.world import Live, World
from vaibify_lab.envelope import manifest
from vaibify_lab.envelope.manifest import Manifest
from vaibify_lab.files import signing
from vaibify_lab.files.clone import CloneCheck
from vaibify_lab.files.fact_remedies import FactRemedies
from vaibify_lab.files.factstore import DRAFTS, LOCAL, FactStore, recorded_stems
from vaibify_lab.files.git import Repository
from vaibify_lab.files.own import read_own
from vaibify_lab.files.statcache import StatCache, default_store
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.live import live_of
from vaibify_lab.runs.look import Blobs, Observer
from vaibify_lab.runs.project_file import ProjectFile, read_project_file
from vaibify_lab.runs.reach import Reach

DEFAULT = "workflow.json"
_FOLDER = ".vaibify/workflows"
_OLD_FOLDER = ".vaibify/projects"


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a workflow: what was declared, what was recorded, what is there, what follows.

    ``blobs`` are git's ids of the bytes of the world's files, None where there are none.
    """

    workflow: Workflow
    facts: Facts
    reach: Reach
    world: World
    blobs: Blobs
    reports: tuple[StepReport, ...]
    project: ProjectFile


class Opened:
    """A project's repository. Keep it: a second look costs a stat walk."""

    def __init__(self, start: Path, *, cached: bool = True) -> None:
        self.repository = Repository.find(start)
        self.tree = Tree(self.repository.root, DRAFTS)
        store = default_store(self.repository.root) if cached else None
        self.cache = StatCache(self.tree, store)
        self.observer = Observer(self.tree, self.repository, self.cache)
        self.memory = Memory()
        self.clones = CloneCheck(self.repository)
        self._remedies = FactRemedies(self.repository)
        self._stores: dict[str, FactStore] = {}
        self._signatures: dict[tuple[bytes, str, str], SignatureState] = {}

    def workflow_paths(self) -> tuple[str, ...]:
        """Return the repository paths of its workflows: the root's first, then by name."""
        found = {DEFAULT: None} if self.tree.lstat(DEFAULT) is not None else {}
        if self.tree.exists_as_directory(_FOLDER):
            kept = self.tree.list_files(_FOLDER, strict=False)
            found |= dict.fromkeys(path for path in kept if path.endswith(".json"))
        tracked = self._of_index().workflows
        found |= dict.fromkeys(path for path in tracked if self.tree.lstat(path) is not None)
        return tuple(found)

    def choose(self, named: str | None) -> str:
        """Return the workflow to use: the one named, else the only one, else the root's.

        Raises
        ------
        MissingFile, UsageError
        """
        if named is not None:
            return self._named(named, self.workflow_paths())
        paths = self.require_workflows()
        if DEFAULT in paths or len(paths) == 1:
            return DEFAULT if DEFAULT in paths else paths[0]
        raise UsageError(
            f"there are several workflows: {', '.join(paths)}", action="name one by --workflow"
        )

    def passed_over(self, start: Path) -> str | None:
        """Return the workflow file of the folder ``start`` where another one is taken unasked."""
        try:
            inside = start.resolve().relative_to(self.tree.root).as_posix()
        except ValueError:
            return None
        near = f"{inside}/{DEFAULT}"
        if inside == "." or self.tree.lstat(near) is None or self.tree.lstat(DEFAULT) is None:
            return None
        return near

    def require_workflows(self) -> tuple[str, ...]:
        """Return the paths of its workflows, of which there is at least one.

        Raises
        ------
        MissingFile
        """
        paths = self.workflow_paths()
        if paths:
            return paths
        old = self.tree.exists_as_directory(_OLD_FOLDER)
        note = " (a project of the original Vaibify is here, not readable yet)" if old else ""
        raise MissingFile(
            f"there is no workflow.json in this repository{note}",
            where=str(self.tree.root),
            action="make one with: jupyter vaibify init",
        )

    def workflow(self, path: str) -> Workflow:
        """Read a workflow; refuse two whose facts would share a folder."""
        workflow = self.memory.of(workflow_file.parse, read_own(self.tree, path), path, name=path)
        stem = workflow.stem
        for other in self.workflow_paths():
            same = other.rsplit("/", 1)[-1].removesuffix(".json").casefold() == stem.casefold()
            if other != path and same:
                text = f"has the same file name as {other}, and so the same facts"
                raise InvalidFile(text, where=path, action="rename one of the two files")
        return workflow

    def project_file(self) -> ProjectFile:
        """Read vaibify.yml."""
        return read_project_file(self.tree)

    def manifest(self) -> Manifest | None:
        """Read the manifest; None where there is none. The same bytes are parsed once."""
        if self.tree.lstat(manifest.NAME) is None:
            return None
        return self.memory.of(manifest.parse_manifest, read_own(self.tree, manifest.NAME))

    def facts_of(self, workflow: Workflow) -> FactStore:
        """Return the fact files of a workflow."""
        return self.store_of(workflow.stem)

    def store_of(self, stem: str) -> FactStore:
        """Return the fact files that a workflow's stem names."""
        return self._stores.setdefault(stem, FactStore(self.tree, stem))

    def records(self) -> list[RunRecord]:
        """Return every record of the repository that can be read, of whatever workflow."""
        stores = (self.store_of(stem) for stem in recorded_stems(self.tree))
        return [record for store in stores for record in store.records()]

    def look(self, path: str) -> Look:
        """Look at a workflow now."""
        return self.look_at(self.workflow(path))

    def look_at(self, workflow: Workflow) -> Look:
        """Look at a workflow that was read."""
        project = self.project_file()
        facts = self._checked(workflow)
        workflow = self.memory.of(with_readers, workflow, facts, name=workflow.path)
        reach = self.observer.scout.reach(workflow, facts)
        files, blobs = self.observer.seen(reach, facts)
        world = self.observer.world(reach, facts, files, project, self.live(workflow))
        reports = self.memory.of(derive, workflow, facts, world, name=workflow.path)
        return Look(workflow, facts, reach, world, blobs, reports, project)

    def reach(self, workflow: Workflow) -> Reach:
        """Return the files that matter to a workflow now."""
        facts = self.facts_of(workflow).load(workflow.by_slug)
        return self.observer.scout.reach(workflow, facts)

    def live(self, workflow: Workflow) -> Mapping[str, Live]:
        """Return what a run in progress says; nothing where git tracks this machine's files."""
        if self.local_is_tracked():
            return {}
        return live_of(self.tree.root, workflow.stem)

    def local_is_tracked(self) -> bool:
        """Tell whether the repository ships files that only this machine may write."""
        return self._of_index().holds_local

    def _of_index(self) -> _Index:
        return self.memory.of(_Index.of, self.repository.snapshot())

    def _named(self, named: str, paths: tuple[str, ...]) -> str:
        by_stem = [one for one in paths if one.rsplit("/", 1)[-1].removesuffix(".json") == named]
        if named in paths:
            return named
        if len(by_stem) == 1:
            return by_stem[0]
        if fault_of(named) is None and self.tree.lstat(named) is not None:
            raise self._elsewhere(named)
        have = ", ".join(paths) or "none"
        raise MissingFile(f"there is no workflow {named!r} (there are: {have})")

    def _elsewhere(self, named: str) -> UsageError:
        """Return what is wrong with a workflow that no other verb, and no clone, would find."""
        if named.endswith(f"/{DEFAULT}"):
            text, action = (
                "is not tracked by git, so that no clone has it",
                f"git add {as_word(named)}",
            )
        else:
            text = "lies where nobody looks for a workflow"
            action = f"move it into {_FOLDER}/, or call it {DEFAULT} in a folder of its own"
        return UsageError(text, where=named, action=action)

    def _checked(self, workflow: Workflow) -> Facts:
        """Load the facts, with the last signature of each step checked, and what mends the rest."""
        read = self.facts_of(workflow).load([step.slug for step in workflow.steps])
        facts = self._remedies.mended(read, workflow)
        checked: dict[str, SignOffs | FactFault] = {}
        for slug, found in facts.sign_offs.items():
            if isinstance(found, SignOffs) and found.entries[-1].signature:
                last = self._with_signature(found.entries[-1], workflow.stem, slug)
                checked[slug] = dataclasses.replace(found, entries=(*found.entries[:-1], last))
        if not checked:
            return facts
        return dataclasses.replace(facts, sign_offs={**facts.sign_offs, **checked})

    def _with_signature(self, entry: SignOff, stem: str, slug: str) -> SignOff:
        content = entry.signed_content(stem, slug)
        key = (content, entry.signature or "", entry.key or "")
        if key not in self._signatures:
            self._signatures[key] = signing.check(content, entry.signature or "", entry.key or "")
        return dataclasses.replace(entry, signature_state=self._signatures[key])


@dataclass(frozen=True, slots=True)
class _Index:
    """What a look asks of git's index, which may be long: read once while it is the same."""

    workflows: tuple[str, ...]
    holds_local: bool

    @classmethod
    def of(cls, snapshot: GitSnapshot) -> Self:
        named = (path for path in snapshot.index if path.endswith("/" + DEFAULT))
        workflows = (path for path in sorted(named) if not path.startswith(".vaibify/"))
        dotted = (path.casefold() for path in snapshot.index if path[0] == ".")
        whole = (".vaibify", LOCAL)  # an entry of that name is a link or a submodule
        local = any(path in whole or path.startswith(LOCAL + "/") for path in dotted)
        return cls(tuple(workflows), local)
