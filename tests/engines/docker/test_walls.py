"""What a step in a container cannot reach, whatever it tries; limits that hold."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest

from vaibify_lab.core.errors import MissingFile, UnsafePath
from vaibify_lab.engines.base import Resources
from vaibify_lab.engines.docker import config
from vaibify_lab.engines.docker.daemon import Daemon
from vaibify_lab.engines.docker.engine import DockerEngine

from ..test_local_attacks import ATTACKS, snapshot
from .conftest import ContainerLab, Make

ONE_BY_ONE = '( {} ) >/dev/null 2>&1; echo "$?"; cd /workspace/project\n'


@pytest.mark.parametrize("writable", ["", "out"])
def test_every_attack_is_denied(lab: ContainerLab, writable: str) -> None:
    before = snapshot(lab.tree)
    attacks = [one.replace("python ", "python3 ") for one in ATTACKS.values()]
    script = "".join(ONE_BY_ONE.format(one) for one in attacks)
    ran = lab.run(script, writable=(writable,), environment={"HOST_TREE": str(lab.tree)})
    told = dict(zip(ATTACKS, ran.out.split(), strict=True))
    assert [name for name, status in told.items() if status == b"0"] == []
    assert snapshot(lab.tree) == before
    assert ran.ended.lost is False


def test_only_what_was_asked_can_be_written(lab: ContainerLab) -> None:
    places = ". data out .git .vaibify / /etc /usr/bin /workspace /tmp /var/tmp /dev/shm $HOME"
    ran = lab.run(f"for one in {places}; do (: > $one/new) 2>/dev/null && echo $one; done; true")
    assert ran.out.decode().split() == ["out", "/tmp", "/var/tmp", "/dev/shm", "/tmp/home"]
    assert sorted(path.name for path in lab.tree.rglob("new")) == ["new"]


def test_a_project_that_is_writable_keeps_git_and_facts_read_only(lab: ContainerLab) -> None:
    ran = lab.run(
        "for one in . data .git .git/hooks .vaibify; do (: > $one/new) 2>/dev/null && echo $one;"
        " done; true",
        writable=("",),
    )
    assert ran.out.decode().split() == [".", "data"]


def test_another_file_system_in_the_project_is_read_only_too(lab: ContainerLab) -> None:
    place = lab.tree / "data" / "disk with space"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", place], check=True)
    try:
        (place / "in.csv").write_text("3\n")
        ran = lab.run("cat data/disk*/in.csv; (: > data/disk*/new) 2>/dev/null && echo open; true")
    finally:
        subprocess.run(["umount", "-l", place], check=True)
    assert ran.out == b"3\n"


def test_a_file_laid_in_is_read_only(lab: ContainerLab) -> None:
    large = lab.base / "large.bin"
    large.write_text("large\n")
    (lab.base / "folder").mkdir()
    (lab.base / "folder" / "x").write_text("x\n")
    laid = {"data/large.bin": large, "out/folder": lab.base / "folder"}
    ran = lab.run(
        "cat data/large.bin out/folder/x; (echo > data/large.bin) 2>/dev/null && echo open;"
        " (: > out/folder/new) 2>/dev/null && echo open; true",
        read_only=laid,
    )
    assert ran.out == b"large\nx\n"
    assert large.read_text() == "large\n"


def test_no_network_when_it_is_off_and_some_when_it_is_on(lab: ContainerLab) -> None:
    """The same listener of this machine: no way to it, whichever, and a way."""
    # The engine does not always name the bridge's gateway; the kernel does, in network byte order.
    routes = lab.run("cat /proc/net/route", network=True).out.decode().splitlines()[1:]
    through = next(words[2] for words in map(str.split, routes) if words[1] == "00000000")
    gateway = socket.inet_ntoa(bytes.fromhex(through)[::-1])
    with socket.create_server((gateway, 0)) as there:
        code = f"import socket; socket.create_connection({there.getsockname()!r}, 5)"
        off = lab.run(f'python3 -c "{code}"')
        on = lab.run(f'python3 -c "{code}"', network=True)
    assert (off.ended.returncode, on.ended.returncode) == (1, 0)
    assert b"Network is unreachable" in off.err
    look = "import os, socket; print(sorted(os.listdir('/sys/class/net')))\nfor kind, address in ("
    look += "(socket.AF_INET, ('192.0.2.1', 9)), (socket.AF_INET6, ('2001:db8::1', 9))):\n"
    look += "    try: print(socket.socket(kind, socket.SOCK_DGRAM).sendto(b'x', address))\n"
    look += "    except OSError as error: print(error.strerror)\n"
    look += "try: print(socket.gethostbyname('example.org'))\nexcept OSError: print('no name')"
    told = lab.run(f'python3 -c "{look}"').out.decode().splitlines()
    assert told[0] == "['lo']"
    assert told[1] == "Network is unreachable"
    assert told[2] in ("Network is unreachable", "Cannot assign requested address")
    assert told[3] == "no name"


def test_limits_really_hold(lab: ContainerLab) -> None:
    read = (
        "for one in memory/memory.limit_in_bytes memory/memory.memsw.limit_in_bytes pids/pids.max"
        " cpu/cpu.cfs_quota_us cpu/cpu.cfs_period_us memory.max memory.swap.max pids.max cpu.max;"
        " do [ -r /sys/fs/cgroup/$one ] && echo $one $(cat /sys/fs/cgroup/$one); done;"
        " df -B1 --output=size /dev/shm | tail -1"
    )
    asked = Resources(cpus=0.5, memory_megabytes=100, shm_megabytes=20)
    lines = lab.run(read, resources=asked).out.decode().splitlines()
    held = dict(line.split(" ", 1) for line in lines[:-1])
    assert int(lines[-1]) == 20 * 2**20
    if "cpu.max" in held:
        assert held["cpu.max"] == "50000 100000"
        assert (held["memory.max"], held["memory.swap.max"]) == (str(100 * 2**20), "0")
        assert held["pids.max"] == "4096"
    else:
        assert int(held["cpu/cpu.cfs_quota_us"]) * 2 == int(held["cpu/cpu.cfs_period_us"])
        assert int(held["memory/memory.limit_in_bytes"]) == 100 * 2**20
        assert int(held["memory/memory.memsw.limit_in_bytes"]) == 100 * 2**20
        assert held["pids/pids.max"] == "4096"


def test_a_fork_bomb_meets_its_limit(lab: ContainerLab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.run("true")  # the engine is examined before
    monkeypatch.setattr(config, "PROCESSES", 100)
    code = (
        "import os, signal\n"
        "n = 0\n"
        "try:\n"
        "    while n < 1000:\n"
        "        if os.fork() == 0: signal.pause()\n"
        "        n += 1\n"
        "except BlockingIOError: pass\n"
        "print(n)"
    )
    ran = lab.run(f"python3 -c '{code}'")
    assert 80 < int(ran.out) < 100


def test_more_processors_than_there_are_is_no_error(lab: ContainerLab) -> None:
    assert lab.run("true", resources=Resources(cpus=4000)).ended.returncode == 0


def test_an_output_folder_that_is_missing_is_said(lab: ContainerLab) -> None:
    with pytest.raises(MissingFile, match="missing"):
        lab.launch("true", writable=("missing",))
    assert not (lab.tree / "missing").exists()


def test_an_output_folder_that_is_a_link_to_a_host_folder_is_refused(lab: ContainerLab) -> None:
    (lab.base / "host").mkdir()
    (lab.tree / "link").symlink_to(lab.base / "host")
    for path in ("link", "link/below"):
        (lab.base / "host/below").mkdir(exist_ok=True)
        with pytest.raises(UnsafePath, match="goes through the symbolic link link"):
            lab.launch("touch link/evil", writable=(path,))
    assert list((lab.base / "host").iterdir()) == [lab.base / "host/below"]


@pytest.mark.parametrize("moment", ["create", "attach", "start"])
def test_an_output_folder_replaced_at_the_last_moment_is_noticed(
    lab: ContainerLab, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever it happens, before or while the engine works, no step goes on with it."""
    lab.run("true")  # the probe has its container before
    (lab.base / "host").mkdir()
    real = getattr(Daemon, moment)

    def swap(*given: object) -> object:
        (lab.tree / "out").rename(lab.tree / "away")
        (lab.tree / "out").symlink_to(lab.base / "host")
        return real(*given)

    monkeypatch.setattr(Daemon, moment, swap)
    with pytest.raises(UnsafePath):
        lab.launch("sleep 2; touch out/evil")
    found = subprocess.check_output(["docker", "ps", "-aq", "--filter", f"name={lab.name(2)}"])
    assert found == b""
    assert list((lab.base / "host").iterdir()) == []
    assert list(lab.base.glob("state2*")) == [lab.base / "state2"]


def test_an_input_laid_in_through_a_link_is_refused(lab: ContainerLab) -> None:
    (lab.base / "real").write_text("x")
    (lab.base / "link").symlink_to(lab.base / "real")
    with pytest.raises(UnsafePath, match="is a symbolic link"):
        lab.launch("true", read_only={"data/x": lab.base / "link"})


def test_an_image_that_hides_the_project_by_a_volume_is_refused(
    lab: ContainerLab, imported: Make, small: dict[str, bytes]
) -> None:
    changes = ["VOLUME /workspace/project/data", "ENV PATH=/usr/bin:/bin"]
    lab.engine = DockerEngine(imported(small, changes))
    with pytest.raises(UnsafePath, match="keeps a volume at /workspace/project/data"):
        lab.launch("true")


def test_the_steps_of_one_project_do_not_see_each_other(lab: ContainerLab) -> None:
    handle, _ = lab.launch("touch out/begun; sleep 600")
    ran = lab.run("ps -e -o args; ls /dev/shm")
    assert b"sleep 600" not in ran.out
    handle.stop(0)


def test_the_scratch_is_on_disk_executable_and_gone_afterwards(lab: ContainerLab) -> None:
    ran = lab.run(
        "stat -f -c %T /tmp /var/tmp; echo 'echo runs' > /tmp/x; chmod +x /tmp/x; /tmp/x;"
        " mkdir -m 0 /tmp/shut; stat -c %a /tmp /var/tmp"
    )
    kind = subprocess.check_output(["stat", "-f", "-c", "%T", lab.base], text=True).strip()
    assert ran.out.decode().split() == [kind, kind, "runs", "755", "755"]
    assert list(lab.base.glob("state1*")) == [lab.base / "state1"]


def test_e06_nothing_of_one_run_is_there_for_the_next(lab: ContainerLab) -> None:
    places = "/tmp/b.csv /var/tmp/b.csv /dev/shm/b.csv $HOME/b.csv"
    first = lab.run(f"touch {places}; ls {places}")
    assert len(first.out.split()) == 4
    assert lab.run(f"ls {places} 2>/dev/null; ls -A /tmp /dev/shm", slug="step1").out.split() == [
        b"/dev/shm:",
        b"/tmp:",
        b"home",
    ]


def test_what_the_engine_made_is_compared_with_what_was_asked(
    lab: ContainerLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.run("true")
    real = Daemon.create

    def other(self: Daemon, name: str, config: dict[str, object]) -> str | None:
        for mount in config["HostConfig"]["Mounts"]:  # type: ignore[index]
            mount["ReadOnly"] = False
        return real(self, name, config)

    monkeypatch.setattr(Daemon, "create", other)
    with pytest.raises(UnsafePath, match="this mount of the step's container"):
        lab.launch("touch out/ran")
    assert not (lab.tree / "out/ran").exists()


def test_a_git_that_is_a_file_is_read_only_as_well(lab: ContainerLab, tmp_path: Path) -> None:
    tree = tmp_path / "worktree"
    (tree / "out").mkdir(parents=True)
    (tree / ".git").write_text("gitdir: elsewhere\n")
    ran = lab.run(
        "cat .git; (echo > .git) 2>/dev/null && echo open; true", tree=tree, writable=("",)
    )
    assert ran.out == b"gitdir: elsewhere\n"
