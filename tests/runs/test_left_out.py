"""What a run did not write and the run before it wrote is named, and is no identical result."""

from __future__ import annotations

from pathlib import Path

from tests.apps.front import vaibify
from tests.kit import Made
from tests.runs.here import record, run_here, step

WRITE = "for i in $(cat data/in.txt); do echo $i > parts/$i.txt; done"


def made_in(root: Path, *, out: list[str]) -> Made:
    steps = [step("Make", WRITE, out=out, saInputDataFiles=["data/in.txt"])]
    return Made.new(root, steps, {"data/in.txt": "1 2\n"})


def test_a_file_of_a_folder_that_is_left_out_is_named(tmp_path: Path) -> None:
    made = made_in(tmp_path / "p", out=["parts/"])
    run_here(made)
    assert run_here(made, "make").of("stepPass")[0]["identical"] is True
    made.write("data/in.txt", "1\n")
    ran = run_here(made, no_cache=True)
    assert (ran.of("stepPass")[0]["outputs"], ran.of("stepPass")[0]["identical"]) == (1, False)
    text = "did not write parts/2.txt, which its last run that passed wrote"
    assert ran.texts("warning", "make") == [text]
    assert record(made, "make").unchanged_outputs == ("parts/1.txt",)
    made.write("data/in.txt", "1 2\n")
    run_here(made, "make")
    made.write("data/in.txt", "2\n")
    told = vaibify(made.root, "run", "--no-cache")
    assert "! warning: make: did not write parts/1.txt, which" in told.out
    assert "identical" not in told.out


def test_what_is_not_declared_any_more_is_not_left_out(tmp_path: Path) -> None:
    made = made_in(tmp_path / "p", out=["parts/1.txt", "parts/2.txt"])
    run_here(made)
    made.workflow([step("Make", WRITE, out="parts/1.txt", saInputDataFiles=["data/in.txt"])])
    ran = run_here(made, "make")
    assert ran.of("stepPass")[0]["identical"] is True
    assert not [text for text in ran.texts("warning", "make") if "did not write" in text]


def test_many_are_counted(tmp_path: Path) -> None:
    made = made_in(tmp_path / "p", out=["parts/"])
    made.write("data/in.txt", "1 2 3 4 5 6 7 8 9\n")
    run_here(made)
    made.write("data/in.txt", "1\n")
    (text,) = run_here(made, "make").texts("warning", "make")
    assert "parts/6.txt and 3 more, which" in text
