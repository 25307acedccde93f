"""Every flag of ``run``, by real runs."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import py_compile
from pathlib import Path
from typing import Any

import pytest

from tests.kit import DIAMOND, DIAMOND_FILES, Made
from tests.runs.here import Ran, marker, record, run_here, step
from vaibify_lab.core.components import LAYERS, drifted


def started(ran: Ran) -> list[str]:
    """Return the steps that were started, in order."""
    return [one["step"] for one in ran.of("stepStarted")]


@pytest.fixture
def diamond(tmp_path: Path) -> Made:
    """Make a diamond that has run."""
    made = Made.new(tmp_path / "p", DIAMOND, DIAMOND_FILES)
    assert set(run_here(made, jobs=2).steps.values()) == {"passed"}
    return made


def test_which_steps_run(diamond: Made) -> None:
    assert started(run_here(diamond)) == []
    assert started(run_here(diamond, "left", mode="only")) == ["left"]
    assert started(run_here(diamond, "left")) == ["left"]
    assert started(run_here(diamond, "left", mode="from")) == ["left", "end"]
    assert sorted(started(run_here(diamond, mode="all"))) == ["end", "left", "right", "top"]
    diamond.write("top.sh", DIAMOND_FILES["top.sh"] + "# the same bytes come out\n")
    assert started(run_here(diamond, "end", mode="only")) == ["end"], "not its stale ancestors"
    assert started(run_here(diamond, "end")) == ["top", "end"]
    diamond.write("left.sh", 'sed s/^/l/ "$1" > left/l.txt\n')
    ran = run_here(diamond)
    assert ran.steps == {"top": "skipped", "left": "passed", "right": "skipped", "end": "passed"}
    diamond.write("right.sh", "# only a comment\n" + DIAMOND_FILES["right.sh"])
    ran = run_here(diamond)
    assert ran.steps == {"top": "skipped", "left": "skipped", "right": "passed", "end": "skipped"}
    assert ran.texts("stepSkipped", "end") == ["what it consumes is what it last consumed"]


def test_a_failure_blocks_what_is_below_and_nothing_else(diamond: Made) -> None:
    diamond.write("left.sh", "exit 4\n")
    ran = run_here(diamond, mode="all")
    assert ran.steps == {"top": "passed", "left": "failed", "right": "passed", "end": "blocked"}
    assert ran.texts("stepBlocked", "end") == ["upstream step 'left' failed"]
    assert ran.end["outcome"] == "failed"
    states = {slug: state[0] for slug, state in diamond.states().items()}
    assert states == {"top": "current", "left": "failed", "right": "current", "end": "current"}
    assert diamond.states()["end"][2] is True, "upstream-modified"


MEET = (
    "echo here > here.txt\n"
    "for i in $(seq 100); do [ -e ../$1/here.txt ] && break; sleep 0.1; done\n"
    "[ -e ../$1/here.txt ] && echo met > o.txt\n"
)


def meeting(one: str, two: str, **more: Any) -> list[dict[str, Any]]:
    """Return two steps that pass only when they run at the same time."""
    return [
        step(name, f"bash ../meet.sh {other}", out=f"{name}/o.txt", sDirectory=name, **more)
        for name, other in ((one, two), (two, one))
    ]


def test_independent_steps_run_at_the_same_time(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", meeting("a", "b"), {"meet.sh": MEET})
    assert run_here(made, jobs=2).steps == {"a": "passed", "b": "passed"}
    made = Made.new(tmp_path / "q", meeting("a", "b"), {"meet.sh": MEET}, iJobs=2)
    assert run_here(made).steps == {"a": "passed", "b": "passed"}, "as the workflow says"


@pytest.mark.parametrize("jobs", [1, 3])
def test_steps_that_may_write_the_same_folder_never_do(tmp_path: Path, jobs: int) -> None:
    """In the root, in a folder, and below that: with one job neither do others."""
    command = 'date +%s%N > "$1"; sleep 0.15; date +%s%N >> "$1"\n'
    steps = [
        step("Root", "bash time.sh o.txt", out="o.txt"),
        step("Outer", "bash ../time.sh o.txt", out="f/o.txt", sDirectory="f"),
        step("Inner", "bash ../../time.sh o.txt", out="f/g/o.txt", sDirectory="f/g"),
    ]
    made = Made.new(tmp_path / "p", steps, {"time.sh": command, "f/g/k.txt": ""})
    assert run_here(made, jobs=jobs).steps == dict.fromkeys(("root", "outer", "inner"), "passed")
    spans = sorted(
        tuple(map(int, made.read(path).split())) for path in ("o.txt", "f/o.txt", "f/g/o.txt")
    )
    assert all(one[1] <= two[0] for one, two in itertools.pairwise(spans))


SHOWN = "env | grep -E 'HASHSEED|EPOCH|^TZ|LC_ALL|THREADS|SEED|VAIBIFY|MINE' | sort > o.txt"


def test_determinism_is_visible_to_the_step(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", [step("One", SHOWN, out="o.txt")], {}, iSeed=7)
    run_here(made)
    plain = made.read("o.txt").splitlines()
    assert "VAIBIFY_SEED=7" in plain and "VAIBIFY_STEP=one" in plain
    assert not [line for line in plain if line.startswith(("PYTHONHASHSEED", "SOURCE_DATE"))]
    run_here(made, "one", deterministic=True)
    lines = made.read("o.txt").splitlines()
    found = record(made, "one")
    assert (found.deterministic, found.deterministic_by_flag) == (True, True)
    epoch = found.source_date_epoch
    for line in ("PYTHONHASHSEED=0", f"SOURCE_DATE_EPOCH={epoch}", "TZ=UTC", "OMP_NUM_THREADS=1"):
        assert line in lines
    assert made.states()["one"][0] == "current", "what a flag said at the time makes nothing stale"
    made.workflow(
        [step("One", SHOWN, out="o.txt", dictEnvironment={"TZ": "CET", "MINE": "1"})],
        bDeterministic=True,
    )
    run_here(made)
    lines = made.read("o.txt").splitlines()
    assert "PYTHONHASHSEED=0" in lines and "TZ=CET" in lines and "MINE=1" in lines
    found = record(made, "one")
    assert (found.deterministic, found.deterministic_by_flag) == (True, False)
    assert (found.variables["PYTHONHASHSEED"], found.variables["TZ"]) == ("0", "CET")
    assert {f"{name}={text}" for name, text in found.variables.items()} >= set(lines)
    assert len([line for line in lines if line.startswith("VAIBIFY_SEED=")]) == 1


def test_the_run_s_name_tells_what_was_in_force(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", [step("One", "echo 1 > o.txt", out="o.txt")], {})
    run_here(made)
    plain = record(made, "one").fingerprint
    run_here(made, "one", deterministic=True)
    flagged = record(made, "one").fingerprint
    made.workflow([step("One", "echo 1 > o.txt", out="o.txt")], bDeterministic=True)
    assert "determinism-changed" in made.codes()["one"], "what is declared is compared"
    run_here(made)
    assert len({plain, flagged}) == 2
    assert record(made, "one").fingerprint == flagged, "the same was in force"


def test_what_a_step_stood_on_is_kept_and_hashes_to_env_hash(tmp_path: Path) -> None:
    steps = [
        step("One", "echo 1 > o.txt", out="o.txt"),
        step("Two", "true > p", out="p", dictEnvironment={"LC_ALL": "C", "LD_PRELOAD": "x.so"}),
    ]
    made = Made.new(tmp_path / "p", steps, {})
    run_here(made)
    one, two = record(made, "one"), record(made, "two")
    line = json.dumps(dict(one.components), sort_keys=True, separators=(",", ":"))
    assert one.env_hash == "sha256:" + hashlib.sha256(line.encode()).hexdigest()
    assert set(one.components) == set(LAYERS)
    assert one.components["kernel"].split()[:2] == [os.uname().sysname, os.uname().release]
    assert (one.components["image"], one.components["locale"]) == ("none", "LANG=C.UTF-8")
    assert [(each.component, each.now) for each in drifted(one.components, two.components)] == [
        ("locale", "LC_ALL=C"),
        ("ld_preload", "x.so"),
    ]
    assert one.env_hash != two.env_hash


# --- plots alone


def plotting(**more: Any) -> list[dict[str, Any]]:
    """Return a step that computes and plots, by two scripts."""
    return [
        {
            "sName": "Both",
            "saDataCommands": ["bash data.sh"],
            "saDataFiles": ["d/data.txt"],
            "saOutputFiles": ["d/more/"],
            "saPlotCommands": ["bash plot.sh"],
            "saPlotFiles": ["p/plot.svg"],
            "saInputDataFiles": ["in.txt"],
            "bNoTests": True,
            **more,
        },
        step("Plain", "cp d/data.txt x/o.txt", out="x/o.txt", saInputDataFiles=["d/data.txt"]),
    ]


PLOT_FILES = {
    "in.txt": "1\n",
    "data.sh": "cat in.txt > d/data.txt; echo 1 > d/more/a.txt; echo 2 > d/more/b.txt\n",
    "plot.sh": "sed s/^/plot:/ d/data.txt > p/plot.svg\n",
}


@pytest.fixture
def plots(tmp_path: Path) -> Made:
    """Make a project with plots, run."""
    made = Made.new(tmp_path / "p", plotting(), PLOT_FILES)
    assert set(run_here(made).steps.values()) == {"passed"}
    return made


def test_new_plots_from_the_data_that_is_there(plots: Made) -> None:
    plots.write("plot.sh", PLOT_FILES["plot.sh"].replace("plot:", "new:"))
    assert plots.states()["both"][0] == "stale"
    ran = run_here(plots, plot_only=True)
    assert ran.steps == {"both": "passed", "plain": "skipped"}
    assert plots.read("p/plot.svg") == "new:1\n"
    found = record(plots, "both")
    assert found.plot_only is True
    assert sorted(found.pins.outputs) == [
        "d/data.txt",
        "d/more/a.txt",
        "d/more/b.txt",
        "p/plot.svg",
    ]
    assert found.commands_run == ("bash plot.sh",)
    assert plots.states()["both"][0] == "current"
    assert ran.texts("stepSkipped", "plain")[0].startswith("makes no plots")


def test_plots_alone_make_no_data_sealed_deterministic_or_better_kept(plots: Made) -> None:
    """What a run says of itself is said of all outputs, of which it made some alone."""

    def told() -> tuple[bool, bool, str]:
        found = record(plots, "both")
        return found.sealed, found.deterministic, found.isolation

    run_here(plots, "both", mode="only", tier="plain")
    ran = run_here(plots, "both", plot_only=True, tier="bwrap", sealed=True, deterministic=True)
    assert ran.steps["both"] == "passed"
    assert told() == (False, False, "none")
    run_here(plots, "both", mode="only", tier="bwrap", sealed=True, deterministic=True)
    assert told() == (True, True, "sandbox")
    run_here(plots, "both", plot_only=True, tier="bwrap", sealed=True, deterministic=True)
    assert told() == (True, True, "sandbox")
    run_here(plots, "both", plot_only=True, tier="plain")
    assert told() == (False, False, "none")


@pytest.mark.parametrize(
    ("path", "text", "named"),
    [
        ("data.sh", PLOT_FILES["data.sh"] + "# other\n", "data.sh"),
        ("in.txt", "2\n", "in.txt"),
        ("d/data.txt", "edited\n", "d/data.txt"),
        ("d/more/a.txt", None, "d/more/a.txt"),
        ("d/more/c.txt", "new\n", "d/more/c.txt"),
    ],
)
def test_plots_alone_would_bless_what_other_code_or_data_made(
    plots: Made, path: str, text: str | None, named: str
) -> None:
    """A record pins today's code beside the data: then the data must be what that code makes."""
    (plots.root / path).unlink() if text is None else plots.write(path, text)
    old = plots.read("p/plot.svg")
    ran = run_here(plots, "both", mode="only", plot_only=True)
    assert ran.steps == {"both": "failed"}
    found = record(plots, "both")
    assert (found.reason_code, named in found.reason) == ("data-stale", True), found.reason
    assert found.reason.endswith("; jupyter vaibify run both")
    assert plots.read("p/plot.svg") == old
    assert plots.states()["both"][0] == "failed"
    assert run_here(plots).steps["both"] == "passed"
    assert plots.states()["both"][0] == "current"


def test_plots_alone_in_another_environment_or_with_other_data_commands(plots: Made) -> None:
    for more in ({"dictEnvironment": {"A": "1"}}, {"saDataCommands": ["bash data.sh", "true"]}):
        plots.workflow(plotting(**more))
        assert run_here(plots, "both", plot_only=True).steps["both"] == "failed"
        assert record(plots, "both").reason_code == "data-stale"


def test_plots_alone_may_have_other_plot_commands(plots: Made) -> None:
    command = "sed s/^/other:/ d/data.txt > p/plot.svg"
    plots.workflow(plotting(saPlotCommands=[command], saScripts=["data.sh", "plot.sh"]))
    assert run_here(plots, "both", plot_only=True).steps["both"] == "passed"
    assert plots.read("p/plot.svg") == "other:1\n"


@pytest.mark.parametrize(
    "command", ["echo 9 > d/data.txt", "rm d/more/b.txt", "echo 9 > d/more/new.txt"]
)
def test_a_plot_command_that_changes_data(plots: Made, command: str) -> None:
    plots.workflow(plotting(saPlotCommands=["bash plot.sh", command]))
    assert run_here(plots, "both", mode="only", plot_only=True).steps == {"both": "failed"}
    found = record(plots, "both")
    assert (found.reason_code, "d/" in found.reason) == ("data-changed", True), found.reason
    assert plots.states()["both"][0] == "failed"


def test_plots_alone_of_a_step_that_never_passed(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", plotting(), PLOT_FILES)
    made.write("d/data.txt", "mine\n")
    assert run_here(made, "both", plot_only=True).steps == {"both": "failed"}
    assert record(made, "both").reason.startswith("has never passed")


def test_plots_alone_by_name_of_a_step_without(plots: Made) -> None:
    end = run_here(plots, "plain", plot_only=True).end
    assert (end["event"], end["code"], end["exit_code"]) == ("runRefused", "usage", 2)


# --- clean, twice


def test_clean_removes_declared_outputs_first_and_loses_none(tmp_path: Path) -> None:
    steps = [
        step("Good", "ls g > /dev/null; echo new > g/o.txt", out=["g/o.txt", "f/"]),
        step("Bad", "exit 1", out="b/o.txt"),
        step("Current", "echo 1 > c/o.txt", out="c/o.txt"),
    ]
    steps[0]["saDataCommands"].append("echo 1 > f/x.txt")
    files = {"g/o.txt": "old\n", "f/y.txt": "old\n", "b/o.txt": "old\n", "g/other.txt": "mine\n"}
    made = Made.new(tmp_path / "p", steps, files)
    assert run_here(made, "current").steps == {"current": "passed"}
    kept = made.read("c/o.txt")
    ran = run_here(made, clean=True)
    assert ran.steps == {"good": "passed", "bad": "failed", "current": "skipped"}
    assert made.read("g/o.txt") == "new\n"
    assert not (made.root / "b/o.txt").exists(), "removed, and not put back"
    assert made.read("c/o.txt") == kept, "not of a step that the run passes over"
    assert made.read("g/other.txt") == "mine\n"
    assert os.listdir(made.root / "f") == ["x.txt"]
    for path, text in (("g/o.txt", "old\n"), ("f/y.txt", "old\n"), ("b/o.txt", "old\n")):
        assert ran.place(f"cleaned/{path}").read_text() == text
    place = f".vaibify/local/runs/{ran.folder.run_id}/cleaned"
    assert ran.texts("note", "bad")[0] == (
        f"removed 1 outputs before the run; they are kept in {place}"
    )


def test_clean_of_plots_alone_leaves_the_data(plots: Made) -> None:
    ran = run_here(plots, "both", plot_only=True, clean=True)
    assert ran.steps == {"both": "passed"}
    assert ran.place("cleaned/p/plot.svg").read_text() == "plot:1\n"
    assert not ran.place("cleaned/d").exists()


@pytest.mark.parametrize(
    ("asked", "option"),
    [
        ({"clean": True}, "--clean"),
        ({"no_cache": True}, "--no-cache"),
        ({"engine": "local", "tier": "plain"}, "--engine local --tier plain"),
    ],
)
def test_what_is_current_is_not_said_to_be_run_in_another_way(
    tmp_path: Path, asked: dict[str, Any], option: str
) -> None:
    steps = [step(name, f"echo 1 > {name}/o", out=f"{name}/o") for name in "abcdefg"]
    made = Made.new(tmp_path / "p", steps, {})
    assert run_here(made).texts("warning") == []
    ran = run_here(made, **asked)
    assert (ran.end["outcome"], set(ran.steps.values())) == ("passed", {"skipped"})
    assert ran.texts("warning") == [
        f"7 steps are current and were not run, so not with {option} either "
        "(a, b, c, d, e and 2 more); name steps, or give --all"
    ]
    (made.root / "a/o").unlink()
    assert "(b, c, d, e, f and 1 more)" in run_here(made, **asked).texts("warning")[-1]
    assert run_here(made, mode="all", **asked).texts("warning") == []
    assert run_here(made, "a", **asked).texts("warning") == []


def test_deterministic_without_a_step_runs_what_is_current_and_was_not_so_run(
    tmp_path: Path,
) -> None:
    made = Made.new(tmp_path / "p", [step("A", "echo $TZ > a/o", out="a/o"), step("B", "true")], {})
    run_here(made)
    run_here(made, "b", deterministic=True)
    assert run_here(made, deterministic=True).steps == {"a": "passed", "b": "skipped"}
    assert made.read("a/o") == "UTC\n"
    again = run_here(made, deterministic=True)
    assert (again.steps, again.texts("warning")) == ({"a": "skipped", "b": "skipped"}, [])


def test_clean_makes_current_steps_that_are_named_run(diamond: Made) -> None:
    ran = run_here(diamond, "top", mode="from", clean=True)
    assert ran.steps == dict.fromkeys(("top", "left", "right", "end"), "passed")


def test_twice_tells_whether_a_step_is_the_same_twice(tmp_path: Path) -> None:
    steps = [
        step("Same", "echo 1 > s/o.txt", out="s/o.txt"),
        step("Other", "date +%N > o/o.txt; echo 1 > o/p.txt", out=["o/o.txt", "o/p.txt"]),
        step("Names", "touch n/$(date +%N).txt; echo 1 > n/a.txt", out="n/"),
        step("Below", "cat o/p.txt > b/o.txt", out="b/o.txt", saInputDataFiles=["o/p.txt"]),
    ]
    made = Made.new(tmp_path / "p", steps, {})
    ran = run_here(made, twice=True)
    assert ran.steps == {
        "same": "passed",
        "other": "differs",
        "names": "differs",
        "below": "passed",
    }
    assert ran.end["outcome"] == "failed"
    told = {one["step"]: (one["identical"], one["differing"]) for one in ran.of("twice")}
    assert told["same"] == (True, [])
    assert told["other"] == (False, ["o/o.txt"])
    assert told["names"][0] is False and len(told["names"][1]) == 2, "one gone, one new"
    verdicts = {
        one["step"]: [found["verdict"] for found in one["found"]] for one in ran.of("twice")
    }
    assert verdicts == {
        "same": [],
        "other": ["different"],
        "names": ["not produced", "new"],
        "below": [],
    }
    assert [one["step"] for one in ran.of("stepPass")].count("same") == 2
    assert made.states()["other"][0] == "current", "the second run's outputs are there"


def test_twice_proves_nothing_where_the_first_left_something(tmp_path: Path) -> None:
    chain = "test -e {0} || date +%N > {0}; cp {0} {1}"
    steps = [
        step("Chain", chain.format("c/chain.txt", "c/o.txt"), out="c/o.txt"),
        step("Hidden", chain.format("h/chain.tmp", "h/o.txt"), out="h/o.txt"),
    ]
    made = Made.new(tmp_path / "p", steps, {".gitignore": "*.tmp\n"})
    ran = run_here(made, twice=True)
    assert ran.steps == {"chain": "differs", "hidden": "differs"}
    told = {one["step"]: (one["identical"], one["left"]) for one in ran.of("twice")}
    assert told == {
        "chain": (True, ["c/chain.txt"]),
        "hidden": (True, ["what git ignores (1)"]),
    }


def test_twice_names_what_kind_of_thing_differs(tmp_path: Path) -> None:
    """Each step differs from itself in its own way; none of them passes for deterministic."""
    steps = [
        step("Packed", "date +%N | gzip > a/n.gz", out="a/n.gz"),
        step("Clock", 'echo "made $(date +%FT%T.%N)" > b/log.txt', out="b/log.txt"),
        step("Near", "n=$(date +%N); echo 1.000000$n > c/n.csv", out="c/n.csv"),
        step("Keys", "printf '[1,%*s2]' 1$(date +%N | tail -c 6) '' > d/k.json", out="d/k.json"),
    ]
    made = Made.new(tmp_path / "p", steps, {})
    ran = run_here(made, twice=True)
    assert set(ran.steps.values()) == {"differs"}
    found = {one["step"]: one["found"][0] for one in ran.of("twice")}
    assert {slug: one["verdict"] for slug, one in found.items()} == {
        "packed": "different",
        "clock": "noise only",
        "near": "inside tolerance",
        "keys": "written otherwise",
    }
    assert found["clock"]["said"] == "time passed over"
    assert found["packed"]["said"].endswith("line 1; compression passed over")
    assert {state[0] for state in made.states().values()} == {"current"}
    assert not list((made.root / ".vaibify/local/aside").glob("*")), "the first run's are gone"


def test_twice_of_a_step_that_fails_the_second_time(tmp_path: Path) -> None:
    steps = [step("Once", "echo 1 > w/o.txt; [ ! -e w/done ] && touch w/done", out="w/o.txt")]
    made = Made.new(tmp_path / "p", steps, {".gitignore": "done\n"})
    ran = run_here(made, twice=True)
    assert (ran.steps, ran.of("twice")) == ({"once": "failed"}, [])
    assert made.read("w/o.txt") == "1\n", "of the first"


# --- tests


def with_tests() -> list[dict[str, Any]]:
    """Return a step with two categories of tests."""
    one = step("One", "echo 1 > w/o.txt", out="w/o.txt")
    del one["bNoTests"]
    return [
        one
        | {
            "dictTests": {
                "dictIntegrity": {"saCommands": ["test -s w/o.txt"]},
                "dictQuantitative": {"saCommands": ["grep -q 2 w/o.txt"]},
            }
        },
        step("Two", "cat w/o.txt > x/o.txt", out="x/o.txt", saInputDataFiles=["w/o.txt"]),
    ]


def test_tests_run_with_a_step_or_not_or_alone(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", with_tests(), {})
    ran = run_here(made, tests=False)
    assert ran.steps == {"one": "passed", "two": "passed"}
    assert ran.of("testsStarted") == []
    assert made.steps()["one"].unit_test == "untested"
    ran = run_here(made, mode="all", tests_only=True, category="integrity")
    assert ran.steps == {"one": "passed"}, "the other has no tests"
    assert started(ran) == [], "no step is run"
    assert [one["category"] for one in ran.of("tests")] == ["integrity"]
    report = made.steps()["one"]
    assert (report.integrity, report.quantitative, report.unit_test) == (
        "passed",
        "untested",
        "untested",
    )
    ran = run_here(made, mode="all", tests_only=True)
    assert ran.steps == {"one": "tests-failed"}
    assert ran.end["outcome"] == "failed"
    assert made.steps()["one"].quantitative == "failed"
    ran = run_here(made, mode="all", tests_only=True, category="integrity")
    assert ran.steps["one"] == "passed"
    assert sorted(marker(made, "one").categories) == ["integrity", "quantitative"], (
        "the other stays"
    )
    ran = run_here(made, "one", mode="only")
    assert ran.steps == {"one": "tests-failed"}
    assert made.states()["one"][0] == "current", "its run passed"
    assert run_here(made, "two").steps["two"] == "passed", "tests block nobody"


# --- refused


@pytest.mark.parametrize(
    ("keys", "code", "text"),
    [
        ({"bEnabled": False}, "usage", "step 'one' is disabled"),
    ],
)
def test_a_step_that_cannot_run_is_refused_by_name_and_passed_over_otherwise(
    tmp_path: Path, keys: dict[str, Any], code: str, text: str
) -> None:
    steps = [
        step("One", "echo 1 > w/o.txt", out="w/o.txt") | keys,
        step("Two", "true > o", out="o"),
    ]
    made = Made.new(tmp_path / "p", steps, {"n.ipynb": "{}"})
    end = run_here(made, "one").end
    assert (end["event"], end["code"], end["text"]) == ("runRefused", code, text)
    ran = run_here(made)
    assert ran.steps == {"one": "skipped", "two": "passed"}


def test_questions_that_are_wrong(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", [], {})
    end = run_here(made).end
    assert (end["event"], end["text"]) == ("runRefused", "the workflow has no step")
    made.workflow([step("One", "true > o", out="o")])
    end = run_here(made, "two").end
    assert (end["code"], end["exit_code"]) == ("unknown-step", 2)
    end = run_here(made, engine="docker").end
    assert (end["code"], end["exit_code"]) == ("usage", 2)


# --- byte code


def test_byte_code_of_an_earlier_text_is_not_believed(tmp_path: Path) -> None:
    """Python compares seconds and size alone: a quick edit of equal length would go unseen."""
    command = (
        "python -c 'import sys; sys.path.insert(0, \".\"); import mod; print(mod.V)' > w/o.txt"
    )
    steps = [step("One", command, out="w/o.txt", saScripts=["mod.py"])]
    made = Made.new(tmp_path / "p", steps, {"mod.py": "V = 1\n", ".gitignore": "__pycache__\n"})
    compiled = py_compile.compile(str(made.root / "mod.py"))
    seen = (made.root / "mod.py").stat()
    made.write("mod.py", "V = 2\n")
    os.utime(made.root / "mod.py", ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert compiled is not None and Path(compiled).exists()
    assert run_here(made).steps == {"one": "passed"}
    assert made.read("w/o.txt") == "2\n"


def test_a_module_that_was_moved_away_is_named_as_the_file_it_was(tmp_path: Path) -> None:
    files = {"scripts/fit.py": "import helper\nopen('o.txt', 'w')\n", "scripts/helper.py": ""}
    made = Made.new(tmp_path / "p", [step("Fit", "python scripts/fit.py", out="o.txt")], files)
    assert run_here(made).steps == {"fit": "passed"}
    (made.root / "scripts/helper.py").rename(made.root / "scripts/helpers.py")
    assert run_here(made).steps == {"fit": "failed"}
    text = "imports 'helper', and scripts/helper.py, which it ran before, is gone"
    assert record(made, "fit").reason == f"{text}; put it back, or change the import"


# --- code that is declared beside what commands name


def test_declared_scripts_add_to_those_that_commands_name(tmp_path: Path) -> None:
    files = {
        "lib/helper.py": "N = 1\n",
        "bin/make.py": "import helper\nopen('w/o.txt', 'w').write(f'{helper.N}\\n')\n",
    }
    declared = {"saScripts": ["lib/helper.py"], "dictEnvironment": {"PYTHONPATH": "lib"}}
    steps = [step("One", "python bin/make.py", out="w/o.txt", **declared)]
    made = Made.new(tmp_path / "p", steps, files)
    assert run_here(made).steps == {"one": "passed"}
    assert list(record(made, "one").pins.code) == ["bin/make.py", "lib/helper.py"]
    for path in files:
        good = made.read(path)
        made.write(path, good.replace("N", "N + 1 - 1"))
        assert made.states()["one"][0] == "stale", path
        made.write(path, good)
        assert made.states()["one"][0] == "current"


def test_a_declared_folder_stands_for_all_code_in_it(tmp_path: Path) -> None:
    files = {
        "lib/a.sh": "echo 1 > w/o.txt\n",
        "lib/in/b.py": "",
        "lib/in/tool": "#!/bin/sh\n",
        "lib/notes.txt": "",
        "lib/.hidden.py": "",
        "lib/__pycache__/b.pyc": "",
    }
    pinned = ["lib/a.sh", "lib/in/b.py", "lib/in/tool"]
    steps = [step("One", 'n=a; bash "lib/$n.sh"', out="w/o.txt", saScripts=["lib/"])]
    made = Made.new(tmp_path / "p", steps, files)
    assert run_here(made).steps == {"one": "passed"}
    assert list(record(made, "one").pins.code) == pinned
    for path in pinned:
        good = made.read(path)
        made.write(path, good + "# more\n")
        assert made.states()["one"][0] == "stale", path
        made.write(path, good)
        assert made.states()["one"][0] == "current"
    made.write("lib/notes.txt", "other\n")
    assert made.states()["one"][0] == "current"
    made.write("lib/in/c.py", "")
    assert made.states()["one"][0] == "stale", "code that was added"
    (made.root / "lib/in/c.py").unlink()
    (made.root / "lib/more").symlink_to("in")
    assert made.states()["one"][0] != "current", "what cannot be pinned is told"


def test_a_folder_of_code_may_hold_what_its_steps_make_and_run(tmp_path: Path) -> None:
    steps = [
        step("One", "echo 'print(1)' > lib/one.py", out="lib/one.py", saScripts=["lib/"]),
        step("Two", "python lib/one.py > lib/two.csv", out="lib/two.csv", saScripts=["lib/"]),
    ]
    made = Made.new(tmp_path / "p", steps, {"lib/base.py": ""})
    assert run_here(made).steps == {"one": "passed", "two": "passed"}
    assert list(record(made, "two").pins.code) == ["lib/base.py", "lib/one.py"]
    assert [made.states()[one][0] for one in ("one", "two")] == ["current", "current"]


@pytest.mark.parametrize(
    "command",
    [
        "PATH=$PWD/bin:$PATH tool",
        'export PATH="$PWD/bin:$PATH"; tool',
        "cd w && PATH=../bin:$PATH tool && cd .. && mv w/w/o.txt w/o.txt",
        "bash run.sh",
        "bash around.sh",
    ],
)
def test_programs_that_a_search_path_finds_are_code(tmp_path: Path, command: str) -> None:
    files = {
        "bin/tool": "#!/bin/sh\nmkdir -p w\nhelper > w/o.txt\n",
        "bin/helper": "#!/bin/sh\necho 1\n",
        "bin/unused": "#!/bin/sh\n",
        "run.sh": 'export PATH="$(cd "$(dirname "$0")" && pwd)/bin:$PATH"\ntool\n',
        "around.sh": "PATH=$PWD/bin:$PATH bash inner.sh\n",
        "inner.sh": "if true; then tool; fi\n",
    }
    made = Made.new(tmp_path / "p", [step("One", command, out="w/o.txt")], files)
    for name in ("tool", "helper", "unused"):
        (made.root / "bin" / name).chmod(0o755)
    assert run_here(made).steps == {"one": "passed"}
    code = set(record(made, "one").pins.code)
    assert code - {"run.sh", "around.sh", "inner.sh"} == {"bin/helper", "bin/tool"}
    made.write("bin/helper", "#!/bin/sh\necho 2\n")
    assert made.states()["one"][0] == "stale"


@pytest.mark.parametrize(
    "command",
    [
        'python "$(pwd)/s/fit.py"',
        "python $PWD/s/fit.py",
        "D=s; python $D/fit.py",
        "export D=s && python ${D}/fit.py",
        "cd s && python $(pwd)/fit.py && mv w/o.txt ../w/",
        "python `pwd`/s/fit.py",
        "P=s/fit.py; python $P",
        "python $(realpath s)/fit.py",
        "n=$(python s/fit.py)",
        'echo "$(python s/fit.py)"',
        "F=fit; python s/$F.py",
        'for one in s/fit.py; do python "$one"; done',
        "python $(cat which.txt)",
    ],
)
def test_a_script_whose_folder_a_shell_puts_in_is_code(tmp_path: Path, command: str) -> None:
    makes = "import os\nos.makedirs('w', exist_ok=True)\nopen('w/o.txt', 'w').write('1')\n"
    files = {"s/fit.py": makes, "which.txt": "s/fit.py"}
    made = Made.new(tmp_path / "p", [step("One", command, out="w/o.txt")], files)
    assert run_here(made).steps == {"one": "passed"}
    if "which" in command:
        (report,) = made.project().report().steps
        assert "code-computed" in [note.code for note in report.notes]
        return
    assert list(record(made, "one").pins.code) == ["s/fit.py"]
    made.write("s/fit.py", f"{makes}# other\n")
    assert made.states()["one"][0] == "stale"


def test_an_input_that_the_step_itself_changes_is_told_as_that(tmp_path: Path) -> None:
    one = step(
        "One", "echo 9 >> in.txt; echo 1 > w/o.txt", out="w/o.txt", saInputDataFiles=["in.txt"]
    )
    made = Made.new(tmp_path / "p", [one], {"in.txt": "1\n"})
    assert run_here(made, tier="plain").steps == {"one": "failed"}
    action = "jupyter vaibify run; if the step writes it itself, have it write to another file"
    assert record(made, "one").reason == f"ran while in.txt was changed; {action}"


def test_python_in_a_command_is_read_from_where_it_is_started(tmp_path: Path) -> None:
    command = "cd sub && python -c 'import helper' $LANG && echo 1 > ../w/o.txt"
    files = {"d/sub/helper.py": "", "d/w/.keep": ""}
    one = step("One", command, out="d/w/o.txt", sDirectory="d")
    made = Made.new(tmp_path / "p", [one], files)
    ran = run_here(made)
    assert (ran.steps, ran.texts("preflight")) == ({"one": "passed"}, [])
    assert list(record(made, "one").pins.code) == ["d/sub/helper.py"]


@pytest.mark.parametrize(
    "text",
    [
        "n=$(python s/one.py)\necho $n > w/o.txt\n",
        'echo "$(python s/one.py)" > w/o.txt\n',
        "n=`python s/one.py`\necho $n > w/o.txt\n",
        "cat > w/o.txt <<END\n$(python s/one.py)\nEND\n",
        'echo "$(echo $(python s/one.py))" > w/o.txt\n',
        "if ! n=$(python s/one.py); then exit 1; fi\necho $n > w/o.txt\n",
        "D=s\nn=$(python $D/one.py)\necho $n > w/o.txt\n",
        "export PATH=s:$PATH\nn=$(tool)\necho $n > w/o.txt\n",
        'export PATH="${PWD}/s${PATH:+:${PATH}}"\ntool > w/o.txt\n',
        "PATH=$(realpath s):$PATH\ntool > w/o.txt\n",
    ],
)
def test_what_a_script_runs_for_its_output_is_code(tmp_path: Path, text: str) -> None:
    tool = "#!/usr/bin/env python3\nprint(1)\n"
    files = {"s/one.py": "print(1)\n", "s/tool": tool, "a.sh": text}
    made = Made.new(tmp_path / "p", [step("One", "bash a.sh", out="w/o.txt")], files)
    (made.root / "s/tool").chmod(0o755)
    assert run_here(made).steps == {"one": "passed"}
    assert made.read("w/o.txt") == "1\n"
    (code,) = set(record(made, "one").pins.code) - {"a.sh"}
    made.write(code, f"{made.read(code)}# other\n")
    assert made.states()["one"][0] == "stale"


def test_what_is_declared_takes_nothing_from_what_commands_read_as_code(tmp_path: Path) -> None:
    files = {
        "Makefile": "include conf.mk\nall:\n\techo 1 > w/o.txt\n",
        "conf.mk": "",
        "extra/a.py": "",
        "p.awk": "BEGIN {}\n",
        "c.sh": "",
    }
    commands = ["make -s all", "awk -f p.awk", "bash < c.sh"]
    steps = [step("One", *commands, out="w/o.txt", saScripts=["extra/"])]
    made = Made.new(tmp_path / "p", steps, files)
    assert run_here(made).steps == {"one": "passed"}
    assert set(record(made, "one").pins.code) == set(files)


def test_a_search_path_of_the_steps_own_environment(tmp_path: Path) -> None:
    path = {"dictEnvironment": {"PATH": "bin:/usr/local/bin:/usr/bin:/bin"}}
    files = {"bin/tool": "#!/bin/sh\necho 1 > w/o.txt\n"}
    made = Made.new(tmp_path / "p", [step("One", "tool", out="w/o.txt", **path)], files)
    (made.root / "bin/tool").chmod(0o755)
    assert run_here(made).steps == {"one": "passed"}
    assert list(record(made, "one").pins.code) == ["bin/tool"]


def test_what_is_declared_narrows_what_a_name_with_unknown_parts_may_be(tmp_path: Path) -> None:
    files = {"s/a.sh": "echo 1 > w/o.txt\n", "s/b.sh": "", "other.sh": ""}
    one = step("One", 'n=$(echo a); bash "s/$n.sh"', out="w/o.txt")

    def pinned(**declared: list[str]) -> list[str]:
        made.workflow([one | declared])
        assert run_here(made, "one").steps == {"one": "passed"}
        return list(record(made, "one").pins.code)

    made = Made.new(tmp_path / "p", [one], files)
    assert pinned() == ["s/a.sh", "s/b.sh"]
    assert pinned(saScripts=["s/a.sh"]) == ["s/a.sh"]
    assert pinned(saScripts=["other.sh"]) == ["other.sh", "s/a.sh", "s/b.sh"]


def test_twice_without_a_step_runs_what_is_current_too(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", [step("One", "date +%N > w/o.txt", out="w/o.txt")], {})
    assert run_here(made).steps == {"one": "passed"}
    ran = run_here(made, twice=True)
    assert [one["identical"] for one in ran.of("twice", "one")] == [False]
