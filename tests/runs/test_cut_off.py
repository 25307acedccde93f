"""What a death or a broken disk at one certain moment leaves, and what the next run makes of it.

Each was found by ``python -m tests.kills``, which looks at all moments.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.kit import CHAIN, CHAIN_FILES, Made
from tests.runs.here import marker, record, request, run_here, step
from tests.runs.test_interrupted import (
    alive,
    dies_at,
    ended,
    kill_runner,
    slow,
    start,
    wait_for,
)
from vaibify_lab.core.errors import DiskFull, NotPassed
from vaibify_lab.engines.local.handle import LocalHandle
from vaibify_lab.files.factstore import DRAFTS
from vaibify_lab.files.tree import Tree
from vaibify_lab.project import Project
from vaibify_lab.runs import child, enveloping, testrun
from vaibify_lab.runs.aside import ASIDE
from vaibify_lab.runs.journal import read_events
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.sealed import Stage
from vaibify_lab.runs.start import start_run

STALE = RunOptions("workflow.json")
TESTED = {
    **step("One", "tr 1-8 2-9 < in.txt > out.txt", out="out.txt", saInputDataFiles=["in.txt"]),
    "dictTests": {"dictIntegrity": {"saCommands": ["test -s out.txt"]}},
    "bNoTests": False,
}


@pytest.fixture
def chain(tmp_path: Path) -> Made:
    """Make a chain of two steps, run."""
    made = Made.new(tmp_path / "p", CHAIN, CHAIN_FILES)
    assert run_here(made).steps == {"make": "passed", "use": "passed"}
    return made


@pytest.fixture
def tested(tmp_path: Path) -> Made:
    """Make a step with a test, run."""
    made = Made.new(tmp_path / "p", [TESTED], {"in.txt": "1\n"}, bKeepSignOffIfIdentical=True)
    assert run_here(made).steps == {"one": "passed"}
    assert made.steps()["one"].unit_test == "passed"
    return made


# --- tests


def test_tests_that_a_death_left_out_are_run_by_the_next_run(tested: Made) -> None:
    tested.write("in.txt", "3\n")
    dies_at(tested, testrun.TestRun, "run", STALE)
    assert record(tested, "one").outcome == "passed"
    assert run_here(tested, tests=False).steps == {"one": "skipped"}
    assert (tested.steps()["one"].run, tested.steps()["one"].unit_test) == ("current", "untested")
    ran = run_here(tested)
    assert (ran.steps, ran.of("stepStarted")) == ({"one": "passed"}, [])
    assert tested.steps()["one"].unit_test == "passed"
    assert run_here(tested).steps == {"one": "skipped"}


def test_tests_that_have_seen_all_that_is_there_are_not_run_again(tested: Made) -> None:
    for command in ("false", "python -m pytest -q nothing.py || true"):
        tested.workflow([{**TESTED, "dictTests": {"dictIntegrity": {"saCommands": [command]}}}])
        tested.write("nothing.py", "")
        assert run_here(tested).steps == {"one": "tests-failed"}, "the command is another"
        assert run_here(tested).steps == {"one": "skipped"}, "it has been run"


def test_a_death_during_tests_alone_costs_the_record_nothing(tested: Made) -> None:
    good = record(tested, "one")
    dies_at(
        tested, testrun.TestRun, "_marker", RunOptions("workflow.json", mode="all", tests_only=True)
    )
    assert tested.steps()["one"].run == "interrupted", "nobody has cleared up"
    assert run_here(tested).steps == {"one": "skipped"}
    assert record(tested, "one") == good
    assert marker(tested, "one").categories["integrity"].outcome == "passed"


# --- files that are not whole


def test_a_death_leaves_no_half_written_file_where_git_would_take_it(chain: Made) -> None:
    chain.write("data/in.txt", "5\n")
    dies_at(chain, os, "rename", STALE, nth=3)  # type: ignore[arg-type]
    left = list((chain.root / DRAFTS).iterdir())
    assert len(left) == 1
    assert list(chain.root.rglob("*.tmp")) == left
    long_ago = left[0].stat().st_mtime - 7200
    os.utime(left[0], (long_ago, long_ago))
    assert run_here(chain).end["outcome"] == "passed"
    assert list((chain.root / DRAFTS).iterdir()) == []


def test_where_drafts_cannot_lie_they_lie_beside(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    root = tmp_path / "root"
    root.mkdir()
    (root / "drafts").symlink_to(elsewhere)
    Tree(root, "drafts").write("a/b", b"1")
    assert (root / "a/b").read_bytes() == b"1"
    assert os.listdir(elsewhere) == []
    assert os.listdir(root / "a") == ["b"]


# --- what a lost run leaves


def test_what_a_lost_run_needed_only_while_it_went_on_is_removed(chain: Made) -> None:
    folder = dies_at(chain, Stage, "bring_home", RunOptions("workflow.json", "all", sealed=True))
    place = folder.step("make")
    (place / "attempt-1.scratch/tmp").mkdir(parents=True)
    (chain.root / ASIDE / "r0/workflow").mkdir(parents=True)
    assert (place / "tree/make.sh").is_file()
    assert run_here(chain).end["outcome"] == "passed"
    assert sorted(one.name for one in place.iterdir()) == ["attempt-1"]
    assert (place / "attempt-1/stdout").is_file()
    assert not list((chain.root / ASIDE).rglob("*"))


@pytest.mark.parametrize("tier", ["landlock", "plain"])
def test_runner_and_supervisor_are_killed_and_the_next_run_ends_the_rest(
    tmp_path: Path, tier: str
) -> None:
    marks = [f"16{number}.{os.getpid()}" for number in range(2)]
    made = Made.new(tmp_path / "p", CHAIN, CHAIN_FILES)
    hidden = f"setsid sleep {marks[0]} > /dev/null 2>&1 < /dev/null &\n"
    made.write("make.sh", f"{hidden}sleep {marks[1]}; true\n{CHAIN_FILES['make.sh']}")
    folder = start(made, tier=tier)
    wait_for(lambda: len(alive(marks)) == 2)
    kill_runner(folder)
    found = LocalHandle.found(folder.step("make") / "attempt-1")
    assert found._supervisor is not None
    os.kill(found._supervisor.pid, signal.SIGKILL)
    wait_for(lambda: not found._supervisor.alive())  # type: ignore[union-attr]
    assert alive(marks), "what is below the shell goes on"
    made.write("make.sh", CHAIN_FILES["make.sh"])
    assert run_here(made, tier=tier).steps == {"make": "passed", "use": "passed"}
    assert alive(marks) == []


def test_what_a_killed_step_left_half_made_is_not_listed(chain: Made) -> None:
    mark = f"170.{os.getpid()}"
    chain.project().envelope("manifest")
    before = chain.read("MANIFEST.sha256")
    slow(chain, mark)
    folder = start(chain)
    wait_for(lambda: (chain.root / "out/a.txt").exists())
    kill_runner(folder)
    with pytest.raises(NotPassed) as refused:
        chain.project().envelope()
    assert refused.value.text == "a run was cut off: the outputs of make from before it lie there"
    assert refused.value.where == f"{ASIDE}/{folder.run_id}/workflow/make"
    assert chain.read("MANIFEST.sha256") == before
    chain.write("make.sh", CHAIN_FILES["make.sh"])
    assert run_here(chain).end["outcome"] == "passed"
    assert alive([mark]) == []
    chain.project().envelope()


# --- the turn to green


def test_a_death_between_the_last_sign_off_and_the_envelope(
    tested: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enveloping, "write_manifest", lambda opened: sys.exit("died"))
    with pytest.raises(SystemExit):
        tested.sign("one")
    monkeypatch.undo()
    assert tested.steps()["one"].green
    assert not (tested.root / "MANIFEST.sha256").exists()
    ran = run_here(tested)
    assert ran.texts("note") == ["everything is green: the envelope was written"]
    manifest = tested.read("MANIFEST.sha256")
    tested.write("MANIFEST.sha256", "somebody's own\n")
    assert run_here(tested).texts("note") == [], "it was green before, and nobody died"
    assert tested.read("MANIFEST.sha256") == "somebody's own\n" != manifest


# --- disks


def test_a_launch_that_fails_leaves_no_temporary_folder(
    chain: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise DiskFull("the step's supervisor could not start")

    monkeypatch.setattr("vaibify_lab.engines.local.starter.Starter.start", full)
    ran = run_here(chain, "make")
    assert ran.steps == {"make": "failed"}
    assert record(chain, "make").reason_code == "disk-full"
    assert sorted(one.name for one in ran.place("steps/make").iterdir()) == ["attempt-1"]


def test_a_stop_on_a_full_disk_reaches_the_runner(
    chain: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = f"180.{os.getpid()}"
    slow(chain, mark)
    folder = start(chain)
    wait_for(lambda: alive([mark]))

    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(Path, "touch", full)
    assert chain.project().stop_run() == folder
    assert ended(folder)["outcome"] == "interrupted"
    assert (alive([mark]), folder.stop_request.exists()) == ([], False)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_a_runner_that_a_broken_disk_ends_says_so_and_no_more(
    chain: Made, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), "somewhere")

    monkeypatch.setattr(child, "plan", broken)
    folder = request(chain, STALE)
    monkeypatch.setattr(sys, "argv", ["child", str(folder.path)])
    said = f"somewhere: the disk cannot be written or read: {os.strerror(number)}"
    with pytest.raises(SystemExit) as left:
        child.main()
    assert str(left.value).startswith(said)
    last = read_events(folder)[-1]
    assert (last["event"], last["text"].startswith(said)) == ("runRefused", True)
    assert last["code"] == ("disk-full" if number == errno.ENOSPC else "cannot-check")


# --- who follows


def test_a_run_that_is_lost_while_somebody_follows_says_so(chain: Made) -> None:
    mark = f"190.{os.getpid()}"
    slow(chain, mark)
    project = Project(chain.root, cached=False)
    folder = start_run(project.opened.tree, STALE, "Ada Test")
    wait_for(lambda: alive([mark]))
    (folder.path / "runner.log").write_text("something\nits last word\n")
    kill_runner(folder)
    last = [event for event in project.events(folder) if event is not None][-1]
    assert (last["event"], last["outcome"]) == ("runComplete", "interrupted")
    assert last["text"] == "the run lost its runner: its last word"
    project.stop_run()
    assert alive([mark]) == []


def test_what_a_runner_said_just_before_it_was_gone_is_heard(
    chain: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends between our look at the journal and our look at the process."""
    folder = run_here(chain).folder
    events = read_events(folder)
    monkeypatch.setattr(
        "vaibify_lab.project.running.follow", lambda folder: iter([*events[:-1], None, None])
    )
    monkeypatch.setattr("vaibify_lab.project.running.is_gone", lambda folder: True)
    heard = [event for event in chain.project().events(folder) if event is not None]
    assert heard == events
