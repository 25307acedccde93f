"""A step's outputs put back from the cache, where a run would make these very bytes again.

All are copied beside their places and hashed there first; then they come home as a run's outputs
do: the old ones are moved aside, and back when anything fails.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from vaibify_lab.core import fact_files, jsonio
from vaibify_lab.core.errors import InvalidFile, VaibifyError
from vaibify_lab.core.facts import Pins, RunRecord
from vaibify_lab.core.fingerprint import circumstances_of, run_fingerprint
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import fault_of, is_protected
from vaibify_lab.engines.docker.owner import hand_over, owner_of
from vaibify_lab.files.packs import Damaged, Member, Pack
from vaibify_lab.files.packstore import PackStore
from vaibify_lab.files.tree import Tree
from vaibify_lab.runs import sealed
from vaibify_lab.runs.aside import Aside
from vaibify_lab.runs.cache import describe, entry_name, kept_of, run_id_of
from vaibify_lab.runs.cachekey import differs_by_us, group_of, why_not_kept
from vaibify_lab.runs.consuming import Consumption, consume
from vaibify_lab.runs.context import RunContext
from vaibify_lab.runs.hostfiles import os_errors
from vaibify_lab.runs.journal import now
from vaibify_lab.runs.judge import Verdict
from vaibify_lab.runs.recording import Attempt, record_of, with_versions
from vaibify_lab.runs.writable import require_git_apart, writable_folders
from vaibify_lab.runs.writes import stamps

_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Restoring:
    """Puts back what one step made before, in the course of a run."""

    context: RunContext
    step: Step
    previous: RunRecord | None

    def run(self) -> RunRecord | None:
        """Restore outputs and record, and return that; None where the step must be run."""
        store = self.context.cache
        if store is None or self.step.interactive:
            return None
        with self.context.busy.running(self.step, writable_folders(self.step)):
            try:
                consumed = self._consumed()
                if consumed is None:
                    return None
                require_git_apart(self.context.repository, self.step)
                return self._from(store, consumed)
            except VaibifyError as error:
                self._warn(f"could not be taken from the cache, so it is run: {error}")
                return None

    def _consumed(self) -> Consumption | None:
        """Return what it consumes; None where only a run can say what that makes."""
        found = consume(self.context, self.step, self.previous)
        return None if found.unusable or found.reads else found

    def _from(self, store: PackStore, consumed: Consumption) -> RunRecord | None:
        """Take the first entry that fits; a sealed one serves a run that need not be sealed."""
        wanted = self._as_if_run(consumed)
        if self._failed_just_so(wanted):
            return None
        kinds = (True,) if self.context.is_sealed() else (False, True)
        for is_sealed in kinds:
            name = entry_name(self.context, self.step, wanted, sealed=is_sealed)
            try:
                pack = store.find(name)
            except Damaged as error:
                self._say_damaged(error)
                continue
            if pack is None:
                continue
            with pack:
                try:
                    record = self._taken(pack, name, consumed)
                except Damaged as error:
                    store.drop(name, pack.opened)
                    self._say_damaged(error)
                    continue
                if record is not None:
                    store.used(pack)
                    return record
        self._say_kept_by_another_version(store, wanted)
        return None

    def _say_kept_by_another_version(self, store: PackStore, wanted: RunRecord) -> None:
        now = describe(self.context, self.step, wanted, sealed=self.context.is_sealed())
        for about in reversed(kept_of(store, group_of(now)).values()):
            if (how := differs_by_us(now, about["description"])) is not None:
                text = f"is cached from run {run_id_of(about)}, but {how}: it is run again"
                self._warn(text)
                return

    def _failed_just_so(self, wanted: RunRecord) -> bool:
        """Tell whether the last run failed with nothing else than now, and nobody has seen that."""
        last, step = self.previous, self.step
        if last is None or last.outcome != "failed" or last.acknowledged is not None:
            return False
        declared = (last.commands, last.directory, dict(last.environment))
        if declared != (step.commands, step.directory, dict(step.environment)):
            return False
        names = [entry_name(self.context, step, one, sealed=False) for one in (last, wanted)]
        return names[0] == names[1]

    def _as_if_run(self, consumed: Consumption) -> RunRecord:
        """Return the record that a run would have now, but for its outputs."""
        pins = Pins(dict(consumed.inputs), dict(consumed.code), {})
        verdict = Verdict("passed", None, 0, pins)
        return record_of(self.context, self.step, verdict, Attempt(now()), self.previous, 0.0)

    def _taken(self, pack: Pack, name: str, consumed: Consumption) -> RunRecord | None:
        context, step = self.context, self.step
        began = time.monotonic()
        record = self._believed(pack, name, consumed)
        place = context.folder.step(step.slug).relative_to(context.tree.root) / "cached"
        stage = sealed.stage(context.tree, place.as_posix(), step, (), can_bind=False)
        try:
            with os_errors(place.as_posix()):
                pack.take_out(lambda member: self._create(stage.tree, member))
                hand_over(_folders(stage.tree, pack.members), self._owner())
            if stamps(context.tree, consumed.stamps) != consumed.stamps:
                return None  # what it would have been made from is changing: the run says it
            self._install(stage, record)
        finally:
            stage.remove()
        context.journal.write(
            "stepCached",
            step=step.slug,
            text=f"cached from run {record.run_id}",
            run_id=record.run_id,
            outputs=len(record.pins.outputs),
            seconds=round(time.monotonic() - began, 3),
        )
        return record

    def _believed(self, pack: Pack, name: str, consumed: Consumption) -> RunRecord:
        """Return the record that a pack holds, if all of it is what its name says.

        Raises
        ------
        Damaged
        """
        context, step = self.context, self.step
        record = _record_in(pack, context.workflow.stem, step.slug)
        same = (record.pins.inputs, record.pins.code) == (consumed.inputs, consumed.code)
        outputs = {member.path: member.sha256 for member in pack.members}
        if not same or why_not_kept(step, record, 0) or outputs != dict(record.pins.outputs):
            raise Damaged("its record is not that of the run it is kept for")
        fingerprint = run_fingerprint(context.workflow, step, circumstances_of(record))
        its_name = entry_name(context, step, record, sealed=record.sealed)
        if (fingerprint, its_name) != (record.fingerprint, name):
            raise Damaged("its record is that of another run")
        if not _are_all(step, list(outputs)):
            raise Damaged("its files are not the outputs that the step declares")
        return dataclasses.replace(
            with_versions(context, record),  # it may have been made in another repository
            name=step.name,
            cached_from=record.run_id,
            # what was in force is the same, by whose word is told of now
            deterministic_by_flag=record.deterministic and not context.workflow.deterministic,
            seed_declared=context.workflow.seed is not None,
            unchanged_outputs=(),
            acknowledged=None,
        )

    def _install(self, stage: sealed.Stage, record: RunRecord) -> None:
        """Move the outputs home and write the record; on failure the old ones are put back."""
        context, step = self.context, self.step
        aside = Aside(context.tree, context.folder.run_id, context.workflow.stem, step.slug)
        done = False
        try:
            aside.take(step.outputs, restores=record.run_id)
            stage.bring_home(step.outputs)
            kept = context.facts.write_record(record)
            done = True
        finally:
            if not done:
                aside.put_back()
        aside.drop()
        if kept is not None:
            self._warn(f"an unreadable record was kept as {kept}")

    def _owner(self) -> tuple[int, int]:
        return owner_of(self.context.tree.root)

    def _create(self, staged: Tree, member: Member) -> int:
        """Open a new file for what a pack holds, whose it would be had the step made it."""
        staged.make_directory(member.path.rpartition("/")[0])
        opened = os.open(staged.root / member.path, _NEW, 0o600)
        if not os.geteuid():
            os.fchown(opened, *self._owner())
        os.fchmod(opened, member.mode | 0o400)
        return opened

    def _say_damaged(self, error: Damaged) -> None:
        self._warn(f"what the cache held of it was damaged and is dropped: {error}")

    def _warn(self, text: str) -> None:
        self.context.journal.write("warning", step=self.step.slug, text=text)


def _record_in(pack: Pack, stem: str, slug: str) -> RunRecord:
    try:
        value: Any = pack.about["record"]
        return fact_files.parse_record(jsonio.dumps(value), "record", stem, slug)
    except (KeyError, InvalidFile) as error:
        raise Damaged(f"its record does not read: {error}") from None


def _are_all(step: Step, paths: list[str]) -> bool:
    """Tell whether files are outputs of a step, and every output of it is among them."""
    plain = all(fault_of(path) is None and not is_protected(path) for path in paths)
    if not plain or len(step.made_among(paths)) != len(paths):
        return False
    folders = [output for output in step.outputs if output.endswith("/")]
    files = [output for output in step.outputs if not output.endswith("/")]
    held = all(any(path.startswith(folder) for path in paths) for folder in folders)
    return held and not set(files) - set(paths)


def _folders(staged: Tree, members: Iterable[Member]) -> list[Path]:
    """Return every folder in which files lie, the outermost first."""
    found = {above for one in members for above in PurePosixPath(one.path).parents}
    return [staged.root / one for one in sorted(found) if one.name]
