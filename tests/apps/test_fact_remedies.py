"""What is advised of a fact file that is not believed is pasted into a shell, and mends it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.apps.front import paste, vaibify
from tests.kit import CHAIN, CHAIN_FILES, Made, git

RECORD = ".vaibify/records/workflow/make.json"
MARKER = ".vaibify/test_markers/workflow/make.json"
SIGN_OFF = ".vaibify/sign_offs/workflow/make.json"
ANEW = {
    RECORD: "jupyter vaibify run make",
    MARKER: "jupyter vaibify test make",
    SIGN_OFF: "jupyter vaibify sign-off make --pass",
}
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12345\n"
MARKS = "<<<<<<< HEAD\n{}\n=======\n[]\n>>>>>>> side\n"
TESTED = [
    {key: value for key, value in CHAIN[0].items() if key != "bNoTests"}
    | {"saTestCommands": ["test -s out/a.txt"]},
    CHAIN[1],
]


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory) -> Made:
    made = Made.new(tmp_path_factory.mktemp("verified") / "made", TESTED, CHAIN_FILES)
    made.run()
    made.sign("make", "use")
    made.project().envelope()
    made.commit("all")
    return made


@pytest.fixture
def made(verified: Made, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Made]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    commit = git(verified.root, "rev-parse", "HEAD").strip()
    yield verified
    git(verified.root, "reset", "-q", "--hard", commit)
    git(verified.root, "clean", "-fdq")


def remedy(made: Made, path: str) -> str:
    """Return what status, check and the file's own finding advise of a fact of ``make``."""
    (found,) = [one for one in made.project().check() if one.path == path and one.code == "damaged"]
    reasons = made.steps()["make"].reasons
    advised = [one.action for one in reasons if one.path == path and "unusable" in one.code]
    assert advised == [found.action] and found.action is not None
    return found.action


def is_believed(made: Made, path: str) -> bool:
    return all(one.path != path for one in made.project().check() if one.code == "damaged")


@pytest.mark.parametrize("path", [RECORD, MARKER, SIGN_OFF])
@pytest.mark.parametrize("content", [MARKS, "{", ""])
def test_what_is_committed_as_it_is_is_made_anew(made: Made, path: str, content: str) -> None:
    made.write(path, content)
    made.commit("in haste")
    assert remedy(made, path) == ANEW[path]
    paste(made.root, ANEW[path])
    assert is_believed(made, path)


@pytest.mark.parametrize("path", [RECORD, MARKER, SIGN_OFF])
def test_what_git_holds_whole_is_taken_from_there(made: Made, path: str) -> None:
    made.write(path, "{")
    back = f"git checkout -- {path}"
    assert remedy(made, path) == f"{back}, or {ANEW[path]}"
    git(made.root, "add", path)  # what checkout would give is now as damaged
    back = f"git checkout HEAD -- {path}"
    assert remedy(made, path) == f"{back}, or {ANEW[path]}"
    made.write(path, "[")
    assert remedy(made, path) == f"{back}, or {ANEW[path]}"
    paste(made.root, back)
    assert is_believed(made, path) and made.steps()["make"].green


def test_of_a_disabled_step_it_is_said_what_to_do_first(made: Made) -> None:
    made.workflow([TESTED[0] | {"bEnabled": False}, CHAIN[1]])
    for path in (RECORD, MARKER):
        made.write(path, "{")
    made.commit("in haste")
    for path in (RECORD, MARKER):
        first = "set bEnabled of 'make' to true, then: "
        assert remedy(made, path) == f"{first}{ANEW[path]}"


@pytest.mark.parametrize("path", [RECORD, MARKER, SIGN_OFF])
def test_a_pointer_and_a_later_format(made: Made, path: str) -> None:
    made.write(path, POINTER)
    text = f"{path} holds a git LFS pointer, not the content; git lfs pull"
    assert remedy(made, path) == "git lfs pull"
    assert text in vaibify(made.root, "check").out
    key = "sFormat" if path == MARKER else "format"
    value = made.read(path)
    git(made.root, "checkout", "--", path)
    value = made.read(path).replace("/1", "/9", 1).replace("/2", "/9", 1).replace("/3", "/9", 1)
    assert key in value
    made.write(path, value)
    assert remedy(made, path) == "update vaibify_lab"


def merging(made: Made, *paths: str) -> None:
    """Begin a merge in which facts are in conflict: both sides made them anew."""
    git(made.root, "checkout", "-q", "-B", "side")
    paste(made.root, " && ".join(ANEW[path] for path in paths))
    made.commit("side")
    git(made.root, "checkout", "-q", "main")
    time.sleep(1.1)  # facts tell the time in seconds: within one, both sides may be the same
    paste(made.root, " && ".join(ANEW[path] for path in paths))
    made.commit("main")
    done = subprocess.run(["git", "-C", made.root, "merge", "side"], capture_output=True)
    assert done.returncode == 1, done.stdout


@pytest.mark.parametrize("path", [RECORD, MARKER, SIGN_OFF])
@pytest.mark.parametrize("side", ["--ours", "--theirs"])
def test_a_merge_that_is_not_finished(made: Made, path: str, side: str) -> None:
    merging(made, path)
    taken = f"git checkout --ours -- {path} && git add -- {path}"
    whole = f"{taken} (or --theirs), or {ANEW[path]}, then: git add -- {path}"
    assert remedy(made, path) == whole
    assert (
        f"{path} is in conflict: a merge is not finished; {whole}"
        in vaibify(made.root, "status", "--why").out
    )
    paste(made.root, taken.replace("--ours", side))
    assert is_believed(made, path)


@pytest.mark.parametrize("path", [RECORD, MARKER, SIGN_OFF])
def test_a_merge_is_finished_with_a_new_fact(made: Made, path: str) -> None:
    merging(made, path)
    paste(made.root, f"{ANEW[path]}; git add -A; git commit")
    assert is_believed(made, path)


def test_no_envelope_is_advised_in_the_middle_of_a_merge(made: Made) -> None:
    merging(made, RECORD)
    made.write("data/in.txt", "5\n")
    (made.root / "out2/b.txt").unlink()
    first = "finish the merge (git status shows what is left), then: "
    missing = [one for rung in made.project().report().levels for one in rung.missing]
    findings = made.project().check(publish=True)
    advised = [one.action or "" for one in (*missing, *findings)]
    due = [one for one in advised if "vaibify envelope" in one]
    assert due and all(one.startswith(first) for one in due)
    paste(made.root, f"git checkout --ours -- {RECORD} && git add -A && git commit")
    missing = [one for rung in made.project().report().levels for one in rung.missing]
    assert any((one.action or "") == "jupyter vaibify envelope" for one in missing)
