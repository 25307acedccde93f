"""``pins`` and ``lineage`` as a person and a script use them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.apps.front import vaibify
from tests.kit import DIAMOND, DIAMOND_FILES, Made


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Four steps, run and committed."""
    made = Made.new(tmp_path / "made", DIAMOND, DIAMOND_FILES)
    made.run()
    made.commit("run")
    return made


def test_pins_that_hold_and_pins_that_do_not(made: Made) -> None:
    done = vaibify(made.root, "pins", "end")
    assert (done.code, done.err) == (0, "")
    run_id = json.loads(made.read(".vaibify/records/workflow/end.json"))["run_id"]
    assert done.out == (
        f"end: 2 inputs, 1 output pinned by run {run_id}\n"
        "  verified  input   left/l.txt  version 1, made by left\n"
        "  verified  input   right/r.txt  version 1, made by right\n"
        "  verified  output  end/e.txt  version 1\n"
        "It rests on 3 steps.\n"
        "Everything is as it was pinned, the whole way back.\n"
    )
    made.write("data/in.txt", "2\n")
    made.write("left.sh", "# nothing\n")
    (made.root / "right/r.txt").unlink()
    done = vaibify(made.root, "pins", "Step04")
    assert done.code == 1
    assert (
        "The chain breaks first at top:\n  top: input data/in.txt is modified (pinned" in done.out
    )
    assert "  left: code left.sh is modified (pinned" in done.out
    assert "  right: output right/r.txt is missing\n" in done.out
    assert done.out.endswith("\nWhat mends it: jupyter vaibify status top --why\n")
    assert "  missing   input   right/r.txt  version 1, made by right\n" in done.out
    answer = json.loads(vaibify(made.root, "pins", "end", "--json").out)
    assert answer == made.project().pins("end").to_json() | {"checked_at": answer["checked_at"]}
    assert (answer["reproducible"], answer["broken_at"]) == (False, "top")


def test_what_was_added_since_is_named_and_no_pass(tmp_path: Path) -> None:
    steps = [
        {
            "sName": "Count",
            "saDataCommands": ["python scripts/count.py"],
            "saDataFiles": ["out/n.txt"],
            "saInputDataFiles": ["data/"],
            "bNoTests": True,
        }
    ]
    files = {
        "data/a.csv": "1\n",
        "scripts/count.py": "import csv, os\nopen('out/n.txt', 'w').write(os.listdir('data')[0])\n",
    }
    made = Made.new(tmp_path / "made", steps, files)
    made.run()
    assert vaibify(made.root, "pins", "count").code == 0
    for path, role in (("data/new.csv", "input"), ("scripts/csv.py", "code")):
        place = made.write(path, "1\n")
        done = vaibify(made.root, "pins", "count")
        assert done.code == 1
        assert f"  added     {role:<6}  {path}  not pinned by that run\n" in done.out
        assert f"  count: {role} added since: {path}\n" in done.out
        answer = json.loads(vaibify(made.root, "pins", "count", "--json").out)
        new = {"artifact_id": path, "role": role, "status": "modified"}
        assert (answer["added"], answer["reproducible"]) == ([new], False)
        place.unlink()
    assert vaibify(made.root, "pins", "count").code == 0


def test_no_pins_is_an_answer(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "made", DIAMOND, DIAMOND_FILES)
    done = vaibify(made.root, "pins", "end")
    assert (done.code, done.err) == (0, "")
    assert done.out == "end: no pins (no run of it that passed is on record)\n"
    answer = json.loads(vaibify(made.root, "pins", "end", "--json").out)
    assert (answer["status"], answer["checks"], answer["pinned_artifacts"]) == ("no-pins", [], [])


def test_a_record_that_cannot_be_believed_is_no_pass(made: Made) -> None:
    made.write(".vaibify/records/workflow/top.json", "{")
    done = vaibify(made.root, "pins", "top")
    assert done.code == 1
    assert "top: its record cannot be believed: .vaibify/records/workflow/top.json" in done.out
    done = vaibify(made.root, "pins", "end")
    assert (done.code, "The chain breaks first at top:" in done.out) == (1, True)


def test_a_version_is_told_after_a_change(made: Made) -> None:
    made.write("data/in.txt", "2\n")
    made.run()
    told = vaibify(made.root, "pins", "top").out
    assert "input   data/in.txt  version 2\n" in told and "code    top.sh  version 1\n" in told


def test_a_step_that_is_not_there(made: Made) -> None:
    done = vaibify(made.root, "pins", "nosuch")
    assert (done.code, done.out) == (2, "")
    assert "there is no step 'nosuch'" in done.err


def test_lineage_as_text(made: Made) -> None:
    done = vaibify(made.root, "lineage", "left")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "Top (top): verified\n"
        "  read  data/in.txt, version 1\n"
        "  ran  top.sh, version 1\n"
        "  made  top/t.txt, version 1\n"
        "Left (left): verified\n"
        "  read  top/t.txt, version 1, made by top\n"
        "  ran  left.sh, version 1\n"
        "  made  left/l.txt, version 1\n"
    )
    (made.root / "data/in.txt").unlink()
    done = vaibify(made.root, "lineage")
    assert done.code == 0  # `pins` is the one that judges
    assert (
        done.out.count("\n  ran  ") == 3 and "  read  data/in.txt, version 1, missing\n" in done.out
    )
    assert done.out.endswith(
        "The chain breaks first at top:\n  top: input data/in.txt is missing\n"
    )


def test_lineage_as_json_is_what_the_server_answers(made: Made) -> None:
    for words, name in ((("lineage", "end"), "end"), (("lineage",), None)):
        answers = [
            json.loads(vaibify(made.root, *words, *how).out)
            for how in (("--json",), ("--format", "json"))
        ]
        expected = made.project().lineage(name).to_json()
        for one in (*answers, expected):
            assert one["reproducibility"].pop("checked_at")
        assert answers == [expected, expected]


def test_lineage_as_a_picture(made: Made) -> None:
    done = vaibify(made.root, "lineage", "end", "--format", "svg", env={"LC_ALL": "C"})
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("<svg ") and "<title" in done.out
    again = vaibify(made.root, "lineage", "end", "--format", "svg")
    assert again.out == done.out
    both = vaibify(made.root, "lineage", "--format", "svg", "--json")
    assert both.code == 2 and "--json asks for JSON" in both.err


def test_a_workflow_without_a_step_has_an_empty_lineage(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "made", [], {"a": ""})
    assert "has no step yet" in vaibify(made.root, "lineage").out
    assert vaibify(made.root, "lineage", "--format", "svg").out.startswith("<svg ")
