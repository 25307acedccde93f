"""Host programs: hashed, asked for their version, and never waited for without end."""

import hashlib
import os
import subprocess
import time
from pathlib import Path

import pytest

from vaibify_lab.core.errors import MissingFile, UnsafePath
from vaibify_lab.envelope.environment import HostBinary
from vaibify_lab.envelope.host_binaries import capture_host_binaries

ELSEWHERE = Path("/nowhere")


@pytest.fixture
def program(tmp_path):
    def write(body: str) -> str:
        path = tmp_path / f"tool{len([*tmp_path.iterdir()])}"
        path.write_text(f"#!/bin/bash\n{body}\n")
        path.chmod(0o755)
        return str(path)

    return write


def sha256(path) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def test_a_real_program_by_name_and_by_path():
    said = subprocess.run(["sha256sum", "--version"], capture_output=True, text=True).stdout
    place = subprocess.run(["which", "sha256sum"], capture_output=True, text=True).stdout.strip()

    found = capture_host_binaries(["sha256sum", place], ELSEWHERE)

    version = said.splitlines()[0]
    assert found == [
        HostBinary("sha256sum", sha256(place), version),
        HostBinary(place, sha256(place), version),
    ]


@pytest.mark.parametrize(
    ("body", "version"),
    [
        ('echo "$1 1.2"; echo more', "--version 1.2"),
        ("echo on standard error >&2; exit 3", "on standard error"),
        ("printf '\\n\\n  third line\\n'", "third line"),
        ("printf 'no line end'", "no line end"),
        ("exit 0", None),
        ("cat; echo end of input", "end of input"),
        ("printf 'caf\\xe9 \\033[31m\\n'", "caf\\xe9 \\x1b[31m"),
        ("yes y | tr -d '\\n'", "y" * 4096),
        ('echo "$LC_ALL"', "C"),
    ],
)
def test_the_first_line_of_what_it_says(program, body, version):
    path = program(body)

    assert capture_host_binaries([path], ELSEWHERE) == [HostBinary(path, sha256(path), version)]


def test_a_program_that_hangs_is_ended_with_all_it_started(program, tmp_path):
    path = program(f"sleep 300 & echo $! > {tmp_path}/child; sleep 300")

    started = time.monotonic()
    found = capture_host_binaries([path], ELSEWHERE, seconds=3)

    assert found == [HostBinary(path, sha256(path), None)]
    assert time.monotonic() - started < 60
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        if not Path(f"/proc/{child}").exists():
            break
        time.sleep(0.05)
    status = Path(f"/proc/{child}/status")
    assert not status.exists() or "State:\tZ" in status.read_text()


def test_a_file_that_this_machine_cannot_run_is_still_hashed(tmp_path):
    path = tmp_path / "foreign"
    path.write_bytes(b"\x7fELF nothing that runs")
    os.chmod(path, 0o755)

    assert capture_host_binaries([str(path)], ELSEWHERE) == [
        HostBinary(str(path), sha256(path), None)
    ]


@pytest.mark.parametrize("name", ["no-such-program-of-ours", "/nowhere/x", "/etc"])
def test_one_that_is_not_there_is_named(name):
    with pytest.raises(MissingFile) as caught:
        capture_host_binaries(["sha256sum", name], ELSEWHERE)

    assert (caught.value.where, caught.value.exit_code) == (name, 2)


def test_one_that_may_not_be_run_is_named(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("no program")

    with pytest.raises(MissingFile) as caught:
        capture_host_binaries([str(path)], ELSEWHERE)

    assert caught.value.text == "a declared host binary is not there, or cannot be run"


@pytest.mark.parametrize("way", ["absolute", "through /proc", "through a link", "on PATH"])
def test_a_file_of_the_repository_is_never_run(tmp_path, program, monkeypatch, way):
    """A clone may be a stranger's, and this is the host, with all that its user may do."""
    path = Path(program(f"touch {tmp_path}/ran; echo 1.0"))
    link = tmp_path.parent / "looks-harmless"
    link.unlink(missing_ok=True)
    link.symlink_to(path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    name = {"absolute": str(path), "through /proc": f"/proc/self/cwd/{path.name}"}
    name |= {"through a link": str(link), "on PATH": path.name}

    with pytest.raises(UnsafePath, match="is a file of the repository") as caught:
        capture_host_binaries([name[way]], tmp_path)

    assert (caught.value.where, caught.value.exit_code) == (name[way], 2)
    assert not (tmp_path / "ran").exists()


def test_a_path_relative_to_who_knows_what_is_refused(tmp_path, program, monkeypatch):
    path = Path(program(f"touch {tmp_path}/ran"))
    monkeypatch.chdir(tmp_path)

    with pytest.raises(UnsafePath, match="neither an absolute path nor a name on PATH"):
        capture_host_binaries([f"./{path.name}"], ELSEWHERE)

    assert not (tmp_path / "ran").exists()
