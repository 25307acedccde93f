"""Looks at large projects: against ``git status``, in memory, and as they grow.

``python benchmarks/looks.py ROOT`` looks twice and prints the peak memory of that in mebibytes.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from measure import Pair, Row, rows_of, seconds, shown
from projects import make_project

from vaibify_lab.core import workflow_file
from vaibify_lab.project import Project
from vaibify_lab.runs.plan import Selection, plan

LOOK_GOAL, MEMORY_GOAL = 2.5, 300
_STARTS = frozenset({"subprocess.Popen", "os.posix_spawn", "os.fork", "os.exec", "os.system"})


def rows(root: Path, steps: int, rounds: int) -> Iterator[Row]:
    """Make a project of so many steps, with ten files each; yield what a look at it costs."""
    make_project(root, steps)
    time.sleep(2.5)  # stamps younger than two seconds are not trusted: nobody's files are
    what = f"{steps:,} steps, {10 * steps:,} files"
    project = Project(root, cached=False)
    project.report()
    yield from rows_of([_unchanged(project, what)], rounds)
    started = _processes_of(project.report)
    yield Row(f"processes that this look starts, {what}", f"{started}", "", started, 0, "")
    yield _memory(root, f"peak memory of a first and an unchanged look, {what}")


def _unchanged(project: Project, what: str) -> Pair:
    def ours() -> bool:
        return all(step.run == "current" for step in project.report().steps)

    def theirs() -> bool:
        asked = ["git", "status", "--porcelain"]
        return not subprocess.run(asked, cwd=project.root, capture_output=True, check=True).stdout

    return Pair(f"unchanged look, {what}", "`git status`", LOOK_GOAL, ours, theirs)


def _processes_of(work: Callable[[], object]) -> int:
    """Return how many processes a call starts; a hook cannot be taken away again."""
    started: list[str] = []
    is_on = True

    def note(event: str, arguments: object) -> None:
        if is_on and event in _STARTS:
            started.append(event)

    sys.addaudithook(note)
    work()
    is_on = False
    return len(started)


def _memory(root: Path, what: str) -> Row:
    asked = [sys.executable, __file__, str(root)]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    peak = float(done.stdout)
    return Row(what, f"{peak:.0f} MiB", "", peak, MEMORY_GOAL, "MiB")


def curve(folder: Path, sizes: tuple[int, ...]) -> str:
    """Return a table of what 100, 1,000, 10,000 steps cost, in all and a step."""
    columns = ("parse", "first look", "unchanged look", "plan", "report as JSON")
    lines = [f"| steps | {' | '.join(columns)} |", "|---|" + "---|" * len(columns)]
    for steps in sizes:
        cells = [f"{shown(one)}, {1e6 * one / steps:.0f} µs" for one in _costs(folder, steps)]
        lines.append(f"| {steps:,} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _costs(folder: Path, steps: int) -> Iterator[float]:
    root = folder / f"grow-{steps}"
    if not root.exists():
        make_project(root, steps)
        time.sleep(2.5)
    data = (root / "workflow.json").read_bytes()
    yield _least(lambda: workflow_file.parse(data, "workflow.json"))
    project = Project(root, cached=False)
    yield seconds(project.report)
    look = project.look()
    yield _least(project.look)
    yield _least(lambda: plan(look.workflow, look.reports, Selection()))
    yield _least(lambda: json.dumps(project.report().to_json()))


def _least(work: Callable[[], object]) -> float:
    return min(seconds(work) for _ in range(3))


def main() -> int:
    """Look twice; print the peak of the memory used."""
    project = Project(Path(sys.argv[1]))
    for _ in range(2):
        project.report()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return 0


if __name__ == "__main__":
    sys.exit(main())
