"""What a step sees of itself: variables, user, place; whose files it makes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vaibify_lab.engines.docker.engine import DockerEngine
from vaibify_lab.engines.docker.owner import owner_of

from .conftest import ContainerLab, Make


def test_the_environment_is_small_and_none_of_it_inherited(
    lab: ContainerLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_HOST", "1")
    ran = lab.run("env -0", environment={"SEED": "7", "ODD": "a b\n'\"$x"})
    pairs = dict(item.split("=", 1) for item in ran.out.decode().strip("\0").split("\0"))
    of_bash = {"PWD", "SHLVL", "_", "HOSTNAME"}
    of_image = {"PATH", "SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}
    ours = {"HOME", "TMPDIR", "LANG", "USER", "LOGNAME", "SEED", "ODD"}
    assert set(pairs) == of_bash | of_image | ours
    assert pairs["ODD"] == "a b\n'\"$x"
    assert pairs["LANG"] == "C.UTF-8"
    assert pairs["PATH"] == "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def test_the_host_s_proxy_settings_do_not_reach_a_step(
    lab: ContainerLab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.json").write_text(
        '{"proxies": {"default": {"httpProxy": "http://user:secret@proxy:1"}}}'
    )
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "config"))
    lab.engine = type(lab.engine)(lab.engine.describe()["image"])
    assert b"secret" not in lab.run("env").out


def test_a_step_runs_where_it_was_asked_to(lab: ContainerLab) -> None:
    ran = lab.run("pwd; cat in.csv; hostname", directory="data")
    assert ran.out == b"/workspace/project/data\n1,2\nvaibify\n"
    assert lab.engine.container_root(lab.tree, "project") == "/workspace/project"


def test_host_and_step_share_the_exchange_folder(lab: ContainerLab) -> None:
    shared = lab.base / "shared"
    shared.mkdir()
    (shared / "question").write_text("?")
    seen = lab.engine.exchange_root(shared)
    ran = lab.run(f"cat {seen}/question; echo answer > {seen}/answer", exchange=shared)
    assert (ran.out, (shared / "answer").read_text()) == (b"?", "answer\n")


def owned(lab: ContainerLab, uid: int) -> None:
    """Give the project away, as it is when the server is root and the project another user's."""
    for path in (lab.tree, *lab.tree.rglob("*")):
        os.chown(path, uid, uid)


def test_d06_files_belong_to_the_project_s_owner_and_not_to_the_image_s(lab: ContainerLab) -> None:
    owned(lab, 1234)
    (lab.tree / "made by the server").mkdir()  # root made it just before, as the runner does
    shared = lab.base / "shared"
    shared.mkdir()
    ran = lab.run(
        'id -u; id -g; mkdir out/new; touch out/new/x "made by the server/y" /tmp/z $HOME/z'
        " /vaibify-exchange/z; python3 -c 'import getpass; print(getpass.getuser())';"
        " git config --global user.name x && echo git",
        writable=("out", "made by the server"),
        exchange=shared,
    )
    assert ran.err == b""
    assert ran.out.decode().split() == ["1234", "1234", "vaibify", "git"]
    for path in ("out/new", "out/new/x", "made by the server/y"):
        status = (lab.tree / path).stat()
        assert (status.st_uid, status.st_gid) == (1234, 1234)
    assert (shared / "z").stat().st_uid == 1234


def test_d06_an_image_with_a_user_of_its_own_makes_files_of_the_owner_s(
    lab: ContainerLab, imported: Make, small: dict[str, bytes]
) -> None:
    """Nor do its entry point, its working directory and its variables count for the step."""
    changes = ["USER 1000:1000", 'ENTRYPOINT ["false"]', "WORKDIR /elsewhere", "ENV HOME=/root"]
    lab.engine = DockerEngine(imported(small, [*changes, "ENV PATH=/usr/bin:/bin"]))
    owned(lab, 1234)
    ran = lab.run("pwd; echo $HOME; mkdir out/new; touch out/new/x")
    assert (ran.ended.returncode, ran.err) == (0, b"")
    assert ran.out.split() == [b"/workspace/project", b"/tmp/home"]
    made = [lab.tree / "out/new", lab.tree / "out/new/x"]
    assert {(one.stat().st_uid, one.stat().st_gid) for one in made} == {(1234, 1234)}


def test_d06_a_folder_of_somebody_else_s_is_not_given_away(lab: ContainerLab) -> None:
    owned(lab, 1234)
    os.chown(lab.tree / "out", 4321, 4321)
    ran = lab.run("touch out/x")
    assert ran.ended.returncode == 1
    assert b"Permission denied" in ran.err
    assert (lab.tree / "out").stat().st_uid == 4321


def test_d06_a_read_only_folder_gives_a_plain_message(lab: ContainerLab) -> None:
    ran = lab.run("touch data/x")
    assert ran.err == b"touch: cannot touch 'data/x': Read-only file system\n"


def test_the_owner_is_who_runs_us_unless_that_is_root(tmp_path: Path) -> None:
    os.chown(tmp_path, 1234, 5678)
    assert owner_of(tmp_path) == (1234, 5678)
    os.seteuid(1000)
    try:
        assert owner_of(tmp_path) == (1000, os.getegid())
    finally:
        os.seteuid(0)
