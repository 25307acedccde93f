"""Outputs put back from the cache, in the real engine: when, whose, and never a wrong byte."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.apps.front import vaibify
from tests.contained.pinned import Image, of, pinned, record
from tests.kit import CHAIN, CHAIN_FILES, Made, git
from tests.runs.here import run_here
from tests.runs.test_interrupted import dies_at
from vaibify_lab.core import fingerprint
from vaibify_lab.files.factstore import FactStore
from vaibify_lab.files.packs import Member
from vaibify_lab.files.packstore import PackStore
from vaibify_lab.runs.aside import Aside, left_aside
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.options import RunOptions
from vaibify_lab.runs.pinning import pin_image
from vaibify_lab.runs.sealed import Stage

EDITED = "tr 1-8 3-9 < data/in.txt > out/a.txt\n"
TESTED = {**CHAIN[1], "bNoTests": False, "saTestCommands": ["test -s out2/b.txt"]}
BOTH = ["make", "use"]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, image: Image) -> Path:
    """Return a folder with a project that ran in a container, signed off, and its cache."""
    place = tmp_path_factory.mktemp("ran")
    with pytest.MonkeyPatch.context() as patch:
        use_cache(patch, place)
        project = pinned(place / "p", image, [CHAIN[0], TESTED], CHAIN_FILES, bDeterministic=True)
        assert run(project)[-1]["steps"] == dict.fromkeys(BOTH, "passed")
        project.sign(*BOTH)
    project.commit("results")
    assert [one.green for one in project.steps().values()] == [True, True]
    return place


@pytest.fixture
def made(ran: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """Give a copy of that, with its cache."""
    shutil.copytree(ran, tmp_path, dirs_exist_ok=True, symlinks=True)
    use_cache(monkeypatch, tmp_path)
    return Made(tmp_path / "p")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Return the folder of the test's own cache."""
    return tmp_path / "cache" / "vaibify_lab" / "outputs"


def use_cache(patch: pytest.MonkeyPatch, place: Path) -> None:
    patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    patch.setenv("VAIBIFY_CACHE_GIGABYTES", "1")


def run(made: Made, *steps: str, **options: Any) -> list[dict[str, Any]]:
    """Run to the end; return every event."""
    return run_here(made, *steps, **options).events


def outputs(made: Made) -> tuple[str, str]:
    return made.read("out/a.txt"), made.read("out2/b.txt")


def told(events: list[dict[str, Any]]) -> tuple[list[str], list[str], list[str]]:
    """Return which steps were restored, which ran, and of which the tests ran."""
    assert events[-1]["outcome"] == "passed", events[-1]
    kinds = ("stepCached", "stepStarted", "testsStarted")
    restored, ran, tested = ([one["step"] for one in of(events, kind)] for kind in kinds)
    return restored, ran, tested


def packs(cache: Path) -> list[Path]:
    return sorted(one for one in cache.iterdir() if not one.name.startswith("."))


def test_what_was_edited_and_put_back_is_restored_with_its_sign_off(
    made: Made, cache: Path
) -> None:
    good = outputs(made)
    before = {slug: record(made, slug) for slug in BOTH}
    made.write("make.sh", EDITED)
    assert told(run(made)) == ([], BOTH, ["use"])
    made.write("make.sh", CHAIN_FILES["make.sh"])
    found = made.project().would_reuse(BOTH)  # of use as the input is now, which make will replace
    assert [found[slug].state for slug in BOTH] == ["hit", "hit"]
    assert found["make"].run_id == before["make"].run_id
    assert found["use"].run_id == record(made, "use").run_id
    events = run(made)
    assert told(events) == (BOTH, [], ["use"])
    assert events[-1]["steps"] == dict.fromkeys(BOTH, "passed")
    assert outputs(made) == good
    for slug, cached in zip(BOTH, of(events, "stepCached"), strict=True):
        old, now = before[slug], record(made, slug)
        assert (now.run_id, now.cached_from, now.pins) == (old.run_id, old.run_id, old.pins)
        assert (now.seconds, now.machine, now.commit) == (old.seconds, old.machine, old.commit)
        assert cached["text"] == f"cached from run {now.run_id}"
        report = made.steps()[slug]
        assert (report.run, report.user, report.green) == ("current", "passed", True)
        assert f"cached from run {now.run_id}" in [note.text for note in report.notes]

    # what lies in the cache now is spoilt: it is dropped, said, and made anew
    for one in packs(cache):
        data = one.read_bytes()
        one.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    (made.root / "out/a.txt").unlink()
    events = run(made)
    assert told(events)[:2] == ([], ["make"])
    assert outputs(made) == good
    [warned] = [one["text"] for one in of(events, "warning") if one.get("step") == "make"]
    assert warned == (
        "what the cache held of it was damaged and is dropped: "
        "its 'out/a.txt' holds other bytes than were kept"
    )
    (made.root / "out/a.txt").unlink()
    done = vaibify(made.root, "run", env=dict(os.environ))
    assert f"make: cached from run {record(made, 'make').run_id}, 1 output\n" in done.out
    assert (done.code, outputs(made)) == (0, good)


def test_what_is_asked_for_is_run_and_its_ancestors_may_be_restored(
    made: Made, cache: Path
) -> None:
    (made.root / "out/a.txt").unlink()
    assert told(run(made, "use", tests=False)) == (["make"], ["use"], [])
    kept = {one.name: one.stat().st_mtime_ns for one in packs(cache)}
    (made.root / "out/a.txt").unlink()
    assert told(run(made, no_cache=True, tests=False))[:2] == ([], ["make"])
    assert {one.name: one.stat().st_mtime_ns for one in packs(cache)} == kept
    run(made, "make", mode="only", twice=True, tests=False)
    assert {one.name: one.stat().st_mtime_ns for one in packs(cache)} == kept
    assert told(run(made, mode="all", tests_only=True)) == ([], [], ["use"])

    # what was in force counts, whether it was declared or asked for
    made.workflow([CHAIN[0], TESTED])
    assert {one.run for one in made.steps().values()} == {"stale"}
    assert told(run(made, deterministic=True, tests=False))[:2] == (BOTH, [])
    assert {one.run for one in made.steps().values()} == {"current"}


def test_a_branch_and_a_clone_are_spared_what_ran_before(made: Made, tmp_path: Path) -> None:
    good = outputs(made)
    git(made.root, "switch", "-qc", "longer")
    made.write("data/in.txt", "1\n2\n3\n")
    assert told(run(made))[:2] == ([], BOTH)
    made.commit("longer")
    git(made.root, "switch", "-q", "main")
    git(made.root, "rm", "-rqf", "out", "out2", ".vaibify/records", ".vaibify/test_markers")
    made.commit("without results")
    clone = made.clone(tmp_path / "q" / "p")
    for here in (made, clone):
        assert told(run(here)) == (BOTH, [], ["use"])
        assert outputs(here) == good
        assert {one.run for one in here.steps().values()} == {"current"}


@pytest.mark.parametrize(
    ("place", "method", "kept"),
    [(Stage, "bring_home", False), (FactStore, "write_record", False), (Aside, "drop", True)],
)
def test_a_death_in_the_middle_costs_no_good_output(
    made: Made, place: type, method: str, kept: bool
) -> None:
    good = outputs(made)
    made.write("out/a.txt", "edited\n")
    dies_at(made, place, method, RunOptions("workflow.json"))
    assert (record(made, "make").cached_from is not None) == kept
    [aside] = left_aside(Opened(made.root, cached=False).tree)
    assert aside.is_settled() == kept
    is_there = (made.root / "out/a.txt").exists() and outputs(made) == good
    assert (made.steps()["make"].run == "current") == is_there
    events = run(made)
    assert told(events)[:2] == (([], []) if kept else (["make"], []))
    assert outputs(made) == good
    put_back = [one for one in of(events, "note") if "put back" in one["text"]]
    assert len(put_back) == (0 if kept else 1)
    assert list(left_aside(Opened(made.root, cached=False).tree)) == []


def test_an_entry_that_speaks_of_other_files_or_runs_is_not_believed(
    made: Made, cache: Path
) -> None:
    good = outputs(made)
    before = record(made, "make").run_id
    store = PackStore(cache, 10**9)
    evil = b"#!/bin/sh\n"
    [name] = [one.name for one in store.entries() if pack_of(store, one.name)[1] == ["out/a.txt"]]
    about, _ = pack_of(store, name)
    plain = json.loads(json.dumps(about))
    other = plain["record"]["pins"]["inputs"] | {"data/in.txt": "0" * 64}
    strange = [
        (plain, ".git/hooks/post-commit"),
        (plain, "out/b.txt"),
        (plain, "out/a.txt"),  # of another hash than the record has
        (plain | {"record": plain["record"] | {"pins": other}}, "out/a.txt"),
        ({}, "out/a.txt"),
    ]
    for told_of, path in strange:
        (made.root / "evil").write_bytes(evil)
        one = Member(path, hashlib.sha256(evil).hexdigest(), len(evil), 0o777)
        said = store.keep(name, told_of, [one], lambda _: os.open(made.root / "evil", 0))
        assert said == ""
        (made.root / "evil").unlink()
        (made.root / "out/a.txt").unlink()
        events = run(made, tests=False)
        assert told(events)[:2] == ([], ["make"]), (told_of, path)
        warned = [one["text"] for one in of(events, "warning") if one.get("step") == "make"]
        said = "what the cache held of it was damaged and is dropped: its "
        assert [one.startswith(said) for one in warned] == [True], warned
        assert outputs(made) == good
        assert not (made.root / ".git/hooks/post-commit").exists()
        assert not (made.root / "out/b.txt").exists()
    assert record(made, "make").run_id != before


def pack_of(store: PackStore, name: str) -> tuple[Mapping[str, Any], list[str]]:
    pack = store.find(name)
    assert pack is not None
    with pack:
        return pack.about, [one.path for one in pack.members]


def test_a_seed_that_was_declared_as_it_would_be_drawn_is_withdrawn(made: Made) -> None:
    """What was kept says that it was declared; what is put back, that it is not any more."""
    (drawn,) = {record(made, slug).seed for slug in ["make"]}
    made.workflow([CHAIN[0]], bDeterministic=True, iSeed=drawn)
    assert made.steps()["make"].run == "current"
    assert told(run(made, "make")) == ([], ["make"], [])
    assert record(made, "make").seed_declared
    made.workflow([CHAIN[0]], bDeterministic=True)
    assert [one.code for one in made.steps()["make"].reasons][:1] == ["seed-changed"]
    assert told(run(made)) == (["make"], [], [])
    assert made.steps()["make"].run == "current"


def test_only_a_sealed_entry_serves_a_run_that_is_to_be_sealed(made: Made) -> None:
    assert told(run(made, sealed=True))[:2] == ([], BOTH)
    for path in ("out/a.txt", "out2/b.txt"):
        (made.root / path).unlink()
    assert told(run(made, sealed=True))[:2] == (BOTH, [])
    assert [one.sealed for one in made.steps().values()] == [True, True]


def test_another_image_is_a_miss_and_a_cache_of_others_is_not_used(
    made: Made, other: Image, cache: Path
) -> None:
    (made.root / "out/a.txt").unlink()
    cache.chmod(0o777)
    events = run(made)
    assert told(events)[:2] == ([], ["make"])
    assert "can be written by others" in of(events, "warning")[0]["text"]
    cache.chmod(0o755)  # others may only look, which is taken from them
    pin_image(Opened(made.root, cached=False), "trial:2", other.local, other.inside, "pulled")
    assert told(run(made))[:2] == ([], BOTH)
    assert record(made, "make").image == other.digest
    assert cache.stat().st_mode & 0o777 == 0o700
    assert {one.stat().st_mode & 0o777 for one in packs(cache)} == {0o600}


def test_a_miss_by_our_own_version_alone_is_said(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = record(made, "make").run_id
    monkeypatch.setattr(fingerprint, "FINGERPRINT_FORMAT", 10**6)
    (made.root / "out/a.txt").unlink()
    events = run(made)
    assert told(events)[:2] == ([], ["make"])
    [warned] = [one for one in of(events, "warning") if "cached" in one["text"]]
    assert warned["step"] == "make"
    assert warned["text"] == (
        f"is cached from run {before}, but the format of fingerprints is another: it is run again"
    )
    made.write("make.sh", EDITED)  # and not by us alone
    (made.root / "out/a.txt").unlink()
    assert [one for one in of(run(made, tests=False), "warning") if "cached" in one["text"]] == []


def test_folders_come_back_as_they_were_and_what_must_not_be_kept_is_not(
    tmp_path: Path, image: Image, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    use_cache(monkeypatch, tmp_path)
    command = "mkdir -p many/d; for i in 1 2 3; do echo $i > many/d/$i; done; : > many/none; "
    command += "chmod 755 many/d/1; head -c 20000 /dev/zero > many/big"
    fails = "echo 1 > fails/o.txt; test -e marks || exit 3"
    steps = [
        {"sName": name, "saDataCommands": [command], "saDataFiles": [out],
         "bNoInputData": True, "bNoTests": True, **more}
        for name, out, command, more in [
            ("many", "many/", command, {}),
            ("fails", "fails/o.txt", fails, {}),
            ("more", "more/o.txt", "echo 1 > more/o.txt; echo 2 > more/beside.txt", {}),
            ("quiet", "quiet/o.txt", "echo 1 > quiet/o.txt; echo 2 > quiet/x.tmp", {}),
            ("wide", "wide/o.txt", "echo 1 > wide/o.txt; echo 2 > y.txt", {"bWriteAnywhere": True}),
        ]
    ]  # fmt: skip
    made = pinned(tmp_path / "p", image, steps, {".gitignore": "*.tmp\n"})
    ended = dict.fromkeys(["many", "more", "quiet", "wide"], "passed") | {"fails": "failed"}
    assert run(made)[-1]["steps"] == ended
    assert len(packs(cache)) == 1
    good = seen(made.root / "many")
    assert len(good) == 5
    (made.root / "many/none").unlink()
    made.write("many/leftover.csv", "old\n")
    events = run(made)
    assert [one["step"] for one in of(events, "stepCached")] == ["many"]
    assert seen(made.root / "many") == good
    assert os.stat(made.root / "many/d/1").st_nlink == 1
    assert made.steps()["many"].run == "current"

    # what passed before and failed since, with nothing changed, is not made good by the cache
    made.write("marks", "")
    assert told(run(made)) == ([], ["fails"], [])
    (made.root / "marks").unlink()
    for steps in (["fails"], []):
        events = run(made, *steps)
        assert [one["event"] for one in events if one.get("step") == "fails"][:1] == ["stepStarted"]
        assert events[-1]["outcome"] == "failed"
    made.project().acknowledge(["fails"])
    (made.root / "fails/o.txt").unlink()
    assert told(run(made)) == (["fails"], [], [])


def seen(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Return bytes, mode and owner of every file below."""
    files = [one for one in folder.rglob("*") if one.is_file()]
    status = {one: one.stat() for one in files}
    return {one.name: (one.read_bytes(), status[one].st_mode, status[one].st_uid) for one in files}
