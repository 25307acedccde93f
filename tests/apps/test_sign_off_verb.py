"""What ``sign-off`` says where the word is recorded and what comes after it fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.apps.front import paste, vaibify
from tests.kit import CHAIN, CHAIN_FILES, Made
from vaibify_lab.core.facts import SignOffs
from vaibify_lab.project import Project
from vaibify_lab.runs import turning

SIGN_OFF = ".vaibify/sign_offs/workflow/use.json"
FAULT = "container.conf: is a symbolic link to vaibify.yml, which a manifest cannot list"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Return a project that one more sign-off turns green."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = Made.new(tmp_path / "p", CHAIN, CHAIN_FILES)
    made.run()
    made.sign("make")
    return made


def entries(project: Project) -> int:
    found = project.look().facts.sign_offs.get("use")
    return len(found.entries) if isinstance(found, SignOffs) else 0


@pytest.mark.parametrize("as_json", [False, True])
def test_a_sign_off_is_kept_where_the_envelope_after_it_fails(made: Made, as_json: bool) -> None:
    (made.root / "container.conf").symlink_to("vaibify.yml")
    done = vaibify(made.root, "sign-off", "use", "--pass", *(["--json"] if as_json else []))
    assert (done.code, done.err) == (0, "")
    if as_json:
        fault = json.loads(done.out)["envelope_fault"]
        assert (fault["where"], fault["text"]) == tuple(FAULT.split(": "))
    else:
        told = f"warning: the sign-off is recorded, but the envelope was not written: {FAULT}\n"
        assert done.out.endswith(told)
    assert made.steps()["use"].green and not (made.root / "MANIFEST.sha256").exists()
    (made.root / "container.conf").unlink()
    again = vaibify(made.root, "sign-off", "use", "--pass", "--json")
    assert json.loads(again.out)["envelope_fault"] is None  # it was due, and is written now
    assert (made.root / "MANIFEST.sha256").exists() and entries(made.project()) == 2


def test_where_the_disk_is_full_afterwards(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "x")

    monkeypatch.setattr(turning, "envelope_if_turned_green", full)
    project = made.project()
    signed = project.sign_off(project.to_sign("use"), "passed", by="Ada")
    assert signed.warning is not None and signed.warning.endswith("; free some space")
    assert entries(made.project()) == 1


def test_an_interruption_afterwards_says_that_it_is_recorded(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(turning, "envelope_if_turned_green", interrupted)
    project = made.project()
    with pytest.raises(KeyboardInterrupt, match="the sign-off is recorded"):
        project.sign_off(project.to_sign("use"), "passed", by="Ada")
    assert entries(made.project()) == 1


def test_an_interruption_before_it_says_nothing_of_that(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("vaibify_lab.files.tree.Tree.write", interrupted)
    project = made.project()
    with pytest.raises(KeyboardInterrupt) as found:
        project.sign_off(project.to_sign("use"), "passed", by="Ada")
    assert str(found.value) == "" and entries(made.project()) == 0


SIGN = "jupyter vaibify sign-off make --pass"
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12345\n"


def hint(made: Made) -> str | None:
    """Return what status advises of the sign-off of ``make``."""
    codes = ("not-signed", "sign-off-gone")
    (found,) = [one for one in made.steps()["make"].reasons if one.code in codes]
    return found.action


def test_the_hint_to_sign_names_what_comes_first(tmp_path: Path, made: Made) -> None:
    new = Made.new(tmp_path / "new", CHAIN, CHAIN_FILES)
    first = f"jupyter vaibify run make, look at what it wrote, then: {SIGN}"
    assert hint(new) == first
    paste(new.root, first.replace(", look at what it wrote, then: ", "\n"))
    assert new.states()["make"][:2] == ("current", "passed")
    for content in ("edited\n", None):  # of what was signed before, too
        (made.root / "out/a.txt").unlink() if content is None else made.write("out/a.txt", content)
        assert hint(made) == first
        assert vaibify(made.root, "sign-off", "make", "--pass").code == 1
    paste(made.root, "jupyter vaibify run make")
    assert hint(made) == SIGN
    made.write("out/a.txt", POINTER)
    assert hint(made) == f"git lfs pull, then: {SIGN}"
    refused = vaibify(made.root, "sign-off", "make", "--pass")
    text = "out/a.txt holds a git LFS pointer, not the content"
    assert refused.err.startswith(f"jupyter vaibify sign-off: {text} (")
    assert refused.err.endswith("; git lfs pull\n")
