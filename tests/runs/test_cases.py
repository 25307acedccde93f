"""Cases of the field, from a project's files to what a person is told."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import vaibify_lab._version
from tests.kit import CHAIN, CHAIN_FILES, Made, git
from vaibify_lab.core.errors import NotARepository, RepositoryNotTrusted
from vaibify_lab.project import Project


def green(root: Path) -> Made:
    """Make a chain of two steps that is all green, enveloped and committed."""
    made = Made.new(root, CHAIN, CHAIN_FILES)
    assert made.run()["outcome"] == "passed"
    made.sign("make", "use")
    made.commit("green")
    return made


def test_e03_a_comment_is_a_change_of_code_and_an_upgrade_of_the_tool_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = green(tmp_path / "p")
    monkeypatch.setattr(vaibify_lab._version, "__version__", "99.0")
    assert [one.green for one in made.steps().values()] == [True, True]
    made.write("make.sh", "# why not\n" + CHAIN_FILES["make.sh"])
    report = made.steps()["make"]
    assert (report.run, [(one.code, one.path) for one in report.reasons]) == (
        "stale",
        [("code-changed", "make.sh")],
    )


def test_e05_a_folder_that_two_steps_write_into_wakes_nobody(tmp_path: Path) -> None:
    steps = [
        {
            "sName": name,
            "saDataCommands": [f"bash write.sh both {name}"],
            "saDataFiles": [f"both/{name}.txt"],
            "saInputDataFiles": ["data/in.txt"],
            "bNoTests": True,
        }
        for name in ("one", "two")
    ]
    files = {"write.sh": 'cp data/in.txt "$1/$2.txt"\n', "data/in.txt": "1\n"}
    made = Made.new(tmp_path / "p", steps, files)
    assert made.run()["steps"] == {"one": "passed", "two": "passed"}
    assert made.run("one")["steps"] == {"one": "passed"}
    assert {slug: state[0] for slug, state in made.states().items()} == {
        "one": "current",
        "two": "current",
    }
    assert made.run()["steps"] == {"one": "skipped", "two": "skipped"}


def test_g04_a_repository_of_somebody_else_is_named_with_the_one_line_that_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = green(tmp_path / "p")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(RepositoryNotTrusted) as caught:
        made.project()
    assert caught.value.action is not None
    assert "git config --global --add safe.directory" in caught.value.action
    assert caught.value.exit_code == 2


def test_g06_a_worktree_a_submodule_and_an_inherited_git_dir(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = green(tmp_path / "p")
    git(made.root, "worktree", "add", "-q", str(tmp_path / "tree"))
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(made.root))
    for place in (tmp_path / "tree", outer / "p"):
        found = Made(place)
        assert found.project().root == place.resolve()
        assert [one.green for one in found.steps().values()] == [True, True]
    monkeypatch.setenv("GIT_DIR", str(outer / ".git"))
    assert Project(made.root / "data").root == made.root.resolve()
    monkeypatch.delenv("GIT_DIR")
    with pytest.raises(NotARepository):
        Project(made.root / ".git")


def test_g09_a_detached_shallow_clone_verifies_and_its_record_says_so(tmp_path: Path) -> None:
    made = green(tmp_path / "p")
    git(made.root, "tag", "v1")
    clone = tmp_path / "clone"
    source = f"file://{made.root}"
    subprocess.run(
        ["git", "clone", "-q", "--depth", "1", "--branch", "v1", source, str(clone)],
        check=True,
        capture_output=True,
    )
    found = Made(clone)
    assert [one.green for one in found.steps().values()] == [True, True]
    assert found.run("make")["outcome"] == "passed"
    record = json.loads(found.read(".vaibify/records/workflow/make.json"))
    commit = git(clone, "rev-parse", "HEAD").strip()
    assert (record["commit"], record["branch"], record["shallow"]) == (commit, None, True)


def test_e09_a_checkout_and_a_clock_set_back_change_no_verdict(tmp_path: Path) -> None:
    made = green(tmp_path / "p")
    before = made.steps()
    git(made.root, "checkout", "-q", "-b", "other")
    git(made.root, "checkout", "-q", "main")
    for here, _, names in os.walk(made.root):
        for name in names:
            if ".git" not in here:
                os.utime(os.path.join(here, name), (86_400, 86_400))
    assert made.steps() == before
    made.write("data/in.txt", "7\n")
    os.utime(made.root / "data/in.txt", (86_400, 86_400))
    assert made.steps()["make"].run == "stale"
