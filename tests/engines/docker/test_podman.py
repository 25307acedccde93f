"""D10: Podman in Docker's place, as far as a short look shows."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from vaibify_lab.core.errors import RunInProgress
from vaibify_lab.engines.base import Ended, Resources
from vaibify_lab.engines.docker.engine import DockerEngine

from ..conftest import wait_for
from .conftest import SCRIPT, ContainerLab, plain
from .private import PrivateEngine


@pytest.fixture
def pod(private: Callable[..., PrivateEngine], tmp_path: Path) -> ContainerLab:
    """Return a project whose steps run in Podman's containers."""
    if shutil.which("podman") is None:
        packages = SCRIPT.with_name("system-packages")
        subprocess.run([packages, "podman", "catatonit"], check=True)
    engine = private(product="podman")
    return ContainerLab(DockerEngine(engine.image, base_url=engine.url), tmp_path)


def test_d10_podman_runs_steps(pod: ContainerLab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(pod.base / "cache"))
    ran = pod.run(r"printf '\xff\xfe'; echo oops >&2; touch out/x; touch data/x; exit 3")
    assert plain(ran.ended) == Ended(returncode=3, seconds=ran.ended.seconds)
    assert (ran.out, ran.err.splitlines()[0]) == (b"\xff\xfe", b"oops")
    assert b"Read-only file system" in ran.err
    assert [path.name for path in (pod.tree / "out").iterdir()] == ["x"]
    told = pod.engine.describe()
    assert told["product"] == "podman"
    assert "memory-kill" in [one["code"] for one in told["cannot_prevent"]]
    assert [name for name, held in told["probe"].items() if not held] == ["memory_kill"]
    for script, code in (("no-such", 127), ("kill -KILL $$", 137), ("kill -TERM $$", 143)):
        assert pod.run(script, resources=Resources(memory_megabytes=64)).ended.returncode == code

    handle, state = pod.launch("echo begun; sleep 600", slug="same")
    with pytest.raises(RunInProgress):
        pod.launch("true", slug="same")
    found = pod.engine.find(state)
    assert found is not None
    found.stop(1)
    ends = [wait_for(one.poll) for one in (handle, found)]
    assert [(one.returncode, one.stopped) for one in ends] == [(137, True)] * 2
    assert (state / "stdout").read_bytes() == b"begun\n"
