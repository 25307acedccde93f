"""``check --publish`` beside the manifest: nobody is told to commit what it does not list."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.apps.front import vaibify
from tests.kit import CHAIN, CHAIN_FILES, Made, git

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 2\n"
ENVELOPE = "list what is here: jupyter vaibify envelope"
HELD = "holds a git LFS pointer, not the content"


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """A project that has run, is enveloped, committed and ready."""
    made = Made.new(tmp_path / "r", CHAIN, {**CHAIN_FILES, ".gitattributes": "* -text\n"})
    assert made.run()["outcome"] == "passed"
    made.project().envelope()
    made.commit()
    assert said(made) == []
    return made


def said(made: Made) -> list[str]:
    """Return what is wrong with publishing, all of it as it is shown."""
    done = vaibify(made.root, "check", "--publish")
    found = [line.removeprefix("✗ error   ") for line in done.out.splitlines()]
    assert done.code == (1 if "✗" in done.out else 0)
    return [line for line in found if "✗" in done.out]


@pytest.mark.parametrize("path", ["out/a.txt", "data/in.txt", "use.sh", "workflow.json"])
def test_g08_what_changed_since_the_envelope_is_not_advised_to_be_committed(
    made: Made, path: str
) -> None:
    made.write(path, made.read(path) + "\n")
    listed = f"{path} is not what MANIFEST.sha256 lists"
    assert said(made) == [f"{listed}; {ENVELOPE}, or, to lose it: git checkout HEAD -- {path}"]
    made.commit()  # and git has no other bytes to give
    assert said(made) == [f"{listed}; {ENVELOPE}"]
    clone = made.clone(made.root.parent / "clone")
    assert vaibify(clone.root, "reproduce", "--skip-tier", "3").code == 1


def test_what_git_does_not_hold_it_cannot_give_back(made: Made) -> None:
    git(made.root, "rm", "-q", "--cached", "out/a.txt")
    git(made.root, "commit", "-q", "-m", "without")
    made.write("out/a.txt", "9\n")
    assert said(made) == [f"out/a.txt is not what MANIFEST.sha256 lists; {ENVELOPE}"]


def test_a_listed_file_that_is_gone_is_said_though_a_clone_has_it(made: Made) -> None:
    (made.root / "out2/b.txt").unlink()
    text = "out2/b.txt is listed in MANIFEST.sha256, and is not there; git checkout HEAD -- "
    assert said(made) == [f"{text}out2/b.txt, or {ENVELOPE}"]


def test_g03_an_lfs_pointer_is_not_advised_to_be_committed(made: Made) -> None:
    content = made.read("out/a.txt").encode()
    oid = hashlib.sha256(content).hexdigest()
    made.write("out/a.txt", POINTER.format(oid))
    warned = "! warning step 'make': output 'out/a.txt' holds a git LFS pointer, not the content; "
    warned += "git lfs pull"
    listed = f"out/a.txt {HELD} (its oid matches MANIFEST.sha256); git lfs pull"
    assert said(made) == [listed, warned]
    made.commit()  # as it is in every clone without git-lfs
    assert said(made) == [listed, warned]
    made.write("out/a.txt", POINTER.format("0" * 64))
    other = f"out/a.txt {HELD} (of other content than MANIFEST.sha256 lists); git lfs pull"
    assert said(made) == [other, warned]
    made.write("out/a.txt", content)
    made.commit()
    assert said(made) == []


def test_g03_pointers_that_are_listed_or_that_nothing_lists(made: Made) -> None:
    pointer = POINTER.format("0" * 64)
    kept = made.read("MANIFEST.sha256")
    lines = [line for line in kept.splitlines() if not line.endswith("use.sh")]
    made.write("use.sh", pointer)
    made.write("MANIFEST.sha256", "\n".join(lines) + "\n")
    assert f"use.sh {HELD}; git lfs pull" in said(made)
    digest = hashlib.sha256(pointer.encode()).hexdigest()
    made.write("MANIFEST.sha256", "\n".join([*lines, f"{digest}  use.sh"]) + "\n")
    assert f"use.sh {HELD}, and MANIFEST.sha256 lists the pointer; git lfs pull" in said(made)
