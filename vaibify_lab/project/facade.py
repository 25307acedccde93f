"""``Project``: the one façade of every front door. Says what is true; starts what is asked.

A room is loaded when it is first entered: a verb needs one or two of them.
"""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from vaibify_lab.runs.opened import Look, Opened

if TYPE_CHECKING:
    from vaibify_lab.ceremony.citing import Cited
    from vaibify_lab.ceremony.copying import Tell
    from vaibify_lab.ceremony.replayed import Replay
    from vaibify_lab.ceremony.reproduce import Asked, Reproduction, Telling
    from vaibify_lab.ceremony.rerun import Rerun
    from vaibify_lab.core.facts import SignOff
    from vaibify_lab.core.finding import Finding
    from vaibify_lab.core.model import Step
    from vaibify_lab.engines.base import Terminal
    from vaibify_lab.engines.image.stream import BuildLine
    from vaibify_lab.notebooks.standing import Cell
    from vaibify_lab.project.declaring import Declared
    from vaibify_lab.project.file_status import FileStatus
    from vaibify_lab.project.provenance import CheckedPins
    from vaibify_lab.project.report import Report
    from vaibify_lab.project.writing import Part
    from vaibify_lab.provenance.lineage import Lineage
    from vaibify_lab.runs.attending import Waiting
    from vaibify_lab.runs.history import RunSummary
    from vaibify_lab.runs.imaging import BuildReport
    from vaibify_lab.runs.journal import RunFolder
    from vaibify_lab.runs.options import RunOptions
    from vaibify_lab.runs.project_image import ProjectImage
    from vaibify_lab.runs.reuse import Reuse
    from vaibify_lab.runs.vouching import ToSign
    from vaibify_lab.runs.waiting import Word


class Project:
    """One workflow of one repository.

    Parameters
    ----------
    start : Path
        Any folder of the repository.
    workflow : str, optional
        Repository path or stem of the workflow; the root's, or the only one, by default.
    cached : bool
        Use the stat cache of the user's cache folder.
    """

    def __init__(self, start: Path, workflow: str | None = None, *, cached: bool = True) -> None:
        self.opened = Opened(start, cached=cached)
        self._named = workflow

    @classmethod
    def of(cls, opened: Opened, workflow: str) -> Self:
        """Return a workflow's project in a repository that is open already."""
        project = cls.__new__(cls)
        project.opened, project._named = opened, workflow
        return project

    @property
    def path(self) -> str:
        """The workflow file's repository path."""
        return self.opened.choose(self._named)

    @property
    def root(self) -> Path:
        """The repository's root."""
        return self.opened.tree.root

    def image(self) -> ProjectImage:
        """Return image and long-lived container, on the engine that answers (or say why not)."""
        from vaibify_lab.runs.project_image import ProjectImage

        return ProjectImage(self.opened)

    def look(self) -> Look:
        """Look at the workflow now."""
        return self.opened.look(self.path)

    def report(self) -> Report:
        """Return what is true now, with the ladder."""
        from vaibify_lab.project.report import report_on

        return report_on(self.opened, self.look())

    def file_status(self) -> FileStatus:
        """Return the report with what a poll wants beside it."""
        from vaibify_lab.project.file_status import file_status

        return file_status(self.opened, self.look())

    def step(self, name: str) -> Step:
        """Return a step by slug, name or StepNN.

        Raises
        ------
        UnknownStep
        """
        from vaibify_lab.project.report import find_step

        return find_step(self.opened.workflow(self.path), name)

    def person(self) -> str:
        """Return who acts here: git's identity, else the account's name."""
        return self.opened.repository.identity() or getpass.getuser()

    def start_run(self, options: RunOptions, person: str | None = None) -> RunFolder:
        """Start a detached run, asked for by ``person`` or who acts here; return its folder.

        Raises
        ------
        VaibifyError
            When the runner refuses at once (a run in progress).
        """
        from vaibify_lab.project import running

        return running.begin(self.opened, options, person or self.person())

    def events(self, folder: RunFolder) -> Iterator[dict[str, Any] | None]:
        """Yield a run's events to its end; None whenever nothing is new."""
        from vaibify_lab.project import running

        return running.events_of(folder)

    def runs(self) -> list[RunFolder]:
        """Return the runs kept on this machine, oldest first.

        Raises
        ------
        NotPassed
            When git tracks this machine's files: then somebody else may have written them.
        """
        from vaibify_lab.project import running

        return running.kept(self.opened)

    def history(self) -> list[RunSummary]:
        """Return the runs kept on this machine, oldest first, each summed up."""
        from vaibify_lab.runs.history import summary

        return [summary(folder) for folder in self.runs()]

    def find_run(self, name: str | None = None) -> RunFolder:
        """Return a run by its name or the beginning of it.

        Without a name: the one in progress, else the latest.

        Raises
        ------
        MissingFile
            When there is none, or several begin so.
        """
        from vaibify_lab.project import running

        return running.find(self.opened, name)

    def check(self, *, publish: bool = False) -> list[Finding]:
        """Return what is wrong before anything runs; with ``publish``, also what a clone lacks.

        Nothing is installed or made to find this out.
        """
        from vaibify_lab.ceremony.check import check
        from vaibify_lab.project.cell_findings import cells_of_all

        look = self.look()
        found = check(self.opened, look, publish=publish)
        found += cells_of_all(self.opened, look, publish=publish)
        return sorted(found, key=lambda one: one.level != "error")

    def current_run(self) -> RunFolder | None:
        """Return the latest run; None also where git tracks this machine's files."""
        from vaibify_lab.project import running

        return running.latest(self.opened)

    def stop_run(self, run_id: str | None = None) -> RunFolder:
        """Ask the run in progress to stop; end what one left running that lost its runner.

        Raises
        ------
        NotPassed
            When there is none, or not the one that is named.
        """
        from vaibify_lab.runs.stopping import stop

        return stop(self.opened, run_id)

    def waiting(self) -> tuple[Waiting, ...]:
        """Return the interactive steps that wait for their person now."""
        from vaibify_lab.runs import attending

        return attending.waiting_in(self.opened, self.opened.workflow(self.path))

    def speak(self, slug: str, word: Word, by: str | None = None) -> Waiting:
        """Tell the runner what a person wants of a step that waits; the journal tells what came.

        ``complete``: it is done; its outputs are judged and recorded, with who says so.
        ``abandon``: it is given up; what was there before is put back. ``pause`` and ``resume``:
        its processes stand still meanwhile.

        Raises
        ------
        NotPassed
            When it does not wait, or stands or goes on as asked already.
        """
        from vaibify_lab.runs import attending

        workflow = self.opened.workflow(self.path)
        return attending.speak(self.opened, workflow, slug, word, by or self.person())

    def open_terminal(self, slug: str, kind: str, size: os.terminal_size) -> Terminal:
        """Open a shell in a step that waits.

        Raises
        ------
        NotPassed, CannotCheck
        """
        from vaibify_lab.runs import attending

        one = attending.waiting_for(self.opened, self.opened.workflow(self.path), slug)
        return attending.open_terminal(one, kind, size)

    def attach_command(self, slug: str) -> list[str]:
        """Return the command that opens that shell on whatever terminal it is typed.

        Raises
        ------
        NotPassed
            When the step does not wait.
        """
        from vaibify_lab.runs import attending

        attending.waiting_for(self.opened, self.opened.workflow(self.path), slug)
        place = ["--repo", str(self.root), "--workflow", self.path]
        return [sys.executable, "-P", "-m", "vaibify_lab.apps", "attach", slug, *place]

    def acknowledge(self, slugs: Sequence[str] = ()) -> list[str]:
        """Mark interrupted and failed steps (all, or those named) as seen; return which were."""
        from vaibify_lab.project import running
        from vaibify_lab.runs import vouching

        running.require_idle(self.opened, elsewhere=False)
        return vouching.acknowledge(self.opened, self.path, slugs)

    def to_sign(self, slug: str) -> ToSign:
        """Return what a sign-off of a step would sign now; every byte is read."""
        from vaibify_lab.runs import vouching

        return vouching.to_sign(self.opened, self.path, slug)

    def sign_off(
        self,
        seen: ToSign,
        verdict: Literal["passed", "failed"],
        *,
        by: str,
        note: str = "",
        server_identity: str | None = None,
    ) -> SignOff:
        """Record a person's word over exactly the bytes that were seen."""
        from vaibify_lab.runs import vouching

        return vouching.sign_off(
            self.opened,
            self.path,
            seen,
            verdict,
            by=by,
            note=note,
            server_identity=server_identity,
        )

    def write_workflow(
        self, seen: str, *, text: str | None = None, document: Any = None
    ) -> dict[str, Any]:
        """Put a new text or document in place of the workflow file whose hash was seen.

        Raises
        ------
        StaleCopy, InvalidFile, RunInProgress
        """
        from vaibify_lab.project import running
        from vaibify_lab.project.editing import write_workflow

        running.require_idle(self.opened)
        return write_workflow(self.opened, self.path, seen, text=text, document=document)

    def declare_cell(self, cell: Cell, *, new: bool = False) -> Declared:
        """Write a step cell down: its script, and its step, perhaps surely new, in the workflow."""
        from vaibify_lab.project import running
        from vaibify_lab.project.declaring import declare

        running.require_idle(self.opened)
        return declare(self.opened, self.path, cell, new=new)

    def envelope(
        self,
        only: Part | None = None,
        progress: Callable[[str], None] | None = None,
        *,
        allow_build: bool = False,
    ) -> list[tuple[str, str]]:
        """Write the envelope, or one part and the manifest that lists it.

        Returns what was written: (path, what is in it). ``allow_build`` lets packages without a
        wheel run their build's code on this machine.
        """
        from vaibify_lab.project import running, writing

        running.require_idle(self.opened)
        return writing.write_envelope(self.opened, only, progress, allow_build=allow_build)

    def not_as_recorded(self) -> list[Finding]:
        """Return what the manifest lists and no recorded run read, ran or wrote."""
        from vaibify_lab.ceremony.recorded import not_as_recorded

        paths = self.opened.workflow_paths()
        return not_as_recorded(self.opened, [self.opened.workflow(path) for path in paths])

    def build(
        self,
        *,
        base_image: str | None = None,
        no_cache: bool = False,
        push: str | None = None,
        tell: Callable[[BuildLine], None],
    ) -> BuildReport:
        """Build the project's image, look into it and pin it; with ``push``, push it too.

        No run goes on meanwhile: it would be of the image before, and not know it.
        """
        from vaibify_lab.project import running
        from vaibify_lab.runs.holding import no_run_beside
        from vaibify_lab.runs.image_inputs import BuildAsked

        running.require_idle(self.opened)
        with no_run_beside(self.opened.tree, "the image is being built", self.person()):
            return self.image().build(BuildAsked(base_image, no_cache, push), tell)

    def reproduce(self, asked: Asked, telling: Telling) -> Reproduction:
        """Confirm the project as a stranger would."""
        from vaibify_lab.ceremony.reproduce import reproduce

        return reproduce(self.opened, asked, telling)

    def cite(self, names: Sequence[str] = (), *, replace: bool = False) -> list[Cited]:
        """Keep the runs behind steps' results and cite them; all steps that can be, by default.

        A name may also be the fingerprint of a kept run, or the beginning of one.

        Raises
        ------
        UnknownStep, NotPassed
        """
        from vaibify_lab.ceremony.citing import cite_kept, cite_step
        from vaibify_lab.project.report import find_step

        look = self.look()
        wanted = names or [one.slug for one in look.workflow.steps if not one.interactive]
        return [
            cite_kept(self.opened, name)
            or cite_step(self.opened, look, find_step(look.workflow, name).slug, replace=replace)
            for name in wanted
        ]

    def would_reuse(self, slugs: Sequence[str]) -> dict[str, Reuse]:
        """Return for each step whether a run now would take its outputs from the cache, and why."""
        from vaibify_lab.runs.reuse import would_reuse

        return would_reuse(self.opened, self.look(), slugs)

    def pins(self, name: str) -> CheckedPins:
        """Return what a step's last passed run read and wrote, and whether it is still so.

        Raises
        ------
        UnknownStep
        """
        from vaibify_lab.project.provenance import pins_of

        return pins_of(self.opened, self.look(), self.step(name).slug)

    def lineage(self, name: str | None = None) -> Lineage:
        """Return the graph of what produced what: of a step with all behind it, or of all steps.

        Raises
        ------
        UnknownStep
        """
        from vaibify_lab.project.provenance import lineage_of

        slug = None if name is None else self.step(name).slug
        return lineage_of(self.opened, self.look(), slug)

    def rerun(self, names: Sequence[str], tell: Tell | None = None) -> Rerun:
        """Run single steps again on a copy, and compare what they write with what is here."""
        from vaibify_lab.ceremony.rerun import rerun
        from vaibify_lab.project.report import find_step

        workflow = self.opened.workflow(self.path)
        only = tuple(find_step(workflow, name).slug for name in names)
        return rerun(self.opened, workflow, self.person(), tell=tell, only=only)

    def replay(
        self, names: Sequence[str], accept: Sequence[str] = (), tell: Tell | None = None
    ) -> Replay:
        """Make the last passed runs of steps (all, without names) again on a copy, and compare.

        A name may also be the fingerprint of a kept run, or the beginning of one.
        ``accept`` names components that may differ from those recorded.

        Raises
        ------
        UnknownStep, UsageError
        """
        from vaibify_lab.ceremony.replay import Replaying
        from vaibify_lab.provenance.kept import find_kept

        tree = self.opened.tree
        wanted = [name if find_kept(tree, name) else self.step(name).slug for name in names]
        return Replaying(self.opened, self.look(), wanted, accept, self.person(), tell).run()
