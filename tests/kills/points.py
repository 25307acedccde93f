"""Death, or an error of the disk, at every single change that a process makes."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterable
from pathlib import Path

from tests.kills import checks
from tests.kills.apart import TRACEBACK, apart, log_of
from tests.kills.faults import MODES, Fault
from tests.kills.scenes import SCENES, Scene, run
from tests.kills.supervised import said_by, with_fault
from tests.kills.truth import Truth


class Stage:
    """Where scenes are played; what they have in common is made once."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._ran: Truth | None = None

    def scene(self, name: str) -> Played:
        """Return a scene, set up."""
        if name == "init":
            truth = Truth.new(self.place / "init", steps=3)
        else:
            truth = self._after_a_run().copied(self.place / name)
        SCENES[name].before(truth)
        return Played(SCENES[name], truth)

    def _after_a_run(self) -> Truth:
        if self._ran is None:
            self._ran = Truth.new(self.place / "ran", steps=3)
            run(self._ran)
            checks.after_the_last(self._ran)
        return self._ran


class Played:
    """A scene set up once; each fault meets a copy of it."""

    def __init__(self, scene: Scene, truth: Truth) -> None:
        self.scene = scene
        self.truth = truth

    def count(self) -> int:
        """Return how many changes the scene makes when nothing happens to it."""
        if self.scene.depth is not None:
            return 24  # a supervisor makes fewer, and is the same whatever the run
        truth = self._copy("count")
        assert apart(truth, self.scene.act(truth), Fault(10**9)) in (0, 1)
        changes = int(log_of(truth).read_text().rpartition("CHANGES ")[2])
        checks.wait_until_idle(truth)  # what it started writes
        _forget(truth)
        return changes

    def meet_all(self, mode: str, numbers: Iterable[int]) -> tuple[int, int]:
        """Meet a fault at many changes; return how many there were, and how many went wrong."""
        met = wrong = 0
        for nth in numbers:
            try:
                if not self.meet(mode, nth):
                    break
                met += 1
            except (AssertionError, OSError) as error:
                wrong += 1
                print(f"  -> {error!r}", flush=True)
        return met, wrong

    def meet(self, mode: str, nth: int) -> bool:
        """Meet a fault, see that nothing is wrong, finish the job, see that all is well.

        Returns whether the scene came to the fault.
        """
        truth = self._copy(f"{mode}-{nth}")
        place = truth.made.root.with_name(f"{truth.made.root.name}.supervisor")
        work = self.scene.act(truth)
        error, lasting = MODES[mode]
        if self.scene.depth is None:
            code = apart(truth, work, Fault(nth, error, lasting=lasting))
        else:
            code = apart(truth, with_fault(work, place, self.scene.depth, mode, nth))
        said = log_of(truth).read_text() + said_by(place)
        is_met = "FAULT at" in said
        try:
            self._judge(truth, code, said, killed=is_met and error is None)
        except BaseException:
            said = log_of(truth).read_text()[-4000:] + said_by(place)
            where = truth.made.root
            print(f"{self.scene.name} {mode} {nth}, in {where}: exit {code}\n{said}", flush=True)
            raise
        _forget(truth)
        shutil.rmtree(place, ignore_errors=True)
        return is_met

    def forget(self) -> None:
        """Remove the scene."""
        _forget(self.truth)

    def _judge(self, truth: Truth, code: int, said: str, *, killed: bool) -> None:
        itself = self.scene.depth is None
        assert code == -signal.SIGKILL if killed and itself else code in (0, 1, 2)
        assert code != TRACEBACK
        assert "Traceback" not in said
        assert "internal error" not in said
        checks.wait_until_idle(truth)
        checks.after_death(truth)
        if code == 0:
            self.scene.done(truth)
        self.scene.finish(truth)
        self.scene.done(truth)
        checks.after_the_next(truth)

    def _copy(self, name: str) -> Truth:
        place = self.truth.made.root
        return self.truth.copied(place.with_name(f"{place.name}-{name}"))


def _forget(truth: Truth) -> None:
    shutil.rmtree(truth.made.root)
    log_of(truth).unlink(missing_ok=True)
