"""Two real runs on one cache, in two projects, killed at random while entries are spoilt.

The projects are copies of one, so that each finds what the other kept. After every run, dead or
not, a step that is said to be current must hold the bytes that its input gives.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.containers import connect
from tests.kit import CHAIN, Made
from tests.runs.here import request
from vaibify_lab.engines.image.inside import look_inside
from vaibify_lab.engines.image.registry import local_image
from vaibify_lab.files.packstore import outputs_folder
from vaibify_lab.runs.journal import RunFolder, read_events
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.pinning import pin_image

FILES = {
    "data/in.txt": "1\n",
    "make.sh": "for i in $(seq 3000); do cat data/in.txt; done > out/a.txt\n",
    "use.sh": 'tr 1-8 2-9 < "$1" > out2/b.txt\n',
}
PATHS = {"make": "out/a.txt", "use": "out2/b.txt"}


def right_bytes(value: int) -> dict[str, str]:
    """Return what each step makes of an input."""
    return {"make": f"{value}\n" * 3000, "use": f"{value + 1}\n" * 3000}


@dataclass(slots=True)
class Runners:
    """One trial of so many kills."""

    folder: Path
    image: str
    seed: int
    kills: int
    seen: Counter[str] = field(default_factory=Counter)
    _chance: random.Random = field(init=False)
    _values: dict[Path, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)

    def run(self) -> Counter[str]:
        """Return how often what happened; whatever is not as it should be raises."""
        os.environ |= {"XDG_CACHE_HOME": str(self.folder / "c"), "VAIBIFY_CACHE_GIGABYTES": "1"}
        projects = self._projects()
        for value in range(1, 6):
            projects[0].write("data/in.txt", f"{value}\n")
            assert projects[0].run()["outcome"] == "passed"
        while self.seen["kills"] < self.kills:
            begun = [(made, *self._begin(made)) for made in projects]
            self._spoil(time.monotonic() + self._chance.uniform(0.5, 6.0))
            for made, folder, runner in begun:
                if self._chance.random() < 0.8 and runner.poll() is None:
                    runner.send_signal(signal.SIGKILL)
                    self.seen["kills"] += 1
                runner.wait()
                self._look(made, folder)
        for made in projects:
            folder, runner = self._begin(made)
            assert runner.wait() == 0, (self.seed, read_events(folder)[-1])
            self._look(made, folder)
            assert {one.run for one in made.steps().values()} == {"current"}, self.seed
        return self.seen

    def _projects(self) -> list[Made]:
        first = Made.new(self.folder / "one" / "p", CHAIN, FILES, bDeterministic=True)
        client = connect()
        inside = look_inside(client, self.image)
        opened = Opened(first.root, cached=False)
        pin_image(opened, "stress:1", local_image(client, self.image), inside, "pulled")
        first.commit("pinned")
        assert first.run()["outcome"] == "passed"  # writes the epoch, which both then share
        shutil.copytree(self.folder / "one", self.folder / "two", symlinks=True)
        return [first, Made(self.folder / "two" / "p")]

    def _begin(self, made: Made) -> tuple[RunFolder, subprocess.Popen[bytes]]:
        self._values[made.root] = value = self._chance.randint(1, 5)
        made.write("data/in.txt", f"{value}\n")
        folder = request(made, RunOptions("workflow.json"))
        command = [sys.executable, "-P", "-m", "vaibify_lab.runs.child", str(folder.path)]
        return folder, subprocess.Popen(command, stderr=subprocess.DEVNULL)

    def _look(self, made: Made, folder: RunFolder) -> None:
        """Compare what is said to be current with what it should hold."""
        events = read_events(folder) if folder.journal.exists() else []
        kinds = Counter(str(event["event"]) for event in events)
        self.seen["restored"] += kinds["stepCached"]
        self.seen["run"] += kinds["stepPass"]
        self.seen["damage told"] += sum("damaged" in str(one.get("text")) for one in events)
        right = right_bytes(self._values[made.root])
        for slug, report in made.steps().items():
            if report.run == "current" and not report.upstream_modified:
                assert made.read(PATHS[slug]) == right[slug], (self.seed, slug, folder)
                self.seen["looked at, current"] += 1

    def _spoil(self, end: float) -> None:
        store = outputs_folder()
        while (now := time.monotonic()) < end:
            time.sleep(min(self._chance.uniform(0.05, 0.4), end - now))
            names = sorted(one for one in os.listdir(store) if not one.startswith("."))
            if not names or self._chance.random() < 0.9:
                continue
            place = store / self._chance.choice(names)
            with suppress(OSError, ValueError):
                at = self._chance.randrange(place.stat().st_size)
                if self._chance.random() < 0.5:
                    os.truncate(place, at)
                else:
                    with place.open("r+b") as file:
                        file.seek(at)
                        file.write(b"#")
                self.seen["spoilt"] += 1
