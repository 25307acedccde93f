"""Stopping a step, and what it leaves behind: nothing, within seconds."""

from __future__ import annotations

import os
import signal
import time
import uuid
from pathlib import Path

import pytest

from vaibify_lab.engines.base import bash_script

from .conftest import Lab, running, supervisor_of, wait_for

# Children that leave the process group, the session, their parent, and hear no SIGTERM.
FAMILY = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for way in ("plain", "setsid", "double"):
    if os.fork() == 0:
        if way != "plain":
            os.setsid()
        own = os.getpid()
        if way == "double" and os.fork():
            os._exit(0)
        while way == "double" and os.getppid() == own:
            time.sleep(0.001)  # its parent is not to be found once it is said to be there
        open(f"out/{way}", "w").close()
        time.sleep(600)
"""

# A SIGTERM that meets a process between its fork and its program is lost, as everywhere in Unix;
# such a step is killed when the grace has passed.
LATE = {128 + signal.SIGTERM, 128 + signal.SIGKILL}


def family(lab: Lab, token: str, then: str) -> str:
    """Return a script with such children, and the token in each one's command line."""
    (lab.tree / "out/family.py").write_text(FAMILY)
    return f"python out/family.py {token}; {then}"


def all_there(lab: Lab) -> bool:
    return all((lab.tree / "out" / way).exists() for way in ("plain", "setsid", "double"))


@pytest.fixture
def token() -> str:
    return f"token-{uuid.uuid4().hex}"


def test_d05_stop_ends_every_descendant(lab: Lab, token: str) -> None:
    script = "trap '' TERM; " + family(lab, token, "while :; do sleep 1; done")
    handle, _ = lab.launch(script)
    wait_for(lambda: all_there(lab))
    assert len(running(token)) >= 3
    began = time.monotonic()
    handle.stop(grace=0.5)
    ended = wait_for(handle.poll)
    assert time.monotonic() - began < 5
    assert running(token) == []
    assert (ended.returncode, ended.stopped, ended.lost) == (137, True, False)
    assert ended.leftover_processes >= 3


def test_nothing_outlives_a_step_that_ends_by_itself(lab: Lab, token: str) -> None:
    wait = "until [ -e out/plain -a -e out/setsid -a -e out/double ]; do sleep 0.02; done; exit 5"
    ran = lab.run(family(lab, token, wait))
    assert running(token) == []
    assert (ran.ended.returncode, ran.ended.stopped) == (5, False)
    if lab.engine.tier != "bwrap":  # there the kernel is faster than anybody can count
        assert ran.ended.leftover_processes == 3


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def test_a_step_that_is_stopped_before_it_begins_was_stopped_and_not_lost(lab: Lab) -> None:
    for _ in range(15):
        handle, _ = lab.launch("exec sleep 60")
        handle.stop()
        ended = wait_for(handle.poll)
        assert (ended.stopped, ended.lost) == (True, False), ended
        assert ended.returncode in LATE, ended


def test_d05_a_stopped_step_writes_nothing_afterwards(lab: Lab) -> None:
    nap = f"sleep 60.{os.getpid()}"
    for script in (f"{nap}; echo 1 > out/out.csv", bash_script([f"{nap}; echo > out/out.csv"])):
        handle, state = lab.launch(script)
        wait_for(lambda: any(name_of(pid) == "sleep" for pid in running(nap.replace(" ", "\0"))))
        handle.stop()
        ended = wait_for(handle.poll)
        assert ended.stopped
        assert ended.returncode in LATE
        assert ended.seconds < 30
        assert not (lab.tree / "out/out.csv").exists()
        assert (state / "stdout").read_bytes() == b""


def test_a_program_may_use_its_grace(lab: Lab) -> None:
    code = (
        "import signal, sys, time\n"
        "def save(*_):\n"
        "    time.sleep(0.5); open('out/checkpoint', 'w').write('saved'); sys.exit(9)\n"
        "signal.signal(signal.SIGTERM, save)\n"
        "open('out/begun', 'w').close(); time.sleep(600)"
    )
    handle, _ = lab.launch(bash_script([f'python -c "{code}"', "touch out/next"]))
    wait_for((lab.tree / "out/begun").exists)
    handle.stop(grace=20)
    ended = wait_for(handle.poll)
    assert ended.stopped
    assert ended.seconds < 20
    assert (lab.tree / "out/checkpoint").read_text() == "saved"
    assert not (lab.tree / "out/next").exists()


def test_stop_again_may_shorten_the_grace_but_not_lengthen_it(lab: Lab) -> None:
    handle, _ = lab.launch("trap '' TERM; touch out/begun; while :; do sleep 0.1; done")
    wait_for((lab.tree / "out/begun").exists)
    began = time.monotonic()
    handle.stop(grace=600)
    handle.stop(grace=900)
    assert handle.poll() is None
    handle.stop(grace=0.1)
    assert wait_for(handle.poll).returncode == 137
    assert time.monotonic() - began < 30


def test_stop_after_the_end_changes_nothing(lab: Lab) -> None:
    handle, state = lab.launch("exit 3")
    before = wait_for(handle.poll)
    handle.stop()
    handle.stop()
    assert handle.poll() == before
    assert before.stopped is False
    assert not (state / "stop").exists()


def test_a_stop_file_alone_is_enough(lab: Lab) -> None:
    """As from where no signal reaches: another container that shares the folder."""
    handle, state = lab.launch("trap '' TERM; touch out/begun; while :; do sleep 0.1; done")
    wait_for((lab.tree / "out/begun").exists)
    (state / "stop").write_text("0.1")
    ended = wait_for(handle.poll)
    assert (ended.returncode, ended.stopped) == (137, True)
    assert ended.seconds < 20


def test_a_signal_alone_is_enough(lab: Lab) -> None:
    """As at the machine's shutdown."""
    handle, state = lab.launch("touch out/begun; sleep 600")
    wait_for((lab.tree / "out/begun").exists)
    os.kill(supervisor_of(state), signal.SIGTERM)
    ended = wait_for(handle.poll)
    assert ended.stopped
    assert ended.returncode in LATE


def test_a_storm_of_forks_is_ended(lab: Lab, token: str) -> None:
    code = (
        "import os, time\nfor _ in range(6):\n    if os.fork() == 0: os.setsid()\ntime.sleep(600)"
    )
    handle, _ = lab.launch(f"python -c '{code}' {token}")
    wait_for(lambda: len(running(token)) >= 64)
    began = time.monotonic()
    handle.stop(grace=0)
    wait_for(handle.poll)
    assert time.monotonic() - began < 30
    assert running(token) == []


def test_a_step_that_freezes_its_sandbox_can_be_stopped(walled: Lab) -> None:
    """A process may trace its namespace's init; then no end is ever reported."""
    code = "import ctypes; print(ctypes.CDLL(None).ptrace(16, 1, 0, 0), flush=True)"
    handle, state = walled.launch(f"python -c '{code}'")
    wait_for(lambda: (state / "stdout").read_bytes() == b"0\n")
    time.sleep(0.2)
    assert handle.poll() is None
    began = time.monotonic()
    handle.stop(grace=0.2)
    assert wait_for(handle.poll).stopped
    assert time.monotonic() - began < 30


def test_the_private_temporary_folder_goes_with_the_step(lab: Lab) -> None:
    script = (
        "mkdir -p $TMPDIR/a/b; touch $TMPDIR/a/b/c; ln -s / $TMPDIR/a/root; chmod 0 $TMPDIR/a/b;"
        "touch ~/x && test -d $HOME && echo $HOME"
    )
    ran = lab.run(script)
    assert ran.ended.returncode == 0
    assert not Path(f"{ran.state}.scratch").exists()
    assert Path("/usr/bin").is_dir()
    inside = "/tmp" if lab.engine.tier == "bwrap" else f"{ran.state}.scratch/tmp"
    assert ran.out.decode() == f"{inside}/home\n"
