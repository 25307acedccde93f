"""``Project``: the one façade of every front door. Says what is true; starts what is asked."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from vaibify_lab.ceremony.check import check
from vaibify_lab.ceremony.report import some
from vaibify_lab.ceremony.reproduce import Asked, Reproduction, Telling, reproduce
from vaibify_lab.ceremony.standing import standing
from vaibify_lab.core.errors import NotPassed, RunInProgress, UnknownStep, VaibifyError
from vaibify_lab.core.facts import FactFault, SignOff
from vaibify_lab.core.finding import Finding
from vaibify_lab.core.levels import ladder
from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.core.report import Rung, StepReport
from vaibify_lab.files.factstore import LOCAL
from vaibify_lab.runs import enveloping, vouching
from vaibify_lab.runs.history import RunSummary, find_run, summary
from vaibify_lab.runs.journal import ENDINGS, RunFolder, follow, read_events, run_folders
from vaibify_lab.runs.live import current_run, is_ended, runner_in, unfinished
from vaibify_lab.runs.opened import Look, Opened
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.project_image import ProjectImage
from vaibify_lab.runs.start import start_run
from vaibify_lab.runs.stopping import stop
from vaibify_lab.runs.vouching import ToSign

if TYPE_CHECKING:
    from vaibify_lab.engines.image.stream import BuildLine
    from vaibify_lab.runs.imaging import BuildReport

Part = Literal["manifest", "lock", "environment"]


@dataclass(frozen=True, slots=True)
class Report:
    """What is true of a workflow now."""

    workflow: Workflow
    root: Path
    steps: tuple[StepReport, ...]
    levels: tuple[Rung, ...]
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer of ``status``."""
        return {
            "workflow": self.workflow.path,
            "name": self.workflow.name,
            "repo": str(self.root),
            "steps": [step.to_json() for step in self.steps],
            "levels": [rung.to_json() for rung in self.levels],
            "warnings": list(self.warnings),
        }


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
        return ProjectImage(self.opened)

    def look(self) -> Look:
        """Look at the workflow now."""
        return self.opened.look(self.path)

    def report(self) -> Report:
        """Return what is true now, with the ladder."""
        look = self.look()
        workflows = [
            look.workflow if path == look.workflow.path else self.opened.workflow(path)
            for path in self.opened.workflow_paths()
        ] or [look.workflow]
        envelope = standing(self.opened, workflows)
        self.opened.cache.save()
        rungs = ladder(look.workflow, look.reports, envelope)
        warnings = [*look.workflow.warnings, *look.project.warnings, *self._warnings(look)]
        return Report(look.workflow, self.root, look.reports, rungs, tuple(warnings))

    def step(self, name: str) -> Step:
        """Return a step by slug, name or StepNN.

        Raises
        ------
        UnknownStep
        """
        return find_step(self.opened.workflow(self.path), name)

    def person(self) -> str:
        """Return who acts here: git's identity, else the account's name."""
        return self.opened.repository.identity() or getpass.getuser()

    def start_run(self, options: RunOptions) -> RunFolder:
        """Start a detached run and return its folder.

        Raises
        ------
        VaibifyError
            When the runner refuses at once (a run in progress).
        """
        folder = start_run(self.opened.tree, options, self.person())
        first = read_events(folder)[0]
        if first["event"] == "runRefused":
            raise refusal(first)
        return folder

    def events(self, folder: RunFolder) -> Iterator[dict[str, Any] | None]:
        """Yield a run's events to its end; None whenever nothing is new."""
        for event in follow(folder):
            yield event
            if event is None and not self._is_alive(folder):
                for last in read_events(folder):
                    if last["event"] in ENDINGS:
                        return
                yield {"event": "runComplete", "outcome": "interrupted", "steps": {}, "sequence": 0}
                return
            if event is not None and event["event"] in ENDINGS:
                return

    def runs(self) -> list[RunFolder]:
        """Return the runs kept on this machine, oldest first.

        Raises
        ------
        NotPassed
            When git tracks this machine's files: then somebody else may have written them.
        """
        if self.opened.local_is_tracked():
            text = "is tracked by git, so what lies there is not believed"
            action = f"git rm -r -q {LOCAL}"
            raise NotPassed(text, where=LOCAL, action=action)
        return run_folders(self.root)

    def history(self) -> list[RunSummary]:
        """Return the runs kept on this machine, oldest first, each summed up."""
        return [summary(folder) for folder in self.runs()]

    def find_run(self, name: str | None = None) -> RunFolder:
        """Return a run by its name or the beginning of it.

        Without a name: the one in progress, else the latest.

        Raises
        ------
        MissingFile
            When there is none, or several begin so.
        """
        kept = self.runs()
        current = self.current_run() if name is None else None
        if current is not None and not is_ended(current):
            return current
        return find_run(kept, name)

    def check(self, *, publish: bool = False) -> list[Finding]:
        """Return what is wrong before anything runs; with ``publish``, also what a clone lacks.

        Nothing is installed or made to find this out.
        """
        return check(self.opened, self.look(), publish=publish)

    def current_run(self) -> RunFolder | None:
        """Return the latest run; None also where git tracks this machine's files."""
        return None if self.opened.local_is_tracked() else current_run(self.root)

    def stop_run(self) -> RunFolder:
        """Ask the run in progress to stop; end what one left running that lost its runner.

        Raises
        ------
        NotPassed
            When there is none.
        """
        return stop(self.opened)

    def acknowledge(self, slugs: Sequence[str] = ()) -> list[str]:
        """Mark interrupted and failed steps (all, or those named) as seen; return which were."""
        self._require_idle(elsewhere=False)
        return vouching.acknowledge(self.opened, self.path, slugs)

    def to_sign(self, slug: str) -> ToSign:
        """Return what a sign-off of a step would sign now; every byte is read."""
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
        return vouching.sign_off(
            self.opened,
            self.path,
            seen,
            verdict,
            by=by,
            note=note,
            server_identity=server_identity,
        )

    def envelope(
        self, only: Part | None = None, progress: Callable[[str], None] | None = None
    ) -> list[tuple[str, str]]:
        """Write the envelope, or one part and the manifest that lists it.

        Returns what was written: (path, what is in it).
        """
        self._require_idle()
        written = []
        paths = self.opened.require_workflows()  # a manifest of none would vouch for nothing
        none_needed = all(self.opened.workflow(path).no_python_packages for path in paths)
        if only == "lock" or (only is None and not none_needed):
            size = enveloping.write_lock(self.opened, progress)
            written.append(("requirements.lock", f"{size} bytes"))
        if only in (None, "environment", "lock"):
            enveloping.write_environment(self.opened)
            written.append((".vaibify/environment.json", "up to date"))
        if only in (None, "manifest") or self.opened.tree.lstat(enveloping.MANIFEST) is not None:
            count = enveloping.write_manifest(self.opened)
            written.append((enveloping.MANIFEST, f"{count} files"))
        return written

    def build(
        self,
        *,
        base_image: str | None = None,
        no_cache: bool = False,
        push: str | None = None,
        tell: Callable[[BuildLine], None],
    ) -> BuildReport:
        """Build the project's image, look into it and pin it; with ``push``, push it too."""
        from vaibify_lab.engines.image.client import connect
        from vaibify_lab.runs.image_inputs import BuildAsked
        from vaibify_lab.runs.imaging import build_project

        self._require_idle()
        return build_project(self.opened, connect(), BuildAsked(base_image, no_cache, push), tell)

    def reproduce(self, asked: Asked, telling: Telling) -> Reproduction:
        """Confirm the project as a stranger would."""
        return reproduce(self.opened, asked, telling)

    def _require_idle(self, *, elsewhere: bool = True) -> None:
        """Refuse to write beside a run: it would be taken for a forgery of the running step.

        One on another machine counts too, unless ``elsewhere`` is False.
        """
        run = None if self.opened.local_is_tracked() else unfinished(self.root)
        if run is None or run.alive is False:
            return
        if run.alive or (elsewhere and not run.acknowledged):
            raise RunInProgress(
                f"run {run.folder.run_id} is in progress",
                action="wait for it, or end it with: jupyter vaibify stop-run",
            )

    def _is_alive(self, folder: RunFolder) -> bool:
        runner = runner_in(folder)
        return runner is None or runner.alive() is not False

    def _warnings(self, look: Look) -> Iterator[str]:
        for path in look.facts.orphans:
            yield f"{path} is the fact of a step that is not there (renamed?)"
        if self.opened.local_is_tracked():
            yield ".vaibify/local is tracked by git; what lies there is not believed"
        for fact in look.facts.records.values():
            if isinstance(fact, FactFault):
                yield f"{fact.text}; {fact.action}"


def find_step(workflow: Workflow, name: str) -> Step:
    """Return a step by slug, name or StepNN."""
    for step in workflow.steps:
        if name in (step.slug, step.name, f"Step{step.number:02d}"):
            return step
    have = some([step.slug for step in workflow.steps], 10) or "none"
    raise UnknownStep(f"there is no step {name!r} (there are: {have})", where=workflow.path)


def refusal(event: dict[str, Any]) -> VaibifyError:
    """Return a runner's refusal as the error it was."""
    error = NotPassed(str(event["text"]), where=event.get("where"), action=event.get("action"))
    error.code = str(event.get("code", "refused"))
    error.exit_code = int(event.get("exit_code", 1))
    return error
