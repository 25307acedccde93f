"""A workflow and its steps as plain, frozen values. The JSON keys live in ``workflow_file`` alone.

All paths are repository paths (POSIX, relative to the project's root) with variables expanded; a
declared folder keeps its final slash.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from vaibify_lab.core.cell_scripts import script_of

Category = Literal["integrity", "qualitative", "quantitative"]
CATEGORIES: tuple[Category, ...] = ("integrity", "qualitative", "quantitative")


@dataclass(frozen=True, slots=True)
class TestSuite:
    """The tests of one category of a step."""

    category: Category
    commands: tuple[str, ...]
    file: str | None = None
    standards: str | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it names apart from its commands."""
        return tuple(path for path in (self.file, self.standards) if path)


@dataclass(frozen=True, slots=True)
class StepResources:
    """What a step asks of the machine; in no fingerprint."""

    cpus: float | None = None
    memory_megabytes: int | None = None
    gpus: int | None = None
    shm_megabytes: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One step as declared.

    ``slug`` names the step's facts: the step id where given, else the kebab-case of its name.
    ``number`` counts from 1 in the workflow's order. ``inputs`` are all that the step
    consumes: declared, referenced, and every output of a step it names as a dependency.
    ``test_inputs`` are outputs of other steps that only its tests refer to.
    """

    slug: str
    number: int
    name: str
    directory: str = ""
    description: str = ""
    enabled: bool = True
    interactive: bool = False
    plot_only: bool = False
    data_commands: tuple[str, ...] = ()
    plot_commands: tuple[str, ...] = ()
    data_files: tuple[str, ...] = ()
    plot_files: tuple[str, ...] = ()
    output_files: tuple[str, ...] = ()
    declared_inputs: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    no_input_data: bool = False
    parents: tuple[str, ...] = ()
    declared_scripts: tuple[str, ...] | None = None
    notebook: str | None = None
    suites: tuple[TestSuite, ...] = ()
    test_inputs: tuple[str, ...] = ()
    no_tests: bool = False
    tolerances: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    write_anywhere: bool = False
    timeout_seconds: float | None = None
    resources: StepResources = StepResources()

    @property
    def outputs(self) -> tuple[str, ...]:
        """Every declared output, data files first; folders end with a slash."""
        return tuple(dict.fromkeys(self.data_files + self.plot_files + self.output_files))

    def made_among(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return those of the paths that are outputs of this step, also by a folder."""
        outputs = self.outputs
        files = frozenset(outputs)
        folders = tuple([path for path in outputs if path[-1:] == "/"])
        return tuple([path for path in paths if path in files or path.startswith(folders)])

    @property
    def code(self) -> tuple[str, ...]:
        """The code and test files that are declared, apart from those its commands name."""
        own = (*(self.declared_scripts or ()), *((self.notebook,) if self.notebook else ()))
        return (*own, *(path for suite in self.suites for path in suite.files))

    def suites_of(self, category: str | None) -> tuple[TestSuite, ...]:
        """Return the tests of one category; of all, where none is named."""
        return tuple(one for one in self.suites if category in (None, one.category))

    @property
    def commands(self) -> tuple[str, ...]:
        """Data commands, then plot commands: references and variables expanded, root symbolic."""
        return self.data_commands + self.plot_commands

    @property
    def to_be_enabled(self) -> str:
        """What to do before it can be run or tested; empty where it can."""
        return "" if self.enabled else f"set bEnabled of {self.slug!r} to true, then: "

    @property
    def how_to_run(self) -> str:
        """What to type to have it run, and what to do before."""
        return f"{self.to_be_enabled}jupyter vaibify run {self.slug}"

    @property
    def kind(self) -> str:
        """What a person calls it: interactive, notebook, cell or script."""
        if self.interactive or self.notebook:
            return "interactive" if self.interactive else "notebook"
        return "script" if script_of(self.commands, self.slug) is None else "cell"


@dataclass(frozen=True)
class Workflow:
    """A workflow: what is declared, checked as a whole.

    ``path`` is the workflow file's repository path, ``stem`` names its facts.
    """

    path: str
    name: str
    steps: tuple[Step, ...]
    cores: int = -1
    jobs: int | None = None
    tolerance: float = 1e-6
    seed: int | None = None
    deterministic: bool = False
    sealed: bool = False
    host_binaries: tuple[str, ...] = ()
    no_host_binaries: bool = False
    no_python_packages: bool = False
    keep_sign_off_if_identical: bool = False
    warnings: tuple[str, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def by_slug(self) -> Mapping[str, Step]:
        """Return the steps by slug."""
        return {step.slug: step for step in self.steps}

    @property
    def stem(self) -> str:
        """Name of the folder that holds this workflow's facts."""
        return self.path.rsplit("/", 1)[-1].removesuffix(".json")

    @cached_property
    def children(self) -> Mapping[str, tuple[str, ...]]:
        """Return the direct dependants of each step."""
        found: dict[str, list[str]] = {step.slug: [] for step in self.steps}
        for step in self.steps:
            for parent in step.parents:
                found[parent].append(step.slug)
        return {slug: tuple(children) for slug, children in found.items()}
