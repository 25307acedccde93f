"""Whatever a file of a project holds: every verb answers, or says in one line why it cannot."""

from __future__ import annotations

import io
import json
import os
import resource
import shutil
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import rubbish, states
from tests.apps.front import Done, surroundings, vaibify
from tests.kit import CHAIN, CHAIN_FILES, Made
from tests.pace import assert_took_at_most
from tests.runs.here import run_here
from tests.states import end_runner
from vaibify_lab.apps.main import main
from vaibify_lab.runs.journal import ENDINGS

COST = 50  # times the reference; a second of processing is 25
LOOKS = (
    ("status",),
    ("status", "--why", "good"),
    ("check", "--json"),
    ("check", "--publish"),
    ("verify",),
    ("pins", "good", "--json"),
    ("lineage",),
    ("lineage", "--format", "svg"),
    ("runs",),
    ("runs", "--json"),
    ("log",),
    ("log", "--json"),
    ("reproduce", "--skip-tier", "3"),
    ("reproduce", "--json"),
    ("doctor", "--json"),
)
WRITES = (
    ("sign-off", "good", "--pass", "--json"),
    ("sign-off", "edited", "--fail", "--json"),
    ("envelope", "--only", "manifest"),
    ("envelope", "--only", "environment", "--json"),
    ("acknowledge",),
)
NAMED = (
    *("workflow.json", "MANIFEST.sha256", "requirements.in", "requirements.lock"),
    *("vaibify.yml", "container.conf"),
)
ELSEWHERE = {  # no engine, no index: what the files say is the question
    "DOCKER_HOST": "unix:///nonexistent/socket",
    "PIP_NO_INDEX": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


@dataclass(frozen=True)
class Project:
    """A project, and what its files that we read held before they were spoilt."""

    root: Path
    files: dict[str, bytes]

    def restore(self) -> Path:
        """Put every file back; what was not there goes."""
        for path in kept_files(self.root):
            if path not in self.files:
                remove(self.root / path)
        for path, data in self.files.items():
            place = self.root / path
            if place.is_symlink() or not place.is_file() or place.read_bytes() != data:
                remove(place)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(data)
        return self.root

    def of_kind(self, kind: str) -> list[str]:
        """Return the paths of a kind."""
        return [path for path in self.files if kind_of(path) == kind]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """Make the project with steps in every state, in surroundings that answer nobody."""
    folder = tmp_path_factory.mktemp("rubbish")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ELSEWHERE.items():
            patch.setenv(name, value)
        patch.delenv("COLUMNS", raising=False)
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        yield read(states.build(folder / "project").root)


@pytest.fixture(scope="module")
def chain(project: Project) -> Project:
    """Make a small project that has run."""
    made = Made.new(project.root.parent / "chain", CHAIN, CHAIN_FILES)
    assert run_here(made, tier="plain").end["outcome"] == "passed"
    end_runner(made.root)
    return read(made.root)


def read(root: Path) -> Project:
    """Read what a project's files hold."""
    return Project(root, {path: (root / path).read_bytes() for path in kept_files(root)})


def remove(place: Path) -> None:
    """Remove whatever is there."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def kept_files(root: Path) -> list[str]:
    """Return the paths of the files that we read as text of ours."""
    named = [path for path in NAMED if os.path.lexists(root / path)]
    below = [
        path for path in (root / ".vaibify").rglob("*") if path.is_symlink() or not path.is_dir()
    ]
    return [*named, *sorted(str(path.relative_to(root)) for path in below)]


def spoil(project: Project, rng: Random, only: str = "") -> list[str]:
    """Spoil one file or a few, below a folder only; return which."""
    root = project.restore()
    kinds = sorted({kind_of(path) for path in project.files if path.startswith(only)})
    spoilt = []
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        path = rng.choice(project.of_kind(rng.choice(kinds)))
        data = rubbish.spoilt(project.files[path], rng, list(project.files.values()))
        put(root / path, data, rng)
        spoilt.append(path)
    return spoilt


def put(place: Path, data: bytes, rng: Random) -> None:
    """Put bytes in place of a file; now and then something that is no file at all."""
    remove(place)
    if rng.random() < 0.97:
        place.write_bytes(data)
        return
    match rng.randrange(4):
        case 0:
            place.mkdir()
        case 1:
            os.mkfifo(place)
        case 2:
            place.symlink_to("/dev/zero")


def kind_of(path: str) -> str:
    """Return what a path is of: the records of many steps are of one kind, as are logs."""
    parts = path.split("/")
    return "/".join([*parts[:2], parts[-1]] if "local" in parts else parts[:2])


def typed(root: Path, words: Sequence[str]) -> Done:
    """Type a command, in this process."""
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main([*words, "--repo", str(root)])
    out.flush()
    return Done(code, out.buffer.getvalue().decode(), err.getvalue())


def used() -> float:
    """Return the seconds of processing of this process and those it waited for."""
    both = (resource.getrusage(one) for one in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def answers(root: Path, words: tuple[str, ...]) -> Done:
    """Type a command and see that it answers as it should."""
    before = used()
    done = typed(root, words)
    took = used() - before
    if "internal error" in done.err:
        pytest.fail(typed(root, (*words, "--debug")).err)
    assert_clear(words, done)
    assert_took_at_most(COST, took)
    return done


def assert_clear(words: tuple[str, ...], done: Done) -> None:
    """One line at most on standard error, that a person may see; JSON where it was asked for."""
    assert done.code in (0, 1, 2), done
    told = "--json" in words and words[0] != "log" and "error" not in json.loads(done.out)
    assert (done.err == "") is (done.code == 0 or told), done
    assert done.err.rstrip("\n").isprintable(), done.err
    assert len(done.err) < 2500, len(done.err)
    if done.err:
        assert done.err.startswith(f"jupyter vaibify {words[0]}: "), done.err
    assert "Traceback" not in done.out
    if "--json" in words:
        lines = done.out.splitlines() if words[0] == "log" else [done.out]
        for line in lines:
            json.loads(line)


def greens(root: Path) -> set[str]:
    """Return the steps that are green; none where the workflow cannot be read."""
    done = answers(root, ("status", "--json"))
    answer = json.loads(done.out)
    return {one["slug"] for one in answer.get("steps", ()) if one["green"]}


def test_what_it_is_before_anything_is_spoilt(project: Project) -> None:
    root = project.restore()
    assert greens(root) == states.GREEN
    for words in (*LOOKS, *WRITES):
        answers(root, words)


@settings(max_examples=40)
@given(seed=st.integers(0, 2**48))
def test_rubbish_is_answered_and_makes_nothing_green(project: Project, seed: int) -> None:
    rng = Random(seed)
    spoilt = spoil(project, rng)
    root = project.root
    assert greens(root) <= states.GREEN, spoilt
    for words in rng.sample(LOOKS, 3):
        answers(root, words)
    answers(root, rng.choice(WRITES))
    assert greens(root) <= states.GREEN, spoilt


@pytest.mark.parametrize("seed", range(2))
def test_a_real_process_says_the_same(project: Project, seed: int) -> None:
    spoil(project, Random(seed))
    for words in (("status", "--json"), ("check", "--publish"), ("reproduce", "--skip-tier", "3")):
        here = typed(project.root, words)
        there = vaibify(project.root, *words, env={**surroundings(), **ELSEWHERE})
        assert there.out.splitlines() == here.out.splitlines()
        assert (there.code, there.err) == (here.code, here.err)


@settings(max_examples=8)
@given(seed=st.integers(0, 2**48))
def test_a_run_over_rubbish_ends_and_says_how(chain: Project, seed: int) -> None:
    """What earlier runs left is rubbish, facts too: the run is made, or refused in words."""
    spoil(chain, Random(seed), only=".vaibify/")
    ran = run_here(Made(chain.root), tier="plain", mode="all")
    end_runner(chain.root)
    assert ran.end["event"] in ENDINGS, ran.events
    if ran.end["event"] == "runComplete":
        assert ran.steps == {"make": "passed", "use": "passed"}
    else:
        assert ran.end["text"] and ran.end["code"] != "internal", ran.end
