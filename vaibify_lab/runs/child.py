"""The runner: one detached process a run. Started by every front door, outlives each of them."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from vaibify_lab.core.disk import of_the_disk
from vaibify_lab.core.errors import NotPassed, PreflightFailed, UsageError, VaibifyError
from vaibify_lab.core.unsaid import with_makers
from vaibify_lab.engines.scratch import remove_tree
from vaibify_lab.envelope.environment import EnvironmentFile
from vaibify_lab.files.factstore import DRAFTS
from vaibify_lab.files.gitconfig import GitConfig
from vaibify_lab.files.tree import Tree
from vaibify_lab.provenance.versions import Versions
from vaibify_lab.runs import enveloping, turning
from vaibify_lab.runs.aside import remove_empty
from vaibify_lab.runs.belonging import hand_over_local
from vaibify_lab.runs.cache import cache_of_run
from vaibify_lab.runs.circumstances import circumstance, cores, processors, protected
from vaibify_lab.runs.cleaning import clean
from vaibify_lab.runs.context import Busy, RunContext
from vaibify_lab.runs.determinism import lay_preamble
from vaibify_lab.runs.engine_choice import Chosen, choose
from vaibify_lab.runs.execute import Scheduler, watch_stop
from vaibify_lab.runs.guard import prevents
from vaibify_lab.runs.inspecting import foreseen
from vaibify_lab.runs.journal import REQUEST, JournalWriter, RunFolder, now, run_folders
from vaibify_lab.runs.live import CURRENT
from vaibify_lab.runs.lock import RunLock
from vaibify_lab.runs.opened import Look, Opened
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.passed_over import not_in_that_way
from vaibify_lab.runs.plan import Planned, plan
from vaibify_lab.runs.preflight.undeclared import Watched
from vaibify_lab.runs.processes import ProcessId
from vaibify_lab.runs.recover import recover

KEPT_RUNS = 50


class Runner:
    """Makes one run, from the request in its folder to the last line of its journal."""

    def __init__(self, folder: RunFolder) -> None:
        request = json.loads((folder.path / REQUEST).read_bytes())
        self.folder = folder
        self.options = RunOptions.from_json(request["options"])
        self.person: str = request["person"]
        self.root = Path(request["root"])
        self.journal = JournalWriter(folder)
        self.stopping = threading.Event()
        self._lock = RunLock(Tree(self.root, DRAFTS))

    def main(self) -> int:
        """Run; return 0 when everything asked for passed."""
        self._mind_signals()
        try:
            self._lock.acquire(
                {"run_id": self.folder.run_id, "person": self.person, "since": now()}
            )
            try:
                return self._under_lock()
            finally:
                self._lock.release()
                hand_over_local(self.root)
        except VaibifyError as error:
            return self._refuse(error)
        finally:
            self.journal.close()

    def _mind_signals(self) -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: self.stopping.set())

    def _refuse(self, error: VaibifyError) -> int:
        self.journal.write(
            "runRefused",
            code=error.code,
            text=error.text,
            where=error.where,
            action=error.action,
            exit_code=error.exit_code,
        )
        return error.exit_code

    def _under_lock(self) -> int:
        opened = Opened(self.root)
        process = ProcessId.mine().to_json()
        self.journal.write(
            "runAccepted",
            run_id=self.folder.run_id,
            process=process,
            person=self.person,
            workflow=self.options.workflow,
        )
        recover(opened, self.journal)
        opened.tree.write(CURRENT, self.folder.run_id.encode("ascii") + b"\n")
        _prune(self.root, self.folder)
        was_green = turning.were_green(opened)  # before its steps are queued
        look = opened.look(self.options.workflow)
        planned = self._plan(look)
        pinned = enveloping.read_environment(opened)
        watched = self._preflight(opened, look, planned, pinned)
        chosen = choose(opened, self.options, pinned, self._tell)
        engine = chosen.engine
        chosen.standing.keep(opened.tree)
        environment = pinned or enveloping.write_environment(opened)
        epoch = environment.source_date_epoch or enveloping.EPOCH_WITHOUT_COMMIT
        context = self._context(opened, look, chosen, epoch, watched)
        self.journal.write(
            "runStarted",
            run_id=self.folder.run_id,
            workflow=look.workflow.path,
            stem=look.workflow.stem,
            person=self.person,
            process=process,
            engine=engine.describe(),
            isolation=engine.isolation,
            plan=[{"slug": one.slug, "action": one.action, "why": one.why} for one in planned],
        )
        if context.is_sealed() and not prevents(engine, "read"):
            text = "sealed, but here a step can read the rest of the repository by absolute path"
            self.journal.write("warning", text=f"{text}: nothing is proven")
        lay_preamble(context)
        turning.begin(opened, was_green)
        outcomes = self._walk(context, planned)
        if passed_over := not_in_that_way(self.options, look.workflow, outcomes):
            self._warn(passed_over)
        self._envelope(opened, was_green)
        opened.cache.save()
        return self._complete(outcomes)

    def _envelope(self, opened: Opened, was_green: bool) -> None:
        """Write the envelope when everything has just turned green; that fails no run."""
        try:
            if turning.envelope_if_turned_green(opened, was_green):
                self.journal.write("note", text="everything is green: the envelope was written")
        except VaibifyError as error:
            self.journal.write("warning", text=f"the envelope was not written: {error}")

    def _tell(self, text: str) -> None:
        self.journal.write("preparing", text=text)

    def _warn(self, text: str) -> None:
        self.journal.write("warning", text=text)

    def _plan(self, look: Look) -> tuple[Planned, ...]:
        options = self.options
        planned = plan(
            look.workflow,
            look.reports,
            options.selection,
            plot_only=options.plot_only,
            attended=options.interactive or options.tests_only,
            tests=options.tests,
            sealed=options.sealed,
            deterministic=options.deterministic and options.selection.mode == "stale",
        )
        if not look.workflow.steps:
            text, action = "the workflow has no step", "add one to listSteps"
            raise UsageError(text, where=look.workflow.path, action=action)
        return self._with_tests(look, planned) if options.tests_only else planned

    def _with_tests(self, look: Look, planned: tuple[Planned, ...]) -> tuple[Planned, ...]:
        """Return the steps that have tests of what is asked for: of others none can pass."""
        category, by_slug = self.options.category, look.workflow.by_slug
        tested = tuple(one for one in planned if by_slug[one.slug].suites_of(category))
        if all(one.is_idle for one in tested):
            kind = f" of the category {category}" if category else ""
            text = f"no test was run: no step asked for has tests{kind}"
            raise NotPassed(text, action="declare them in dictTests, or in saTestCommands")
        return tested

    def _preflight(
        self,
        opened: Opened,
        look: Look,
        planned: tuple[Planned, ...],
        pinned: EnvironmentFile | None,
    ) -> dict[str, Watched]:
        """Say what is wrong before anything runs; the first error refuses the run.

        Returns what to watch beside what each step declares.
        """
        asked = self.options.steps  # one that cannot be run is refused, not passed over
        slugs = [one.slug for one in planned if not one.is_idle or one.slug in asked]
        findings, watched = foreseen(opened, look, self.options, pinned, slugs)
        for one in findings:
            self.journal.write("preflight", **one.to_json())
        errors = [one for one in findings if one.level == "error"]
        if errors:
            more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
            where = f"step {errors[0].step!r}" if errors[0].step else None
            raise PreflightFailed(errors[0].text + more, where=where, action=errors[0].action)
        return watched

    def _context(
        self,
        opened: Opened,
        look: Look,
        chosen: Chosen,
        epoch: int,
        watched: Mapping[str, Watched],
    ) -> RunContext:
        return RunContext(
            tree=opened.tree,
            repository=opened.repository,
            git=GitConfig(opened.repository),
            workflow=with_makers(look.workflow, {slug: one.reads for slug, one in watched.items()}),
            project=look.project,
            engine=chosen.engine,
            observer=opened.observer,
            facts=opened.facts_of(look.workflow),
            folder=self.folder,
            journal=self.journal,
            options=self.options,
            around=circumstance(self.person, look, epoch, chosen),
            cores=cores(look.workflow.cores),
            watched=watched,
            protected=protected(opened),
            busy=Busy(),
            versions=Versions(opened.records),
            cache=cache_of_run(self.options, chosen.engine, self._warn),
            stopping=self.stopping,
        )

    def _walk(self, context: RunContext, planned: tuple[Planned, ...]) -> dict[str, str]:
        if self.options.clean and not self.options.tests_only:
            clean(context, planned)
        ended = threading.Event()
        watcher = threading.Thread(target=watch_stop, args=(context, ended), daemon=True)
        watcher.start()
        jobs = self.options.jobs or context.workflow.jobs or processors()
        try:
            return dict(Scheduler(context, planned, max(1, jobs)).run())
        finally:
            ended.set()
            remove_empty(context.tree)

    def _complete(self, outcomes: dict[str, str]) -> int:
        values = set(outcomes.values())
        outcome = "passed"
        if values & {"failed", "blocked", "tests-failed", "differs"}:
            outcome = "failed"
        if self.stopping.is_set() or "interrupted" in values:
            outcome = "interrupted"
        self._lock.about_to_release()
        self.journal.write("runComplete", outcome=outcome, steps=outcomes)
        return 0 if outcome == "passed" else 1


def _prune(root: Path, current: RunFolder) -> None:
    """Keep the newest runs' journals and logs; delete the others."""
    for old in run_folders(root)[:-KEPT_RUNS]:
        if old.path != current.path:
            remove_tree(str(old.path))


def main() -> None:
    """Run what a folder asks for: ``python -m vaibify_lab.runs.child FOLDER``."""
    folder = RunFolder(Path(sys.argv[1]))
    code = 1
    try:
        code = Runner(folder).main()
    except VaibifyError as error:  # the journal, which would have said it, cannot be written
        sys.exit(str(error))
    except BaseException as error:
        _last_words(folder, error)
        if (told := of_the_disk(error)) is not None:
            sys.exit(str(told))
        raise
    sys.exit(code)


def _last_words(folder: RunFolder, error: BaseException) -> None:
    """Tell the readers that the runner itself failed, so that nobody waits for it."""
    told = of_the_disk(error)
    code, text = (told.code, str(told)) if told else ("internal", f"the runner failed: {error!r}")
    with suppress(OSError):
        line: dict[str, Any] = {"event": "runRefused", "sequence": 10**9, "time": time.time()}
        line |= {"code": code, "text": text, "exit_code": 1}
        with folder.journal.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")


if __name__ == "__main__":
    main()
