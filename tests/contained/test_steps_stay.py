"""What is said of the steps changes when something of theirs does, and at nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.contained.pinned import NOWHERE, Image, parts, pin, pinned
from tests.containers import Registry, unique
from tests.kit import CHAIN, CHAIN_FILES, Made, git
from vaibify_lab.core.errors import NotPassed
from vaibify_lab.runs.imaging import push_pinned
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.options import RunOptions


@pytest.fixture
def green(tmp_path: Path, other: Image) -> Made:
    """A project that ran in an image that was never pushed, signed off, enveloped, committed."""
    made = pinned(tmp_path / "p", other, CHAIN, CHAIN_FILES, bDeterministic=True)
    assert made.run()["outcome"] == "passed"
    made.sign("make", "use")
    made.project().envelope()
    made.commit("results")
    assert [one["green"] for one in parts(made)] == [True, True]
    return made


def missing(made: Made, level: str) -> set[str]:
    """Return the codes of what a rung lacks."""
    rungs = {one.level: one for one in made.project().report().levels}
    return {one.code for one in rungs[level].missing}


def test_a_push_changes_the_ladder_and_nothing_of_a_step(
    green: Made, client: Any, registry: Registry
) -> None:
    before = parts(green)
    assert missing(green, "L3") == {"not-pushed", "host-binaries"}
    ref = f"{registry.host}/{unique()}:one"
    push_pinned(Opened(green.root, cached=False), client, ref, lambda text: None)
    assert parts(green) == before
    assert missing(green, "L3") == {"registry-loopback", "host-binaries"}


def test_a_clone_says_the_same_without_an_engine(
    green: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, rungs = parts(green), green.project().report().levels
    monkeypatch.setenv("DOCKER_HOST", NOWHERE["DOCKER_HOST"])
    clone = green.clone(tmp_path / "clone")
    assert parts(clone) == before
    assert clone.project().report().levels == rungs
    assert parts(green) == before


def test_another_kernel_machine_and_processor_make_nothing_stale(green: Made) -> None:
    before = parts(green)
    for slug in ("make", "use"):
        path = f".vaibify/records/workflow/{slug}.json"
        value = green.fact(path)
        value["host"] |= {"kernel": "9.9.9-elsewhere", "cpus": "512", "libc": "glibc 9.9"}
        value["engine"] |= {"version": "99.0", "api": "9.9", "product": "podman"}
        green.write(path, json.dumps(value))
    assert parts(green) == before
    value["machine"] = {"host": "elsewhere", "id": "0" * 32}
    green.write(path, json.dumps(value))
    after = parts(green)
    assert after[0] == before[0]
    assert [(one["run"], one["green"]) for one in after] == [("current", True)] * 2


@pytest.mark.parametrize("again", [False, True])
def test_another_image_makes_everything_stale_until_it_ran_in_it(
    green: Made, image: Image, again: bool
) -> None:
    pin(green, image)
    found = green.steps()
    assert {slug: one.run for slug, one in found.items()} == {"make": "stale", "use": "stale"}
    for one in found.values():
        said = {reason.code: reason.text for reason in one.reasons}
        assert said["image-changed"] == "the pinned image is not the one it ran in"
        assert (one.green, one.in_pinned_image) == (False, False)
    if again:
        assert green.run()["steps"] == {"make": "passed", "use": "passed"}
        assert {one.run for one in green.steps().values()} == {"current"}


def test_a_build_makes_what_ran_outside_stale(tmp_path: Path, client: Any, bare: str) -> None:
    made = Made.new(tmp_path / "p", CHAIN, CHAIN_FILES)
    assert made.run()["outcome"] == "passed"
    assert {one.run for one in made.steps().values()} == {"current"}
    # the project's own Dockerfile: this base has no package manager to make a user with
    tag = next(one for one in client.inspect_image(bare)["RepoTags"] if "host:" in one)
    made.write("Dockerfile", f"FROM {tag}\nLABEL unlike={unique()}\n")
    made.write("vaibify.yml", f"projectName: Stale-{tmp_path.name}\n")
    made.commit()
    built = made.project().build(tell=lambda line: None)
    found = made.steps()
    assert {slug: one.run for slug, one in found.items()} == {"make": "stale", "use": "stale"}
    assert {reason.text for one in found.values() for reason in one.reasons} >= {
        "ran outside the pinned image"
    }
    assert made.run()["steps"] == {"make": "passed", "use": "passed"}
    assert {one.run for one in made.steps().values()} == {"current"}
    client.remove_image(built.config_digest, force=True)


def test_no_run_begins_beside_a_build_nor_a_build_beside_a_run(
    tmp_path: Path, client: Any, bare: str
) -> None:
    made = Made.new(tmp_path / "p", CHAIN, CHAIN_FILES)
    tag = next(one for one in client.inspect_image(bare)["RepoTags"] if "host:" in one)
    made.write("Dockerfile", f"FROM {tag}\nLABEL unlike={unique()}\n")
    made.write(".gitignore", "gate\n")
    made.commit()
    refused: list[NotPassed] = []

    def tell(_: object) -> None:
        if not refused:
            with pytest.raises(NotPassed) as found:
                made.project().start_run(RunOptions("workflow.json"))
            refused.append(found.value)

    built = made.project().build(tell=tell)
    assert refused[0].code == "run-in-progress"
    assert "the image is being built, begun by Ada Test" in refused[0].text
    assert {one.run for one in made.steps().values()} == {"never-run"}
    assert git(made.root, "status", "--porcelain", ".vaibify/local") == ""
    made.write("use.sh", 'until [ -e gate ]; do sleep 0.1; done; wc -c < "$1" > out2/b.txt\n')
    project = made.project()
    folder = project.start_run(RunOptions("workflow.json"))
    with pytest.raises(NotPassed) as found:
        made.project().build(tell=tell)
    assert found.value.code == "run-in-progress"
    made.write("gate", "")
    *_, last = (event for event in project.events(folder) if event)
    assert last["outcome"] == "passed"
    client.remove_image(built.config_digest, force=True)


def test_the_rest_of_the_repository_may_come_and_go(green: Made) -> None:
    before = parts(green)
    green.write("notes.md", "nothing that a step names\n")
    green.commit()
    git(green.root, "tag", "v1")
    shutil.rmtree(green.root / ".vaibify/local")
    green.retouch("data/in.txt")
    green.retouch("out/a.txt")
    assert parts(green) == before
