"""Which engine a run uses, what its record says of it, and what is refused before anything runs."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.apps.front import vaibify
from tests.contained.pinned import NOWHERE, Image, of, pin, pinned, record
from tests.containers import Registry, unique
from tests.kit import CHAIN, CHAIN_FILES, Made, git
from tests.runs.here import step
from vaibify_lab.engines.image.registry import find_image, push
from vaibify_lab.envelope.environment import NAME

BOTH = {"make": "passed", "use": "passed"}
LOCK = "# no package\n"
WAY_OUT = "to run outside the pinned image (the steps then stay stale): --engine local"


@pytest.fixture
def made(tmp_path: Path, image: Image) -> Made:
    return pinned(tmp_path / "p", image, CHAIN, CHAIN_FILES | {"requirements.lock": LOCK})


def test_a_record_tells_of_the_container(made: Made, image: Image) -> None:
    events = made.events()
    assert events[-1]["steps"] == BOTH
    (started,) = of(events, "runStarted")
    assert (started["isolation"], started["engine"]["kind"]) == ("container", "docker")
    found = record(made, "use")
    assert (found.isolation, found.image) == ("container", image.digest)
    assert found.lock == hashlib.sha256(LOCK.encode()).hexdigest()
    assert (found.engine["kind"], found.engine["image"]) == ("docker", image.digest)
    assert found.engine["platform"] == image.local.platform
    assert {"product", "version", "probe", "cannot_prevent"} <= set(found.engine)
    assert found.commands == ("bash use.sh {sRepoRoot}/out/a.txt",)
    assert found.commands_run == ("bash use.sh /workspace/p/out/a.txt",)
    assert set(found.pins.inputs) == {"out/a.txt"}
    said = found.components
    assert (said["image"], said["lock"]) == (image.digest, found.lock)
    assert (said["python"], said["libc"]) == (image.inside.python, image.inside.libc)
    assert said["tzdata"] == (image.inside.tzdata or "none")
    assert said["locale"] == "LANG=C.UTF-8"
    assert (image.inside.frozen, said["packages"]) == ((), "none")
    assert said["kernel"].split()[1] == os.uname().release
    reports = made.steps().values()
    assert [(one.run, one.isolation, one.in_pinned_image) for one in reports] == [
        ("current", "container", True)
    ] * 2
    assert made.run()["steps"] == dict.fromkeys(BOTH, "skipped"), "nothing is stale"


def test_a_lock_that_the_image_was_not_built_from_keeps_steps_stale(made: Made) -> None:
    assert made.run()["steps"] == BOTH
    made.write("requirements.lock", LOCK + "# another\n")
    assert made.run()["steps"] == BOTH
    assert record(made, "use").lock == hashlib.sha256(LOCK.encode()).hexdigest()
    assert {slug: one.run for slug, one in made.steps().items()} == dict.fromkeys(BOTH, "stale")
    assert set(made.codes()["use"]) >= {"lock-changed"}


def test_the_image_is_another_world_than_this_machine(tmp_path: Path, image: Image) -> None:
    seen = 'echo "$HOME $PWD $(id -u) $(hostname)" > seen.txt; (echo 1 > ../stray) 2> no.txt; true'
    steps = [step("See", seen, out=["o/seen.txt", "o/no.txt"], sDirectory="o")]
    made = pinned(tmp_path / "p", image, steps, {"o/.keep": ""})
    assert made.run()["steps"] == {"see": "passed"}
    said = made.read("o/seen.txt").split()
    assert said[:3] == ["/tmp/home", "/workspace/p/o", str(os.getuid())]
    assert said[3] != os.uname().nodename
    assert made.read("o/no.txt").endswith("../stray: Read-only file system\n")
    assert not (made.root / "stray").exists()


def test_local_on_a_pinned_project_runs_and_stays_stale(made: Made) -> None:
    done = vaibify(made.root, "run", "--engine", "local")
    assert (done.code, done.err) == (0, "")
    found = record(made, "make")
    assert (found.outcome, found.image, found.engine["kind"]) == ("passed", None, "local")
    for one in made.steps().values():
        assert one.run == "stale"
        assert "ran outside the pinned image" in {reason.text for reason in one.reasons}
    assert made.run()["steps"] == BOTH
    assert {one.run for one in made.steps().values()} == {"current"}


def test_a_container_without_a_pinned_image_is_refused(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "p", CHAIN, CHAIN_FILES)
    done = vaibify(made.root, "run", "--engine", "docker")
    said = "jupyter vaibify run: no image is pinned; make one with: jupyter vaibify build\n"
    assert (done.code, done.err) == (2, said)


@pytest.mark.parametrize("words", [(), ("--engine", "docker")])
def test_without_its_engine_a_run_is_refused_with_the_way_out(
    made: Made, words: tuple[str, ...]
) -> None:
    before = (made.root / NAME).read_bytes()
    done = vaibify(made.root, "run", *words, env=NOWHERE)
    assert done.code == 1
    assert done.err.count("\n") == 1
    assert "no container engine answers at tcp://127.0.0.1:9 (named by DOCKER_HOST)" in done.err
    assert done.err.endswith(f"; or {WAY_OUT}\n")
    nothing_was_written(made, before)


def nothing_was_written(made: Made, environment: bytes) -> None:
    assert not (made.root / ".vaibify/records").exists()
    assert not (made.root / "out").exists()
    assert (made.root / NAME).read_bytes() == environment
    assert git(made.root, "status", "--porcelain") == ""
    assert {one.run for one in made.steps().values()} == {"never-run"}


def test_an_image_that_only_the_registry_has_is_pulled_by_its_digest(
    tmp_path: Path, client: Any, other: Image, registry: Registry
) -> None:
    ref = f"{registry.host}/{unique()}"
    digest = push(client, other.local.id, f"{ref}:one")
    made = pinned(tmp_path / "p", Image(other.local, other.inside, digest), CHAIN, CHAIN_FILES)
    client.remove_image(other.local.id, force=True)
    assert find_image(client, other.digest) is None
    events = made.events()
    assert events[-1].get("steps") == BOTH, events[-1]
    assert of(events, "preparing")[0]["text"] == f"pulling {digest}"
    assert record(made, "use").image == other.digest
    assert find_image(client, other.digest) is not None


@pytest.mark.parametrize("pushed", [False, True])
def test_an_image_that_is_nowhere_is_refused(
    tmp_path: Path, client: Any, other: Image, registry: Registry, pushed: bool
) -> None:
    ref = f"{registry.host}/{unique()}"
    digest = push(client, other.local.id, f"{ref}:one")
    kept = Image(other.local, other.inside, digest if pushed else None)
    made = pinned(tmp_path / "p", kept, CHAIN, CHAIN_FILES)
    before = (made.root / NAME).read_bytes()
    client.remove_image(other.local.id, force=True)
    registry.stop()
    done = vaibify(made.root, "run")
    assert (done.code, done.err.count("\n")) == (1, 1)
    why = (
        "the registry does not answer"
        if pushed
        else "the container engine does not hold this image"
    )
    assert why in done.err
    assert done.err.endswith(f"{WAY_OUT}\n")
    nothing_was_written(made, before)
    assert vaibify(made.root, "run", "--engine", "local").code == 0


def test_another_image_under_the_registrys_digest_is_refused(
    made: Made, image: Image, other: Image, client: Any
) -> None:
    pin(made, Image(other.local, other.inside, image.registry))
    client.remove_image(other.local.id, force=True)
    end = made.events()[-1]
    assert (end["event"], end["exit_code"]) == ("runRefused", 1)
    assert other.digest[:19] in str((end["text"], end["where"]))
    assert not (made.root / ".vaibify/records").exists()


def test_files_belong_to_the_repositorys_owner(tmp_path: Path, image: Image) -> None:
    commands = ["mkdir -p o/deep; echo 1 > o/deep/a.txt; id -u > o/who.txt; umask > o/mask.txt"]
    made = pinned(tmp_path / "p", image, [step("Own", *commands, out=["o/"])], {})
    subprocess.run(["chown", "-R", "1500:1500", str(made.root)], check=True)
    trust = tmp_path / "gitconfig"
    trust.write_text(f"[safe]\n\tdirectory = {made.root}\n")
    env = {"GIT_CONFIG_GLOBAL": str(trust), "VAIBIFY_CACHE_GIGABYTES": "1"}
    env["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    for how in ("stepPass", "stepCached"):
        done = vaibify(made.root, "run", "--json", env=env)
        assert (done.code, done.err) == (0, ""), done.out
        events = [json.loads(line) for line in done.out.splitlines()]
        assert events[-1]["steps"] == {"own": "passed"}
        assert [one["step"] for one in of(events, how)] == ["own"]
        assert made.read("o/who.txt") == "1500\n"
        names = {one.name for one in (made.root / "o").rglob("*")}
        assert names == {"a.txt", "who.txt", "mask.txt", "deep"}
        foreign = [
            str(one.relative_to(made.root))
            for one in made.root.rglob("*")
            if one.lstat().st_uid != 1500 and ".git" not in one.relative_to(made.root).parts
        ]
        assert foreign == []
        shutil.rmtree(made.root / "o")
