"""A file whose name is on the disk in another Unicode form: renamed, not asked of git."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from tests.apps.front import paste, vaibify
from tests.kit import CHAIN, CHAIN_FILES, Made
from tests.runs.here import step
from vaibify_lab.core.report import Reason

INPUT, OUTPUT = "d\u00e4ta/caf\u00e9.txt", "out/\u00fc.txt"
STEPS = [
    CHAIN[0] | {"saInputDataFiles": [INPUT], "saDataFiles": [OUTPUT]},
    CHAIN[1] | {"saDataCommands": ["bash use.sh {Step01.\u00fc}"]},
]
MAKE = f"tr 1-8 2-9 < {INPUT} > {OUTPUT}\n"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    files = {INPUT: "1\n", "make.sh": MAKE, "use.sh": CHAIN_FILES["use.sh"]}
    made = Made.new(tmp_path / "p", STEPS, files)
    made.run()
    made.sign("make", "use")
    made.project().envelope()
    made.commit()
    assert missing(made) == []
    return made


def missing(made: Made) -> list[Reason]:
    (first,) = [one for one in made.project().report().levels if one.level == "L1"]
    return list(first.missing)


def rename(made: Made, path: str, name: str) -> None:
    """Give a file or folder its name in the decomposed form."""
    parent = path.split(name)[0]
    os.rename(made.root / parent / name, made.root / parent / unicodedata.normalize("NFD", name))


@pytest.mark.parametrize("is_committed", [False, True])
@pytest.mark.parametrize(
    ("path", "names"),
    [(INPUT, ["caf\u00e9.txt"]), (INPUT, ["d\u00e4ta"]), (OUTPUT, ["\u00fc.txt"]),
     (INPUT, ["caf\u00e9.txt", "d\u00e4ta"])],
)  # fmt: skip
def test_it_is_renamed(made: Made, path: str, names: list[str], is_committed: bool) -> None:
    for name in names:
        rename(made, path, name)
    if is_committed:
        made.commit("renamed")
    for _ in range(len(names) + 1):
        found = [one for one in missing(made) if one.action and one.path == path]
        advised = {one.action for one in found if one.code in ("listed-missing", "not-in-clone")}
        findings = [one.action for one in made.project().check(publish=True) if one.path == path]
        if not advised:
            break
        (action,) = advised
        assert action is not None and action.isascii()
        assert action.startswith("git mv -- $'" if is_committed else "mv -- $'")
        assert set(findings) <= advised and (findings or path == OUTPUT)
        paste(made.root, action, "echo saved >")
        if is_committed:
            paste(made.root, "git commit", "echo saved >")
    assert missing(made) == []


def test_what_runs_and_tests_is_told_too(tmp_path: Path, made: Made) -> None:
    rename(made, INPUT, "caf\u00e9.txt")
    done = vaibify(made.root, "run")
    said = "is there instead of 'däta/caf\\u00e9.txt': another Unicode normal form of one name"
    assert f"'däta/cafe\\u0301.txt' {said}; mv -- $'" in done.err
    one = step("One", "bash caf\u00e9.sh", out="o.txt")
    new = Made.new(tmp_path / "new", [one], {"cafe\u0301.sh": "echo 1 > o.txt\n"})
    done = vaibify(new.root, "run")
    assert "script 'café.sh' does not exist: 'cafe\\u0301.sh' is there" in done.err
    paste(new.root, done.err.rpartition("; ")[2])
    assert vaibify(new.root, "run").code == 0
    other = unicodedata.normalize("NFD", "\u00f6.txt")
    new.workflow([step("One", f"echo 1 > out/{other}", out="out/\u00f6.txt")])
    text = "did not write its output out/\u00f6.txt: 'out/o\\u0308.txt' is there instead"
    assert text in vaibify(new.root, "run").err


def test_of_two_that_look_the_same_none_is_renamed(made: Made) -> None:
    rename(made, INPUT, "caf\u00e9.txt")
    made.write(INPUT, "1\n")
    actions = [one.action or "" for one in missing(made)]
    assert not [one for one in actions if "mv -- " in one]
