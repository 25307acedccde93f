"""The front door itself: the list of verbs, mistakes in the question, and how failures are told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.apps.front import SCRIPT, surroundings, vaibify
from vaibify_lab import __version__
from vaibify_lab.apps import main as front_door
from vaibify_lab.apps.catalogue import VERBS

HEAVY = ("jsonschema", "yaml", "pypi_simple", "requests", "packaging", "vaibify_lab.runs")


def test_every_verb_is_listed_by_job_and_no_other(tmp_path: Path) -> None:
    done = vaibify(tmp_path)
    listed = [line.split()[0] for line in done.out.splitlines() if line.startswith("  ")]
    jobs = [line for line in done.out.splitlines() if line and line[0] != " " and " " not in line]
    assert (done.code, done.err) == (0, "")
    assert listed == list(VERBS)
    assert jobs == ["begin", "build", "run", "look", "vouch", "confirm"]
    assert max(map(len, done.out.splitlines())) <= 80
    assert vaibify(tmp_path, "--help").out == done.out


def test_jupyter_finds_it(tmp_path: Path) -> None:
    done = subprocess.run(
        ["jupyter", "vaibify", "--version"], env=surroundings(), capture_output=True, check=True
    )
    assert done.stdout.decode() == f"vaibify_lab {__version__}\n"


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["reproduce", "--help"]])
def test_help_imports_nothing_heavy(words: list[str], tmp_path: Path) -> None:
    code = (
        "import atexit, sys\n"
        "from vaibify_lab.apps.main import main\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        f"main({words!r})\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stderr.split()
    assert "vaibify_lab.apps.screen" in loaded
    assert [one for one in loaded if one.startswith(HEAVY)] == []


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_every_verb_has_an_example_and_fits(verb: str, tmp_path: Path) -> None:
    done = vaibify(tmp_path, verb, "--help", env={"COLUMNS": "80"})
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"usage: jupyter vaibify {verb} ")
    assert "--json" in done.out
    assert f"jupyter vaibify {verb}" in done.out.partition("example:\n")[2]
    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            ["stauts"],
            "jupyter vaibify: there is no verb 'stauts' (did you mean 'status'?); "
            "jupyter vaibify --help lists the verbs",
        ),
        (
            ["zzz"],
            "jupyter vaibify: there is no verb 'zzz'; jupyter vaibify --help lists the verbs",
        ),
        (
            ["--jsn"],
            "jupyter vaibify: there is no option '--jsn'; jupyter vaibify --help lists the verbs",
        ),
        (
            ["status", "--wy"],
            "jupyter vaibify status: there is no option '--wy' here (did you mean '--why'?); "
            "see: jupyter vaibify status --help",
        ),
        (
            ["envelope", "x"],
            "jupyter vaibify envelope: there is no argument 'x' here; "
            "see: jupyter vaibify envelope --help",
        ),
        (
            ["run", "--jobs", "0"],
            "jupyter vaibify run: --jobs takes a whole number from 1 on, not '0'",
        ),
        (
            ["run", "--jobs"],
            "jupyter vaibify run: --jobs: expected one argument; see: jupyter vaibify run --help",
        ),
        (
            ["reproduce", "--skip-tier", "4"],
            "jupyter vaibify reproduce: --skip-tier takes 1, 2 or 3, not '4'",
        ),
        (
            ["sign-off", "x"],
            "jupyter vaibify sign-off: one of the arguments --pass --fail is required; "
            "see: jupyter vaibify sign-off --help",
        ),
        (["status", "--repo", "nowhere"], "jupyter vaibify status: nowhere: is not a folder"),
    ],
)
def test_a_wrong_question_is_told_in_one_line(words: list[str], text: str, tmp_path: Path) -> None:
    done = vaibify(tmp_path, *words)
    assert (done.code, done.out, done.err) == (2, "", text + "\n")


def test_outside_a_repository(tmp_path: Path) -> None:
    done = vaibify(tmp_path, "status")
    text = f"jupyter vaibify status: {tmp_path}: is not inside a git repository; git init\n"
    assert (done.code, done.out, done.err) == (2, "", text)


def test_in_a_folder_that_was_deleted(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f'rmdir "{gone}" && exec "{SCRIPT}" status'
    done = subprocess.run(
        ["sh", "-c", command], cwd=gone, env=surroundings(), capture_output=True, check=False
    )
    text = b"jupyter vaibify status: the current folder was deleted; cd elsewhere\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", text)


def test_an_error_in_json_is_one_document(tmp_path: Path) -> None:
    done = vaibify(tmp_path, "status", "--json")
    assert json.loads(done.out) == {
        "error": {
            "code": "not-a-repository",
            "text": "is not inside a git repository",
            "where": str(tmp_path),
            "action": "git init",
        }
    }
    assert (done.code, done.err.count("\n")) == (2, 1)
    wrong = vaibify(tmp_path, "status", "--wy", "--json")
    assert json.loads(wrong.out)["error"]["code"] == "usage"


def test_no_traceback_unless_asked_for(tmp_path: Path) -> None:
    done = vaibify(tmp_path, "status", "--debug")
    lines = done.err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1].startswith("jupyter vaibify status: ")


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    from vaibify_lab.apps import status

    def fail(*_: object) -> int:
        raise KeyError("surprise\x1b[31m")

    monkeypatch.setattr(status, "open_project", fail)


@pytest.mark.usefixtures("broken")
def test_a_mistake_of_ours_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    code = front_door.main(["status"])
    said = capsys.readouterr()
    assert (code, said.out) == (1, "")
    assert said.err == (
        "jupyter vaibify status: internal error (KeyError: 'surprise\\x1b[31m'), "
        "please report it; --debug shows the traceback\n"
    )


@pytest.mark.usefixtures("broken")
def test_a_mistake_of_ours_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert front_door.main(["status", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "internal"


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    command = f'"{SCRIPT}" | true; exec "{SCRIPT}" run --help | head -n 1'
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env=surroundings(), capture_output=True, check=True
    )
    assert done.stderr == b""
    assert done.stdout.startswith(b"usage: ")


def test_an_answer_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [str(SCRIPT), "doctor"],
            cwd=tmp_path,
            env=surroundings(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    text = b"jupyter vaibify doctor: standard output: the answer cannot be written: No space left"
    assert (done.returncode, done.stderr) == (1, text + b" on device\n")


def test_closed_streams_are_no_traceback(tmp_path: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"{SCRIPT}" status >&- 2>&-; echo $?'],
        cwd=tmp_path,
        env=surroundings(),
        capture_output=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == (b"2\n", b"")


def test_an_encoding_without_our_symbols(tmp_path: Path) -> None:
    os.mkdir(tmp_path / "r")
    subprocess.run(["git", "init", "-q", str(tmp_path / "r")], check=True)
    latin = {"PYTHONIOENCODING": "ascii"}
    done = vaibify(tmp_path / "r", "init", env=latin)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == "+ wrote vaibify.yml"
