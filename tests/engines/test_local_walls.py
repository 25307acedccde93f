"""What a step can and cannot reach on each tier, and that the engine says it truly."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest

from vaibify_lab.core.errors import MissingFile, ToolMissing, UnsafePath, UsageError
from vaibify_lab.engines.local import bubblewrap
from vaibify_lab.engines.local.engine import LocalEngine

from .conftest import Lab

CONNECT = """
import socket, sys
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5)
except OSError as error:
    print(type(error).__name__)
else:
    print("connected")
"""


def codes(lab: Lab) -> set[str]:
    return {one["code"] for one in lab.engine.describe()["cannot_prevent"]}


def test_a_step_writes_its_folders_and_reads_the_rest(lab: Lab) -> None:
    ran = lab.run("cat data/in.csv > out/copy.csv; mkdir out/deep; mv out/copy.csv out/deep/; pwd")
    assert ran.ended.returncode == 0
    assert (lab.tree / "out/deep/copy.csv").read_text() == "1,2\n"
    assert ran.out.decode() == lab.engine.container_root(lab.tree, "project") + "\n"


def test_where_a_step_sees_the_project(lab: Lab) -> None:
    root = lab.engine.container_root(lab.tree, "project")
    assert root == ("/workspace/project" if lab.engine.tier == "bwrap" else str(lab.tree))
    assert lab.run("pwd", directory="data").out.decode() == f"{root}/data\n"


def test_a_write_outside_the_project_is_denied_or_said_to_be_possible(lab: Lab) -> None:
    outside = lab.base / "outside.txt"
    ran = lab.run(f"echo written > {outside}")
    if lab.engine.isolation == "none":
        assert (ran.ended.returncode, outside.read_text()) == (0, "written\n")
        assert "write" in codes(lab)
    else:
        assert (ran.ended.returncode, outside.exists()) == (1, False)
        assert "write" not in codes(lab)


@pytest.mark.parametrize(
    "place", [".git/hooks/post-commit", ".git/config", ".vaibify/marker.json", "data/in.csv", "new"]
)
def test_a_write_to_what_was_not_given_is_denied(lab: Lab, place: str) -> None:
    target = lab.tree / place
    before = target.read_bytes() if target.exists() else None
    ran = lab.run(f"echo evil > {place}")
    after = target.read_bytes() if target.exists() else None
    if lab.engine.isolation == "none":
        assert (ran.ended.returncode, after) == (0, b"evil\n")
    else:
        assert (ran.ended.returncode, after) == (1, before)


def test_in_the_sandbox_a_writable_root_leaves_git_and_records_read_only(walled: Lab) -> None:
    ran = walled.run(
        "echo 1 > result.csv; echo evil > .git/config; echo evil > .vaibify/marker.json; true",
        writable=("",),
    )
    assert ran.ended.returncode == 0
    assert (walled.tree / "result.csv").read_text() == "1\n"
    assert (walled.tree / ".git/config").read_text() == "[core]\n"
    assert (walled.tree / ".vaibify/marker.json").read_text() == "{}\n"
    assert ran.err.count(b"Read-only file system") == 2


def test_landlock_says_that_a_writable_root_opens_git(tmp_path: Path) -> None:
    lab = Lab(LocalEngine("landlock"), tmp_path)
    assert lab.run("echo x > .git/config", writable=("",)).ended.returncode == 0
    assert "git" in codes(lab)


def test_the_git_file_of_a_work_tree_is_read_only_too(walled: Lab) -> None:
    shutil.rmtree(walled.tree / ".git")
    (walled.tree / ".git").write_text("gitdir: ../elsewhere\n")
    ran = walled.run("echo evil > .git || rm .git || mv .git x", writable=("",))
    assert ran.ended.returncode == 1
    assert (walled.tree / ".git").read_text() == "gitdir: ../elsewhere\n"


def test_where_there_is_no_git_a_step_with_the_root_can_make_one_and_that_is_said(
    walled: Lab,
) -> None:
    shutil.rmtree(walled.tree / ".git")
    assert walled.run("mkdir .git", writable=("",)).ended.returncode == 0
    assert walled.run("mkdir .other").ended.returncode == 1
    assert "new-git" in codes(walled)


def test_the_starter_s_environment_is_not_inherited(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    monkeypatch.setenv("SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt")
    ran = lab.run("env -0", environment={"MINE": "a b\n$c", "LANG": "en_GB.UTF-8"})
    seen = dict(one.split("=", 1) for one in ran.out.decode().split("\0") if one)
    shell = {"PWD", "SHLVL", "_"}
    assert set(seen) - shell == {"PATH", "HOME", "TMPDIR", "LANG", "USER", "LOGNAME", "MINE"}
    assert (seen["MINE"], seen["LANG"]) == ("a b\n$c", "en_GB.UTF-8")
    with_network = lab.run("echo $SSL_CERT_FILE; test -r $SSL_CERT_FILE", network=True)
    assert with_network.out == b"/etc/ssl/certs/ca-certificates.crt\n"
    assert with_network.ended.returncode == 0


def test_the_starter_s_python_is_the_step_s(lab: Lab) -> None:
    ran = lab.run("python -c 'import sys, filelock; print(sys.prefix)'")
    assert (ran.out.decode(), ran.err) == (f"{lab.engine.python.prefix}\n", b"")
    described = lab.engine.describe()["python"]
    assert described["source"] == "starter"
    assert described["lock"] is None


def test_network_off(lab: Lab) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        (lab.tree / "connect.py").write_text(CONNECT)
        off = lab.run(f"python connect.py {port}").out.decode().strip()
        on = lab.run(f"python connect.py {port}", network=True).out.decode().strip()
    expected = {
        "bwrap": "ConnectionRefusedError",
        "landlock": "PermissionError",
        "plain": "connected",
    }
    assert (off, on) == (expected[lab.engine.tier], "connected")
    assert ("network" in codes(lab)) == (off == "connected")


def test_without_network_the_sandbox_has_no_route(walled: Lab) -> None:
    off = walled.run("cat /proc/net/route; ls /sys/class/net 2>/dev/null; cat /proc/net/dev")
    assert len(off.out.splitlines()) == 1 + 2 + 1  # no route, two heads, the loopback
    code = 'import socket; socket.socket(type=socket.SOCK_DGRAM).connect(("192.0.2.1", 9))'
    ran = walled.run(f"python -c '{code}'")
    assert b"Network is unreachable" in ran.err


def test_the_sandbox_hides_the_host(walled: Lab) -> None:
    secret = walled.base / "secret.txt"
    secret.write_text("hunter2")
    ran = walled.run(
        f"cat {secret}; cat {walled.base}/state1/supervisor.json; cat /etc/shadow; ls ~root/.ssh;"
        "ls /proc | grep -c '^[0-9]'; touch /x; touch /usr/x; touch /workspace/x; ls -A /workspace"
    )
    processes, projects = ran.out.split()
    assert int(processes) <= 6
    assert projects == b"project"
    assert ran.err.count(b"No such file") == 4
    assert ran.err.count(b"Read-only file system") == 3


def test_no_descriptor_leads_out(lab: Lab) -> None:
    ran = lab.run("python -c 'import os; print(sorted(map(int, os.listdir(\"/proc/self/fd\"))))'")
    assert ran.out == b"[0, 1, 2, 3]\n"  # 3 is the listing itself


@pytest.mark.parametrize("way", ["folder", "parent"])
def test_a_link_on_the_way_to_a_folder_is_refused(lab: Lab, way: str) -> None:
    elsewhere = lab.base / "elsewhere"
    (elsewhere / "deep").mkdir(parents=True)
    (lab.tree / "link").symlink_to(elsewhere)
    path = "link" if way == "folder" else "link/deep"
    for changes in ({"writable": (path,)}, {"directory": path}):
        with pytest.raises(UnsafePath, match=r"goes through the symbolic link link"):
            lab.launch("true", **changes)
    assert os.listdir(elsewhere) == ["deep"]


def test_requests_that_cannot_be_met_are_refused(lab: Lab) -> None:
    with pytest.raises(MissingFile):
        lab.launch("true", writable=("nothing",))
    with pytest.raises(UnsafePath, match=r"file data/in\.csv"):
        lab.launch("true", directory="data/in.csv")
    for path in ("../x", "/etc", "out/../.git", ".git/hooks", ".vaibify"):
        with pytest.raises(UnsafePath):
            lab.launch("true", writable=(path,))
    for name in ("", ".", "..", "a/b"):
        with pytest.raises(UnsafePath, match="name for a project"):
            lab.launch("true", project_name=name)
    used = lab.run("true").state
    with pytest.raises(UsageError, match="used for a step before"):
        lab.launch("true", state=used)


def test_a_linked_git_is_refused_where_the_root_is_writable(walled: Lab) -> None:
    (walled.tree / ".git").rename(walled.base / "real.git")
    (walled.tree / ".git").symlink_to(walled.base / "real.git")
    with pytest.raises(UnsafePath, match=r"\.git: is a symbolic link"):
        walled.launch("true", writable=("",))
    assert walled.run("echo x > .git/hooks/y").ended.returncode == 1
    assert os.listdir(walled.base / "real.git/hooks") == []


def test_inputs_are_laid_read_only_into_the_tree(lab: Lab) -> None:
    big = lab.base / "big.dat"
    big.write_text("big\n")
    folder = lab.base / "raw"
    folder.mkdir()
    (folder / "one").write_text("one\n")
    ran = lab.run(
        "cat deep/big.dat more/raw/one; echo x >> deep/big.dat; touch more/raw/two; true",
        read_only={"deep/big.dat": big, "more/raw": folder},
    )
    assert ran.out == b"big\none\n"
    if lab.engine.isolation == "sandbox":
        assert (big.read_text(), os.listdir(folder)) == ("big\n", ["one"])
        assert len(ran.err.splitlines()) == 2
    assert ("links" in codes(lab)) == (lab.tree / "deep/big.dat").is_symlink()


def test_laying_an_input_never_follows_a_link(lab: Lab) -> None:
    elsewhere = lab.base / "elsewhere"
    elsewhere.mkdir()
    (lab.tree / "deep").symlink_to(elsewhere)
    source = lab.base / "big.dat"
    source.write_text("big\n")
    with pytest.raises(UnsafePath):
        lab.launch("true", read_only={"deep/big.dat": source})
    assert os.listdir(elsewhere) == []


def test_the_exchange_folder_is_shared(lab: Lab) -> None:
    exchange = lab.base / "exchange"
    exchange.mkdir()
    seen = lab.engine.exchange_root(exchange)
    ran = lab.run(f"echo told > {seen}/report", exchange=exchange)
    assert ran.ended.returncode == 0
    assert (exchange / "report").read_text() == "told\n"
    (lab.base / "linked").symlink_to(exchange)
    with pytest.raises(UnsafePath):
        lab.launch("true", exchange=lab.base / "linked")


def test_python_s_shared_memory_works(lab: Lab) -> None:
    code = "import multiprocessing as m; print(m.Pool(2).map(abs, [-1, -2]))"
    ran = lab.run(f"python -c '{code}'")
    assert (ran.out, ran.err) == (b"[1, 2]\n", b"")


def test_isolation_and_description(lab: Lab) -> None:
    described = lab.engine.describe()
    tier = lab.engine.tier
    assert lab.engine.isolation == ("none" if tier == "plain" else "sandbox")
    assert (lab.engine.kind, described["kind"], described["tier"]) == ("local", "local", tier)
    assert {"memory", "resources"} <= codes(lab)
    assert ("read" in codes(lab)) == (tier != "bwrap")
    assert all(one["text"] for one in described["cannot_prevent"])


def test_landlock_lets_modes_outside_be_changed_as_it_says(tmp_path: Path) -> None:
    lab = Lab(LocalEngine("landlock"), tmp_path)
    outside = tmp_path / "outside"
    outside.write_text("x")
    lab.run(f"chmod 777 {outside}")
    assert outside.stat().st_mode & 0o777 == 0o777
    assert "metadata" in codes(lab)


def test_auto_is_the_strongest_tier_that_works() -> None:
    assert LocalEngine().tier == "bwrap"


def test_a_tier_that_does_not_work_is_said_and_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "bin"
    broken.mkdir()
    (broken / "bwrap").write_text("#!/bin/sh\necho no permission to make a namespace >&2; exit 1\n")
    (broken / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{broken}:{os.environ['PATH']}")
    bubblewrap.problem.cache_clear()
    try:
        with pytest.raises(ToolMissing, match="no permission to make a namespace"):
            LocalEngine("bwrap")
        assert LocalEngine().tier == "landlock"
    finally:
        bubblewrap.problem.cache_clear()


def test_a_sandbox_that_cannot_be_made_is_no_failed_step(
    walled: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """bubblewrap's own failure has exit status 1, as many a step's has."""
    asked = bubblewrap.options

    def options(*arguments: object) -> list[str]:
        return [*asked(*arguments), "--ro-bind", "/usr", "/usr/evil"]  # type: ignore[arg-type]

    monkeypatch.setattr(bubblewrap, "options", options)
    ran = walled.run("true")
    assert (ran.ended.returncode, ran.ended.lost) == (None, True)
    assert "bubblewrap could not start the step" in ran.ended.detail
    assert ran.err.startswith(b"bwrap: ")
