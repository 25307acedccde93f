"""Advice that is pasted into a shell does what it says, whatever the file is called."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vaibify_lab.core.observed import CloneProblem
from vaibify_lab.core.paths import as_word
from vaibify_lab.files.attributes import attribute_line
from vaibify_lab.files.clone import missing_from_clone
from vaibify_lab.files.git import Repository
from vaibify_lab.files.hashing import hash_both
from vaibify_lab.files.tree import Tree

Git = Callable[..., str]
NAMES = [
    "plain.txt",
    "it's",
    "two  words",
    "a\nb",
    "a\rb",
    "a\tb'\\c",
    "a\\nb",
    "\x1b[31mred",
    "caf\udce9",
    "caf\udce91",
    "é",
    "\u2028line",
    ":colon",
    ":(top)x",
    "-hyphen",
    "$HOME",
    "a*b",
    "[ab]",
]


def paste(folder: Path, command: str) -> None:
    editor = {"GIT_EDITOR": "echo saved >"}
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env={**os.environ, **editor}, capture_output=True
    )
    assert done.returncode == 0, (command, done.stdout, done.stderr)


def problem(folder: Path, name: str) -> CloneProblem | None:
    blob = hash_both(Tree(folder), name, "sha1")[1]
    return next(iter(missing_from_clone(Repository.find(folder), {name: blob})), None)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_advised_of_a_file_mends_it(new_repo, commit, git: Git, name: str) -> None:
    folder = new_repo()
    commit(folder, {"a": b"b", "-": b"other"})
    (folder / os.fsdecode(os.fsencode(name))).write_bytes(b"1")
    codes = []
    while (found := problem(folder, name)) is not None:
        assert found.action.isprintable() and len(codes) < 2
        codes.append(found.code)
        paste(folder, found.action)
    assert codes == ["untracked"]
    (folder / name).write_bytes(b"2")
    changed = problem(folder, name)
    assert changed is not None and changed.code == "modified"
    paste(folder, changed.action)
    assert problem(folder, name) is None
    assert git(folder, "status", "--porcelain") == ""


@pytest.mark.parametrize("name", ["a.txt", "a\nb", "-x"])
@pytest.mark.parametrize("marks", [["skip-worktree"], ["assume-unchanged"], None])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_file_that_git_was_told_not_to_look_at(
    new_repo, commit, git: Git, name: str, marks: list[str] | None, sparse: bool
) -> None:
    folder = new_repo()
    marks = marks or ["assume-unchanged", "skip-worktree"]
    commit(folder, {name: b"1", "in/x": b"1"})
    if sparse:
        git(folder, "sparse-checkout", "set", "--no-cone", "/in/")
        (folder / name).write_bytes(b"1")
    for mark in marks:
        git(folder, "update-index", f"--{mark}", "--", name)
    (folder / name).write_bytes(b"2")
    found = problem(folder, name)
    assert found is not None
    if not sparse:  # there git itself takes back that mark of a file that is there all the same
        assert found.text == (
            "differs from what the last commit holds; git was told not to look at it "
            f"({', '.join(marks)})"
        )
    paste(folder, found.action)
    assert problem(folder, name) is None


@settings(max_examples=150, deadline=None)
@example(word="a\udcff1'\\\n")
@example(word="-:'")
@given(word=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1))
def test_a_word_is_one_word_for_bash(word: str) -> None:
    said = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {as_word(word)}"], capture_output=True, check=True
    ).stdout
    assert said.removeprefix(b"./") == os.fsencode(word).removeprefix(b"./") + b"\0"
    assert as_word(word).isprintable()
    if word.isprintable() and word[0] not in ":-":
        assert as_word(word) == shlex.quote(word)


@pytest.mark.parametrize("name", NAMES)
def test_an_attribute_line_is_one_line_of_that_path(new_repo, git: Git, name: str) -> None:
    folder = new_repo()
    line = attribute_line(name, "-text")
    assert line.isprintable()
    (folder / ".gitattributes").write_text(f"* text\n{line}\n")
    said = git(folder, "check-attr", "-z", "text", "--", name, f"{name}x")
    assert said.split("\0")[2::3] == ["unset", "set"]
