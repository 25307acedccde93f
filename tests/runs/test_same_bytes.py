"""Three real analyses, each run on two days' clocks, with one processor and with all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.kit import Made, new_repository
from tests.runs.here import run_here, step
from vaibify_lab.demo import write_demo
from vaibify_lab.provenance.compare.files import compare_files
from vaibify_lab.provenance.compare.noise import Rules

ANALYSES = Path(__file__).parent / "analyses"
FIGURES = [f"out/figure.{kind}" for kind in ("png", "svg", "pdf", "ps", "jpg")]
NUMBERS = [f"out/walk.{kind}" for kind in ("csv", "json", "pickle", "npy", "npz", "h5", "parquet")]
SIMULATED = [*FIGURES, *NUMBERS, "out/walk.fits"]
DATED = {  # what no variable reaches, and what alone differs there
    "out/walk.csv.gz": ("noise-only", "gzip header"),
    "out/walk.zip": ("noise-only", "zip time"),
    "out/log.txt": ("different", "line 1"),  # with a clock in another year
}
FITTED = ["out/fit.svg", "out/fit.pdf", "out/told.csv", "out/forest.joblib", "out/scores.json"]
CLOCK = "clock.txt"


def another_clock(name: str) -> dict[str, str]:
    """Return the variables by which a step of a project reads its clock from a file."""
    (library,) = Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")
    return {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": f"/workspace/{name}/{CLOCK}",
        "FAKETIME_NO_CACHE": "1",
    }


@contextmanager
def one_processor() -> Iterator[None]:
    """Let what is started meanwhile use a single processor."""
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(every)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, every)


def twice(made: Made) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Run everything now on one processor, then in forty days on all; return what each wrote."""
    made.write(CLOCK, "+0d")
    with one_processor():
        ran = run_here(made, tier="bwrap", tests=False)
    assert set(ran.steps.values()) == {"passed"}, ran.events
    first = written(made)
    made.write(CLOCK, "+40d")
    ran = run_here(made, tier="bwrap", tests=False, mode="all")
    assert set(ran.steps.values()) == {"passed"}, ran.events
    return first, written(made)


def written(made: Made) -> dict[str, bytes]:
    """Return the bytes of all declared outputs."""
    steps = made.project().opened.workflow("workflow.json").steps
    return {path: (made.root / path).read_bytes() for one in steps for path in one.outputs}


def analysis(root: Path, script: str, outputs: list[str], **top: Any) -> Made:
    """Make a project of one step that runs one of the analyses."""
    environment = another_clock(root.name)
    declared = step("One", f"python {script}", out=outputs, dictEnvironment=environment)
    made = Made.new(root, [declared], {script: (ANALYSES / script).read_bytes()}, **top)
    made.write("out/.keep", "")
    return made


def test_a_simulation_writes_the_same_in_every_format_that_can(tmp_path: Path) -> None:
    outputs = [*SIMULATED, *DATED]
    made = analysis(tmp_path / "p", "simulation.py", outputs, bDeterministic=True)
    first, second = twice(made)
    differ = {path for path in outputs if first[path] != second[path]}
    assert differ == set(DATED), "and no other"
    rules = Rules(1e-6)
    for path, expected in DATED.items():
        found = compare_files(path, first[path], second[path], rules)
        what = found.ignored[0].kind if found.ignored else found.where
        assert (found.verdict, what) == expected, (path, found)


def test_a_model_is_fitted_to_the_same_bytes(tmp_path: Path) -> None:
    outputs = [*FITTED, "out/forest.pickle"]
    made = analysis(tmp_path / "p", "model.py", outputs, bDeterministic=True)
    first, second = twice(made)
    assert [path for path in outputs if first[path] != second[path]] == []


def test_the_demo_writes_the_same(tmp_path: Path) -> None:
    root = tmp_path / "co2"
    write_demo(root)
    document = json.loads((root / "workflow.json").read_text())
    for one in document["listSteps"]:
        one["dictEnvironment"] = another_clock(root.name)
    (root / "workflow.json").write_text(json.dumps(document))
    new_repository(root)
    made = Made(root)
    made.commit("the demo")
    first, second = twice(made)
    assert first == second
    assert len(first) >= 4
    made.write(CLOCK, "+400d")
    made.commit("another year")  # a replay's copy holds what is tracked
    replayed = made.project().replay([])
    assert {one.slug: one.state for one in replayed.steps} == dict.fromkeys(
        ("clean", "trend", "season", "figure"), "identical"
    ), replayed
