"""Runs of steps that do nothing: what a step costs here, and what two processors bring."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from container import FOLDERS, bare
from measure import Row, seconds, shown
from projects import commit

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.engines.image.client import connect
from vaibify_lab.engines.image.inside import look_inside
from vaibify_lab.engines.image.registry import local_image
from vaibify_lab.project import Project
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.pinning import pin_image
from vaibify_lab.runs.plan import Mode

STEP_GOAL, SHARE_GOAL = 0.040, 0.9


def make_idle(root: Path, steps: int) -> Project:
    """Make a project of independent steps that do nothing, each in a folder of its own."""
    listed = []
    for number in range(steps):
        folder = f"work/{number:05d}"
        (root / folder).mkdir(parents=True)
        (root / folder / ".keep").touch()
        listed.append(
            {
                "sName": f"Step {number}",
                "sDirectory": folder,
                "saDataCommands": ["true"],
                "bNoInputData": True,
                "bNoTests": True,
            }
        )
    value = {"sFormat": "vaibify-lab/1", "bNoPythonPackages": True, "listSteps": listed}
    (root / "workflow.json").write_text(json.dumps(value))
    (root / ".vaibify").mkdir()
    (root / ".vaibify/.gitignore").write_text("local/\n")
    commit(root)
    return Project(root, cached=False)


def run(project: Project, jobs: int, engine: str, *steps: str) -> float:
    """Run every step, or some; return the seconds from the start of the first to the run's end."""
    mode: Mode = "only" if steps else "all"
    options = RunOptions(project.path, mode, steps, jobs=jobs, engine=engine)
    folder = project.start_run(options, "Bench")
    events = [event for event in project.events(folder) if event is not None]
    if events[-1].get("outcome") != "passed":
        raise SystemExit(f"a run did not pass: {events[-1]}")
    began = next(event["time"] for event in events if event["event"] == "runStarted")
    return float(events[-1]["time"] - began)


def local_rows(folder: Path, steps: int) -> Iterator[Row]:
    """Yield what a step costs on the embedded engine, one after the other."""
    project = make_idle(folder / "idle", steps)
    per_step = min(run(project, 1, "local") for _ in range(3)) / steps
    shells = [seconds(lambda: subprocess.run(["bash", "-c", "true"], check=True)) for _ in range(9)]
    theirs = f"{shown(sorted(shells)[4])}, `bash -c true`"
    what = f"a no-op step, embedded engine, {steps} in a run, one at a time"
    yield Row(what, shown(per_step), theirs, 1000 * per_step, 1000 * STEP_GOAL, "ms")


def curve(folder: Path, sizes: tuple[int, ...]) -> str:
    """Return a table of runs to the end on the embedded engine, as many at once as processors."""
    lines = ["| steps of a run | to the end | a step |", "|---|---|---|"]
    for steps in sizes:
        taken = run(make_idle(folder / f"run-{steps}", steps), os.cpu_count() or 1, "local")
        lines.append(f"| {steps:,} | {shown(taken)} | {shown(taken / steps)} |")
    return "\n".join(lines)


def container_rows(folder: Path, steps: int, image: str) -> Iterator[Row]:
    """Yield what two at a time bring in containers, against what they bring the bare SDK."""
    import docker

    project = make_idle(folder / "contained", steps)
    pin(project, image)
    tree = folder / "bare"
    for one in FOLDERS:
        (tree / one).mkdir(parents=True)
    client = docker.from_env()
    bare(client, image, tree)

    def theirs(threads: int) -> float:
        with ThreadPoolExecutor(threads) as pool:
            done = pool.map(lambda _: bare(client, image, tree), range(steps // 2))
            return seconds(lambda: list(done))

    def both(jobs: int) -> tuple[float, float]:
        """Time half of theirs, ours, the other half: a machine that slows down does so to both."""
        half, ours = theirs(jobs), run(project, jobs, "docker")
        return half + theirs(jobs), ours

    run(project, 1, "docker", "step-0")  # the engine is examined once, before
    (sdk_one, one), (sdk_two, two) = both(1), both(2)
    sdk, mine = sdk_one / sdk_two, one / two
    what = f"speed-up of {steps} independent no-op steps in containers, two at a time"
    yield Row(
        what, f"{mine:.2f} x", f"{sdk:.2f} x, the bare SDK", mine / sdk, SHARE_GOAL, at_least=True
    )


def pin(project: Project, image: str) -> None:
    """Pin an image, as a build would."""
    client = connect()
    local = local_image(client, image)
    pin_image(
        Opened(project.root, cached=False), image, local, look_inside(client, image), "pulled"
    )


def image_here() -> str | None:
    """Return an image of the tests (.ci/engine makes one), if an engine answers and has it."""
    try:
        found = connect().images(name="vaibify-test/host")
    except VaibifyError:
        return None
    return found[0]["RepoTags"][0] if found else None
