"""What people do to a project, and the whole report afterwards (issue: the histories)."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from tests.apps.front import vaibify
from tests.kit import CHAIN, CHAIN_FILES, DIAMOND, DIAMOND_FILES, Made, git

GREEN = ("current", "passed", False, True)


@pytest.fixture
def chain(tmp_path: Path) -> Made:
    """Make a chain of two steps, run, signed, committed: all green."""
    made = Made.new(tmp_path / "chain", CHAIN, CHAIN_FILES)
    assert made.run()["outcome"] == "passed"
    made.sign("make", "use")
    made.commit("green")
    assert made.states() == {"make": GREEN, "use": GREEN}
    return made


@pytest.fixture
def diamond(tmp_path: Path) -> Made:
    """Make a diamond of four steps, run, signed, committed: all green."""
    made = Made.new(tmp_path / "diamond", DIAMOND, DIAMOND_FILES)
    assert made.run()["outcome"] == "passed"
    made.sign("top", "left", "right", "end")
    made.commit("green")
    assert set(made.states().values()) == {GREEN}
    return made


def test_touching_every_file_changes_nothing(chain: Made) -> None:
    before = chain.steps()
    for path in ("data/in.txt", "make.sh", "use.sh", "out/a.txt", "out2/b.txt", "workflow.json"):
        chain.retouch(path)
    assert chain.steps() == before


def test_a_change_with_the_old_mtime_put_back_is_seen(chain: Made) -> None:
    seen = (chain.root / "out/a.txt").stat()
    chain.write("out/a.txt", "3\n")
    os.utime(chain.root / "out/a.txt", ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert chain.codes() == {
        "make": ["output-changed", "sign-off-gone"],
        "use": ["input-changed", "upstream-stale", "upstream-output-changed"],
    }
    assert chain.states() == {
        "make": ("stale", "untested", False, False),
        "use": ("stale", "passed", True, False),
    }


def test_restoring_the_bytes_restores_the_report(chain: Made) -> None:
    before = chain.steps()
    for path in ("data/in.txt", "make.sh", "use.sh", "out/a.txt", "out2/b.txt"):
        good = chain.read(path)
        chain.write(path, good + "# edited\n")
        assert chain.steps() != before, path
        chain.write(path, good)
        assert chain.steps() == before, path


def test_deleting_an_output(chain: Made) -> None:
    (chain.root / "out2/b.txt").unlink()
    assert chain.codes() == {"make": [], "use": ["output-missing", "sign-off-gone"]}
    assert chain.states()["use"] == ("stale", "untested", False, False)
    assert chain.steps()["use"].modified_files == ("out2/b.txt",)


def test_e01_rerun_with_equal_bytes_wakes_nobody_below(chain: Made) -> None:
    chain.write("make.sh", "# a comment\n" + CHAIN_FILES["make.sh"])
    assert chain.codes()["make"] == ["code-changed"]
    assert chain.states()["use"] == ("current", "passed", True, False)
    events = chain.events()
    passed = [one for one in events if one["event"] == "stepPass"]
    assert [(one["step"], one["identical"]) for one in passed] == [("make", True)]
    skipped = [one for one in events if one["event"] == "stepSkipped"]
    assert [one["step"] for one in skipped] == ["use"]
    assert chain.states() == {
        "make": ("current", "untested", False, False),
        "use": GREEN,
    }
    assert chain.steps()["make"].reasons[0].code == "sign-off-gone"


def test_e01_touching_a_file_makes_a_run_do_nothing(chain: Made) -> None:
    chain.retouch("make.sh")
    events = chain.events()
    assert [one["step"] for one in events if one["event"] == "stepStarted"] == []
    assert chain.states() == {"make": GREEN, "use": GREEN}


def test_a_sign_off_may_outlive_an_identical_rerun(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", CHAIN, CHAIN_FILES, bKeepSignOffIfIdentical=True)
    made.run()
    made.sign("make", "use")
    made.run("make")
    assert made.states() == {"make": GREEN, "use": GREEN}


def test_a_rerun_that_fails_half_way_costs_no_good_result(chain: Made) -> None:
    good = chain.read("out/a.txt")
    chain.write("make.sh", "echo half > out/a.txt\necho extra > out/new.txt\nexit 3\n")
    end = chain.run()
    assert end == {**end, "outcome": "failed", "steps": {"make": "failed", "use": "blocked"}}
    assert chain.read("out/a.txt") == good
    assert chain.states() == {
        "make": ("failed", "passed", False, False),
        "use": ("current", "passed", True, False),
    }
    assert chain.steps()["make"].reasons[0].text.startswith("ended with exit status 3")
    chain.write("make.sh", CHAIN_FILES["make.sh"])
    (chain.root / "out/new.txt").unlink()
    assert chain.states()["make"] == ("failed", "passed", False, False)
    assert chain.project().acknowledge() == ["make"]
    assert chain.states() == {"make": GREEN, "use": GREEN}


def test_editing_an_imported_module_of_the_repository(tmp_path: Path) -> None:
    steps = [
        {
            "sName": "Fit",
            "saDataCommands": ["python scripts/fit.py"],
            "saDataFiles": ["fit.txt"],
            "bNoInputData": True,
            "bNoTests": True,
        }
    ]
    files = {
        "scripts/fit.py": "import lib.model\nopen('fit.txt', 'w').write(lib.model.VALUE)\n",
        "scripts/lib/__init__.py": "",
        "scripts/lib/model.py": "VALUE = '1'\n",
    }
    made = Made.new(tmp_path / "p", steps, files)
    assert made.run()["outcome"] == "passed"
    made.sign("fit")
    assert made.states() == {"fit": GREEN}
    made.write("scripts/lib/model.py", "VALUE = '2'\n")
    report = made.steps()["fit"]
    assert (report.run, report.reasons[0].code, report.reasons[0].path) == (
        "stale",
        "code-changed",
        "scripts/lib/model.py",
    )


def test_editing_an_input(chain: Made) -> None:
    chain.write("data/in.txt", "5\n")
    assert chain.codes() == {"make": ["input-changed"], "use": ["upstream-stale"]}
    assert chain.run()["steps"] == {"make": "passed", "use": "passed"}
    assert chain.read("out/a.txt") == "6\n"


def test_editing_and_restoring_a_script_during_a_run_fails_the_run(tmp_path: Path) -> None:
    steps = [
        {
            "sName": "Slow",
            "saDataCommands": ["bash slow.sh"],
            "saDataFiles": ["o/o.txt"],
            "saInputDataFiles": ["data/in.txt"],
            "bNoTests": True,
        }
    ]
    script = "until [ -e go.txt ]; do sleep 0.05; done\ncp data/in.txt o/o.txt\n"
    made = Made.new(tmp_path / "p", steps, {"slow.sh": script, "data/in.txt": "1\n"})
    project = made.project()
    from vaibify_lab.runs.options import RunOptions

    folder = project.start_run(RunOptions("workflow.json"))
    started = False
    events = []
    for event in project.events(folder):
        if event is not None:
            events.append(event)
        if event is not None and event["event"] == "stepStarted" and not started:
            started = True
            made.write("slow.sh", "echo other > o/o.txt\n")
            made.write("slow.sh", script)
            made.write("go.txt", "")
    assert events[-1]["steps"] == {"slow": "failed"}
    report = made.steps()["slow"]
    assert (report.run, report.reasons[0].code) == ("failed", "changed-while-running")
    assert not (made.root / "o/o.txt").exists()


def test_two_workflows_in_one_repository(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", CHAIN, CHAIN_FILES)
    other = [
        {
            "sName": "Make",
            "saDataCommands": ["cp data/in.txt other/o.txt"],
            "saDataFiles": ["other/o.txt"],
            "saInputDataFiles": ["data/in.txt"],
            "bNoTests": True,
        }
    ]
    made.workflow(other, at=".vaibify/workflows/second.json")
    made.commit()
    assert made.project().opened.workflow_paths() == (
        "workflow.json",
        ".vaibify/workflows/second.json",
    )
    made.run()
    assert made.states("second")["make"][0] == "never-run"
    made.run(workflow=".vaibify/workflows/second.json")
    assert made.states("second")["make"] == ("current", "untested", False, False)
    assert made.states("workflow")["make"] == ("current", "untested", False, False)
    made.write("other/o.txt", "x")
    assert made.states("second")["make"][0] == "stale"
    assert made.states("workflow")["make"][0] == "current"


def test_a_second_step_in_the_same_directory(chain: Made) -> None:
    steps = [
        *CHAIN,
        {
            "sName": "Also",
            "sDirectory": "out",
            "saDataCommands": ["cp ../data/in.txt also.txt"],
            "saDataFiles": ["out/also.txt"],
            "saInputDataFiles": ["data/in.txt"],
            "bNoTests": True,
        },
    ]
    chain.workflow(steps)
    assert chain.run()["steps"] == {"make": "skipped", "use": "skipped", "also": "passed"}
    assert chain.states() == {
        "make": GREEN,
        "use": GREEN,
        "also": ("current", "untested", False, False),
    }


def test_a_renamed_step_loses_nothing_when_it_has_an_id(tmp_path: Path) -> None:
    named = [{**CHAIN[0], "sStepId": "one"}, {**CHAIN[1], "sStepId": "two"}]
    made = Made.new(tmp_path / "p", named, CHAIN_FILES)
    made.run()
    made.sign("one", "two")
    made.workflow([{**named[0], "sName": "Another name"}, named[1]])
    assert made.states() == {"one": GREEN, "two": GREEN}


def test_a_renamed_step_without_an_id_names_its_orphaned_facts(chain: Made) -> None:
    chain.workflow([{**CHAIN[0], "sName": "Created"}, CHAIN[1]])
    assert chain.states()["created"] == ("never-run", "untested", False, False)
    assert chain.states()["use"] == ("current", "passed", True, False)
    warnings = chain.project().report().warnings
    assert warnings == (
        "there is no step 'make', but facts of one: .vaibify/records/workflow/make.json, "
        '.vaibify/sign_offs/workflow/make.json; if it was renamed, give it "sStepId": "make", '
        "and they count again",
    )


def test_a_diamond_with_one_side_rerun(diamond: Made) -> None:
    diamond.write("left.sh", 'sed s/^/l/ "$1" > left/l.txt\n')
    assert diamond.run("left")["steps"] == {"top": "skipped", "left": "passed"}
    assert diamond.states() == {
        "top": GREEN,
        "left": ("current", "untested", False, False),
        "right": GREEN,
        "end": ("stale", "passed", True, False),
    }
    assert diamond.codes()["end"] == ["input-changed", "upstream-output-changed"]


def test_an_upstream_change_spreads_to_all_descendants(diamond: Made) -> None:
    diamond.write("data/in.txt", "2\n")
    assert {slug: state[2] for slug, state in diamond.states().items()} == {
        "top": False,
        "left": True,
        "right": True,
        "end": True,
    }


def test_a_clone_has_the_same_report_with_every_mtime_new(chain: Made, tmp_path: Path) -> None:
    before = chain.project().report().to_json()["steps"]
    clone = chain.clone(tmp_path / "clone")
    for here, _, names in os.walk(clone.root):
        for name in names:
            os.utime(os.path.join(here, name), (time.time(), time.time()))
    assert clone.project().report().to_json()["steps"] == before


def test_both_branches_of_a_merge_reran_a_step(chain: Made) -> None:
    git(chain.root, "checkout", "-q", "-b", "side")
    chain.write("make.sh", "# side\n" + CHAIN_FILES["make.sh"])
    chain.run("make")
    chain.commit("side")
    git(chain.root, "checkout", "-q", "main")
    chain.run("make")
    chain.commit("main")
    import subprocess

    merged = subprocess.run(
        ["git", "-C", str(chain.root), "merge", "-q", "side"], capture_output=True, check=False
    )
    assert merged.returncode == 1
    report = chain.steps()["make"]
    assert (report.run, report.green) == ("unknown", False)
    assert report.reasons[0].code == "record-unusable"
    path = ".vaibify/records/workflow/make.json"
    assert report.reasons[0].text == f"{path} is in conflict: a merge is not finished"
    assert report.reasons[0].action == (
        f"git checkout --ours -- {path} && git add -- {path} (or --theirs), "
        f"or jupyter vaibify run make, then: git add -- {path}"
    )
    conflicted = chain.read(path)
    git(chain.root, "checkout", "--ours", path)
    git(chain.root, "add", "-A")
    git(chain.root, "commit", "-q", "-m", "merged")
    assert chain.states()["make"][0] == "stale"  # ours knows another make.sh
    chain.write(path, conflicted)
    assert chain.run("make")["outcome"] == "passed"
    kept = list((chain.root / ".vaibify/local/replaced").glob("*make.json"))
    assert [one.read_text() for one in kept] == [conflicted]
    assert chain.states()["make"][0] == "current"


def test_what_looking_at_a_folder_leaves_there_is_nobodys(tmp_path: Path) -> None:
    one = {
        "sName": "One",
        "saDataCommands": ["cat data/*.csv > out/o.txt"],
        "saInputDataFiles": ["data/"],
        "saDataFiles": ["out/"],
        "bNoTests": True,
    }
    made = Made.new(tmp_path / "p", [one], {"data/a.csv": "1\n"})
    made.run()
    made.project().envelope("manifest")
    listed = made.read("MANIFEST.sha256")
    for folder in ("data", "out"):
        made.write(f"{folder}/.ipynb_checkpoints/a-checkpoint.csv", "0\n")
        made.write(f"{folder}/.DS_Store", "x")
        made.write(f"{folder}/in/__pycache__/m.cpython-311.pyc", "x")
        made.write(f"{folder}/.pytest_cache/v/cache/lastfailed", "x")
        for name in (".a.csv.swp", ".~lock.a.csv#", "~$a.csv"):
            made.write(f"{folder}/{name}", "x")
        (made.root / folder / ".#a.csv").symlink_to("ada@host.1:2")
    assert made.states()["one"][0] == "current"
    made.project().envelope("manifest")
    assert made.read("MANIFEST.sha256") == listed
    done = vaibify(made.root, "reproduce", "--skip-tier", "2", "--skip-tier", "3")
    assert (done.code, "Confirmed: tier 1" in done.out) == (0, True), done.out
    for name in (".hidden", "a.swp", "~a.csv", "#a.csv"):
        made.write(f"data/{name}", "1\n")
        assert made.states()["one"][0] == "stale", name
        (made.root / "data" / name).unlink()
        assert made.states()["one"][0] == "current"


def test_a_merge_that_git_made_of_two_records_is_not_believed(chain: Made) -> None:
    """Both sides ran a step, on other inputs; ``-X ours`` keeps a part of each record."""
    git(chain.root, "checkout", "-q", "-b", "side")
    chain.write("data/in.txt", "side\n")
    chain.write("make.sh", "# side\n" + CHAIN_FILES["make.sh"])
    chain.run("make")
    chain.commit("side")
    git(chain.root, "checkout", "-q", "main")
    chain.write("make.sh", "# main\n" + CHAIN_FILES["make.sh"])
    chain.run("make")
    chain.commit("main")
    git(chain.root, "merge", "-q", "-X", "ours", "-m", "merged", "side")
    report = chain.steps()["make"]
    assert (report.run, report.green) == ("unknown", False)
    assert "two were merged into one" in report.reasons[0].text
    assert report.reasons[0].action == "jupyter vaibify run make"
    assert chain.run("make")["outcome"] == "passed"
    assert chain.states()["make"][0] == "current"


def test_forged_facts_are_no_green(chain: Made) -> None:
    record = chain.fact(".vaibify/records/workflow/use.json")
    signed = chain.fact(".vaibify/sign_offs/workflow/use.json")
    shutil.copy(
        chain.root / ".vaibify/records/workflow/make.json",
        chain.root / ".vaibify/records/workflow/use.json",
    )
    report = chain.steps()["use"]
    assert (report.run, report.reasons[0].code) == ("unknown", "record-unusable")
    assert "belongs to step" in report.reasons[0].text
    record["format"] = "vaibify-lab/record/2"
    chain.write(".vaibify/records/workflow/use.json", json.dumps(record))
    assert "later" in chain.steps()["use"].reasons[0].text or "unknown to this version" in (
        chain.steps()["use"].reasons[0].text
    )
    record["format"] = "vaibify-lab/record/1"
    record["pins"]["outputs"]["out2/b.txt"] = "0" * 64
    chain.write(".vaibify/records/workflow/use.json", json.dumps(record))
    assert chain.states()["use"] == ("stale", "passed", False, False)
    signed["sign_offs"][0]["hashes"]["out2/b.txt"] = "0" * 64
    chain.write(".vaibify/sign_offs/workflow/use.json", json.dumps(signed))
    assert chain.states()["use"] == ("stale", "untested", False, False)


def test_facts_of_a_clone_are_somebody_elses_word(chain: Made, tmp_path: Path) -> None:
    path = ".vaibify/records/workflow/make.json"
    record = chain.fact(path)
    record["machine"] = {"host": "elsewhere", "id": "f" * 32}
    chain.write(path, json.dumps(record))
    notes = {one.code: one.text for one in chain.steps()["make"].notes}
    assert notes["recorded-elsewhere"] == (
        "recorded by Ada Test <ada@example.org> on elsewhere, not on this machine"
    )
    assert "unsigned" in notes
