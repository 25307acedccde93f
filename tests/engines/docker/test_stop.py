"""Stopping a step in a container, and what it leaves behind: nothing, within seconds."""

from __future__ import annotations

import os
import time
import uuid

import pytest

from vaibify_lab.engines.base import bash_script

from ..conftest import running, wait_for
from ..test_local_stop import all_there, family
from .conftest import ContainerLab


@pytest.fixture
def token() -> str:
    return f"token-{uuid.uuid4().hex}"


def test_d05_stop_ends_every_descendant(lab: ContainerLab, token: str) -> None:
    script = family(lab, token, "while :; do sleep 1; done").replace("python ", "python3 ")
    handle, _ = lab.launch(f"trap '' TERM; {script}")
    wait_for(lambda: all_there(lab))
    assert len(running(token)) >= 3
    began = time.monotonic()
    handle.stop(grace=0.5)
    ended = wait_for(handle.poll)
    assert time.monotonic() - began < 5
    assert running(token) == []
    assert (ended.returncode, ended.stopped, ended.lost) == (137, True, False)


def test_nothing_outlives_a_step_that_ends_by_itself(lab: ContainerLab, token: str) -> None:
    wait = "until [ -e out/plain -a -e out/setsid -a -e out/double ]; do sleep 0.02; done; exit 5"
    ran = lab.run(family(lab, token, wait).replace("python ", "python3 "))
    assert running(token) == []
    assert (ran.ended.returncode, ran.ended.stopped) == (5, False)


def test_d05_a_stopped_step_writes_nothing_afterwards(lab: ContainerLab) -> None:
    nap = f"sleep 60.{os.getpid()}"
    own = nap.replace(" ", "\0") + "\0"
    for script in (f"{nap}; echo 1 > out/out.csv", bash_script([f"{nap}; echo > out/out.csv"])):
        handle, _ = lab.launch(script)
        wait_for(lambda: running(own))
        handle.stop()
        ended = wait_for(handle.poll)
        assert (ended.returncode, ended.stopped) == (143, True)
        assert ended.seconds < 30
        assert running(own) == []  # so nothing is left that could write
    assert not (lab.tree / "out/out.csv").exists()


def test_a_stop_reaches_the_step_s_programs_and_leaves_them_their_grace(lab: ContainerLab) -> None:
    code = (
        "import os, signal, sys, time\n"
        "def end(*_):\n"
        '    time.sleep(0.5); os.write(1, b"tidied"); sys.exit(9)\n'
        "signal.signal(signal.SIGTERM, end)\n"
        'print("ready", flush=True)\n'
        "time.sleep(600)"
    )
    handle, state = lab.launch(f"python3 -c '{code}'; echo not reached")
    wait_for(lambda: (state / "stdout").read_bytes() == b"ready\n")
    handle.stop(grace=20)
    ended = wait_for(handle.poll)
    assert (state / "stdout").read_bytes() == b"ready\ntidied"
    assert (ended.returncode, ended.stopped) == (143, True)


def test_a_second_stop_can_only_hasten_the_end(lab: ContainerLab) -> None:
    handle, state = lab.launch("trap '' TERM; echo ready; while :; do sleep 0.1; done")
    wait_for(lambda: (state / "stdout").read_bytes() == b"ready\n")
    handle.stop(grace=600)
    time.sleep(0.3)
    assert handle.poll() is None
    handle.stop(grace=0)
    handle.stop(grace=600)
    assert wait_for(handle.poll).returncode == 137


def test_stopping_what_has_ended_changes_nothing(lab: ContainerLab) -> None:
    handle, state = lab.launch("exit 4")
    ended = wait_for(handle.poll)
    handle.stop()
    assert handle.poll() == ended
    assert not (state / "stop").exists()


def test_polling_and_stopping_take_no_time(lab: ContainerLab) -> None:
    handle, _ = lab.launch("sleep 600")
    began = time.monotonic()
    for _ in range(200):
        assert handle.poll() is None
    handle.stop(grace=0)
    assert time.monotonic() - began < 60
    assert wait_for(handle.poll).stopped is True
