"""``Project``: the one façade of every front door. Says what is true; starts what is asked.

A room is loaded when it is first entered: a verb needs one or two of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from vaibify_lab.project.runs import ProjectRuns
from vaibify_lab.project.verdicts import ProjectVerdicts

if TYPE_CHECKING:
    from vaibify_lab.engines.image.stream import BuildLine
    from vaibify_lab.notebooks.standing import Cell
    from vaibify_lab.project.declaring import Declared
    from vaibify_lab.project.file_status import FileStatus
    from vaibify_lab.project.report import Report
    from vaibify_lab.project.writing import Part
    from vaibify_lab.runs.imaging import BuildReport
    from vaibify_lab.runs.project_image import ProjectImage
    from vaibify_lab.runs.vouching import SignedOff, ToSign


class Project(ProjectRuns, ProjectVerdicts):
    """One workflow of one repository: what is true of it, its envelope, its image."""

    def image(self) -> ProjectImage:
        """Return image and long-lived container, on the engine that answers (or say why not)."""
        from vaibify_lab.runs.project_image import ProjectImage

        return ProjectImage(self.opened)

    def report(self) -> Report:
        """Return what is true now, with the ladder."""
        from vaibify_lab.project.report import report_on

        return report_on(self.opened, self.look())

    def file_status(self) -> FileStatus:
        """Return the report with what a poll wants beside it."""
        from vaibify_lab.project.file_status import file_status

        return file_status(self.opened, self.look())

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
    ) -> SignedOff:
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
