"""Files of the project's own that are gone or damaged: said, with what mends it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.apps.front import vaibify
from tests.kit import CHAIN, CHAIN_FILES, Made, git
from vaibify_lab.core.report import Rung

ENVIRONMENT = ".vaibify/environment.json"
RECORD = ".vaibify/records/workflow/make.json"
MARKER = ".vaibify/test_markers/workflow/make.json"
SIGN_OFF = ".vaibify/sign_offs/workflow/make.json"


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Two steps, verified, enveloped and committed: the first rung is met."""
    made = Made.new(tmp_path_factory.mktemp("verified") / "made", CHAIN, CHAIN_FILES)
    made.run()
    made.sign("make", "use")
    made.project().envelope()
    made.commit("all")
    assert rungs(made)["L1"].met is True
    return made


@pytest.fixture
def made(verified: Made) -> Iterator[Made]:
    """The same project, put back after each test."""
    commit = git(verified.root, "rev-parse", "HEAD").strip()
    yield verified
    git(verified.root, "reset", "-q", "--hard", commit)
    git(verified.root, "clean", "-fdq")


def rungs(made: Made) -> dict[str, Rung]:
    return {one.level: one for one in made.project().report().levels}


def added(made: Made, path: str) -> bool:
    """Tell whether the first rung advises to add a file to git."""
    missing = rungs(made)["L1"].missing
    return any(one.path == path and (one.action or "").startswith("git add") for one in missing)


@pytest.mark.parametrize("path", [ENVIRONMENT, "out2/b.txt"])
def test_what_the_manifest_lists_and_is_not_there_is_said_by_the_first_rung(
    made: Made, path: str
) -> None:
    (made.root / path).unlink()
    for level in ("L1", "L3"):
        rung = rungs(made)[level]
        assert rung.met is False
        (found,) = [one for one in rung.missing if one.code == "listed-missing"]
        assert found.text == f"{path} is listed in MANIFEST.sha256, and is not there"
        assert (found.action or "").startswith(f"git checkout -- {path}, or ")
    git(made.root, "checkout", "--", path)
    assert rungs(made)["L1"].met is True


def test_nobody_is_told_to_add_what_is_not_there(made: Made, tmp_path: Path) -> None:
    made.write("MANIFEST.sha256", made.read("MANIFEST.sha256") + f"{'0' * 64}  gone.txt\n")
    made.commit("listed, and never there")
    (found,) = [one for one in made.project().check(publish=True) if one.path == "gone.txt"]
    assert found.text == "gone.txt is not there, nor in the last commit"
    assert (found.action or "").startswith("make it or put it back")
    new = Made.new(tmp_path / "new", CHAIN, CHAIN_FILES)
    git(new.root, "update-ref", "-d", "HEAD")
    found_here = {True: 0, False: 0}
    for problem in rungs(new)["L1"].missing:
        if problem.code == "not-in-clone":
            is_here = (new.root / (problem.path or "")).exists()
            found_here[is_here] += 1
            start = "git add" if is_here else "make it or put it back"
            assert (problem.action or "").startswith(start)
    assert found_here == {True: 4, False: 2}


def test_a_damaged_environment_has_a_remedy_everywhere_and_is_not_to_be_committed(
    made: Made,
) -> None:
    made.write(ENVIRONMENT, "{")
    remedy = f"git checkout -- {ENVIRONMENT}, or remove it and: jupyter vaibify build"
    reasons = [one for step in made.steps().values() for one in step.reasons]
    assert any(remedy in one.text for one in reasons)
    (fault,) = [one for one in rungs(made)["L3"].missing if one.code == "environment-fault"]
    assert (fault.action or "").startswith(remedy)
    assert not added(made, ENVIRONMENT)
    (found,) = [one for one in made.project().check() if one.code == "damaged"]
    assert found.path == ENVIRONMENT and (found.action or "").startswith(remedy)
    told = " ".join(vaibify(made.root, "reproduce").out.split())
    assert f"enclosed in double quotes; {remedy}" in told


@pytest.mark.parametrize(
    ("path", "content", "remedy"),
    [
        (SIGN_OFF, "", "jupyter vaibify sign-off make --pass"),
        (SIGN_OFF, "[", "jupyter vaibify sign-off make --pass"),
        (RECORD, "", "jupyter vaibify run make"),
        (RECORD, '{"format": 3}', "jupyter vaibify run make"),
        (MARKER, "", f"rm -- {MARKER}"),  # the step has no tests
    ],
)
def test_a_damaged_fact_has_a_remedy_and_check_names_it(
    made: Made, path: str, content: str, remedy: str
) -> None:
    made.write(path, content)
    whole = remedy if path == MARKER else f"git checkout -- {path}, or {remedy}"
    (found,) = [one for one in made.project().check() if one.code == "damaged"]
    assert (found.level, found.path, found.action) == ("error", path, whole)
    assert not added(made, path)
    if path != MARKER:  # no tests are declared, so nothing rests on that
        assert whole in [one.action for one in made.steps()["make"].reasons]


def test_check_reads_container_conf(made: Made) -> None:
    made.write("container.conf", "# fine\nnot | enough\n")
    done = vaibify(made.root, "check")
    assert done.code == 1 and "container.conf, line 2: has 2 fields" in done.out
    made.write("container.conf", "# fine\n")
    assert [one for one in made.project().check() if one.level == "error"] == []


def test_what_cannot_be_checked_here_can_be_left_out_and_how_is_said(made: Made) -> None:
    done = vaibify(made.root, "reproduce", "--skip-tier", "2")
    assert done.code == 1
    line = "To leave out what cannot be checked here: jupyter vaibify reproduce --skip-tier 2"
    assert done.out.endswith(f"{line} --skip-tier 3\n")
    done = vaibify(made.root, "reproduce", "--skip-tier", "3")
    assert done.code == 0 and "To leave out" not in done.out
