"""The tests of one step: run by the same engine, judged by the host, kept as a marker."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vaibify_lab.checks import session
from vaibify_lab.core.facts import CategoryResult, FactFault, TestMarker
from vaibify_lab.core.model import CATEGORIES, Category, Step
from vaibify_lab.core.references import as_run
from vaibify_lab.engines.base import Ended, Launch, Resources
from vaibify_lab.runs import steprun
from vaibify_lab.runs.context import RunContext
from vaibify_lab.runs.determinism import step_environment
from vaibify_lab.runs.journal import now
from vaibify_lab.runs.writable import writable_folders


@dataclass(slots=True)
class TestRun:
    """Runs the tests of a step once and returns its new marker; None where it has no tests."""

    context: RunContext
    step: Step

    def run(self) -> TestMarker | None:
        """Run the tests; hashes are those of the bytes before the tests began."""
        commands = self._commands()
        if not commands:
            return None
        hashes = self._hashes()
        folder = self.context.folder.step(self.step.slug)
        state = steprun.fresh_state(folder, "tests")
        exchange = steprun.fresh_state(folder, "exchange")
        session.prepare(exchange)
        launch = self._launch(commands, state, exchange)
        with self.context.busy.running(self.step, launch.writable):
            self.context.journal.write("testsStarted", step=self.step.slug)
            handle = self.context.engine.launch(launch)
            pump = steprun.pump(self.context, self.step.slug, state)
            ended, timed_out = steprun.wait(self.context, handle, self.step.timeout_seconds, pump)
        found = session.results(commands, exchange, _why_early(ended, timed_out))
        for category, result in found.items():
            self.context.journal.write(
                "tests",
                step=self.step.slug,
                category=category,
                outcome=result.outcome,
                collected=result.collected,
                text=result.detail,
            )
        return self._marker(found, hashes)

    def _commands(self) -> tuple[session.Command, ...]:
        only = self.context.options.category
        suites = [one for one in self.step.suites if only is None or one.category == only]
        root = self.context.engine.container_root(self.context.tree.root, self.context.project.name)
        declared = [text for suite in suites for text in suite.commands]
        run = dict(zip(declared, as_run(declared, root, self.context.cores), strict=True))
        return session.commands_of(suites, run)

    def _launch(self, commands: tuple[session.Command, ...], state: Path, exchange: Path) -> Launch:
        context, step = self.context, self.step
        there = context.engine.exchange_root(exchange)
        return Launch(
            run_id=context.folder.run_id,
            slug=f"{step.slug}-tests",
            tree=context.tree.root,
            project_name=context.project.name,
            directory=step.directory,
            script=session.script(commands, there),
            writable=writable_folders(step),
            environment=step_environment(
                context.workflow,
                step,
                seed=context.workflow.seed or 0,
                epoch=context.around.epoch,
                deterministic=context.options.deterministic,
            ),
            network=not context.project.network_isolation,
            state=state,
            exchange=exchange,
            resources=Resources(step.resources.cpus, step.resources.memory_megabytes),
        )

    def _hashes(self) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
        observer, step = self.context.observer, self.step
        groups = (
            observer.expand(step.outputs),
            observer.expand((*step.inputs, *step.test_inputs)),
            observer.test_files(step),
        )
        states = observer.cache.observe({path: None for group in groups for path in group})
        first, second, third = (
            {path: states[path].sha256 or "" for path in group if states[path].sha256}
            for group in groups
        )
        return first, second, third

    def _marker(
        self,
        found: dict[Category, CategoryResult],
        hashes: tuple[dict[str, str], dict[str, str], dict[str, str]],
    ) -> TestMarker:
        outputs, inputs, tests = hashes
        kept: dict[str, CategoryResult] = {}
        old = self.context.facts.load([self.step.slug]).markers.get(self.step.slug)
        if old is not None and not isinstance(old, FactFault):
            same = (old.output_hashes, old.input_hashes, old.test_hashes) == hashes
            kept = dict(old.categories) if same else {}
        kept.update({str(name): result for name, result in found.items()})
        declared = {str(suite.category) for suite in self.step.suites}
        return TestMarker(
            workflow=self.context.workflow.stem,
            step=self.step.slug,
            run_id=self.context.folder.run_id,
            when=now(),
            categories={one: kept[one] for one in CATEGORIES if one in kept and one in declared},
            output_hashes=outputs,
            input_hashes=inputs,
            test_hashes=tests,
        )


def _why_early(ended: Ended, timed_out: bool) -> str:
    if timed_out:
        return "the tests were stopped after the step's time limit"
    if ended.stopped:
        return "the tests were stopped on request"
    if ended.lost or ended.returncode is None:
        return ended.detail or "the engine was lost while the tests ran"
    return ""
