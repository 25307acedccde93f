"""How a step ended, and what it said, on each tier."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from vaibify_lab.core.errors import ToolMissing, UsageError
from vaibify_lab.engines.base import Ended, Resources, bash_script
from vaibify_lab.engines.local import environment, processes

from .conftest import Lab, plain


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("true", 0),
        ("exit 3", 3),
        ("no-such-program-here", 127),
        ("kill -TERM $$", 143),
        ("kill -KILL $$", 137),
        (bash_script(["false | true"]), 1),
        (bash_script(["cd out", "test -d out", "exit 7", "true"]), 7),
        (bash_script(["kill -TERM $$"]), 143),
        (bash_script(["python -c 'import os; os.kill(os.getpid(), 9)'"]), 137),
    ],
)
def test_exit_status(lab: Lab, script: str, code: int) -> None:
    before = processes.out_of_memory_kills()
    ran = lab.run(script)
    another = processes.out_of_memory_kills() > before  # test had this machine kill for memory
    assert not ran.ended.out_of_memory or (another and code == 137)
    expected = Ended(returncode=code, seconds=ran.ended.seconds)
    assert replace(plain(ran.ended), out_of_memory=False) == expected
    assert 0 < ran.ended.seconds < 30


def test_d04_exit_status_while_streaming(lab: Lab) -> None:
    ran = lab.run("for i in $(seq 2000); do echo line $i; echo oops $i >&2; done; exit 3")
    assert ran.ended.returncode == 3
    assert ran.out == b"".join(b"line %d\n" % i for i in range(1, 2001))
    assert ran.err == b"".join(b"oops %d\n" % i for i in range(1, 2001))


def test_d04_exit_status_with_both_streams_closed(lab: Lab) -> None:
    ran = lab.run("exec >&- 2>&-; sleep 0.2; exit 3")
    assert (ran.ended.returncode, ran.out, ran.err) == (3, b"", b"")
    assert ran.ended.seconds >= 0.2


def test_bytes_that_are_no_text_are_kept(lab: Lab) -> None:
    ran = lab.run(r"printf '\xff\xfe\x00\xc3('; printf '\x80\r\n' >&2")
    assert (ran.out, ran.err) == (b"\xff\xfe\x00\xc3(", b"\x80\r\n")


def test_fifty_megabytes_are_kept_byte_for_byte(lab: Lab) -> None:
    code = (
        "import sys, random; r = random.Random(7)\n"
        "for _ in range(50): sys.stdout.buffer.write(r.randbytes(1_000_000))"
    )
    ran = lab.run(f"python -c '{code}'")
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert ran.ended.returncode == 0
    assert ran.ended.dropped_bytes == 0
    assert (len(told), hashlib.sha256(ran.out).digest()) == (
        50_000_000,
        hashlib.sha256(told).digest(),
    )


def test_a_flood_beyond_the_limit_is_read_counted_and_dropped(lab: Lab) -> None:
    script = "head -c 500000000 /dev/zero; head -c 5000 /dev/zero >&2; exit 4"
    ran = lab.run(script, log_limit=1_000_000)
    assert ran.ended.returncode == 4
    assert ran.ended.dropped_bytes == 499_000_000
    assert plain(ran.ended).detail == ""
    assert ran.out == bytes(1_000_000)
    assert ran.err == bytes(5000)


def test_a_step_that_asks_gets_no_answer(lab: Lab) -> None:
    ran = lab.run("read -r answer; echo status $?; python -c 'input()'")
    assert ran.out == b"status 1\n"
    assert ran.ended.returncode == 1
    assert b"EOFError" in ran.err


def test_output_of_what_a_step_leaves_behind_is_not_waited_for(lab: Lab) -> None:
    ran = lab.run("echo before; (sleep 60; echo late) & exit 0")
    assert (ran.ended.returncode, ran.out) == (0, b"before\n")
    assert ran.ended.seconds < 30


def test_memory_limit_is_the_process_s_own(lab: Lab) -> None:
    script = "python -c 'b = bytearray(900_000_000)' || echo refused $?"
    limited = lab.run(script, resources=Resources(memory_megabytes=500))
    assert limited.out == b"refused 1\n"
    assert b"MemoryError" in limited.err
    assert lab.run(script).out == b""


def test_no_core_is_dumped(lab: Lab) -> None:
    ran = lab.run("cd out; ulimit -c; python -c 'import os; os.abort()'; ls -A")
    assert ran.out == b"0\n"


ON_A_SMALL_DISK = """
from pathlib import Path
from small_disk_lab import Lab, LocalEngine, wait_for
state = Path("small/state")
state.mkdir()
lab = Lab(LocalEngine("plain"), Path("inside").absolute())
"""
FILLED_BY_THE_LOG = """
handle, _ = lab.launch("head -c 5000000 /dev/zero; exit 6", state=state)
print(wait_for(handle.poll))
print(len((state / "stdout").read_bytes()), sorted(p.name for p in state.parent.iterdir()))
"""
FULL_BEFORE = """
fill = open("small/fill", "wb", buffering=0)
try:
    while fill.write(bytes(4096)): pass
except OSError: pass
try:
    lab.launch("true", state=state)
except Exception as error:
    print(type(error).__name__)
"""


def on_a_small_disk(tmp_path: Path, code: str) -> list[str]:
    """Run code in a mount namespace of its own, beside a disk of one megabyte."""
    (tmp_path / "small").mkdir()
    helper = Path(__file__).with_name("conftest.py").read_text()
    (tmp_path / "small_disk_lab.py").write_text(helper)
    mount = 'mount -t tmpfs -o size=1m none small && exec "$@"'
    python = [sys.executable, "-c", ON_A_SMALL_DISK + code]
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", mount, "sh", *python],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_a_full_disk_costs_the_log_and_not_the_status(tmp_path: Path) -> None:
    said, sizes = on_a_small_disk(tmp_path, FILLED_BY_THE_LOG)
    assert "returncode=6, stopped=False, out_of_memory=False, lost=False" in said
    assert "the log of stdout is cut: No space left on device" in said
    kept, names = sizes.split(" ", 1)
    assert 0 < int(kept) < 2**20
    assert f"dropped_bytes={5_000_000 - int(kept)}" in said
    assert names == "['state']"


def test_a_disk_that_is_full_already_is_said(tmp_path: Path) -> None:
    assert on_a_small_disk(tmp_path, FULL_BEFORE) == ["DiskFull"]


def test_a_script_longer_than_an_argument_may_be_is_refused(bare: Lab) -> None:
    with pytest.raises(UsageError, match="longer than"):
        bare.launch("#" * 2**17)
    just = "true #" + "x" * (2**17 - 256 - 6)
    assert bare.run(just).ended.returncode == 0


@pytest.mark.parametrize("variable", [("", "x"), ("A=B", "x"), ("A", "x\0--bind")])
def test_what_cannot_be_a_variable_is_refused(lab: Lab, variable: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match="cannot be an environment variable"):
        lab.launch("true", environment=dict([variable]))


def test_without_bash_the_error_says_so(bare: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "SYSTEM_PATH", ("/nonexistent",))
    with pytest.raises(ToolMissing, match="bash is not installed; install bash"):
        bare.launch("true")
