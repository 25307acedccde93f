"""Terminals in a step's container, by the engine's API alone."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import docker
import pytest

from vaibify_lab.core.errors import EngineUnfit, NotPassed
from vaibify_lab.engines.base import Handle

from ..conftest import plain, running, wait_for
from ..shells import SIZE, TICKING, Shell
from .conftest import ContainerLab
from .test_podman import pod  # noqa: F401  a fixture


@pytest.fixture
def own() -> int:
    """Return a number by which a test's programs are told from those of others."""
    return random.randrange(10**8, 10**9)


def waiting(lab: ContainerLab, **changes: object) -> tuple[Handle, Path]:
    asked = {"for_terminals": True, "environment": {"VAIBIFY_STEP": "look", "OWN": "a b"}}
    return lab.launch("exit 9", **(asked | changes))


def shell(lab: ContainerLab, state: Path) -> Shell:
    return Shell(lab.engine.terminal(state, "xterm-odd", SIZE))


def finish(handle: Handle) -> None:
    handle.stop()
    ended = plain(wait_for(handle.poll))
    assert ended is not None
    assert (ended.stopped, ended.lost, ended.detail) == (True, False, "")


def test_a_shell_is_where_the_step_is_and_may_what_it_may(
    lab: ContainerLab, own: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle, state = waiting(lab, directory="data")
    monkeypatch.setenv("PATH", "/nowhere")  # docker's own command is not needed
    one, two = shell(lab, state), shell(lab, state)
    assert one.answer("pwd") == ("/workspace/project/data", 0)
    assert one.answer('echo "$OWN $TERM $VAIBIFY_STEP $HOME"')[0] == (
        "a b xterm-odd look /tmp/home"
    )
    user = lab.tree.stat().st_uid
    assert one.answer("id -u; ulimit -c")[0] == f"{user}\n0"
    assert one.answer("stty size")[0] == "33 91"
    one.terminal.resize(os.terminal_size((120, 40)))
    wait_for(lambda: one.answer("stty size")[0] == "40 120")
    assert one.answer("echo mine > ../out/x")[1] == 0
    assert (lab.tree / "out/x").read_text() == "mine\n"
    assert one.answer("echo theirs > in.csv")[1] == 1
    assert one.answer("echo theirs > ../.vaibify/marker.json")[1] == 1
    assert one.answer("ls /sys/class/net")[0].split() == ["lo"]
    assert one.answer("tty")[0].startswith("/dev/pts/")
    one.type(f"sleep {own}0\n")
    wait_for(lambda: running(f"sleep\x00{own}0"))
    one.type("\x10\x03")
    wait_for(lambda: not running(f"sleep\x00{own}0"))
    assert one.answer("echo on") == ("on", 0)
    one.type("exit 5\n")
    one.rest()
    one.terminal.close()
    two.type(f"sleep {own}1 & sleep {own}2\n")
    wait_for(lambda: running(f"sleep\x00{own}1") and running(f"sleep\x00{own}2"))
    two.terminal.close()  # the window is gone, and with it what ran there
    wait_for(lambda: not running(f"sleep\x00{own}1") and not running(f"sleep\x00{own}2"))
    assert handle.poll() is None
    last = shell(lab, state)
    last.type(f"bash -c 'trap \"echo bye > ../out/bye\" HUP; sleep {own}3; sleep {own}4'\n")
    wait_for(lambda: running(f"sleep\x00{own}3"))
    finish(handle)
    last.rest()
    last.terminal.close()
    assert (lab.tree / "out/bye").read_text() == "bye\n"
    assert (state / "stdout").read_bytes() == (state / "stderr").read_bytes() == b""
    with pytest.raises(NotPassed, match="its container is gone"):
        shell(lab, state)


def test_a_paused_container_stands_still_and_ends_when_asked(
    lab: ContainerLab, client: docker.DockerClient
) -> None:
    handle, state = waiting(lab)
    one = shell(lab, state)
    one.type(TICKING)
    wait_for(lambda: (lab.tree / "out/n").exists())
    handle.pause()
    seen = (lab.tree / "out/n").stat().st_size
    assert client.containers.get(lab.name(1)).status == "paused"
    assert handle.poll() is None
    with pytest.raises(EngineUnfit, match="paused"):
        shell(lab, state)
    assert (lab.tree / "out/n").stat().st_size == seen
    handle.resume()
    handle.resume()
    wait_for(lambda: (lab.tree / "out/n").stat().st_size > seen)
    one.type("\x03")
    assert one.answer("echo on") == ("on", 0)
    handle.pause()
    found = lab.engine.find(state)
    assert found is not None
    finish(found)
    finish(handle)


def test_a_container_that_is_killed_ended_without_being_asked(lab: ContainerLab) -> None:
    handle, state = waiting(lab)
    one = shell(lab, state)
    subprocess.run(["docker", "kill", lab.name(1)], check=True, capture_output=True)
    one.rest()
    ended = wait_for(handle.poll)
    assert (ended.returncode, ended.stopped) == (137, False)


def test_podman_gives_terminals_as_well(
    pod: ContainerLab,  # noqa: F811
    own: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(pod.base / "cache"))
    handle, state = waiting(pod)
    one = shell(pod, state)
    assert one.answer("pwd") == ("/workspace/project", 0)
    one.terminal.resize(os.terminal_size((120, 40)))
    wait_for(lambda: one.answer("echo $LINES $COLUMNS")[0] == "40 120")
    one.type(f"sleep {own}0\n")
    wait_for(lambda: running(f"sleep\x00{own}0"))
    one.type("\x03")
    assert one.answer("echo on") == ("on", 0)
    one.type(f"sleep {own}1\n")
    wait_for(lambda: running(f"sleep\x00{own}1"))
    one.terminal.close()
    wait_for(lambda: not running(f"sleep\x00{own}1"))
    two = shell(pod, state)
    assert two.answer("echo two") == ("two", 0)
    two.type("exit\n")
    two.rest()
    two.terminal.close()
    finish(handle)
