"""What to do about what a failed step did not find: a table, and the same by real runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit import Made
from tests.runs.here import record, run_here, step
from vaibify_lab.core.model import Step
from vaibify_lab.runs.explain import why_exit
from vaibify_lab.runs.remedies import Place

STEPS = (
    Step("clean", 1, "Clean", data_files=("out/clean.csv", "parts/")),
    Step("fit", 2, "Fit", directory="fit", output_files=("fit/o.txt",)),
)
FILES = [
    ".venv/lib/site-packages/numpy/__init__.py",
    "data/raw/stars.csv",
    "data/Counts.csv",
    "env/lib/python3.11/site-packages/pandas/__init__.py",
    "lib/helper.py",
    "params.json",
]
PUT = "put it into the repository, or let a step make it"
TABLE = [
    (
        "another step's, from the step's folder",
        "../out/clean.csv",
        "fit",
        "out/clean.csv",
        "step 'clean' makes it: declare it in saInputDataFiles",
    ),
    (
        "in another step's folder",
        "parts/1.csv",
        "",
        "parts/1.csv",
        "step 'clean' makes it: declare it in saInputDataFiles",
    ),
    (
        "its own",
        "o.txt",
        "fit",
        "fit/o.txt",
        "it is its own output, and a run begins without its outputs: do not read it",
    ),
    (
        "named from the root, and the step runs in a folder",
        "params.json",
        "fit",
        "params.json",
        "the repository has params.json: from fit, where the step runs, that is ../params.json",
    ),
    (
        "there, so that the step must have gone elsewhere",
        "params.json",
        "",
        "params.json",
        "it is there: the step had gone to another folder (cd, os.chdir) when it looked",
    ),
    (
        "moved",
        "data/stars.csv",
        "",
        "data/raw/stars.csv",
        "the repository has data/raw/stars.csv: from the repository's root, where the step runs, "
        "that is data/raw/stars.csv",
    ),
    (
        "other capitals",
        "data/counts.csv",
        "",
        "data/Counts.csv",
        "the repository has data/Counts.csv: from the repository's root, where the step runs, "
        "that is data/Counts.csv; capitals count",
    ),
    (
        "a path of this machine",
        "/home/ana/p/params.json",
        "fit",
        "params.json",
        "that is a path of this machine: write ../params.json",
    ),
    (
        "where the container has it",
        "/workspace/p/out/clean.csv",
        "",
        "out/clean.csv",
        "step 'clean' makes it: declare it in saInputDataFiles",
    ),
    (
        "a path of another machine, the file is here",
        "/home/bob/stars.csv",
        "",
        "data/raw/stars.csv",
        "the repository has data/raw/stars.csv: from the repository's root, where the step runs, "
        "that is data/raw/stars.csv",
    ),
    (
        "a path of another machine",
        "/data/archive/x.fits",
        "",
        None,
        f"that is a path of one machine, which others do not have: {PUT}",
    ),
    ("nowhere", "nope.csv", "", None, PUT),
    ("above the repository", "../nope.csv", "", None, PUT),
    ("perhaps a program", "nope", "", None, f"{PUT}, or install the program where the step runs"),
]


def place(directory: str) -> Place:
    """Return the place of the step ``fit``, in a folder."""
    mine = Step("fit", 2, "Fit", directory=directory, output_files=("fit/o.txt",))
    return Place(mine, "/workspace/p", "/home/ana/p", STEPS, (), lambda: FILES)


@pytest.mark.parametrize(
    ("name", "directory", "path", "action"),
    [row[1:] for row in TABLE],
    ids=[row[0] for row in TABLE],
)
def test_a_file(name: str, directory: str, path: str | None, action: str) -> None:
    log = f"FileNotFoundError: [Errno 2] No such file or directory: '{name}'\n"
    found = place(directory).explained(why_exit(1, log), log)
    assert (found.code, found.path, found.action) == ("missing-file", path, action)


def test_a_module_that_lies_where_python_does_not_look() -> None:
    log = "ModuleNotFoundError: No module named 'helper'\n"
    found = place("").explained(why_exit(1, log), log)
    assert (found.code, found.path) == ("missing-module", "lib/helper.py")
    assert found.action == (
        "lib/helper.py is in the repository, where Python does not look: put it beside what "
        "imports it, or its folder into PYTHONPATH (dictEnvironment) and the file into saScripts"
    )


@pytest.mark.parametrize("name", ["numpy", "pandas"])
def test_an_environment_in_the_repository_is_no_code_of_its_own(name: str) -> None:
    log = f"ModuleNotFoundError: No module named '{name}'\n"
    found = place("").explained(why_exit(1, log), log)
    assert found == why_exit(1, log)
    assert found.action is not None and "requirements.in" in found.action


def test_in_real_runs(tmp_path: Path) -> None:
    files = {"make.sh": "echo 1 > a.txt\n", "data/in.txt": "1\n", "more.sh": "cat o.txt >> o.txt\n"}
    steps = [
        step("Own", "cat o.txt > p.txt && cp p.txt o.txt", out=["o.txt", "p.txt"]),
        step("Down", "cat data/in.txt > n.txt", out="sub/n.txt", sDirectory="sub"),
        step("Here", f"cat {tmp_path}/p/data/nope.txt > h.txt", out="h.txt"),
    ]
    made = Made.new(tmp_path / "p", steps, files)
    ran = run_here(made)
    assert ran.steps == {"own": "failed", "down": "failed", "here": "failed"}
    assert record(made, "own").reason == (
        "did not find the file 'o.txt'; it is its own output, and a run begins without its "
        "outputs: do not read it"
    )
    assert record(made, "down").reason == (
        "did not find the file 'data/in.txt'; the repository has data/in.txt: from sub, where the "
        "step runs, that is ../data/in.txt"
    )
    assert record(made, "here").reason == (
        f"did not find the file '{tmp_path}/p/data/nope.txt'; {PUT}"
    )
