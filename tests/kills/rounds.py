"""Rounds: a project, a few deaths at random moments of real commands, and what is there afterwards.

Everything that is chosen comes from the seed and the round's number, so that a round can be
repeated as far as a machine repeats anything.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from tests.apps.front import SCRIPT, surroundings
from tests.kills import checks
from tests.kills.apart import log_of
from tests.kills.faults import MODES
from tests.kills.grounds import Ground
from tests.kills.victims import VICTIMS, Victims

INJECT = Path(__file__).parent / "inject"
RUNS = (
    (),
    ("--jobs", "2"),
    ("--all", "--jobs", "2"),
    ("--twice",),
    ("--clean",),
    ("--sealed",),
    ("make",),
    ("--from", "use"),
    ("--no-tests",),
)
VERBS: tuple[tuple[str, ...], ...] = (
    ("test",),
    ("sign-off", "make", "--pass"),
    ("sign-off", "use", "--fail"),
    ("envelope",),
    ("envelope", "--only", "manifest"),
    ("acknowledge",),
    ("init",),
    ("status",),
)
SECONDS = 150.0


@dataclass
class Round:
    """One round: made of its seed, its number and the ground that it is played on."""

    seed: int
    number: int
    ground: Ground
    story: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._chance = random.Random(f"{self.seed}/{self.number}")
        name = f"round-{self.seed}-{self.number}"
        self.truth = self.ground.project(self._chance, name)
        self._log = log_of(self.truth)

    def play(self) -> bool:
        """Let it happen, check, finish the job, check again.

        Returns whether all went well; else the story is told, and the project stays.
        """
        try:
            for _ in range(self._chance.choice((1, 1, 2, 3))):
                self._death()
            self._finish()
        except (AssertionError, OSError, subprocess.SubprocessError):
            print(f"round {self.number} of seed {self.seed}, in {self.truth.made.root}:")
            print("\n".join(f"  {one}" for one in self.story), self._said()[-3000:], sep="\n")
            traceback.print_exc(file=sys.stdout)
            sys.stdout.flush()
            self.ground.mend()
            return False
        shutil.rmtree(self.truth.made.root)
        self._log.unlink()
        return True

    def _death(self) -> None:
        """Begin something, and let something of it die at some moment."""
        words = self._words()
        how = self._chance.choice(("moment", "moment", "change", *self.ground.ways))
        env = {}
        if how == "change":
            env["VAIBIFY_FAULT"] = self._fault(words)
        self._tell(" ".join([*words, *env.values()]))
        self.truth.cleaned |= "--clean" in words
        front = self._start(*words, env=env)
        if how == "moment":
            self._at_some_moment(front)
        if how == "disk":
            time.sleep(self._chance.uniform(0.0, self.ground.length))
            self._tell(f"the disk is full but for {self.ground.fill(self._chance)} bytes")
        self._end(front)
        self.ground.mend()
        if how != "moment":
            checks.wait_until_idle(self.truth)
        checks.after_death(self.truth)

    def _words(self) -> tuple[str, ...]:
        if self._chance.random() < 0.7:
            self.truth.change(text=self._chance.choice(("0\n", "1\n", "2\n", "fail\n", "bad\n")))
            return ("run", *self._chance.choice(RUNS), *self.ground.options(self._chance))
        words = self._chance.choice(VERBS)
        if words[0] == "sign-off":
            self.truth.sign(words[1])
        return words

    def _fault(self, words: tuple[str, ...]) -> str:
        is_run = words[0] in ("run", "test")
        who = self._chance.choice(("front", "runner", "runner", "runner") if is_run else ("front",))
        most = 200 if who == "runner" else 30
        return f"{who}:{self._chance.randint(1, most)}:{self._chance.choice(('kill', *MODES))}"

    def _at_some_moment(self, front: subprocess.Popen[bytes]) -> None:
        """Kill after a while; now and then somebody has asked for a stop just before."""
        victims = self._chance.choice((*VICTIMS, *self.ground.victims))
        time.sleep(self._chance.uniform(0.0, self.ground.length))
        if self._chance.random() < 0.15:
            self._tell("stop-run")
            stopping = self._start("stop-run")
            time.sleep(self._chance.uniform(0.0, 1.0))
            stopping.kill() if self._chance.random() < 0.5 else None
            self._end(stopping)
        self._tell(f"killed: {victims}")
        Victims(self.truth, front.pid, self.ground.engine).kill(victims)
        if victims == "front":
            checks.wait_until_idle(self.truth)
        elif "front" in victims or victims == "all":  # a runner that had said nothing goes on
            checks.wait_until_idle(self.truth, b"vaibify_lab.runs.child")
        if "engine" in victims:
            time.sleep(self._chance.uniform(0.0, 2.0))
            self.ground.mend()

    def _finish(self) -> None:
        """Clear up by a run of something else or not, then run what is to be run."""
        if self._chance.random() < 0.5:
            self._tell("run side --only")
            assert self._end(self._start("run", "side", "--only")) == 0
            checks.after_the_next(self.truth)
        self.truth.change(text=self._chance.choice(("0\n", "3\n")))
        self._tell("run")
        assert self._end(self._start("run")) == 0
        checks.after_the_last(self.truth)
        checks.after_the_next(self.truth)
        assert self.ground.containers(self.truth) == []

    def _start(self, *words: str, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        path = f"{INJECT}{os.pathsep}{Path(__file__).parents[2]}"
        own = {"PYTHONPATH": path, "GIT_AUTHOR_NAME": "Ada Test"}
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [str(SCRIPT), *words],
                cwd=self.truth.made.root,
                env=surroundings(**own, **(env or {}), **self.ground.env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _end(self, front: subprocess.Popen[bytes]) -> int:
        code = front.wait(SECONDS)
        said = self._said()
        assert "Traceback" not in said and "internal error" not in said
        return code

    def _said(self) -> str:
        logs = [self._log, *self.truth.made.root.glob(".vaibify/local/runs/*/runner.log")]
        return "\n".join(one.read_text(errors="replace") for one in logs if one.exists())

    def _tell(self, what: str) -> None:
        self.story.append(what)
