"""The starter goes; the step goes on, and is found again, or is known to be lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from vaibify_lab.core.errors import ToolFailed
from vaibify_lab.engines.base import Ended
from vaibify_lab.engines.local import processes, start
from vaibify_lab.engines.local.engine import LocalEngine

from .conftest import Lab, plain, running, supervisor_of, wait_for

STARTER = """
import sys, time
from pathlib import Path
from vaibify_lab.engines.base import Launch
from vaibify_lab.engines.local import processes
from vaibify_lab.engines.local.engine import LocalEngine
tier, tree, state, script = sys.argv[1:]
LocalEngine(tier).launch(Launch(
    run_id="run", slug="step", tree=Path(tree), project_name="project", directory="",
    script=script, writable=("out",), environment={}, network=False, state=Path(state)))
print("launched", flush=True)
time.sleep(600)
"""

ENDING = """
import os, sys, time
sys.path[:0] = [{root!r}]
from vaibify_lab.engines.local import notes, start
def end(*_):
    time.sleep(0.3)  # the step is ready, and waits
    {how}
notes.record = end
start.main()
"""


def start_elsewhere(lab: Lab, script: str) -> tuple[subprocess.Popen[bytes], Path]:
    """Launch from another process, which leads a group of its own as a server would."""
    state = lab.base / "elsewhere"
    state.mkdir()
    command = [sys.executable, "-c", STARTER, lab.engine.tier, str(lab.tree), str(state), script]
    starter = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    assert starter.stdout is not None
    assert starter.stdout.readline() == b"launched\n"
    return starter, state


def test_d05_starter_killed_and_step_found_again(lab: Lab) -> None:
    script = (
        "for i in $(seq 25); do echo $i; done; until [ -e out/go ]; do sleep 0.02; done;"
        " for i in $(seq 26 50); do echo $i; done; touch out/done; exit 4"
    )
    starter, state = start_elsewhere(lab, script)
    os.killpg(starter.pid, signal.SIGHUP)
    os.killpg(starter.pid, signal.SIGKILL)
    starter.communicate()
    handle = LocalEngine(lab.engine.tier).find(state)
    assert handle is not None
    assert handle.poll() is None
    (lab.tree / "out/go").touch()
    ended = wait_for(handle.poll)
    assert plain(ended) == Ended(returncode=4, seconds=ended.seconds)
    assert (state / "stdout").read_bytes() == b"".join(b"%d\n" % i for i in range(1, 51))
    assert (lab.tree / "out/done").exists()


def test_a_step_found_again_can_be_stopped(lab: Lab) -> None:
    starter, state = start_elsewhere(lab, "echo begun; sleep 600")
    starter.kill()
    starter.communicate()
    handle = lab.engine.find(state)
    assert handle is not None
    wait_for((state / "stdout").read_bytes)  # a stop may come before bash can be asked nicely
    handle.stop(60)
    assert (lambda e: (e.returncode, e.stopped))(wait_for(handle.poll)) == (143, True)


def test_a_step_that_was_never_started_is_not_found(lab: Lab) -> None:
    state = lab.base / "never"
    assert lab.engine.find(state) is None
    state.mkdir()
    assert lab.engine.find(state) is None


def test_a_supervisor_that_is_just_starting_is_waited_for(
    bare: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = bare.base / "starting"
    state.mkdir()
    (bare.base / "starting.scratch").mkdir()
    began = time.monotonic()
    assert bare.engine.find(state) is None  # the starter died and no supervisor came
    assert 0.9 < time.monotonic() - began < 20
    record = bare.run("exit 3").state

    def sleep(_: float) -> None:  # while it waits, the supervisor comes
        if state.exists():
            state.rmdir()
            record.rename(state)

    monkeypatch.setattr("vaibify_lab.engines.local.engine.time.sleep", sleep)
    handle = bare.engine.find(state)
    monkeypatch.undo()
    assert handle is not None
    assert wait_for(handle.poll).returncode == 3


def test_an_ended_step_is_found_with_its_end(lab: Lab) -> None:
    ran = lab.run("echo hello; exit 3")
    again = LocalEngine(lab.engine.tier).find(ran.state)
    assert again is not None
    assert again.poll() == ran.ended


def test_supervisor_killed_is_lost_not_failed(lab: Lab) -> None:
    token = f"token-{uuid.uuid4().hex}"
    code = "import os, time; os.fork() or os.setsid(); time.sleep(600)"
    handle, state = lab.launch(f"python -c '{code}' {token} & wait")
    wait_for(lambda: len(running(token)) >= 2)
    os.kill(supervisor_of(state), signal.SIGKILL)
    ended = wait_for(handle.poll)
    assert (ended.returncode, ended.lost, ended.stopped) == (None, True, False)
    assert "supervisor was killed" in ended.detail
    wait_for(lambda: running(token) == [], 5)
    again = handle.poll()
    assert again is not None
    assert again.lost


def change(state: Path, **values: object) -> None:
    place = state / "supervisor.json"
    place.write_text(json.dumps(json.loads(place.read_bytes()) | values))


@pytest.mark.parametrize("forged", [False, True])
def test_another_process_of_the_same_number_is_not_taken_for_the_supervisor(
    bare: Lab, forged: bool
) -> None:
    """A later process of that number; a record that a step forged, which ends the step alone."""
    token = f"token-{uuid.uuid4().hex}"
    handle, state = bare.launch(f"exec -a {token} sleep 600")
    wait_for(lambda: running(token))
    own = processes.start_time(os.getpid()) if forged else "1"
    change(state, pid=os.getpid(), start_time=own)
    assert handle.poll() is None  # who launched it never reads the record
    found = bare.engine.find(state)
    assert found is not None
    found.stop()  # must not end us, whose number the record holds
    ended = found.poll()
    assert ended is not None
    assert (ended.lost, ended.leftover_processes) == (True, 2)
    wait_for(lambda: not running(token))
    assert wait_for(handle.poll).lost


def test_the_supervisor_is_killed_before_it_could_say_that_the_step_failed(
    bare: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle, state = bare.launch("for i in 1 2 3 4 5 6 7 8; do sleep 600 & done; wait")
    supervisor = supervisor_of(state)
    wait_for(lambda: len(processes.descendants(supervisor)) == 9)
    sent: list[int] = []
    kill = processes.send
    monkeypatch.setattr(processes, "send", lambda *one: (sent.append(one[0]), kill(*one)))
    change(state, start_time="1")
    found = bare.engine.find(state)
    assert found is not None
    ended = found.poll()
    assert ended is not None
    assert (ended.lost, ended.leftover_processes, sent[0]) == (True, 10, supervisor)
    assert wait_for(handle.poll).lost


def test_by_another_user_s_record_nobody_is_killed(bare: Lab) -> None:
    handle, state = bare.launch("sleep 600")
    change(state, start_time="1")
    os.chown(state / "supervisor.json", 1, 1)
    found = bare.engine.find(state)
    assert found is not None
    ended = found.poll()
    assert ended is not None
    assert (ended.lost, ended.leftover_processes) == (True, 0)
    assert handle.poll() is None
    handle.stop(0)
    assert wait_for(handle.poll).stopped


def test_what_left_its_session_and_its_output_is_killed_with_the_rest(bare: Lab) -> None:
    """Both who watched it and who started it are gone; its temporary folder gives it away."""
    token = f"token-{uuid.uuid4().hex}"
    hidden = f"(setsid bash -c 'exec -a {token} sleep 600' > /dev/null 2>&1 < /dev/null &)"
    _, state = bare.launch(f"{hidden}; sleep 600")
    named = token.encode()  # not the shell, whose command line holds it as well
    wait_for(lambda: [one for one in running(token) if processes.command(one).startswith(named)])
    scratch = state.with_name(f"{state.name}.scratch")
    os.kill(supervisor_of(state), signal.SIGKILL)
    found = wait_for(lambda: bare.engine.find(state))
    ended = wait_for(found.poll)
    assert (ended.lost, ended.leftover_processes > 0) == (True, True)
    wait_for(lambda: not running(token))
    assert not scratch.exists()


@pytest.mark.parametrize("how", ["raise OSError(5, 'played')", "os.kill(os.getpid(), 9)"])
def test_a_step_whose_supervisor_ends_before_it_let_it_begin_never_begins(
    lab: Lab, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = f"token-{uuid.uuid4().hex}"
    script = lab.base / "engines/local/start.py"
    script.parent.mkdir(parents=True)
    script.write_text(ENDING.format(root=str(Path(start.__file__).parents[3]), how=how))
    monkeypatch.setattr(start, "__file__", str(script))
    with pytest.raises(ToolFailed, match="supervisor did not start"):
        lab.launch(f"touch out/begun; exec -a {token} sleep 600")
    time.sleep(0.3)
    wait_for(lambda: not running(token))
    assert os.listdir(lab.tree / "out") == []


def test_a_start_up_file_of_a_step_s_shell_is_read_once(lab: Lab) -> None:
    (lab.tree / "data/rc").write_text("echo read\n")
    where = "/workspace/project/data/rc" if lab.engine.tier == "bwrap" else "data/rc"
    handle, state = lab.launch("ls /proc/self/fd | wc -l", environment={"BASH_ENV": where})
    assert wait_for(handle.poll).returncode == 0
    assert (state / "stdout").read_bytes() == b"read\n4\n"


def test_after_a_reboot_the_step_is_lost_and_nobody_is_killed(bare: Lab) -> None:
    handle, state = bare.launch("sleep 600")
    change(state, boot_id="another")
    found = bare.engine.find(state)
    assert found is not None
    text = "the machine was started anew while the step ran"
    assert found.poll() == Ended(None, lost=True, detail=text)
    assert handle.poll() is None
    handle.stop(0)
    wait_for(handle.poll)


def test_a_step_cannot_end_itself_by_writing_a_status(bare: Lab) -> None:
    status = '{"returncode": 0, "stopped": false, "out_of_memory": false, "detail": "", '
    status += '"leftover_processes": 0, "seconds": 1.0, "dropped_bytes": 0}'
    state = bare.base / "state1"
    handle, _ = bare.launch(
        f"echo '{status}' > {state}/status.json; touch out/written;"
        " until [ -e out/go ]; do sleep 0.02; done; exit 8"
    )
    wait_for((bare.tree / "out/written").exists)
    assert handle.poll() is None
    (bare.tree / "out/go").touch()
    assert wait_for(handle.poll).returncode == 8


def test_damaged_records_are_said_to_be(bare: Lab) -> None:
    ran = bare.run("exit 0")
    handle = bare.engine.find(ran.state)
    assert handle is not None
    (ran.state / "status.json").write_bytes(b"\0" * 100)
    half = handle.poll()
    assert half is not None
    assert (half.returncode, half.lost) == (None, True)
    (ran.state / "supervisor.json").write_text("[1]")
    damaged = bare.engine.find(ran.state)
    assert damaged is not None
    gone = damaged.poll()
    assert gone == Ended(None, lost=True, detail="the record of the step's supervisor is damaged")
