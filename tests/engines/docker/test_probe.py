"""What an engine is found to give, and how long that is believed."""

from __future__ import annotations

import time
from dataclasses import fields, replace
from pathlib import Path

import pytest

from vaibify_lab.core.errors import EngineUnfit
from vaibify_lab.engines.docker import probe
from vaibify_lab.engines.docker.daemon import Daemon
from vaibify_lab.engines.docker.engine import DockerEngine
from vaibify_lab.engines.docker.probe import Probe, kept_or_made, require_fit

from .conftest import ContainerLab

ALL = Probe(**{one.name: True for one in fields(Probe)})


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_this_engine_gives_all_that_is_promised(lab: ContainerLab) -> None:
    assert lab.engine.describe()["probe"] is None
    assert lab.engine.examine(lab.tree, lab.base / "beside") == ALL
    told = lab.engine.describe()
    assert told["probe"] == {one.name: True for one in fields(Probe)}
    codes = [one["code"] for one in told["cannot_prevent"]]
    assert codes == ["disk", "local-services", "new-git"]
    assert (told["kind"], told["product"], told["rootless"]) == ("docker", "docker", False)
    assert told["platform"] == told["engine_platform"] == "linux/amd64"
    assert not (lab.base / "beside").exists()


def test_an_engine_is_examined_once_a_day_and_image(
    lab: ContainerLab, image: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, made = Daemon.create, []

    def create(self: Daemon, name: str, config: dict[str, object]) -> str | None:
        made.append(name)
        return real(self, name, config)

    monkeypatch.setattr(Daemon, "create", create)
    lab.engine.examine(lab.tree, lab.base / "1")
    lab.engine.examine(lab.tree, lab.base / "2")
    DockerEngine(image).examine(lab.tree, lab.base / "3")
    assert len(made) == 1
    tomorrow = time.time() + 90_000
    monkeypatch.setattr(probe.time, "time", lambda: tomorrow)
    DockerEngine(image).examine(lab.tree, lab.base / "4")
    assert len(made) == 2


def test_what_an_engine_lacks_is_not_remembered() -> None:
    found = iter([replace(ALL, owned=False), ALL, Probe()])
    assert kept_or_made(("x",), lambda: next(found)).owned is False
    assert kept_or_made(("x",), lambda: next(found)) == ALL
    assert kept_or_made(("x",), lambda: next(found)) == ALL
    assert kept_or_made(("y",), lambda: next(found)) == Probe()


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"at": "x"}', b'{"at": 1e400}', b'{"at": 9e99}', b"\xff"]
)
def test_a_damaged_memory_is_not_believed(body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "load_cache", lambda *_: body)
    assert kept_or_made(("x",), lambda: ALL) == ALL


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("same_files", "does not see this machine's files"),
        ("written", "could not write into the project"),
        ("owned", "would not belong to you"),
        ("read_only", "does not keep read-only folders read-only"),
        ("no_privileges", "does not take a step's privileges away"),
        ("exit_status", "reports a wrong exit status"),
    ],
)
def test_an_engine_that_lacks_what_steps_need_is_refused(name: str, text: str) -> None:
    require_fit(ALL, "here")
    with pytest.raises(EngineUnfit, match=text):
        require_fit(replace(ALL, **{name: False}), "here")


def test_a_lack_that_can_be_borne_is_on_record_and_refuses_what_needs_it(
    lab: ContainerLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    less = replace(ALL, memory_limit=False, memory_kill=False, no_network=False, exact_log=False)
    monkeypatch.setattr("vaibify_lab.engines.docker.engine.probe", lambda *_: less)
    with pytest.raises(EngineUnfit, match="does not keep the network"):
        lab.launch("true", network=False)
    assert lab.run("true", network=True).ended.returncode == 0
    codes = [one["code"] for one in lab.engine.describe()["cannot_prevent"]]
    assert codes == ["disk", "local-services", "new-git", "memory", "memory-kill", "network", "log"]


def test_an_engine_whose_walls_do_not_hold_is_seen_through(
    lab: ContainerLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The probe looks from inside: an engine that ignores what it is asked is found out."""
    real = Daemon.create

    def careless(self: Daemon, name: str, config: dict[str, object]) -> str | None:
        host = config["HostConfig"]
        assert isinstance(host, dict)
        for mount in host["Mounts"]:
            mount["ReadOnly"] = False
        host |= {"NetworkMode": "bridge", "CapDrop": [], "Memory": 0, "MemorySwap": 0}
        host |= {"PidsLimit": 0, "SecurityOpt": [], "ReadonlyRootfs": False}
        host |= {"LogConfig": {"Type": "json-file", "Config": {}}}
        config["User"] = "1234:1234"
        for folder in ("beside", "beside/out", "beside/out/kept"):
            (lab.base / folder).chmod(0o777)
        return real(self, name, config)

    monkeypatch.setattr(Daemon, "create", careless)
    with pytest.raises(EngineUnfit, match="would not belong to you"):
        lab.engine.examine(lab.tree, lab.base / "beside")
    found = lab.engine.describe()["probe"]
    held = {name for name, value in found.items() if value}
    assert held == {"same_files", "written", "exit_status"}
