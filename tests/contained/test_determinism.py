"""Deterministic mode in containers: the same bytes twice, and nothing that a step can change."""

from __future__ import annotations

from pathlib import Path

from tests.contained.pinned import Image, pinned, record
from tests.runs.here import step
from tests.runs.test_determinism import DRAW, SCRIBBLE

WORKERS = """\
import multiprocessing, random
def draw(found):
    found.put(random.random())
if __name__ == "__main__":
    with open("o/o.txt", "w") as out:
        for method in ("fork", "spawn"):
            context = multiprocessing.get_context(method)
            for _ in range(2):
                found = context.SimpleQueue()
                worker = context.Process(target=draw, args=(found,))
                worker.start()
                print(found.get(), file=out)
                worker.join()
"""


def test_steps_write_the_same_twice_and_cannot_write_what_they_run_first(
    tmp_path: Path, image: Image
) -> None:
    steps = [
        step("Draw", "python3 draw.py", out="o/o.txt"),
        step("Scribble", "cd s && python3 ../scribble.py", out="s/o/o.txt"),
        step("Work", "cd w && python3 ../work.py", out="w/o/o.txt"),
    ]
    files = {"draw.py": DRAW, "scribble.py": SCRIBBLE, "work.py": WORKERS}
    made = pinned(tmp_path / "p", image, steps, files, bDeterministic=True)
    events = made.events()
    assert set(events[-1]["steps"].values()) == {"passed"}, events
    first = made.read("o/o.txt"), made.read("w/o/o.txt")
    assert len(set(first[1].split())) == 4
    assert made.read("s/o/o.txt").splitlines() == ["['sitecustomize.py']", "refused", "refused"]
    assert record(made, "draw").variables["LC_ALL"] == "C.UTF-8"
    made.events(mode="all")
    assert (made.read("o/o.txt"), made.read("w/o/o.txt")) == first
