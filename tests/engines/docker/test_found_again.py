"""The starter goes; the step goes on, and is found again by its label, with its log whole."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import docker
import pytest

from vaibify_lab.core.errors import RunInProgress
from vaibify_lab.engines import state_files
from vaibify_lab.engines.base import Ended
from vaibify_lab.engines.docker import watch
from vaibify_lab.engines.docker.config import container_name
from vaibify_lab.engines.docker.daemon import Daemon
from vaibify_lab.engines.docker.engine import DockerEngine

from ..conftest import plain, wait_for
from .conftest import ContainerLab

STARTER = """
import sys, time
from pathlib import Path
from vaibify_lab.engines.base import Launch
from vaibify_lab.engines.docker.engine import DockerEngine
image, run, tree, state, script = sys.argv[1:]
DockerEngine(image).launch(Launch(
    run_id=run, slug="step", tree=Path(tree), project_name="project", directory="",
    script=script, writable=("out",), environment={}, network=False, state=Path(state)))
print("launched", flush=True)
time.sleep(600)
"""


def start_elsewhere(lab: ContainerLab, image: str, script: str, starter: str = STARTER) -> Path:
    """Launch from another process and kill that, with all its threads."""
    state = lab.base / "elsewhere"
    state.mkdir()
    words = [image, lab.run_id, str(lab.tree), str(state), script]
    process = subprocess.Popen(
        [sys.executable, "-c", starter, *words], stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"launched\n"
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return state


def test_d05_starter_killed_and_step_found_again(lab: ContainerLab, image: str) -> None:
    script = (
        "for i in $(seq 5); do echo $i; done; until [ -e out/go ]; do sleep 0.05; done;"
        " for i in $(seq 6 500); do echo $i; echo oops >&2; done; exit 4"
    )
    state = start_elsewhere(lab, image, script)
    handle = DockerEngine(image).find(state)
    assert handle is not None
    assert handle.poll() is None
    (lab.tree / "out/go").touch()
    ended = wait_for(handle.poll)
    assert plain(ended) == Ended(returncode=4, seconds=ended.seconds)
    assert (state / "stdout").read_bytes() == b"".join(b"%d\n" % i for i in range(1, 501))
    assert (state / "stderr").read_bytes() == b"oops\n" * 495
    assert subprocess.check_output(["docker", "ps", "-aq", "-f", f"name={lab.run_id}"]) == b""
    assert not (lab.base / "elsewhere.temporary").exists()


def test_d05_what_ended_while_nobody_looked_is_known_byte_for_byte(
    lab: ContainerLab, image: str
) -> None:
    code = (
        "import sys, random; r = random.Random(7)\n"
        "for _ in range(60): sys.stdout.buffer.write(r.randbytes(1_000_000))"
    )
    script = f"until [ -e out/go ]; do sleep 0.05; done; python3 -c '{code}'; exit 5"
    state = start_elsewhere(lab, image, script)
    (lab.tree / "out/go").touch()
    subprocess.run(["docker", "wait", f"vaibify-{lab.run_id}-step"], check=True)
    handle = lab.engine.find(state)
    assert handle is not None
    ended = wait_for(handle.poll, 120)
    assert plain(ended) == Ended(returncode=5, seconds=ended.seconds)
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    kept = (state / "stdout").read_bytes()
    assert len(kept) == 60_000_000
    assert hashlib.sha256(kept).digest() == hashlib.sha256(told).digest()


def test_a_limit_holds_for_a_log_that_is_read_again(lab: ContainerLab, image: str) -> None:
    limit = "log_limit=150_000, state=Path(state)"
    script = "head -c 100000 /dev/zero; until [ -e out/go ]; do sleep 0.05; done"
    script += "; head -c 100000 /dev/zero; exit 2"
    state = start_elsewhere(lab, image, script, STARTER.replace("state=Path(state)", limit))
    (lab.tree / "out/go").touch()
    handle = lab.engine.find(state)
    assert handle is not None
    ended = wait_for(handle.poll)
    assert (ended.returncode, ended.dropped_bytes) == (2, 50_000)
    assert (state / "stdout").read_bytes() == bytes(150_000)


def test_two_who_watch_the_same_step_say_the_same(lab: ContainerLab) -> None:
    script = "for i in $(seq 300); do echo $i; done; until [ -e out/go ]; do sleep 0.05; done"
    handle, state = lab.launch(f"{script}; echo over; exit 3")
    others = [lab.engine.find(state) for _ in range(3)]
    (lab.tree / "out/go").touch()
    ends = [plain(wait_for(one.poll)) for one in (handle, *others) if one is not None]
    assert ends == [Ended(returncode=3, seconds=ends[0].seconds)] * 4
    assert plain(state_files.ended(state)) == ends[0]
    said = b"".join(b"%d\n" % i for i in range(1, 301)) + b"over\n"
    assert (state / "stdout").read_bytes() == said


def test_an_end_that_another_watch_put_on_record_outlives_an_engine_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "RETURNING", 0.0)
    nobody = Daemon(docker.DockerClient("http://127.0.0.1:1", version="1.41"))
    begun = watch.Begun(container="c", state=tmp_path, scratch=tmp_path / "scratch", log_limit=9)
    ends = []
    for noted in (None, Ended(returncode=137, stopped=True)):
        if noted is not None:
            state_files.write_ended(tmp_path, noted)
        one = watch.Watch(nobody, begun, None)
        one.begin()
        ends.append(wait_for(lambda one=one: one.ended))
        assert state_files.ended(tmp_path) == ends[-1]
        (tmp_path / state_files.STATUS).unlink()
    assert [(end.returncode, end.stopped, end.lost) for end in ends] == [
        (None, False, True),
        (137, True, False),
    ]


def test_a_step_found_again_can_be_stopped(lab: ContainerLab, image: str) -> None:
    state = start_elsewhere(lab, image, "echo begun; sleep 600")
    handle = lab.engine.find(state)
    assert handle is not None
    wait_for((state / "stdout").read_bytes)  # a stop may come before bash can be asked nicely
    handle.stop()
    ended = wait_for(handle.poll)
    assert (ended.returncode, ended.stopped) == (143, True)
    again = lab.engine.find(state)
    assert again is not None
    assert again.poll() == ended


def test_a_step_that_was_never_started_is_not_found(lab: ContainerLab) -> None:
    state = lab.base / "never"
    assert lab.engine.find(state) is None
    state.mkdir()
    assert lab.engine.find(state) is None


def test_an_ended_step_is_found_with_its_end(lab: ContainerLab, image: str) -> None:
    ran = lab.run("echo hello; exit 3")
    again = DockerEngine(image).find(ran.state)
    assert again is not None
    assert again.poll() == ran.ended
    again.stop()


def test_out_of_memory_is_known_of_a_step_found_again(lab: ContainerLab, image: str) -> None:
    state = start_elsewhere(lab, image, "until [ -e out/go ]; do sleep 0.05; done; exit 0")
    (lab.tree / "out/go").touch()
    handle = lab.engine.find(state)
    assert handle is not None
    ended = wait_for(handle.poll)
    assert (ended.returncode, ended.out_of_memory, ended.lost) == (0, False, False)


def test_a_container_that_is_gone_is_lost(lab: ContainerLab, image: str) -> None:
    state = start_elsewhere(lab, image, "sleep 600")
    subprocess.run(["docker", "rm", "-f", f"vaibify-{lab.run_id}-step"], check=True)
    handle = lab.engine.find(state)
    assert handle is not None
    assert plain(handle.poll()) == Ended(None, lost=True, detail="its container is gone")


def test_a_container_that_nobody_started_is_given_up(
    lab: ContainerLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its starter died between making and starting it."""

    class Died(BaseException):
        pass

    def die(*_: object) -> None:
        raise Died

    lab.run("true")
    monkeypatch.setattr("vaibify_lab.engines.docker.watch.BEGINNING", 1.0)
    with monkeypatch.context() as dying, pytest.raises(Died):
        dying.setattr(Daemon, "start", die)
        dying.setattr(Daemon, "remove", lambda *_: None)
        lab.launch("true")
    handle = lab.engine.find(lab.base / "state2")
    assert handle is not None
    ended = wait_for(handle.poll)
    assert plain(ended) == Ended(None, lost=True, detail="its container was made and never started")


def test_after_a_reboot_an_end_by_signal_is_the_engine_s(lab: ContainerLab, image: str) -> None:
    state = start_elsewhere(lab, image, "sleep 600")
    note = state / "container.json"
    note.write_text(note.read_text().replace('"boot_id": "', '"boot_id": "x'))
    subprocess.run(["docker", "kill", f"vaibify-{lab.run_id}-step"], check=True)
    handle = lab.engine.find(state)
    assert handle is not None
    ended = plain(wait_for(handle.poll))
    assert ended is not None and (ended.returncode, ended.lost) == (None, True)
    assert ended.detail == "the container engine went away while the step ran"


def test_a_damaged_note_costs_no_step(lab: ContainerLab, image: str) -> None:
    state = start_elsewhere(lab, image, "until [ -e out/go ]; do sleep 0.05; done; exit 6")
    (state / "container.json").write_bytes(b"\0\0")
    (lab.tree / "out/go").touch()
    handle = lab.engine.find(state)
    assert handle is not None
    assert wait_for(handle.poll).returncode == 6


def test_the_name_is_a_lock(lab: ContainerLab) -> None:
    handle, _ = lab.launch("sleep 600", slug="same")
    with pytest.raises(RunInProgress, match=r"runs this step already.*docker rm -f"):
        lab.launch("touch out/evil", slug="same")
    assert handle.poll() is None
    assert not (lab.base / "state2.temporary").exists()
    handle.stop(0)
    wait_for(handle.poll)
    assert lab.run("exit 2", slug="same").ended.returncode == 2


def test_a_container_of_a_step_on_record_as_ended_makes_way(lab: ContainerLab) -> None:
    """Its engine was away when it ended, and the container has come back with the engine."""
    _, state = lab.launch("sleep 600", slug="same")
    state_files.write_ended(state, Ended(None, lost=True))
    assert lab.run("exit 2", slug="same").ended.returncode == 2


def test_what_is_on_record_as_ended_is_removed_by_the_next_engine(
    lab: ContainerLab, image: str
) -> None:
    _, state = lab.launch("sleep 600")
    other, _ = lab.launch("sleep 600")
    state_files.write_ended(state, Ended(None, lost=True))
    DockerEngine(image).examine(lab.tree, lab.base / "probe")
    names = subprocess.check_output(["docker", "ps", "--format", "{{.Names}}"], text=True).split()
    assert (lab.name(1) in names, lab.name(2) in names) == (False, True)
    assert other.poll() is None


def test_the_same_launch_made_twice_is_one_container(
    lab: ContainerLab, client: docker.DockerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two starters race; the one that comes second takes over what the first has made."""
    lab.run("true")
    real = Daemon.create

    def twice(self: Daemon, name: str, config: dict[str, object]) -> str | None:
        first = real(self, name, config)
        assert first is not None
        self.start(first)
        return real(self, name, config)

    monkeypatch.setattr(Daemon, "create", twice)
    handle, state = lab.launch("echo once >> out/count; echo said; exit 7")
    assert wait_for(handle.poll).returncode == 7
    assert (lab.tree / "out/count").read_text() == "once\n"
    assert (state / "stdout").read_bytes() == b"said\n"


def test_the_container_goes_only_after_its_end_is_on_record(
    lab: ContainerLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.run("true")
    real, seen = Daemon.remove, []

    def remove(self: Daemon, container: str) -> None:
        if self is lab.engine._daemon:  # not of another test, whose containers are going
            seen.append((lab.base / "state2/status.json").exists())
        real(self, container)

    monkeypatch.setattr(Daemon, "remove", remove)
    assert lab.run("true").ended.returncode == 0
    assert seen == [True]


def test_names_are_the_same_for_the_same_step_and_no_others() -> None:
    assert container_name("20260101T000000-ab12", "fit-model") == (
        "vaibify-20260101T000000-ab12-fit-model"
    )
    odd = [container_name("run", slug) for slug in ("a b", "a/b", "a_b", "ä")]
    assert len(set(odd)) == 4
    assert all(name.isascii() and "/" not in name and " " not in name for name in odd)
