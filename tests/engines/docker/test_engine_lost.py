"""Engines that die, and engines that are elsewhere: each a real one, in namespaces of its own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import docker
import pytest

from vaibify_lab.core.errors import EngineLost, EngineMissing, EngineUnfit
from vaibify_lab.engines.base import Ended
from vaibify_lab.engines.docker import watch
from vaibify_lab.engines.docker.engine import DockerEngine

from ..conftest import plain, wait_for
from .conftest import ContainerLab
from .private import PrivateEngine

Start = Callable[..., PrivateEngine]
COUNT = (
    "for i in $(seq 40); do echo $i; sleep 0.1; done;"
    " until [ -e out/go ]; do sleep 0.05; done; exit 5"
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def lab_of(engine: PrivateEngine, base: Path) -> ContainerLab:
    return ContainerLab(DockerEngine(engine.image, base_url=engine.url), base)


def test_d09_engine_killed_for_good_is_lost(
    private: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "RETURNING", 10.0)
    engine = private()
    lab = lab_of(engine, tmp_path)
    handle, state = lab.launch("echo begun; sleep 600")
    wait_for(lambda: (state / "stdout").read_bytes() == b"begun\n")
    engine.kill()
    began = time.monotonic()
    assert handle.poll() is None
    handle.stop()  # neither raises nor waits
    assert time.monotonic() - began < 9
    ended = wait_for(handle.poll)
    assert (ended.returncode, ended.lost) == (None, True)
    assert "the container engine does not answer any more" in ended.detail
    with pytest.raises((EngineMissing, EngineLost)):
        lab.launch("true")
    assert list(lab.base.glob("state2*")) == [lab.base / "state2"]


def test_d09_engine_killed_and_back_without_the_step_is_lost_not_failed(
    private: Start, tmp_path: Path
) -> None:
    engine = private()
    lab = lab_of(engine, tmp_path)
    handle, state = lab.launch("echo begun; sleep 600")
    wait_for(lambda: (state / "stdout").read_bytes() == b"begun\n")
    engine.kill()
    engine.start()
    ended = wait_for(handle.poll)
    assert (ended.returncode, ended.lost, ended.stopped) == (None, True, False)
    assert "went away while the step ran" in ended.detail
    assert (state / "stdout").read_bytes() == b"begun\n"
    left = docker.DockerClient(base_url=engine.url).containers.list(all=True)
    assert left == []


def test_d09_a_step_that_outlives_its_engine_is_known_to_its_end(
    private: Start, tmp_path: Path
) -> None:
    engine = private("--live-restore")
    lab = lab_of(engine, tmp_path)
    handle, state = lab.launch(COUNT)
    wait_for(lambda: (state / "stdout").read_bytes().startswith(b"1\n2\n"))
    engine.kill()
    engine.start()
    (lab.tree / "out/go").touch()
    ended = wait_for(handle.poll)
    assert plain(ended) == Ended(returncode=5, seconds=ended.seconds)
    assert (state / "stdout").read_bytes() == b"".join(b"%d\n" % i for i in range(1, 41))


@pytest.mark.parametrize("asked", ["create", "start"])
def test_d09_an_engine_killed_as_a_step_begins_leaves_no_container(
    private: Start, tmp_path: Path, asked: str
) -> None:
    """It did what it was asked, and died before it answered."""
    engine = private()
    tested = DockerEngine(engine.image, base_url=engine.url)
    lab = ContainerLab(tested, tmp_path)
    lab.run("true")  # what the engine gives is known now, and not asked again
    real = getattr(tested._daemon, asked)

    def killed_before_the_answer(*given: object) -> object:
        real(*given)
        engine.kill()
        raise EngineLost("the container engine does not answer any more", where=engine.url)

    setattr(tested._daemon, asked, killed_before_the_answer)
    with pytest.raises(EngineLost):
        lab.launch("sleep 600")
    engine.start()
    client = docker.DockerClient(base_url=engine.url)
    left = client.containers.list(all=True)
    assert [one.status for one in left] in (["created"], ["exited"])
    assert lab_of(engine, tmp_path / "next").run("exit 4").ended.returncode == 4
    left = client.containers.list(all=True)
    assert [(one.name, one.status, one.labels) for one in left] == []


def test_d07_an_engine_that_sees_none_of_our_files_is_refused(
    private: Start, tmp_path: Path
) -> None:
    lab = lab_of(private(hidden=tmp_path), tmp_path)
    with pytest.raises(EngineUnfit, match="does not see this machine's files: it is on another"):
        lab.launch("touch out/evil")
    assert list(lab.base.glob("state1*")) == [lab.base / "state1"]
    assert os.listdir(lab.tree / "out") == []


def test_d07_an_engine_with_other_files_at_the_same_place_is_refused(
    private: Start, tmp_path: Path
) -> None:
    """The folders exist there as well, and are empty: what would be said is 'outputs missing'."""
    lab = lab_of(private(hidden=tmp_path), tmp_path)
    real = lab.engine._daemon.create  # type: ignore[attr-defined]

    def with_folders_made(name: str, config: dict[str, object]) -> str | None:
        host = config["HostConfig"]
        for mount in host["Mounts"]:  # type: ignore[index]
            mount["BindOptions"] = {"CreateMountpoint": True}
        host["Binds"] = [  # type: ignore[index]
            f"{mount['Source']}:{mount['Target']}{':ro' if mount['ReadOnly'] else ''}"
            for mount in host.pop("Mounts")  # type: ignore[attr-defined]
        ]
        return real(name, config)

    lab.engine._daemon.create = with_folders_made  # type: ignore[attr-defined]
    with pytest.raises(EngineUnfit, match="does not see this machine's files"):
        lab.launch("touch out/evil")
