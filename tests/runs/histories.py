"""What people do to the files and the steps of a project, written down in a chronicle.

Runs are made at once, and their facts written by our own writer: it is the rule of states that is
asked, a hundred times a minute.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.kit import Made
from tests.runs.chronicle import Chronicle, Examined, Ran, Signed
from tests.runs.declarations import (
    SLUGS,
    SOURCES,
    VERSIONS,
    declarations,
    numbers,
    paths,
    skipping,
    slugs,
    workflows,
)
from vaibify_lab.core.errors import NotPassed
from vaibify_lab.core.facts import CategoryResult, Pins, RunRecord, Surroundings
from vaibify_lab.core.facts import TestMarker as Marker
from vaibify_lab.core.report import StepReport
from vaibify_lab.files.factstore import FactStore
from vaibify_lab.files.hashing import hash_many
from vaibify_lab.runs import vouching
from vaibify_lab.runs.opened import Opened

MACHINE = {"host": "lab", "id": "0" * 32}


class Acts(RuleBasedStateMachine):
    """A project of four steps, and everything that may happen to it short of git."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.root = self.folder / "project"
        self.made = Made(self.root)
        self.chronicle = Chronicle(self.root)
        self.count = itertools.count(1)
        self.seen: list[tuple[str, bytes]] = []

    @initialize(declared=workflows(), skipping=skipping)
    def begin(self, declared: list[dict[str, Any]], skipping: set[str]) -> None:
        """Make the project, and run, test and sign most of it."""
        files = {path: texts[0] for path, texts in VERSIONS.items() if path[:4] in SOURCES}
        Made.new(self.root, declared, files)
        self.open()
        self.finish(skipping)

    def open(self) -> None:
        """Open the project, as a process does that then lives on."""
        self.opened = Opened(self.root, cached=False)
        self.store = FactStore(self.opened.tree, "workflow")

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    # what people do to files

    @rule(path=paths, version=numbers)
    def edit(self, path: str, version: int) -> None:
        texts = VERSIONS[path]
        self._remember(path)
        self.made.write(path, texts[version % len(texts)])

    @rule(path=paths, version=numbers)
    def edit_in_secret(self, path: str, version: int) -> None:
        """Put the old time back after an edit: what changed is seen all the same."""
        place = self.root / path
        before = place.stat() if place.is_file() else None
        self.edit(path, version)
        if before is not None:
            os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))

    @rule(path=paths)
    def delete(self, path: str) -> None:
        self._remember(path)
        (self.root / path).unlink(missing_ok=True)

    @rule(number=numbers)
    def restore(self, number: int) -> None:
        if self.seen:
            self.made.write(*self.seen[number % len(self.seen)])

    @rule(path=paths, seconds=st.integers(-(10**9), 10**8), anew=st.booleans())
    def touch(self, path: str, seconds: int, anew: bool) -> None:
        """Give a file another time, or another inode, and the same bytes: nothing changes."""
        place = self.root / path
        if not place.is_file():
            return
        before = self.reports()
        if anew:
            shutil.copy(place, self.folder / "copy")
            os.replace(self.folder / "copy", place)
        os.utime(place, (0, place.stat().st_mtime + seconds))
        assert self.reports() == before

    @rule(slug=slugs, value=st.sampled_from(["", "1", "2"]))
    def set_environment(self, slug: str, value: str) -> None:
        self._declare(slug, "dictEnvironment", {"A": value} if value else {})

    @rule(given=declarations)
    def declare_inputs(self, given: tuple[str, list[str]]) -> None:
        self._declare(given[0], "saInputDataFiles", given[1])

    def _declare(self, slug: str, key: str, value: Any) -> None:
        document = json.loads(self.made.read("workflow.json"))
        step = next(one for one in document["listSteps"] if one["sName"] == slug)
        step[key] = value
        self.made.write("workflow.json", json.dumps(document, indent=2) + "\n")

    def _remember(self, path: str) -> None:
        data = self.chronicle.read(path)
        if data is not None:
            self.seen.append((path, data))

    # what people do to steps

    @rule(slug=slugs)
    def run(self, slug: str) -> None:
        """Run one step, whatever its parents are."""
        step = self.chronicle.steps()[slug]
        old = self.chronicle.found("records", slug)
        run_id = f"run-{next(self.count)}"
        inputs, code = (self.chronicle.bytes_of(one) for one in (step.inputs, step.code))
        before = self.chronicle.bytes_of(step.outputs)
        passed = self._make(slug, before)
        last = old.good if isinstance(old, Ran) else None
        outputs = self.chronicle.bytes_of(step.outputs) if passed else {}
        self._record(slug, run_id, passed)
        ran = Ran(run_id, passed, step.how, inputs, code, outputs, None if passed else last)
        self.chronicle.note("records", slug, ran)

    def _make(self, slug: str, before: Mapping[str, bytes | None]) -> bool:
        """Make a step's outputs anew; put back what was there where that fails."""
        step = self.chronicle.steps()[slug]
        for path in before:
            (self.root / path).unlink(missing_ok=True)
        (self.root / slug).mkdir(exist_ok=True)
        done = all(self._shell(command) == 0 for command in step.how[0])
        now = self.chronicle.bytes_of([*step.outputs, *before])
        whole = done and bool(now) and None not in self.chronicle.bytes_of(step.outputs).values()
        for path in () if whole else now:
            (self.root / path).unlink(missing_ok=True)
        for path, data in () if whole else before.items():
            if data is not None:
                self.made.write(path, data)
        return whole

    def _shell(self, command: str) -> int:
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.root, capture_output=True, check=False
        )
        return done.returncode

    def _record(self, slug: str, run_id: str, passed: bool) -> None:
        step = self.opened.workflow("workflow.json").by_slug[slug]
        look = self.opened.observer
        groups = (step.inputs, look.scout.code_of(step).files, step.outputs)
        pinned = [self._hashes(look.expand(group)) for group in groups]
        record = RunRecord(
            "workflow", slug, slug, "passed" if passed else "failed", run_id,
            "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", commands=step.commands,
            directory=step.directory, environment=step.environment, pins=Pins(*pinned),
            reason_code="" if passed else "exit", reason="" if passed else "ended badly",
            last_passed=None if passed else self._last_passed(slug), machine=MACHINE,
        )  # fmt: skip
        self.store.write_record(record)

    def _last_passed(self, slug: str) -> RunRecord | None:
        found = self.store.load([slug]).records.get(slug)
        return found.passed if isinstance(found, RunRecord) else None

    def _hashes(self, names: tuple[str, ...]) -> dict[str, str]:
        found = hash_many(self.opened.tree, names)
        return {path: state.sha256 for path, state in found.items() if state.sha256}

    @rule(slug=slugs)
    def test(self, slug: str) -> None:
        step = self.opened.workflow("workflow.json").by_slug[slug]
        declared = self.chronicle.steps()[slug]
        if not step.suites:
            return
        files = self.opened.observer.scout.test_files(step)
        groups = map(self.opened.observer.expand, (step.outputs, step.inputs, files))
        results = {one.category: self._result(one.commands) for one in step.suites}
        run_id = f"tests-{next(self.count)}"
        hashes = [self._hashes(group) for group in groups]
        around = Surroundings(step.directory, step.environment, None, None, False, False, 1, False)
        marker = Marker("workflow", slug, run_id, "", results, *hashes, around)
        self.store.write_marker(marker)
        said = {name: result.outcome == "passed" for name, result in results.items()}
        seen = self.chronicle.seen_by_tests(declared)
        tested = Examined(said, declared.tests, seen, declared.variables)
        self.chronicle.note("test_markers", slug, tested)

    def _result(self, commands: tuple[str, ...]) -> CategoryResult:
        passed = all(self._shell(command) == 0 for command in commands)
        return CategoryResult("passed" if passed else "failed", commands, 0 if passed else 1, 1)

    @rule(slug=slugs, verdict=st.sampled_from(["passed", "passed", "failed"]))
    def sign(self, slug: str, verdict: Any) -> None:
        """Sign a step off; refused unless the outputs are those of its last passed run."""
        may = self.chronicle.may_be_signed(slug)
        try:
            seen = vouching.to_sign(self.opened, "workflow.json", slug)
            signed = vouching.sign_off(self.opened, "workflow.json", seen, verdict, by="Ada")
        except NotPassed:
            assert not may, slug
            return
        assert may, slug
        outputs = self.chronicle.bytes_of(self.chronicle.steps()[slug].outputs)
        self.chronicle.note("sign_offs", slug, Signed(verdict, signed.entry.run_id, outputs))

    @rule()
    def acknowledge(self) -> None:
        before = {slug: self.chronicle.found("records", slug) for slug in SLUGS}
        seen = vouching.acknowledge(self.opened, "workflow.json")
        for slug, record in before.items():
            failed = isinstance(record, Ran) and not record.passed and not record.acknowledged
            assert failed is (slug in seen), slug
            if failed:
                self.chronicle.note("records", slug, replace(record, acknowledged=True))

    @rule(skipping=skipping)
    def finish(self, skipping: set[str]) -> None:
        """Run, test and sign every step that is not green, but for some."""
        for slug in SLUGS:
            if slug not in skipping and not self.chronicle.truth()[slug].green:
                self.run(slug)
                self.test(slug)
                if self.chronicle.may_be_signed(slug):
                    self.sign(slug, "passed")

    # what is said

    def reports(self) -> dict[str, StepReport]:
        """Look at everything, with no memory of earlier looks."""
        return reports_of(Opened(self.root, cached=False))


def reports_of(opened: Opened) -> dict[str, StepReport]:
    return {one.slug: one for one in opened.look("workflow.json").reports}
