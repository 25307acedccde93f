"""A whole notebook run on a copy of the project, and what it gives beside what is stored in it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from vaibify_lab.ceremony.copying import Tell, copied, copy_file, watch
from vaibify_lab.core.errors import InvalidFile, MissingFile, UsageError, VaibifyError
from vaibify_lab.core.workflow_keys import FORMAT
from vaibify_lab.envelope.lock import NAME as LOCK
from vaibify_lab.envelope.lock import parse_lock
from vaibify_lab.files.git import Repository
from vaibify_lab.files.tree import Tree
from vaibify_lab.notebooks.cells import numbers_of_steps
from vaibify_lab.provenance.apart.host import Apart
from vaibify_lab.provenance.compare.noise import Own, Rules
from vaibify_lab.provenance.compare.notebook_file import read_notebook
from vaibify_lab.provenance.compare.notebooks import NotebookComparison, compare_notebooks
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.start import start_run

_WORKFLOW, _STEP, _FOLDER = "workflow.json", "notebook", "vaibify-executed"
_KEPT = ".vaibify/environment.json"


@dataclass(frozen=True, slots=True)
class NotebookRun:
    """How a notebook ran.

    ``copy`` is the executed copy, as far as it came; None where not even that is there. ``ran`` is
    when.
    """

    path: str
    problems: tuple[str, ...]
    engine: str
    in_container: bool
    copy: bytes | None
    ran: tuple[datetime, datetime]

    @property
    def passed(self) -> bool:
        """Whether every cell ran well."""
        return not self.problems and self.copy is not None

    def as_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        return {
            "passed": self.passed,
            "notebook": self.path,
            "engine": self.engine,
            "in_container": self.in_container,
            "problems": list(self.problems),
        }


def run_notebook(
    opened: Opened, path: str, options: RunOptions, person: str, tell: Tell | None = None
) -> NotebookRun:
    """Run a notebook from its first cell to its last, where a step of the project would run.

    It runs on a copy that holds what git has or would add, so that nothing here is changed and what
    a clone would not have is missed.

    Parameters
    ----------
    opened : Opened
        The repository.
    path : str
        The notebook's repository path.
    options : RunOptions
        Of which engine and tier count.
    person : str
        Who asks.
    tell : callable, optional
        Told every event of the run.

    Raises
    ------
    MissingFile, InvalidFile
        There is no such notebook, or it cannot be read.
    UsageError
        It holds step cells, whose containers none can start from inside its own.
    """
    if opened.tree.lstat(path) is None:
        raise MissingFile("there is no such notebook", where=path)
    if steps := numbers_of_steps(read_notebook(opened.tree.read(path), path)):
        which = f"cell{'s' if len(steps) > 1 else ''} {', '.join(map(str, steps))}"
        text = f"holds steps ({which}), each of which runs in a container of its own"
        action = f"jupyter execute {shlex.quote(path)}; its outputs again: reproduce --rerun"
        raise UsageError(text, where=path, action=action)
    begin = datetime.now(UTC)
    output = f"{_FOLDER}/{path.rpartition('/')[2]}"
    with copied(opened, lambda copy: _fill(opened, path, output, copy)) as copy:
        asked = replace(options, workflow=_WORKFLOW, mode="all", tests=False, foretell=False)
        folder = start_run(copy, asked, person)
        followed = watch(folder, tell)
        aside = f"{folder.path.relative_to(copy.root).as_posix()}/leftovers/{_STEP}/{output}"
        executed = _read(copy, output) or _read(copy, aside)
    ran = begin, datetime.now(UTC)
    problems = tuple(one.removeprefix(f"step {_STEP!r} ") for one in followed.failures)
    return NotebookRun(path, problems, followed.engine, followed.in_container, executed, ran)


def _fill(opened: Opened, path: str, output: str, copy: Tree) -> None:
    for file in dict.fromkeys((*opened.repository.files(), path)):
        ours = file.startswith(".vaibify/") and file != _KEPT
        seen = opened.tree.lstat(file)
        if not ours and file != _WORKFLOW and seen is not None:
            copy_file(opened.tree, file, copy, seen.st_mode & 0o777)
    step = {
        "sName": _STEP,
        "sNotebook": path,
        "saOutputFiles": [output],
        "bWriteAnywhere": True,
        "bNoTests": True,
    }
    workflow = {
        "sFormat": FORMAT,
        "bNoPythonPackages": opened.tree.lstat(LOCK) is None,
        "listSteps": [step],
    }
    copy.write(_WORKFLOW, json.dumps(workflow).encode())


def _read(tree: Tree, path: str) -> bytes | None:
    try:
        return tree.read(path)
    except VaibifyError:
        return None


@dataclass(frozen=True, slots=True)
class NotebookCheck:
    """What came of comparing a stored notebook with a fresh one.

    ``run`` is None where the fresh one was given. ``packages`` says how the lock changed since the
    commit that stored the notebook.
    """

    path: str
    found: NotebookComparison
    run: NotebookRun | None = None
    packages: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the notebook ran well and every cell says the same."""
        return self.found.passes and (self.run is None or self.run.passed)

    def as_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        return {
            **self.found.as_json(),
            "passed": self.passed,
            "notebook": self.path,
            "run": self.run and self.run.as_json(),
            "packages": list(self.packages),
        }


def compare_stored(
    opened: Opened,
    path: str,
    rules: Rules,
    *,
    fresh: bytes | None = None,
    where: str = "",
    run: NotebookRun | None = None,
) -> NotebookCheck:
    """Compare the outputs stored in a notebook with fresh ones: given, or of a run of it.

    Raises
    ------
    MissingFile, InvalidFile
    """
    if opened.tree.lstat(path) is None:
        raise MissingFile("there is no such notebook", where=path)
    stored = read_notebook(opened.tree.read(path), path)
    if run is not None:
        rules = replace(rules, ran=run.ran)
        fresh, where = run.copy, f"the executed copy of {path}"
    if fresh is None:
        cells = replace(
            stored, cells=tuple(replace(one, outputs=(), count=None) for one in stored.cells)
        )
        return NotebookCheck(path, compare_notebooks(stored, cells, rules), run)
    with Apart(rules) as apart:  # its pictures may be made to hurt who reads them
        apart_rules = replace(rules, pictures=apart.compare_pictures)
        found = compare_notebooks(stored, read_notebook(fresh, where), apart_rules)
    same = found.whole.verdict in ("identical", "noise-only")
    packages = () if same else lock_changes(opened.repository, opened.tree, path)
    return NotebookCheck(path, found, run, packages)


def own_patterns(opened: Opened, more: Sequence[str] = ()) -> tuple[Own, ...]:
    """Return the project's expressions for what is not compared, and those asked for besides."""
    named = opened.project_file().ignored_in_outputs
    asked = [Own(f"--ignore {number}", text) for number, text in enumerate(more, 1)]
    return (*(Own(name, text) for name, text in named.items()), *asked)


def lock_changes(repository: Repository, tree: Tree, path: str) -> tuple[str, ...]:
    """Return which packages of the lock are others than when the notebook was last committed."""
    listed = ("rev-list", "--max-count=1", "HEAD", "--", path)
    try:
        commit = repository.run("--literal-pathspecs", *listed).decode("ascii").strip()
        then = repository.run("cat-file", "blob", f"{commit}:{LOCK}")
        now = tree.read(LOCK)
    except VaibifyError:  # no commit, or no lock in it or here
        return ()
    try:
        before, after = (
            {one.name: str(one.version) for one in parse_lock(data).packages}
            for data in (then, now)
        )
    except InvalidFile:
        return ()
    return tuple(
        f"{name} {before.get(name, '(none)')} -> {after.get(name, '(none)')}"
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    )
