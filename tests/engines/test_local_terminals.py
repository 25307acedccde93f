"""Terminals in a step of the local engine: the step's own shells, in whatever holds the step."""

from __future__ import annotations

import getpass
import os
import random
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vaibify_lab.core.errors import NotPassed
from vaibify_lab.engines.base import Handle
from vaibify_lab.engines.local import processes

from .conftest import Lab, plain, running, supervisor_of, wait_for
from .shells import SIZE, TICKING, Shell

Wait = Callable[..., tuple[Handle, Path]]


@pytest.fixture
def waiting(lab: Lab) -> Iterator[Wait]:
    """Return what launches a step for terminals."""
    launched = []

    def launch(**changes: object) -> tuple[Handle, Path]:
        asked = {"for_terminals": True, "environment": {"VAIBIFY_STEP": "look", "OWN": "a b"}}
        launched.append(lab.launch("exit 9", **(asked | changes)))
        return launched[-1]

    yield launch
    for handle, _ in launched:
        handle.stop()


@pytest.fixture
def own() -> int:
    """Return a number by which a test's programs are told from those of others."""
    return random.randrange(10**8, 10**9)


def shell(lab: Lab, state: Path) -> Shell:
    return Shell(lab.engine.terminal(state, "xterm-odd", SIZE))


def finish(handle: Handle) -> None:
    handle.stop()
    ended = wait_for(handle.poll)
    assert (ended.stopped, ended.lost) == (True, False)
    assert plain(ended).detail == ""


def test_a_shell_is_where_the_step_is_and_may_what_it_may(lab: Lab, waiting: Wait) -> None:
    handle, state = waiting(directory="data")
    one = shell(lab, state)
    place = lab.engine.container_root(lab.tree, "project")
    assert one.answer("pwd") == (f"{place}/data", 0)
    assert one.answer('echo "$OWN $TERM $VAIBIFY_STEP $USER"')[0] == (
        f"a b xterm-odd look {getpass.getuser()}"
    )
    assert one.answer("stty size")[0] == "33 91"
    one.terminal.resize(os.terminal_size((120, 40)))
    assert one.answer("stty size")[0] == "40 120"
    assert one.answer("echo mine > ../out/x; cat ../out/x") == ("mine", 0)
    assert one.answer("echo > /dev/tty && [ -t 0 ] && [ -t 1 ] && [ -t 2 ]")[1] == 0
    assert one.answer("ls -C /proc/$$/fd")[0].split() == ["0", "1", "2", "255", "99"]
    assert one.answer("ulimit -c; umask") == ("0\n0022", 0)
    assert (lab.tree / "out/x").read_text() == "mine\n"
    writes = one.answer("echo theirs > in.csv")[1] == 0
    marks = one.answer("echo theirs > ../.vaibify/marker.json")[1] == 0
    assert (writes, marks) == ((True, True) if lab.engine.tier == "plain" else (False, False))
    with socket.create_server(("127.0.0.1", 0)) as server:
        reaches = one.answer(f"exec 9<>/dev/tcp/127.0.0.1/{server.getsockname()[1]}")[1] == 0
    assert reaches == (lab.engine.tier == "plain")
    finish(handle)
    assert (state / "stdout").read_bytes() == (state / "stderr").read_bytes() == b""


def test_keys_reach_the_program_that_runs_and_not_the_step(
    lab: Lab, waiting: Wait, own: int
) -> None:
    handle, state = waiting()
    one = shell(lab, state)
    one.type(f"sleep {own}0\n")
    one.until(f"sleep {own}0")
    wait_for(lambda: running(f"sleep\x00{own}0"))
    one.type("\x03")
    wait_for(lambda: not running(f"sleep\x00{own}0"))
    assert one.answer("echo on") == ("on", 0)
    one.type(f"sleep {own}1\n")
    wait_for(lambda: running(f"sleep\x00{own}1"))
    one.type("\x1a")
    assert f"sleep {own}1" in one.answer("jobs %sleep")[0]
    one.type("kill %%\n")
    wait_for(lambda: not running(f"sleep\x00{own}1"))
    one.type(f"bash -c 'read x; echo got:$x' {own}9\n")
    wait_for(lambda: running(f"{own}9"))
    one.type("\x04")
    assert one.answer("echo and on") == ("and on", 0)
    assert handle.poll() is None
    finish(handle)


def test_terminals_come_and_go_and_the_step_stays(lab: Lab, waiting: Wait, own: int) -> None:
    handle, state = waiting()
    shells = [shell(lab, state) for _ in range(4)]
    assert len({one.answer("echo $$")[0] for one in shells}) == 4
    shells[0].type("exit 5\n")
    shells[0].rest()
    # A key is lost while a shell takes its terminal over.
    shells[1].until("# " if os.geteuid() == 0 else "$ ")
    shells[1].type("\x04")
    shells[1].rest()
    shells[2].type(f"sleep {own}2 & sleep {own}3\n")
    wait_for(lambda: running(f"sleep\x00{own}2") and running(f"sleep\x00{own}3"))
    shells[2].terminal.close()  # the window is gone, and with it what ran there
    wait_for(lambda: not running(f"sleep\x00{own}2") and not running(f"sleep\x00{own}3"))
    assert shells[3].answer("echo still") == ("still", 0)
    assert shell(lab, state).answer("echo again") == ("again", 0)
    assert handle.poll() is None
    finish(handle)


def test_a_stop_lets_shells_go_and_then_ends_everything(lab: Lab, waiting: Wait, own: int) -> None:
    handle, state = waiting()
    good, bad = shell(lab, state), shell(lab, state)
    good.type(f"bash -c 'trap \"echo bye > out/bye\" HUP; sleep {own}7; sleep {own}8'\n")
    wait_for(lambda: running(f"sleep\x00{own}7"))
    bad.type(f"trap '' HUP TERM; setsid bash -c 'sleep {own}4' & sleep {own}5\n")
    wait_for(lambda: running(f"sleep\x00{own}4") and running(f"sleep\x00{own}5"))
    finish(handle)
    assert not running(f"sleep\x00{own}4")
    assert not running(f"sleep\x00{own}5")
    wait_for(lambda: not processes.start_time(supervisor_of(state)))  # it told the end first
    good.rest()
    bad.rest()
    assert (lab.tree / "out/bye").read_text() == "bye\n"
    with pytest.raises(NotPassed, match="no step waits for a terminal here"):
        shell(lab, state)


def test_a_paused_step_stands_still_and_goes_on_as_it_was(
    lab: Lab, waiting: Wait, own: int
) -> None:
    handle, state = waiting()
    one, two, three = (shell(lab, state) for _ in range(3))
    three.type(f"bash -c 'read x; echo got:$x' {own}9\n")
    wait_for(lambda: running(f"{own}9"))
    two.type(f"sleep {own}6\n")
    wait_for(lambda: running(f"sleep\x00{own}6"))
    two.type("\x1a")  # a person stopped this one
    two.until("Stopped")
    one.type(TICKING)
    wait_for(lambda: (lab.tree / "out/n").exists())
    handle.pause()
    handle.pause()
    wait_for(lambda: states(state) <= {"T"})
    seen = (lab.tree / "out/n").read_text()
    three.type("typed meanwhile\n")
    time.sleep(0.1)
    assert (lab.tree / "out/n").read_text() == seen
    handle.resume()
    handle.resume()
    three.until("got:typed meanwhile")
    wait_for(lambda: (lab.tree / "out/n").read_text() != seen)
    one.type("\x03")  # it is in the foreground still
    assert one.answer("echo on") == ("on", 0)
    assert "Stopped" in two.answer("jobs")[0]
    handle.pause()
    wait_for(lambda: states(state) <= {"T"})
    finish(handle)
    assert not running(f"sleep\x00{own}6")


def states(state: Path) -> set[str]:
    """Return the states of the processes below a step's supervisor."""
    below = processes.descendants(supervisor_of(state))
    fields = [processes.stat_fields(pid) for pid in below]
    return {one[0] for one in fields if one}


def test_a_terminal_goes_to_a_step_that_waits_and_nowhere_else(
    lab: Lab, waiting: Wait, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle, state = waiting()
    one = shell(lab, state)
    monkeypatch.chdir(tmp_path)  # the address of a socket may not be long
    with socket.socket(socket.AF_UNIX) as other:
        other.bind("elsewhere")
        other.listen()
        other.settimeout(0.1)
        os.rename(state / "terminals", state / "aside")
        (state / "terminals").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(NotPassed, match="what is there is no socket"):
            shell(lab, state)
        (tmp_path / "link").symlink_to(state)
        with pytest.raises(NotPassed, match="no step waits for a terminal here"):
            shell(lab, tmp_path / "link")
        with pytest.raises(TimeoutError):
            other.accept()
    assert one.answer("echo on") == ("on", 0)
    finish(handle)
    script, plain = lab.launch("sleep 1")
    wait_for(script.poll)
    with pytest.raises(NotPassed, match="No such file"):
        shell(lab, plain)


def test_a_supervisor_that_is_killed_takes_shells_and_their_programs_along(
    lab: Lab, waiting: Wait, own: int
) -> None:
    handle, state = waiting()
    one = shell(lab, state)
    one.type(f"trap '' HUP; setsid sleep {own}1 & nohup sleep {own}2\n")
    wait_for(lambda: running(f"sleep\x00{own}1") and running(f"sleep\x00{own}2"))
    os.kill(supervisor_of(state), signal.SIGKILL)
    ended = wait_for(handle.poll)
    assert (ended.lost, ended.returncode) == (True, None)
    wait_for(lambda: not running(f"sleep\x00{own}1") and not running(f"sleep\x00{own}2"))
    one.rest()
    with pytest.raises(NotPassed, match="Connection refused"):
        shell(lab, state)
