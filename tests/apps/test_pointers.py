"""Files of the project's own of which only a git LFS pointer is here, and `.gitattributes`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.apps.front import paste, vaibify
from tests.kit import CHAIN, CHAIN_FILES, Made, git

POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12345\n"
TEXT = "holds a git LFS pointer, not the content"
FILES = CHAIN_FILES | {"vaibify.yml": "projectName: p\n", "container.conf": "# none\n"}
FILES |= {"requirements.in": "", "requirements.lock": "# none\n"}
OWN = ["MANIFEST.sha256", ".vaibify/environment.json", *sorted(set(FILES) - set(CHAIN_FILES))]
UNREADABLE = {"workflow.json", "vaibify.yml"}


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory) -> Made:
    made = Made.new(tmp_path_factory.mktemp("verified") / "made", CHAIN, FILES)
    made.workflow(CHAIN, bNoPythonPackages=True)
    made.run()
    made.sign("make", "use")
    made.project().envelope("manifest")
    made.commit("all")
    return made


@pytest.fixture
def made(verified: Made, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Made]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield verified
    git(verified.root, "reset", "-q", "--hard")
    git(verified.root, "clean", "-fdq")


@pytest.mark.parametrize("path", [*OWN, "workflow.json"])
def test_a_pointer_is_fetched_and_nothing_made_anew(made: Made, path: str) -> None:
    assert (made.root / path).exists()
    made.write(path, POINTER)
    checked = vaibify(made.root, "check", "--publish")
    assert checked.code == (2 if path in UNREADABLE else 1)
    assert checked.err.startswith(f"jupyter vaibify check: {path}")
    assert TEXT in checked.err and checked.err.endswith("; git lfs pull\n")
    if path in UNREADABLE:
        for verb in ("status", "run"):
            done = vaibify(made.root, verb)
            text = f"jupyter vaibify {verb}: {path}: {TEXT}; git lfs pull\n"
            assert (done.code, done.err) == (2, text)
        return
    missing = [one for rung in made.project().report().levels for one in rung.missing]
    about = {one.action for one in missing if one.path == path and one.action}
    about.discard("jupyter vaibify build")  # no image is pinned, with or without it
    assert about == {"git lfs pull"}


def test_reproduce_says_it_of_the_manifest(made: Made) -> None:
    made.write("MANIFEST.sha256", POINTER)
    done = vaibify(made.root, "reproduce", "--skip-tier", "2", "--skip-tier", "3")
    text = f"jupyter vaibify reproduce: not confirmed: MANIFEST.sha256: {TEXT}: git lfs pull\n"
    assert (done.code, done.err) == (1, text)


def test_an_output_s_pointer_is_not_to_be_listed(made: Made) -> None:
    made.write("out/a.txt", POINTER)
    missing = [one for rung in made.project().report().levels for one in rung.missing]
    (found,) = [one for one in missing if one.code == "manifest-differs"]
    assert (found.path, found.action) == ("out/a.txt", "git lfs pull")


def findings(made: Made) -> list[tuple[str, str]]:
    every = made.project().check(publish=True)
    return [(one.text, one.action or "") for one in every if one.code == "line-endings"]


@pytest.mark.parametrize("before", [False, True])
def test_attributes_that_init_wrote_are_to_be_committed(tmp_path: Path, before: bool) -> None:
    """``before``: init is typed where git holds nothing yet, and covers every file."""
    made = Made.new(tmp_path / "p", CHAIN, CHAIN_FILES)
    if before:
        git(made.root, "update-ref", "-d", "HEAD")
        git(made.root, "rm", "-rq", "--cached", ".")
    vaibify(made.root, "init")
    made.run()
    made.project().envelope("manifest")
    git(made.root, "add", "-A", "--", ":!.gitattributes")
    git(made.root, "commit", "-qm", "all but one")
    ((text, action),) = findings(made)
    assert ("is not committed as it is" in text) is before
    commit = "git add -- .gitattributes && git add --renormalize . && git commit"
    line = "add the line `* -text` to .gitattributes, then: "
    assert action == (commit if before else f"{line}{commit}")
    if not before:
        made.write(".gitattributes", f"{made.read('.gitattributes')}* -text\n")
    add, _, then = commit.rpartition(" && ")
    paste(made.root, add, "echo saved >")
    ((text, action),) = findings(made)
    assert (text.split(" is ")[1][:23], action) == ("added and not committed", then)
    paste(made.root, action, "echo saved >")
    assert findings(made) == []
