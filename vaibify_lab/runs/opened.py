"""A repository opened: its tree, its git, its workflows, and one way to look at each of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from vaibify_lab.core import workflow_file
from vaibify_lab.core.errors import InvalidFile, MissingFile, UsageError
from vaibify_lab.core.facts import FactFault, Facts, SignatureState, SignOff, SignOffs
from vaibify_lab.core.model import Workflow
from vaibify_lab.core.paths import fault_of
from vaibify_lab.core.report import StepReport
from vaibify_lab.core.status import derive
from vaibify_lab.core.world import Live, World
from vaibify_lab.files import signing
from vaibify_lab.files.factstore import LOCAL, FactStore
from vaibify_lab.files.git import Repository
from vaibify_lab.files.statcache import StatCache, default_store
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs.live import live_of
from vaibify_lab.runs.look import Observer
from vaibify_lab.runs.project_file import ProjectFile, read_project_file

DEFAULT = "workflow.json"
_FOLDER = ".vaibify/workflows"
_OLD_FOLDER = ".vaibify/projects"


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a workflow: what was declared, what was recorded, what is there, what follows."""

    workflow: Workflow
    facts: Facts
    world: World
    reports: tuple[StepReport, ...]
    project: ProjectFile


class Opened:
    """A project's repository. Keep it: a second look costs a stat walk."""

    def __init__(self, start: Path, *, cached: bool = True) -> None:
        self.repository = Repository.find(start)
        self.tree = Tree(self.repository.root)
        store = default_store(self.repository.root) if cached else None
        self.cache = StatCache(self.tree, store)
        self.observer = Observer(self.tree, self.repository, self.cache)
        self._stores: dict[str, FactStore] = {}
        self._workflows: dict[str, tuple[bytes, Workflow]] = {}
        self._signatures: dict[tuple[bytes, str, str], SignatureState] = {}

    def workflow_paths(self) -> tuple[str, ...]:
        """Return the repository paths of its workflows: the root's first, then by name."""
        found = {DEFAULT: None} if self.tree.lstat(DEFAULT) is not None else {}
        if self.tree.exists_as_directory(_FOLDER):
            kept = self.tree.list_files(_FOLDER, strict=False)
            found |= dict.fromkeys(path for path in kept if path.endswith(".json"))
        tracked = sorted(self.repository.snapshot().index)
        found |= dict.fromkeys(
            path
            for path in tracked
            if path.endswith("/" + DEFAULT)
            and not path.startswith(".vaibify/")
            and self.tree.lstat(path) is not None
        )
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
        workflow = self._parsed(path)
        stem = workflow.stem
        for other in self.workflow_paths():
            same = other.rsplit("/", 1)[-1].removesuffix(".json").casefold() == stem.casefold()
            if other != path and same:
                text = f"has the same file name as {other}, and so the same facts"
                raise InvalidFile(text, where=path, action="rename one of the two files")
        return workflow

    def _parsed(self, path: str) -> Workflow:
        """Parse a workflow file, unless it has the bytes that were parsed last."""
        data = self.tree.read(path)
        kept = self._workflows.get(path)
        if kept is None or kept[0] != data:
            kept = self._workflows[path] = (data, workflow_file.parse(data, path))
        return kept[1]

    def project_file(self) -> ProjectFile:
        """Read vaibify.yml."""
        return read_project_file(self.tree)

    def facts_of(self, workflow: Workflow) -> FactStore:
        """Return the fact files of a workflow."""
        return self._stores.setdefault(workflow.stem, FactStore(self.tree, workflow.stem))

    def look(self, path: str) -> Look:
        """Look at a workflow now."""
        workflow = self.workflow(path)
        project = self.project_file()
        facts = self._checked(workflow)
        world = self.observer.world(workflow, facts, project, self.live(workflow))
        return Look(workflow, facts, world, derive(workflow, facts, world), project)

    def live(self, workflow: Workflow) -> Mapping[str, Live]:
        """Return what a run in progress says; nothing where git tracks this machine's files."""
        if self.local_is_tracked():
            return {}
        return live_of(self.tree.root, workflow.stem)

    def local_is_tracked(self) -> bool:
        """Tell whether the repository ships files that only this machine may write."""
        dotted = (path.casefold() for path in self.repository.snapshot().index if path[0] == ".")
        whole = (".vaibify", LOCAL)  # an entry of that name is a link or a submodule
        return any(path in whole or path.startswith(LOCAL + "/") for path in dotted)

    def _named(self, named: str, paths: tuple[str, ...]) -> str:
        by_stem = [one for one in paths if one.rsplit("/", 1)[-1].removesuffix(".json") == named]
        if named in paths:
            return named
        if len(by_stem) == 1:
            return by_stem[0]
        if fault_of(named) is None and self.tree.lstat(named) is not None:
            return named
        have = ", ".join(paths) or "none"
        raise MissingFile(f"there is no workflow {named!r} (there are: {have})")

    def _checked(self, workflow: Workflow) -> Facts:
        """Load the facts, with the last signature of each step checked."""
        facts = self.facts_of(workflow).load([step.slug for step in workflow.steps])
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
