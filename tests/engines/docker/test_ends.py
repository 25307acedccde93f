"""How a step in a container ended, and what it said."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from vaibify_lab.core.errors import EngineUnfit, ToolMissing
from vaibify_lab.engines.base import Ended, Resources, bash_script
from vaibify_lab.engines.docker.engine import DockerEngine
from vaibify_lab.engines.docker.inspected import Container

from ..conftest import OTHERS, plain, wait_for
from .conftest import ContainerLab, Make

EAT = "python3 -c 'b = []\nwhile True: b.append(bytearray(10_000_000))'"
LITTLE = Resources(memory_megabytes=64)


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("true", 0),
        ("exit 3", 3),
        ("touch out/plain; out/plain", 126),
        ("no-such-program-here", 127),
        ("kill -KILL $$", 137),
        ("kill -TERM $$", 143),
        (bash_script(["false | true"]), 1),
        (bash_script(["cd out", "test -d out", "exit 7", "true"]), 7),
        (bash_script(["kill -TERM $$"]), 143),
    ],
)
def test_exit_status(lab: ContainerLab, script: str, code: int) -> None:
    ran = lab.run(script)
    assert plain(ran.ended) == Ended(returncode=code, seconds=ran.ended.seconds)
    assert 0 <= ran.ended.seconds < 30


def test_d04_exit_status_while_streaming(lab: ContainerLab) -> None:
    ran = lab.run("for i in $(seq 2000); do echo line $i; echo oops $i >&2; done; exit 3")
    assert ran.ended.returncode == 3
    assert ran.out == b"".join(b"line %d\n" % i for i in range(1, 2001))
    assert ran.err == b"".join(b"oops %d\n" % i for i in range(1, 2001))


def test_d04_exit_status_with_both_streams_closed(lab: ContainerLab) -> None:
    ran = lab.run("exec >&- 2>&-; sleep 0.2; exit 3")
    assert (ran.ended.returncode, ran.out, ran.err) == (3, b"", b"")
    assert ran.ended.seconds > 0.1  # the engine notes the start a little late


def test_bytes_that_are_no_text_are_kept(lab: ContainerLab) -> None:
    ran = lab.run(r"printf '\xff\xfe\x00\xc3('; printf '\x80\r\n' >&2")
    assert (ran.out, ran.err) == (b"\xff\xfe\x00\xc3(", b"\x80\r\n")


def test_three_hundred_megabytes_are_kept_byte_for_byte(lab: ContainerLab) -> None:
    code = (
        "import sys, random; r = random.Random(7)\n"
        "for _ in range(300): sys.stdout.buffer.write(r.randbytes(1_000_000))"
    )
    ran = lab.run(f"python3 -c '{code}'")
    told = hashlib.sha256()
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as same:
        assert same.stdout is not None
        while piece := same.stdout.read(2**20):
            told.update(piece)
    assert (ran.ended.returncode, ran.ended.dropped_bytes) == (0, 0)
    with (ran.state / "stdout").open("rb") as kept:
        assert kept.seek(0, 2) == 300_000_000
        kept.seek(0)
        assert hashlib.file_digest(kept, "sha256").digest() == told.digest()


def test_a_flood_beyond_the_limit_is_read_counted_and_dropped(lab: ContainerLab) -> None:
    script = "head -c 300000000 /dev/zero; head -c 5000 /dev/zero >&2; exit 4"
    ran = lab.run(script, log_limit=1_000_000)
    assert (ran.ended.returncode, ran.ended.dropped_bytes) == (4, 299_000_000)
    assert (ran.out, ran.err) == (bytes(1_000_000), bytes(5000))


def test_output_is_there_while_the_step_runs(lab: ContainerLab) -> None:
    handle, state = lab.launch("echo begun; until [ -e out/go ]; do sleep 0.05; done; echo over")
    wait_for(lambda: (state / "stdout").read_bytes() == b"begun\n")
    assert handle.poll() is None
    (lab.tree / "out/go").touch()
    assert wait_for(handle.poll).returncode == 0
    assert (state / "stdout").read_bytes() == b"begun\nover\n"


def test_a_step_that_asks_gets_no_answer(lab: ContainerLab) -> None:
    ran = lab.run("read -r answer; echo status $?")
    assert ran.out == b"status 1\n"


def test_output_of_what_a_step_leaves_behind_is_not_waited_for(lab: ContainerLab) -> None:
    ran = lab.run("echo before; (sleep 60; echo late) & exit 0")
    assert (ran.ended.returncode, ran.out) == (0, b"before\n")
    assert ran.ended.seconds < 30


@pytest.mark.parametrize(
    ("script", "code"),
    [
        (EAT, 137),
        (f"{EAT}; exit 0", 0),
        (f"{EAT} | cat; echo over", 0),
        (f"({EAT} &) ; sleep 5", 0),
    ],
    ids=["itself", "swallowed by the shell", "in a pipe", "of a child in the background"],
)
def test_d09_out_of_memory_is_told_apart(lab: ContainerLab, script: str, code: int) -> None:
    ran = lab.run(script, resources=LITTLE)
    assert (ran.ended.returncode, ran.ended.out_of_memory) == (code, True)
    assert (ran.ended.lost, ran.ended.stopped) == (False, False)


def test_d09_a_note_of_it_that_comes_late_is_waited_for(
    lab: ContainerLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of an engine that is busy: without it the step would pass."""
    lab.run("true")  # the engine is examined before
    real, since = Container.of, []

    def late(value: Mapping[str, Any]) -> Container:
        found = real(value)
        if found.out_of_memory:
            since.append(time.monotonic())
        return replace(found, out_of_memory=bool(since) and time.monotonic() > since[0] + 2)

    monkeypatch.setattr(Container, "of", late)
    ran = lab.run(f"{EAT}; exit 0", resources=LITTLE)
    assert (ran.ended.returncode, ran.ended.out_of_memory) == (0, True)


def test_d09_killed_by_itself_is_not_out_of_memory(lab: ContainerLab) -> None:
    ran = lab.run("kill -KILL $$", resources=LITTLE)
    assert (ran.ended.returncode, ran.ended.out_of_memory) == (137, False)


def test_d09_where_the_engine_keeps_no_note_of_it_the_machine_s_own_count_speaks(
    lab: ContainerLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Podman, and Docker where its helper cannot see a control group (both were met)."""
    real = Container.of

    def without(value: Mapping[str, Any]) -> Container:
        return replace(real(value), out_of_memory=False)

    monkeypatch.setattr(Container, "of", without)
    monkeypatch.setenv("XDG_CACHE_HOME", str(lab.base / "cache"))
    itself = lab.run(EAT, resources=LITTLE)
    swallowed = lab.run(f"{EAT}; exit 0", resources=LITTLE)
    told = lab.engine.describe()
    assert told["probe"]["memory_kill"] is False
    assert "memory-kill" in [one["code"] for one in told["cannot_prevent"]]
    assert (itself.ended.returncode, itself.ended.out_of_memory) == (137, True)
    assert (swallowed.ended.returncode, swallowed.ended.out_of_memory) == (0, False)
    assert swallowed.ended.detail == OTHERS


def test_d09_a_container_that_somebody_removed_is_lost(lab: ContainerLab) -> None:
    handle, _ = lab.launch("sleep 600")
    subprocess.run(["docker", "rm", "-f", lab.name(1)], check=True, capture_output=True)
    ended = plain(wait_for(handle.poll))
    assert ended is not None and (ended.returncode, ended.lost) == (None, True)
    assert ended.detail == "its container was removed by somebody else"


def test_no_core_is_dumped(lab: ContainerLab) -> None:
    ran = lab.run("cd out; ulimit -c; python3 -c 'import os; os.abort()'; ls -A")
    assert ran.out == b"0\n"


def test_an_image_without_bash_is_said_to_be(lab: ContainerLab, imported: Make) -> None:
    lab.engine = DockerEngine(imported({"bin/true": b"#!"}))
    with pytest.raises(ToolMissing, match="the image has no bash; build it with bash"):
        lab.launch("true")
    assert not (lab.base / "state1.temporary").exists()
    assert not (lab.base / "state1.probe").exists()


def test_an_image_for_another_processor_is_said_to_be(lab: ContainerLab, imported: Make) -> None:
    alien = b"\x7fELF of another kind"
    lab.engine = DockerEngine(imported({"bin/bash": alien, "bin/sh": alien}))
    with pytest.raises(EngineUnfit, match="this engine runs linux/amd64 only"):
        lab.launch("true")


def test_graphics_cards_that_the_engine_cannot_give_are_an_error(lab: ContainerLab) -> None:
    with pytest.raises(EngineUnfit, match="this container engine has no graphics cards to give"):
        lab.launch("true", resources=Resources(gpus=1))
    assert list(lab.base.glob("state1*")) == [lab.base / "state1"]
    assert lab.engine.find(lab.base / "state1") is None
