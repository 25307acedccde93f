"""What git writes into a file where a merge has a conflict: told before anything runs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.apps.front import vaibify
from tests.kit import Made, git
from vaibify_lab.files.conflicts import conflict_in
from vaibify_lab.files.tree import Tree

STEPS = [
    {
        "sName": "Fit",
        "saDataCommands": ["bash fit.sh"],
        "saDataFiles": ["out/n.txt"],
        "saInputDataFiles": ["data/", "more.csv"],
        "dictTests": {"dictIntegrity": {"saCommands": ["bash tests/t.sh"]}},
    }
]
FILES = {
    "fit.sh": "mkdir -p out; wc -l < data/x.csv > out/n.txt\n",
    "data/x.csv": "x\n1\n",
    "more.csv": "a\n",
    "tests/t.sh": "test -s out/n.txt\n",
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def conflicting(root: Path, path: str, **config: str) -> Made:
    """Make a project in which a merge of ``path`` just failed."""
    made = Made.new(root, STEPS, FILES)
    for key, value in config.items():
        git(root, "config", key.replace("_", "."), value)
    git(root, "checkout", "-q", "-b", "other")
    made.write(path, f"{FILES[path]}#theirs\n")
    made.commit()
    git(root, "checkout", "-q", "main")
    made.write(path, f"{FILES[path]}#mine\n")
    made.commit()
    done = subprocess.run(["git", "-C", root, "merge", "other"], capture_output=True, check=False)
    assert done.returncode == 1
    return made


@pytest.mark.parametrize("path", sorted(FILES))
@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_a_merge_in_progress_refuses_check_and_run(tmp_path: Path, path: str, style: str) -> None:
    made = conflicting(tmp_path / "p", path, merge_conflictStyle=style)
    line = FILES[path].count("\n") + 1
    text = (
        f"'{path}' is in conflict: a merge is not finished (line {line}: '<<<<<<< HEAD'); keep "
        "what is right, and take out the lines that begin with <<<<<<<, ======= or >>>>>>>, then "
        f"git add -- {path}"
    )
    checked = vaibify(made.root, "check")
    assert (checked.code, f"✗ error   step 'fit': {text}\n" in checked.out) == (1, True)
    ran = vaibify(made.root, "run")
    assert (ran.code, text in ran.err, "fit: started" in ran.out) == (1, True, False)
    made.write(path, FILES[path])  # resolved, and not yet added
    assert vaibify(made.root, "check").code == 0
    assert vaibify(made.root, "run").code == 0


def test_marks_that_were_committed_are_a_warning_of_check_run_and_sign_off(tmp_path: Path) -> None:
    made = conflicting(tmp_path / "p", "data/x.csv")
    made.commit("merged in haste")
    text = (
        "'data/x.csv' holds what git writes where a merge has a conflict "
        "(line 3: '<<<<<<< HEAD'); keep what is right, and take out the lines that begin with "
        "<<<<<<<, ======= or >>>>>>>\n"
    )
    checked = vaibify(made.root, "check")
    assert (checked.code, checked.out) == (0, f"! warning step 'fit': {text}")
    ran = vaibify(made.root, "run")
    assert (ran.code, f"warning: fit: {text}" in ran.out) == (0, True)
    signed = vaibify(made.root, "sign-off", "fit", "--pass")
    assert (signed.code, f"warning: step 'fit': {text}" in signed.out) == (0, True)
    made.write("data/x.csv", FILES["data/x.csv"])
    assert json.loads(vaibify(made.root, "check", "--json").out)["findings"] == []


def test_a_stash_that_does_not_fit(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", STEPS, FILES)
    made.write("more.csv", "b\n")
    git(made.root, "stash", "-q")
    made.write("more.csv", "c\n")
    made.commit()
    subprocess.run(["git", "-C", made.root, "stash", "pop"], capture_output=True, check=False)
    said = vaibify(made.root, "check")
    assert (said.code, "(line 1: '<<<<<<< Updated upstream')" in said.out) == (1, True)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\n<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> b\n", 2),
        ("<<<<<<< HEAD\r\n1\r\n=======\r\n2\r\n>>>>>>> b\r\n", 1),
        ("<<<<<<< a\n1\n||||||| c\n0\n=======\n2\n>>>>>>> b", 1),
        ("<<<<<<<<<< a\n1\n==========\n2\n>>>>>>>>>> b\n", 1),  # conflict-marker-size=10
        ("<<<<<<< a\n=======\n>>>>>>> b\n", 1),
        ("Title\n=======\n\ntext\n", None),  # reStructuredText
        ("<<<<<<<\nTitle\n=======\n>>>>>>> x\n", None),
        ("x <<<<<<< HEAD\n=======\n>>>>>>> b\n", None),
        (" <<<<<<< HEAD\n =======\n >>>>>>> b\n", None),
        (">>>>>>> b\n=======\n<<<<<<< HEAD\n", None),
        ("<<<<<<< HEAD\n1\n>>>>>>> b\n", None),
        ("<<<<<<< HEAD\n1\n========\n2\n>>>>>>> b\n", None),
        ("<<<<<<< HEAD\n1\n=======\n2\n", None),
        (">>>>>>> quoted seven times\n=======\n", None),
        ("cat <<<<<<< x\n", None),
        ("\0<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> b\n", None),
        ("", None),
    ],
)
def test_what_is_a_conflict(tmp_path: Path, text: str, line: int | None) -> None:
    (tmp_path / "f").write_bytes(text.encode())
    found = conflict_in(Tree(tmp_path), "f")
    assert (found and found.line) == line


def test_files_that_git_does_not_know_are_not_read_for_it(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", STEPS, FILES)
    made.write("data/of_conflicts.txt", "<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n")
    assert vaibify(made.root, "check").out == "✓ nothing is wrong with 1 step\n"
