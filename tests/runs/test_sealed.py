"""Sealed runs: a step sees what it declared and nothing else, and is told what it missed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.kit import Made
from tests.runs.here import TIERS, Ran, record, run_here, step

FILES: dict[str, str | bytes] = {
    "data/a.csv": "1\n",
    "data/x.csv": "2\n",
    "lib/plug_b.py": "VALUE = 3\n",
    "plugins/one.py": "VALUE = 4\n",
    "csv.py": "open('csv/o.txt', 'w').write(open('data/x.csv').read())\n",
    "dynamic.py": (
        "import importlib, sys\n"
        "sys.path.insert(0, 'lib')\n"
        "name = b'plug_b'.decode()\n"
        "value = importlib.import_module(name).VALUE\n"
        "open('dynamic/o.txt', 'w').write(str(value))\n"
    ),
    "space.py": (
        "import importlib, sys\n"
        "sys.path.insert(0, '.')\n"
        "value = importlib.import_module(b'plugins.one'.decode()).VALUE\n"
        "open('space/o.txt', 'w').write(str(value))\n"
    ),
    "child.py": (
        "import subprocess\n"
        "done = subprocess.run(['wc', '-c', 'data/x' + '.csv'], capture_output=True, check=True)\n"
        "open('child/o.txt', 'wb').write(done.stdout)\n"
    ),
    "deaf.py": (
        "import subprocess\n"
        "done = subprocess.run(['cat', 'data/x' + '.csv'], stdout=open('deaf/o.txt', 'w'))\n"
    ),
    "moved.py": (
        "import os\n"
        "os.chdir('data')\n"
        "text = open('x' + '.csv').read()\n"
        "open('../moved/o.txt', 'w').write(text)\n"
    ),
    "away.py": (
        "import os\n"
        "os.chdir('da' + 'ta')\n"
        "text = open('x' + '.csv').read()\n"
        "open('../away/o.txt', 'w').write(text)\n"
    ),
}
# name: commands, what is declared before and after, what is named as missing
MISSING: dict[str, tuple[str, dict[str, list[str]], dict[str, list[str]], str]] = {
    "csv": ("python csv.py", {}, {"saInputDataFiles": ["data/x.csv"]}, "data/x.csv"),
    "dynamic": (
        "python dynamic.py",
        {},
        {"saScripts": ["dynamic.py", "lib/plug_b.py"]},
        "lib/plug_b.py",
    ),
    "space": (
        "python space.py",
        {},
        {"saScripts": ["space.py", "plugins/one.py"]},
        "plugins/one.py",
    ),
    "child": ("python child.py", {}, {"saInputDataFiles": ["data/x.csv"]}, "data/x.csv"),
    "deaf": ("python deaf.py", {}, {"saInputDataFiles": ["data/x.csv"]}, "data/x.csv"),
    "moved": (
        "python moved.py",
        {"saInputDataFiles": ["data/a.csv"]},
        {"saInputDataFiles": ["data/a.csv", "data/x.csv"]},
        "data/x.csv",
    ),
    "away": ("python away.py", {}, {"saInputDataFiles": ["data/x.csv"]}, "data/x.csv"),
    "cat": (
        "cat {sRepoRoot}/data/x.csv > cat/o.txt",
        {},
        {"saInputDataFiles": ["data/x.csv"]},
        "data/x.csv",
    ),
    "folder": (
        "cat data/*.csv data/x.csv > folder/o.txt",
        {},
        {"saInputDataFiles": ["data/"]},
        "data/x.csv",
    ),
}


def declared(which: int, names: list[str]) -> list[dict[str, Any]]:
    """Return the steps as declared before (0) or after (1) somebody was told what is missing."""
    found = []
    for name in names:
        command, *keys, _ = MISSING[name]
        given: Any = keys[which]
        found.append(step(name.capitalize(), command, out=f"{name}/o.txt", **given))
    return found


@pytest.mark.parametrize("tier", TIERS)
def test_a_sealed_step_is_told_what_it_missed_and_passes_once_that_is_declared(
    tmp_path: Path, tier: str
) -> None:
    names = list(MISSING) if tier == "bwrap" else ["csv", "child", "moved", "cat"]
    made = Made.new(tmp_path / "p", declared(0, names), FILES)
    assert run_here(made, tier=tier, jobs=2).steps == dict.fromkeys(names, "passed"), "all is there"
    good = {name: made.read(f"{name}/o.txt") for name in names}
    missed = run_here(made, mode="all", sealed=True, tier=tier, jobs=2)
    assert missed.steps == dict.fromkeys(names, "failed")
    for name in names:
        found, path = record(made, name), MISSING[name][-1]
        assert (found.reason_code, found.sealed) == ("sealed-missed", False), (name, found.reason)
        assert path in found.reason.partition(" in its sealed run")[0], (name, found.reason)
        assert "saInputDataFiles" in found.reason
        assert made.read(f"{name}/o.txt") == good[name]  # the old output is back
    made.workflow(declared(1, names))
    passed = run_here(made, sealed=True, tier=tier, jobs=2)
    assert passed.steps == dict.fromkeys(names, "passed")
    proven = tier == "bwrap"
    assert {name: record(made, name).sealed for name in names} == dict.fromkeys(names, proven)
    assert {name: made.read(f"{name}/o.txt") for name in names} == good
    said = [text for text in passed.texts("warning") if "nothing is proven" in text]
    assert len(said) == (0 if proven else 1)
    assert {one.sealed for one in made.project().report().steps} == {proven}
    assert not list(passed.folder.path.glob("steps/*/tree")), "staged trees are removed"


def test_outside_bubblewrap_a_sealed_step_can_reach_the_rest_and_nothing_is_proven(
    tmp_path: Path,
) -> None:
    made = Made.new(tmp_path / "p", [], {"data/x.csv": "2\n"})
    made.workflow([step("Reach", f"cat {made.root}/data/x.csv > o/o.txt", out="o/o.txt")])
    for tier in ("landlock", "plain"):
        assert run_here(made, mode="all", sealed=True, tier=tier).steps == {"reach": "passed"}
        assert record(made, "reach").sealed is False
    assert run_here(made, mode="all", sealed=True, tier="bwrap").steps == {"reach": "failed"}
    assert record(made, "reach").reason.startswith("missed data/x.csv in its sealed run")


def test_a_sealed_plain_step_that_writes_home_by_absolute_path_fails(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", [], {"data/x.csv": "2\n"})
    made.workflow(
        [step("Write", "echo 1 > o/o.txt", f"echo 3 > {made.root}/workflow.json", out="o/o.txt")]
    )
    before = made.read("workflow.json")
    run_here(made, sealed=True, tier="plain")
    found = record(made, "write")
    assert (found.reason_code, "workflow.json" in found.reason) == ("forbidden-write", True)
    made.write("workflow.json", before)
    assert run_here(made, sealed=True, tier="landlock").steps == {"write": "failed"}
    assert made.read("workflow.json") == before, "denied"


def test_a_sealed_step_that_changes_its_input_first_fails(tmp_path: Path) -> None:
    steps = [
        step("Edit", "echo 9 > w/in.txt", "cp w/in.txt w/o.txt", out="w/o.txt")
        | {"saInputDataFiles": ["w/in.txt"]}
    ]
    made = Made.new(tmp_path / "p", steps, {"w/in.txt": "1\n"})
    assert run_here(made, sealed=True).steps == {"edit": "failed"}
    found = record(made, "edit")
    assert (found.reason_code, "w/in.txt" in found.reason) == ("forbidden-write", True)
    assert made.read("w/in.txt") == "1\n"


def test_bsealed_of_the_workflow_seals_every_run(tmp_path: Path) -> None:
    made = Made.new(
        tmp_path / "p", [step("One", "cat data/x.csv > o.txt", out="o.txt")], FILES, bSealed=True
    )
    run_here(made)
    assert record(made, "one").reason_code == "sealed-missed"


def test_what_a_seal_hides_in_silence_is_said(tmp_path: Path) -> None:
    """A pattern, or a look whether a file is there, goes on without what it would have found."""
    code = "import glob\nopen('w/o.txt', 'w').write(str(sorted(glob.glob('data/*.csv'))))\n"
    one = step("One", "python one.py", out="w/o.txt") | {"saInputDataFiles": ["data/a.csv"]}
    made = Made.new(tmp_path / "p", [one], {**FILES, "one.py": code})
    assert run_here(made).steps == {"one": "passed"}
    ran = run_here(made, mode="all", sealed=True)
    assert (ran.steps, made.read("w/o.txt")) == ({"one": "passed"}, "['data/a.csv']")
    assert ran.texts("preflight") == ["one.py:2 reads 'data/*.csv': 'data/x.csv' is not declared"]
    assert ran.texts("warning") == [
        "its outputs are other than those of its last run, which was not sealed and had the same "
        "declared files: it may have read what it does not declare, or is not deterministic"
    ]
    made.workflow([one | {"saInputDataFiles": ["data/"]}])
    ran = run_here(made, mode="all", sealed=True)
    assert (ran.texts("preflight"), ran.texts("warning")) == ([], [])
    assert made.read("w/o.txt") == "['data/a.csv', 'data/x.csv']"


def test_a_large_input_is_laid_in_not_copied(tmp_path: Path) -> None:
    copied = "du -sm --apparent-size data | cut -f1 > o/seen.txt"
    steps = [
        step("Big", copied, "sha256sum data/big.bin > o/sum.txt", out=["o/seen.txt", "o/sum.txt"])
    ]
    steps[0]["saInputDataFiles"] = ["data/big.bin"]
    made = Made.new(tmp_path / "p", steps, {".gitignore": "data/\n"})
    made.write("data/big.bin", os.urandom(2**20) * 64)
    told = []
    staged = made.root / ".vaibify/local/runs"

    def spy() -> int:
        trees = list(staged.glob("*/steps/big/tree/data/big.bin"))
        return trees[0].stat().st_size if trees else -1

    made.write("slow.sh", "")
    steps[0]["saDataCommands"].append("touch o/ready; while [ ! -e o/go ]; do sleep 0.02; done")
    made.workflow(steps)
    import threading
    import time

    def watch() -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = list(staged.glob("*/steps/big/tree/o/ready"))
            if found:
                told.append(spy())
                (found[0].parent / "go").touch()
                return
            time.sleep(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    ran = run_here(made, sealed=True, tier="bwrap")
    watcher.join()
    assert ran.steps == {"big": "passed"}
    assert told == [0], "the place in the staged tree is empty: the file itself was bound over it"
    assert made.read("o/seen.txt").strip() in ("64", "65")
    assert record(made, "big").sealed is True
    assert (made.root / "data/big.bin").stat().st_size == 64 * 2**20


def test_a_declared_output_folder_comes_home_whole(tmp_path: Path) -> None:
    make = "mkdir -p out/deep/er && echo 1 > out/deep/er/a.txt && echo 2 > out/b.txt"
    steps = [step("Folder", make, out="out/"), step("Deep", "echo 3 > x/y/z.txt", out="x/y/z.txt")]
    made = Made.new(tmp_path / "p", steps, {"out/old/gone.txt": "old\n"})
    for _ in range(2):
        assert run_here(made, mode="all", sealed=True).steps == {
            "folder": "passed",
            "deep": "passed",
        }
        below = sorted(str(one.relative_to(made.root)) for one in made.root.glob("out/**/*"))
        assert below == ["out/b.txt", "out/deep", "out/deep/er", "out/deep/er/a.txt"]
        assert sorted(record(made, "folder").pins.outputs) == ["out/b.txt", "out/deep/er/a.txt"]
        assert made.read("x/y/z.txt") == "3\n"


def test_undeclared_files_of_a_sealed_step_are_named_and_stay_behind(tmp_path: Path) -> None:
    made = Made.new(
        tmp_path / "p", [step("One", "echo 1 > o/o.txt; echo 2 > o/n.txt", out="o/o.txt")], {}
    )
    ran = run_here(made, sealed=True)
    assert ran.steps == {"one": "passed"}
    assert record(made, "one").undeclared_writes == ("o/n.txt",)
    assert os.listdir(made.root / "o") == ["o.txt"]


@pytest.mark.parametrize("tier", TIERS)
def test_links_bring_nothing_in_and_nothing_out(tmp_path: Path, tier: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret\n")
    out = tmp_path / "host"
    out.mkdir()
    steps = [
        step(
            "Input",
            "cat data/link.csv > i/o.txt",
            out="i/o.txt",
            saInputDataFiles=["data/link.csv"],
        ),
        step("Output", f"ln -s {secret} l/o.txt", out="l/o.txt"),
        step("Folder", f"cd f && ln -s {secret} a.txt", out="f/"),
        step(
            "Above",
            f"cd d && mv sub gone && ln -s {out} sub && echo 1 > sub/o.txt",
            out="d/sub/o.txt",
        )
        | {"sDirectory": "."[:0]},
        step("Fifo", "mkfifo q/o.txt", out="q/o.txt"),
    ]
    made = Made.new(tmp_path / "p", steps, {"d/keep.txt": ""})
    (made.root / "data").mkdir()
    (made.root / "data/link.csv").symlink_to(secret)
    ran = run_here(made, "output", "folder", "above", "fifo", sealed=True, tier=tier)
    assert set(ran.steps.values()) == {"failed"}
    codes = {name: record(made, name).reason_code for name in ran.steps}
    assert (codes["output"], codes["fifo"]) == ("output-unusable", "output-unusable")
    assert codes["folder"] == "output-unusable"
    above = {"bwrap": "missing-file", "landlock": "exit", "plain": "output-unusable"}
    assert codes["above"] == above[tier]
    for name in ("l/o.txt", "f/a.txt", "q/o.txt"):
        assert not os.path.lexists(made.root / name)
    assert os.listdir(out) in ([], ["o.txt"])  # plain: nothing keeps a step from writing there
    assert secret.read_text() == "secret\n"
    end = run_here(made, "input", sealed=True, tier=tier).end
    assert (end["event"], "data/link.csv" in end["text"]) == ("runRefused", True)


def test_a_failed_sealed_step_keeps_what_it_wrote_among_its_leftovers(tmp_path: Path) -> None:
    steps = [step("One", "echo half > o/o.txt; echo more > f/x.txt; exit 3", out=["o/o.txt", "f/"])]
    made = Made.new(tmp_path / "p", steps, {"o/o.txt": "old\n", "f/y.txt": "old\n"})
    ran = run_here(made, sealed=True)
    assert ran.steps == {"one": "failed"}
    assert (made.read("o/o.txt"), os.listdir(made.root / "f")) == ("old\n", ["y.txt"])
    assert ran.place("leftovers/one/o/o.txt").read_text() == "half\n"
    assert ran.place("leftovers/one/f/x.txt").read_text() == "more\n"
    assert ran.texts("note", "one")[-1].startswith("what it wrote was set apart in .vaibify/local/")


def plotting() -> list[dict[str, Any]]:
    """A step that computes and plots."""
    one = step("Both", "cat data/a.csv > d/data.txt", out="d/data.txt")
    return [
        one
        | {
            "saInputDataFiles": ["data/a.csv"],
            "saPlotCommands": ["sed s/^/plot:/ d/data.txt > p/plot.svg"],
            "saPlotFiles": ["p/plot.svg"],
        }
    ]


def test_sealed_plots_alone_see_the_data_and_leave_it(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", plotting(), FILES)
    assert run_here(made).steps == {"both": "passed"}
    inode = (made.root / "d/data.txt").stat().st_ino
    (made.root / "p/plot.svg").unlink()
    ran: Ran = run_here(made, "both", sealed=True, plot_only=True)
    assert ran.steps == {"both": "passed"}
    assert made.read("p/plot.svg") == "plot:1\n"
    assert (made.root / "d/data.txt").stat().st_ino == inode
    found = record(made, "both")
    assert sorted(found.pins.outputs) == ["d/data.txt", "p/plot.svg"]
    assert (found.sealed, found.plot_only) == (False, True), "the data were not made sealed"
    assert made.states()["both"][0] == "current"


def test_code_that_reading_does_not_find_is_noted_until_a_sealed_run_or_somebody_says_what_it_is(
    tmp_path: Path,
) -> None:
    one = step("One", "python dynamic.py", out="dynamic/o.txt")
    made = Made.new(
        tmp_path / "p", [one], {"dynamic.py": FILES["dynamic.py"], "plug_b.py": "VALUE = 5\n"}
    )

    def noted() -> list[str]:
        (report,) = made.project().report().steps
        return [note.text for note in report.notes if note.code == "code-computed"]

    said = (
        "dynamic.py:4 imports a module whose name it works out; that file is not followed, so a "
        "change in it is not noticed"
    )
    assert run_here(made, tier="bwrap").texts("preflight") == [said]
    assert noted() == [said]
    found = one | {"saScripts": ["dynamic.py", "plug_b.py"]}
    made.workflow([found])
    ran = run_here(made, sealed=True, tier="bwrap")
    assert (ran.steps, ran.texts("preflight"), noted()) == ({"one": "passed"}, [], [])
    made.write("plug_b.py", "VALUE = 6\n")
    (report,) = made.project().report().steps
    assert report.run == "stale"
