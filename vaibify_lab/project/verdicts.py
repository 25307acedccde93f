"""What can be said of a project: before it runs, by a stranger, and of what produced what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vaibify_lab.project.base import ProjectBase

if TYPE_CHECKING:
    from vaibify_lab.ceremony.citing import Cited
    from vaibify_lab.ceremony.copying import Tell
    from vaibify_lab.ceremony.replayed import Replay
    from vaibify_lab.ceremony.reproduce import Asked, Reproduction, Telling
    from vaibify_lab.ceremony.rerun import Rerun
    from vaibify_lab.core.finding import Finding
    from vaibify_lab.project.provenance import CheckedPins
    from vaibify_lab.provenance.lineage import Lineage
    from vaibify_lab.runs.reuse import Reuse


class ProjectVerdicts(ProjectBase):
    """Checks, confirms, cites and traces."""

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

    def not_as_recorded(self) -> list[Finding]:
        """Return what the manifest lists and no recorded run read, ran or wrote."""
        from vaibify_lab.ceremony.recorded import not_as_recorded

        paths = self.opened.workflow_paths()
        return not_as_recorded(self.opened, [self.opened.workflow(path) for path in paths])

    def reproduce(self, asked: Asked, telling: Telling) -> Reproduction:
        """Confirm the project as a stranger would."""
        from vaibify_lab.ceremony.reproduce import reproduce

        return reproduce(self.opened, asked, telling)

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
