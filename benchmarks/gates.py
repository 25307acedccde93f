"""What the gates add: ``python benchmarks/gates.py IMAGE [--seconds 10] [--megabytes 100]``.

A step of ten seconds that reads and writes 100 MB, by `jupyter-vaibify run` in deterministic mode
(inputs, code and outputs hashed and pinned, the record written) against `docker run` of the same
command. The command is the same work each time: it reads, waits for the rest of its time, writes.
What has the goal is the step, as its record times it: all that is done for its sake. The whole
command, which also starts, looks at the project and plans, is shown beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import docker
from turns import measured

from vaibify_lab.engines.image.inside import look_inside
from vaibify_lab.engines.image.registry import local_image
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.pinning import pin_image

GOAL = 1.05
SCRIPT = """\
import sys, time
begun = time.monotonic()
with open("data/in.bin", "rb") as file:
    data = file.read()
time.sleep(max(0, float(sys.argv[1]) - (time.monotonic() - begun)))
with open("out/out.bin", "wb") as file:
    file.write(data[::-1])
"""


def main() -> int:
    """Measure and print; 1 when the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("image", help="an image with bash and Python that the engine holds")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--megabytes", type=int, default=100)
    given = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="vaibify-bench-")) / "project"
    command = f"python3 step.py {given.seconds:g}"
    try:
        make(root, given.image, command, given.megabytes)
        run(root)  # the engine is examined and the image asked, once
        steps: list[float] = []
        ways = (lambda: steps.append(run(root)), lambda: bare(root, given.image, command))
        times = [measured(ways, turn) for turn in range(given.rounds)]
    finally:
        shutil.rmtree(root.parent)
    return told(steps, times)


def told(steps: list[float], times: list[tuple[float, ...]]) -> int:
    """Print the medians; return 1 when the goal is missed."""
    whole, theirs = (statistics.median(column) for column in zip(*times, strict=True))
    ratios = [one / other for one, (_, other) in zip(steps, times, strict=True)]
    ratio, low, high = statistics.median(ratios), min(ratios), max(ratios)
    print(
        f"the step {statistics.median(steps):.2f} s, docker run {theirs:.2f} s: {ratio:.3f} times "
        f"({low:.3f} to {high:.3f}, {len(steps)} rounds); the whole command {whole:.2f} s"
    )
    return 0 if ratio <= GOAL else 1


def make(root: Path, image: str, command: str, megabytes: int) -> None:
    """Make a project of one step that pins the image."""
    step = {
        "sName": "One",
        "saDataCommands": [command],
        "saDataFiles": ["out/out.bin"],
        "saInputDataFiles": ["data/in.bin"],
        "bNoTests": True,
    }
    for name in ("data", "out"):
        (root / name).mkdir(parents=True)
    (root / "data/in.bin").write_bytes(os.urandom(megabytes * 10**6))
    (root / "step.py").write_text(SCRIPT)
    workflow = {"sFormat": "vaibify-lab/1", "bDeterministic": True, "listSteps": [step]}
    (root / "workflow.json").write_text(json.dumps(workflow))
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    client = docker.from_env().api
    inside = look_inside(client, image)
    pin_image(Opened(root, cached=False), image, local_image(client, image), inside, "pulled")


def run(root: Path) -> float:
    """Run the step as a person does, never from the cache; return what its record says it took."""
    command = [sys.executable, "-m", "vaibify_lab.apps", "run", "one", "--no-cache"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    record = json.loads((root / ".vaibify/records/workflow/one.json").read_bytes())
    return float(record["seconds"])


def bare(root: Path, image: str, command: str) -> None:
    """Run the same command with docker alone, as the same user."""
    place, user = "/workspace/project", f"{os.getuid()}:{os.getgid()}"
    words = ["docker", "run", "--rm", "--user", user, "-v", f"{root}:{place}", "-w", place]
    done = subprocess.run([*words, image, *command.split()], capture_output=True, check=False)
    if done.returncode:
        sys.exit(done.stderr.decode())


if __name__ == "__main__":
    raise SystemExit(main())
