"""What a hit of the cache costs: ``python benchmarks/cache.py IMAGE [--mebibytes N] [--rounds 7]``.

A step's outputs are put back by a real run, as the journal times it (copied, hashed, moved home,
recorded), against ``cp`` of the same files and hashing the copies with hashlib, in the same run and
in alternating order. A hit should cost at most 1.3 times as much.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from projects import commit

from vaibify_lab.engines.image.client import connect
from vaibify_lab.engines.image.inside import look_inside
from vaibify_lab.engines.image.registry import local_image
from vaibify_lab.project import Project
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.pinning import pin_image

GOAL = 1.3
FILES = 4


def main() -> int:
    """Measure and print; 1 when the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("image", help="an image with bash that the engine holds")
    parser.add_argument("--mebibytes", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    base = Path(tempfile.mkdtemp(prefix="vaibify-bench-"))
    os.environ |= {"XDG_CACHE_HOME": str(base / "cache"), "VAIBIFY_CACHE_GIGABYTES": "100"}
    try:
        project = made(base / "project", given.image, given.mebibytes)
        run(project, "stepPass")
        times = [round_of(project, base, number) for number in range(given.rounds + 1)][1:]
    finally:
        shutil.rmtree(base)
    ratio = statistics.median(one / other for one, other in times)
    for name, column in zip(("a hit", "cp and hashlib"), zip(*times, strict=True), strict=True):
        print(f"{name}: median {statistics.median(column):.2f} s, {min(column):.2f} to "
              f"{max(column):.2f}")  # fmt: skip
    print(f"{given.mebibytes} MiB, {given.rounds} rounds: median of the ratios {ratio:.2f}")
    return 0 if ratio <= GOAL else 1


def made(root: Path, image: str, mebibytes: int) -> Project:
    """Make a project with one step that writes files of noise."""
    each = f"head -c {mebibytes // FILES}M /dev/urandom"
    step = {
        "sName": "Noise",
        "saDataCommands": [f"for i in $(seq {FILES}); do {each} > out/$i.bin; done"],
        "saDataFiles": [f"out/{number + 1}.bin" for number in range(FILES)],
        "bNoInputData": True,
        "bNoTests": True,
    }
    root.mkdir()
    value = {"sFormat": "vaibify-lab/1", "bNoPythonPackages": True, "listSteps": [step]}
    (root / "workflow.json").write_text(json.dumps(value))
    (root / ".vaibify").mkdir()
    (root / ".vaibify/.gitignore").write_text("local/\n")
    (root / ".gitignore").write_text("out/\n")
    commit(root)
    client = connect()
    inside = look_inside(client, image)
    pin_image(Opened(root, cached=False), "bench:1", local_image(client, image), inside, "pulled")
    return Project(root, cached=False)


def run(project: Project, kind: str) -> float:
    """Run what is due; return the seconds that the one event of a kind tells."""
    folder = project.start_run(RunOptions(project.path), "Bench")
    events = [event for event in project.events(folder) if event is not None]
    found = [event["seconds"] for event in events if event["event"] == kind]
    if len(found) != 1 or events[-1].get("outcome") != "passed":
        sys.exit(f"not what was to be measured: {events[-1]}")
    return float(found[0])


def round_of(project: Project, base: Path, number: int) -> tuple[float, float]:
    """Time both once, in an order that changes with every round."""
    if number % 2:
        theirs = reference(project.root / "out", base / "copy")
        return hit(project), theirs
    ours = hit(project)
    return ours, reference(project.root / "out", base / "copy")


def hit(project: Project) -> float:
    """Take the outputs away and have them put back."""
    shutil.rmtree(project.root / "out")
    os.sync()  # what was written before is no part of this
    return run(project, "stepCached")


def reference(source: Path, target: Path) -> float:
    """Copy the outputs and hash the copies."""
    shutil.rmtree(target, ignore_errors=True)
    os.sync()
    began = time.perf_counter()
    subprocess.run(["cp", "-r", str(source), str(target)], check=True)
    for path in sorted(target.iterdir()):
        with path.open("rb") as file:
            hashlib.file_digest(file, "sha256")
    return time.perf_counter() - began


if __name__ == "__main__":
    raise SystemExit(main())
