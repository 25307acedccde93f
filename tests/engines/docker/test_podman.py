"""D10: Podman in Docker's place, as far as a short look shows."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from vaibify_lab.core.errors import RunInProgress
from vaibify_lab.engines.base import Ended, Resources
from vaibify_lab.engines.docker.engine import DockerEngine

from ..conftest import plain, wait_for
from .conftest import SCRIPT, ContainerLab
from .private import PrivateEngine


def _require_podman() -> None:
    if shutil.which("podman") is None or shutil.which("newuidmap") is None:
        packages = SCRIPT.with_name("system-packages")
        subprocess.run([packages, "podman", "catatonit", "uidmap"], check=True)


@pytest.fixture
def pod(private: Callable[..., PrivateEngine], tmp_path: Path) -> ContainerLab:
    """Return a project whose steps run in Podman's containers."""
    _require_podman()
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


def test_d10_rootless_podman_maps_the_user_and_its_limits_are_not_claimed(
    private: Callable[..., PrivateEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    _require_podman()
    engine = private(product="rootless")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # where nobody may enter
        monkeypatch.setenv("XDG_CACHE_HOME", f"{folder}/cache")
        lab = ContainerLab(DockerEngine(engine.image, base_url=engine.url), Path(folder))
        subprocess.run(["chown", "-R", "65534:65534", folder], check=True)
        ran = lab.run("touch out/x; touch data/x; exit 3")
        assert plain(ran.ended) == Ended(returncode=3, seconds=ran.ended.seconds)
        assert b"data/x" in ran.err
        assert (lab.tree / "out/x").stat().st_uid == 65534
        assert not (lab.tree / "data/x").exists()
        told = lab.engine.describe()
        assert (told["product"], told["rootless"]) == ("podman", True)
        missing = {name for name, held in told["probe"].items() if not held}
        assert missing <= {"memory_kill", "memory_limit", "process_limit"}, "what steps need holds"
        codes = {one["code"] for one in told["cannot_prevent"]}
        words = {"memory_kill": "memory-kill", "memory_limit": "memory"}
        words["process_limit"] = "processes"
        assert codes & set(words.values()) == {words[one] for one in missing}
