"""The runs of a project, and what a person does at a step that waits."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from vaibify_lab.project.base import ProjectBase

if TYPE_CHECKING:
    from vaibify_lab.engines.base import Terminal
    from vaibify_lab.runs.attending import Waiting
    from vaibify_lab.runs.history import RunSummary
    from vaibify_lab.runs.journal import RunFolder
    from vaibify_lab.runs.options import RunOptions
    from vaibify_lab.runs.waiting import Word


class ProjectRuns(ProjectBase):
    """Starts, follows, ends and tells of runs."""

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
