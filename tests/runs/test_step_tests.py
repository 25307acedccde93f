"""The tests of a step, by real runs: what the marker says, and when it holds no longer."""

from __future__ import annotations

import json
import os
import py_compile
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.apps.front import vaibify
from tests.kit import Made
from tests.runs.here import TIERS, marker, record, run_here, step
from vaibify_lab.core.facts import CategoryResult

TEST = (
    "from conftest import limit\ndef test_it():\n    assert int(open('w/o.txt').read()) < limit()\n"
)
FILES: dict[str, str | bytes] = {
    "data/in.txt": "1\n",
    "tests/conftest.py": "def limit(): return 5\n",
    "tests/test_it.py": TEST,
    "tests/helper.py": "VALUE = 1\n",
}
PYTEST = "python -m pytest -q tests/test_it.py"


def with_tests(*commands: str, **more: Any) -> list[dict[str, Any]]:
    """Return one step with integrity tests."""
    one = step("One", "cat data/in.txt > w/o.txt", out="w/o.txt", saInputDataFiles=["data/in.txt"])
    del one["bNoTests"]
    return [one | {"dictTests": {"dictIntegrity": {"saCommands": list(commands)}}} | more]


def state(made: Made) -> tuple[str, str | None, str]:
    """Return the state of the step's integrity tests, with the path and text of the reason."""
    report = made.steps()["one"]
    found = [one for one in report.reasons if one.code.startswith("integrity-")]
    reason = found[0] if found else None
    return report.integrity, reason.path if reason else None, reason.text if reason else ""


@pytest.mark.parametrize("tier", TIERS)
def test_a_marker_says_what_was_tested_and_holds_while_that_is_so(
    tmp_path: Path, tier: str
) -> None:
    made = Made.new(tmp_path / "p", with_tests(PYTEST), FILES)
    ran = run_here(made, tier=tier)
    assert ran.steps == {"one": "passed"}
    assert state(made) == ("passed", None, "")
    value = json.loads(made.read(".vaibify/test_markers/workflow/one.json"))
    assert sorted(value) == [
        "dictCategories",
        "dictInputHashes",
        "dictOutputHashes",
        "dictSurroundings",
        "dictTestHashes",
        "sDigest",
        "sFormat",
        "sRunId",
        "sStep",
        "sWhen",
        "sWorkflow",
    ]
    assert value["dictCategories"] == {
        "integrity": {
            "iCollected": 1,
            "iExitStatus": 0,
            "listTests": [
                {"sDetail": "", "sName": "tests/test_it.py::test_it", "sOutcome": "passed"}
            ],
            "saCommands": [PYTEST],
            "sDetail": "",
            "sOutcome": "passed",
        }
    }
    assert list(value["dictOutputHashes"]) == ["w/o.txt"]
    assert list(value["dictInputHashes"]) == ["data/in.txt"]
    assert list(value["dictTestHashes"]) == ["tests/conftest.py", "tests/test_it.py"]
    for path in ("tests/test_it.py", "tests/conftest.py", "w/o.txt", "data/in.txt"):
        good = made.read(path)
        made.write(path, good + "\n")
        assert state(made) == (
            "untested",
            path,
            f"integrity tests ran before {path} changed",
        )
        made.write(path, good)
        assert state(made)[0] == "passed"
    made.workflow(with_tests(PYTEST + " -x"))
    assert state(made)[0] == "untested", "other commands"


@pytest.mark.parametrize(
    ("path", "text", "command"),
    [
        ("pytest.ini", "[pytest]\naddopts = --deselect tests/test_it.py::test_bad\n", PYTEST),
        ("tests/.pytest.ini", "[pytest]\naddopts = -k 'not bad'\n", PYTEST),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-k 'not bad'\"\n", PYTEST),
        ("setup.cfg", "[tool:pytest]\naddopts = -k 'not bad'\n", PYTEST),
        ("tox.ini", "[pytest]\naddopts = -k 'not bad'\n", PYTEST),
        ("mine/some.ini", "[pytest]\naddopts = -k 'not bad'\n", f"{PYTEST} -c mine/some.ini"),
    ],
)
def test_what_pytest_is_set_to_is_part_of_the_tests(
    tmp_path: Path, path: str, text: str, command: str
) -> None:
    bad = f"{TEST}def test_bad():\n    assert False\n"
    files = FILES | {"tests/test_it.py": bad, path: text}
    made = Made.new(tmp_path / "p", with_tests(command), files)
    assert run_here(made).steps == {"one": "passed"}
    assert state(made) == ("passed", None, "")
    made.project().envelope()
    assert f"  {path}\n" in made.read("MANIFEST.sha256")
    good = made.read(path)
    (made.root / path).unlink()
    assert state(made)[0] != "passed"
    made.write(path, good)
    assert state(made)[0] == "passed"
    made.write(path, f"# {good}")
    assert state(made)[0] != "passed"


LOADS = "from deep import limit\nfrom conftest import limit as other\ndef test_it():\n    limit()\n"


@pytest.mark.parametrize("tier", ["bwrap", "plain"])
@pytest.mark.parametrize(
    ("settings", "more"),
    [
        ("pythonpath = odd/place", {}),
        ("addopts = -n 2\npythonpath = odd/place", {}),
        ("python_files = probe_*.py\npythonpath = odd/place", {"tests/probe_it.py": LOADS}),
        ("addopts = -p deep\npythonpath = odd/place", {"tests/test_it.py": TEST}),
        ("", {"tests/conftest.py": (
            "import sys\nsys.path += [''.join(['odd', '/place'])]\n"
            "pytest_plugins = ['deep']\ndef limit(): return 5\n"
        ), "tests/test_it.py": TEST}),
    ],
    ids=["pythonpath", "xdist", "python_files", "-p", "pytest_plugins"],
)  # fmt: skip
def test_a_file_that_only_pytest_finds_is_part_of_the_tests(
    tmp_path: Path, tier: str, settings: str, more: dict[str, str]
) -> None:
    deep = {"odd/place/deep.py": "def limit(): return 5\n", "pytest.ini": f"[pytest]\n{settings}\n"}
    files = {**FILES, "tests/test_it.py": LOADS, **deep, **more}
    made = Made.new(tmp_path / "p", with_tests("python -m pytest -q"), files)
    assert run_here(made, tier=tier).steps == {"one": "passed"}
    assert state(made) == ("passed", None, "")
    made.project().envelope()
    for path in ("odd/place/deep.py", *more):
        assert f"  {path}\n" in made.read("MANIFEST.sha256")
        good = made.read(path)
        made.write(path, f"# {good}")
        assert state(made)[:2] == ("untested", path)
        made.write(path, good)
        assert state(made)[0] == "passed"
    (made.root / "odd/place/deep.py").unlink()
    assert state(made)[:2] == ("untested", "odd/place/deep.py")
    made.project().envelope("manifest")


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("diff w/o.txt tests/expected.txt", "tests/expected.txt"),
        ("cd tests && cmp ../w/o.txt expected.txt", "tests/expected.txt"),
        ("grep -qf tests/expected.txt w/o.txt | tee tests/log.txt > tests/more.txt", None),
    ],
)
def test_what_a_test_command_compares_with_is_part_of_the_tests(
    tmp_path: Path, command: str, path: str | None
) -> None:
    files = {**FILES, "tests/expected.txt": "1\n", "tests/log.txt": "", "tests/more.txt": ""}
    made = Made.new(tmp_path / "p", with_tests(command), files)
    run_here(made, tier="plain")
    made.write("tests/log.txt", "another\n")  # which it writes itself
    made.write("tests/more.txt", "another\n")
    if path is not None:
        assert state(made)[0] == "passed"
        made.write(path, "2\n")
    assert state(made)[:2] == (("untested", path) if path else ("passed", None))


def test_a_file_that_changed_while_the_tests_ran_vouches_for_nothing(tmp_path: Path) -> None:
    begun, go = tmp_path / "begun", tmp_path / "go"
    late = f"def test_it():\n    open({str(begun)!r}, 'w')\n"
    late += f"    while not os.path.exists({str(go)!r}): time.sleep(0.02)\n"
    test = f"import os, sys, time\nsys.path.append('ddo'[::-1])\nimport deep\n{late}"
    files = {**FILES, "tests/test_it.py": test, "odd/deep.py": "VALUE = 1\n"}
    made = Made.new(tmp_path / "p", with_tests(PYTEST), files)

    def edit() -> None:
        while not begun.exists():
            time.sleep(0.02)
        made.write("odd/deep.py", "VALUE = 2\n")
        go.touch()

    editor = threading.Thread(target=edit)
    editor.start()
    run_here(made, tier="plain")
    editor.join()
    text = "integrity tests loaded odd/deep.py, which changed meanwhile"
    assert state(made) == ("untested", None, text)


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("path", ["checks/lib.sh", "checks/test.sh", "data/in.txt"])
def test_a_file_that_was_another_while_the_tests_ran_vouches_for_nothing(
    tmp_path: Path, path: str, tier: str
) -> None:
    """Changed and put back, as by ``git stash`` and ``git stash pop``: its bytes are the same."""
    made_up = "touch begun; until [ -e ../seen ]; do sleep 0.05; done; . ../checks/lib.sh"
    files = {**FILES, "checks/test.sh": made_up, "checks/lib.sh": "grep -q 1 o.txt", "w/x": ""}
    one = with_tests("bash ../checks/test.sh")[0]
    one |= {"sDirectory": "w", "saDataCommands": ["cat ../data/in.txt > o.txt"]}
    made = Made.new(tmp_path / "p", [one], files)
    was = made.read(path)

    def edit() -> None:
        while not (made.root / "w/begun").exists():
            time.sleep(0.02)
        made.write(path, f"{was}\ntrue\n")
        made.write("seen", "")

    editor = threading.Thread(target=edit)
    editor.start()
    run_here(made, tier=tier)
    editor.join()
    made.write(path, was)
    assert state(made)[0] != "passed"
    run_here(made, tier=tier, tests_only=True, mode="all")
    assert state(made) == ("passed", None, "")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"dictEnvironment": {"A": "2"}}, "ran before its dictEnvironment changed"),
        ({"sDirectory": "tests"}, "ran before sDirectory changed"),
    ],
)
def test_tests_in_another_environment_say_nothing_of_this_one(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    """Also where outputs are equal, and a run of other tests writes the marker anew."""
    both = {"dictIntegrity": {"saCommands": ["true"]}, "dictQualitative": {"saCommands": ["true"]}}
    run = f"cat {tmp_path}/p/data/in.txt > {tmp_path}/p/w/o.txt"
    one = {**with_tests()[0], "dictTests": both, "saDataCommands": [run]}
    made = Made.new(tmp_path / "p", [one], FILES)
    run_here(made, tier="plain")
    made.workflow([{**one, **change}])
    assert state(made) == ("untested", None, f"integrity tests {said}")
    run_here(made, tier="plain", tests=False)
    assert made.states()["one"][0] == "current"
    run_here(made, tier="plain", tests_only=True, category="qualitative")
    found = made.steps()["one"]
    assert (found.integrity, found.qualitative) == ("untested", "passed")


@pytest.mark.parametrize("path", ["pyproject.toml", "setup.cfg", "tox.ini"])
def test_settings_that_are_none_of_pytest_are_no_part_of_the_tests(
    tmp_path: Path, path: str
) -> None:
    made = Made.new(tmp_path / "p", with_tests(PYTEST), FILES | {path: "[other]\nx = 1\n"})
    assert run_here(made).steps == {"one": "passed"}
    made.write(path, "[other]\nx = 2\n")
    assert state(made)[0] == "passed"
    made.write(path, "[tool.pytest]\n[pytest]\n[tool:pytest]\n")
    assert state(made)[0] == "untested", "it came to be"


@pytest.mark.parametrize(
    ("command", "code", "text"),
    [
        (f"{PYTEST} || true", "failed", "integrity tests failed: tests/test_it.py::test_it"),
        ("python -m pytest -q tests/helper.py || true", "untested", "integrity tests ran no test"),
        ("python -m pytest -q tests/test_it.py -k none", "untested", "integrity tests ran no test"),
        (
            "python -m pytest -q tests/gone",
            "failed",
            "integrity tests failed: did not find the file 'tests/gone'",
        ),
        (
            "python -m nose_of_old",
            "failed",
            "integrity tests failed: python -m nose_of_old "
            "(imports 'nose_of_old', which is not in its environment)",
        ),
        (
            "test -s w/missing.txt",
            "failed",
            "integrity tests failed: test -s w/missing.txt (ended with exit status 1)",
        ),
    ],
)
def test_what_did_not_pass(tmp_path: Path, command: str, code: str, text: str) -> None:
    made = Made.new(tmp_path / "p", with_tests(command), {**FILES, "data/in.txt": "7\n"})
    assert run_here(made).steps == {"one": "tests-failed"}
    assert state(made) == (code, None, text)
    assert made.states()["one"][0] == "current"
    assert not made.steps()["one"].green


@pytest.mark.parametrize("tier", TIERS)
def test_tests_that_write_what_is_not_theirs_vouch_for_nothing(tmp_path: Path, tier: str) -> None:
    """Each of a step of its own, all of which pass by their exit status."""
    writes = {
        "output": ("echo 1 > {name}/o.txt", "{name}/o.txt"),
        "in-folder": ("echo 1 > {name}/f/new.txt", "{name}/f/new.txt"),
        "git": ("mkdir {name}/.git", "{name}/.git"),
        "scratch": ("echo 1 > {name}/scratch.txt", ""),
    }
    steps = []
    for name, (command, _) in writes.items():
        make = f"echo 1 > {name}/o.txt; echo 1 > {name}/f/x.txt"
        one = step(name, make, out=[f"{name}/o.txt", f"{name}/f/"])
        del one["bNoTests"]
        steps.append(one | {"saTestCommands": [command.format(name=name)]})
    made = Made.new(tmp_path / "p", steps, {})
    ran = run_here(made, tier=tier)
    bad = {name: "tests-failed" for name in writes if name != "scratch"}
    assert ran.steps == {**bad, "scratch": "passed"}
    for name in bad:
        result = marker(made, name).categories["integrity"]
        path = writes[name][1].format(name=name)
        assert result.outcome == "failed" and path in result.detail, (name, result)
        assert made.steps()[name].unit_test != "passed"
    assert not (made.root / "git/.git").exists()
    assert made.steps()["scratch"].unit_test == "passed"
    assert [one["path"] for one in ran.of("warning", "scratch")] == ["scratch/scratch.txt"]


def test_tests_that_change_their_own_files_fail(tmp_path: Path) -> None:
    command = "echo '# more' >> tests/test_it.py; true"
    made = Made.new(tmp_path / "p", with_tests(command, sDirectory=""), FILES)
    assert run_here(made, tier="plain").steps == {"one": "tests-failed"}
    assert state(made)[0] != "passed"


def test_the_categories_are_kept_apart_and_joined(tmp_path: Path) -> None:
    one = with_tests("true")[0]
    one["dictTests"]["dictQualitative"] = {"saCommands": ["true", "false"]}
    one["dictTests"]["dictQuantitative"] = {"saCommands": ["true"]}
    one["saTestCommands"] = ["test -s w/o.txt"]
    made = Made.new(tmp_path / "p", [one], FILES)
    run_here(made)
    report = made.steps()["one"]
    assert (report.integrity, report.qualitative, report.quantitative, report.unit_test) == (
        "passed",
        "failed",
        "passed",
        "failed",
    )
    found = marker(made, "one").categories
    assert found["integrity"].commands == ("true", "test -s w/o.txt")
    assert found["integrity"].collected == 2
    before = found["quantitative"]
    run_here(made, mode="all", tests_only=True, category="qualitative")
    assert marker(made, "one").categories["quantitative"] == before
    made.write("data/in.txt", "2\n")
    run_here(made, mode="all", tests=False)
    run_here(made, mode="all", tests_only=True, category="integrity")
    assert list(marker(made, "one").categories) == ["integrity"], "the others saw other bytes"


def test_a_stop_while_tests_run_costs_no_marker_that_holds(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", with_tests("[ ! -e slow.txt ] || sleep 300"), FILES)
    assert run_here(made).steps == {"one": "passed"}
    good = marker(made, "one").categories
    made.write("slow.txt", "")

    def stop() -> None:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            for journal in made.root.glob(".vaibify/local/runs/*/journal.jsonl"):
                text = journal.read_text()
                if "testsStarted" in text and "runComplete" not in text:
                    (journal.parent / "stop").touch()
                    return
            time.sleep(0.05)

    stopper = threading.Thread(target=stop)
    stopper.start()
    ran = run_here(made, mode="all", tests_only=True)
    stopper.join()
    assert ran.end["outcome"] == "interrupted"
    assert marker(made, "one").categories == good


def test_tests_have_the_steps_time_limit(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", with_tests("sleep 60"), FILES)
    assert run_here(made, tests=False).steps == {"one": "passed"}
    made.workflow(with_tests("sleep 60", fTimeoutSeconds=0.5))  # enough for no step on a busy day
    assert run_here(made, mode="all", tests_only=True).steps == {"one": "tests-failed"}
    assert marker(made, "one").categories["integrity"] == CategoryResult(
        "unknown", ("sleep 60",), None, 0, (), "were stopped after the step's time limit"
    )
    assert record(made, "one").outcome == "passed"


def test_an_unreadable_marker_is_kept_and_said(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", with_tests("true"), FILES)
    run_here(made)
    made.write(".vaibify/test_markers/workflow/one.json", "<<<<<<< ours\n")
    assert made.steps()["one"].integrity == "unknown"
    ran = run_here(made, mode="all", tests_only=True)
    (kept,) = (made.root / ".vaibify/local/replaced").iterdir()
    assert kept.read_text() == "<<<<<<< ours\n"
    assert ran.texts("warning", "one") == [
        f"an unreadable test marker was kept as .vaibify/local/replaced/{kept.name}"
    ]
    assert made.steps()["one"].integrity == "passed"


@pytest.mark.parametrize(
    "command",
    [
        "python -m unittest -q tests.test_unit",
        "python -m unittest discover -s tests",
        "bash check.sh",
        "make -s check",
    ],
)
def test_the_files_that_unittest_finds_are_part_of_the_tests(tmp_path: Path, command: str) -> None:
    unit = "import unittest\nclass T(unittest.TestCase):\n    def test(self): assert {}\n"
    files = {**FILES, "tests/__init__.py": "", "tests/test_unit.py": unit.format("True")}
    files["check.sh"] = "python -m unittest -q tests.test_unit\n"
    files["Makefile"] = "check:\n\tpython -m unittest -q tests.test_unit\n"
    del files["tests/test_it.py"]
    made = Made.new(tmp_path / "p", with_tests(command), files)
    assert run_here(made).steps == {"one": "passed"}
    made.write("tests/test_unit.py", unit.format("False"))
    assert state(made)[:2] == ("untested", "tests/test_unit.py")
    assert run_here(made).steps == {"one": "tests-failed"}


@pytest.mark.parametrize(
    "command",
    [
        "python -m checks.unit",
        "python -c 'from checks import unit'",
        "python - <<END\nimport sys\nsys.path.append('checks')\nimport unit\nEND",
        "PYTHONPATH=checks python begin.py",
        "for one in unit; do python checks/$one.py; done",
        "python checks/un*.py",
    ],
)
def test_what_a_test_command_runs_is_part_of_the_tests(tmp_path: Path, command: str) -> None:
    files = {**FILES, "checks/__init__.py": "", "checks/unit.py": "", "begin.py": "import unit\n"}
    made = Made.new(tmp_path / "p", with_tests(command), files)
    assert run_here(made).steps == {"one": "passed"}
    made.write("checks/unit.py", "assert False\n")
    assert state(made)[:2] == ("untested", "checks/unit.py")
    assert run_here(made).steps == {"one": "tests-failed"}


def test_a_test_that_is_added_where_a_pattern_finds_it(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", with_tests("python -m pytest -q tests/test_*.py"), FILES)
    assert run_here(made).steps == {"one": "passed"}
    made.write("tests/test_more.py", "def test_more():\n    assert False\n")
    assert state(made)[:2] == ("untested", "tests/test_more.py")


def test_tests_do_not_believe_byte_code_of_an_earlier_text(tmp_path: Path) -> None:
    test = "from helper import VALUE\ndef test_it(): assert VALUE == 1\n"
    files = {**FILES, "tests/test_it.py": test, ".gitignore": "__pycache__\n"}
    made = Made.new(tmp_path / "p", with_tests(PYTEST), files)
    module = made.root / "tests/helper.py"
    assert py_compile.compile(str(module)) is not None
    seen = module.stat()
    made.write("tests/helper.py", "VALUE = 2\n")
    os.utime(module, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert run_here(made).steps == {"one": "tests-failed"}


@pytest.mark.parametrize("content", ["", "<<<<<<< ours\n", '{"iFormat": 99}', "[]"])
def test_a_marker_that_cannot_be_read_has_the_tests_run_again(tmp_path: Path, content: str) -> None:
    made = Made.new(tmp_path / "p", with_tests("true"), FILES)
    run_here(made)
    path = ".vaibify/test_markers/workflow/one.json"
    made.write(path, content)
    assert f"run would run its tests alone: {path} " in vaibify(made.root, "status", "--why").out
    ran = run_here(made)
    (planned,) = ran.of("runStarted")[0]["plan"]
    assert (ran.steps, planned["why"].startswith(path)) == ({"one": "passed"}, True)
    assert ran.of("stepStarted") == [] and len(ran.of("testsStarted")) == 1
    (text,) = ran.texts("warning", "one")
    assert text.startswith("an unreadable test marker was kept as ")
    assert made.steps()["one"].integrity == "passed"
    assert run_here(made).steps == {"one": "skipped"}


NOTHING = "python -m pytest -q tests/test_it.py -k none"
WRITE = "write a test that is neither skipped nor expected to fail, or correct the command"
THEN = ", then: jupyter vaibify test one"


@pytest.mark.parametrize(
    ("commands", "text", "action"),
    [
        ([f"{NOTHING} || true"], "ran no test", f"{WRITE}: {NOTHING} || true{THEN}"),
        ([PYTEST, NOTHING], f"ran no test: {NOTHING}", f"{WRITE}{THEN}"),
        ([f"{PYTEST}; {NOTHING}"], "collected no test in one of their sessions",
         f"{WRITE}: {PYTEST}; {NOTHING}{THEN}"),
        (["python -m pytest --version"], "began no session of pytest",
         "let the command run its tests by pytest: python -m pytest --version" + THEN),
    ],
)  # fmt: skip
def test_where_no_test_ran_nobody_is_sent_to_run_them_again(
    tmp_path: Path, commands: list[str], text: str, action: str
) -> None:
    made = Made.new(tmp_path / "p", with_tests(*commands), FILES)
    done = vaibify(made.root, "run")
    assert (done.code, f"{text}; {action}\n" in done.err) == (1, True), done.err
    (found,) = [one for one in made.steps()["one"].reasons if "integrity" in one.code]
    assert (found.code, found.action) == ("integrity-empty", action)
    assert found.text.endswith(text)
    assert run_here(made).steps == {"one": "skipped"}  # it would end the same
