"""D08: no engine, no permission, an odd socket, a wrong address: each said in its own words."""

from __future__ import annotations

import grp
import hashlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import docker
import pytest

from vaibify_lab.core.errors import EngineMissing, EngineUnfit, ImageRefused, ToolMissing
from vaibify_lab.engines.docker import client
from vaibify_lab.engines.docker.client import connect
from vaibify_lab.engines.docker.engine import DockerEngine


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of the developer's own settings says where the engine is."""
    for name in ("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_TLS_VERIFY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "docker").mkdir()


@pytest.fixture
def seen_by_all() -> Iterator[Path]:
    """Return a folder that every user may enter."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds


def context(folder: Path, name: str, host: str) -> None:
    """Make a docker context and use it, as Docker Desktop does."""
    place = folder / "docker/contexts/meta" / hashlib.sha256(name.encode()).hexdigest()
    place.mkdir(parents=True)
    endpoints = {"docker": {"Host": host, "SkipTLSVerify": False}}
    meta = {"Name": name, "Metadata": {}, "Endpoints": endpoints}
    (place / "meta.json").write_text(json.dumps(meta))
    (folder / "docker/config.json").write_text(json.dumps({"currentContext": name}))


def said(base_url: str | None = None) -> str:
    with within(5), pytest.raises(EngineMissing) as caught:
        connect(base_url)
    return str(caught.value)


def test_d08_no_socket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(client, "DEFAULT", f"unix://{tmp_path}/none.sock")
    assert said() == (
        f"no container engine: {tmp_path}/none.sock is not there; install and start Docker"
        " (or Podman with its API socket), or let steps run without a container"
    )


def refused(place: Path, mode: int, group: int, above: int = 0o755) -> str:
    """Return what is said to somebody else of a socket of this mode and group, of root."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(place))
        listening.listen()
        os.chown(place, 0, group)
        os.chmod(place, mode)
        os.chmod(place.parent, above)
        groups = os.getgroups()
        os.setgroups([])
        os.setegid(65534)
        os.seteuid(65534)
        try:
            return said()
        finally:
            os.seteuid(0)
            os.setegid(0)
            os.setgroups(groups)


def test_d08_no_permission(monkeypatch: pytest.MonkeyPatch, seen_by_all: Path) -> None:
    place = seen_by_all / "s"
    monkeypatch.setattr(client, "DEFAULT", f"unix://{place}")
    monkeypatch.setattr(client, "login_name", lambda: "ada")
    group = grp.getgrall()[1]
    assert refused(place, 0o660, group.gr_gid) == (
        f"you may not use the container engine at {place};"
        f" sudo usermod -aG {group.gr_name} ada, then log in again, or let steps run without a"
        " container"
    )


def test_d08_no_permission_of_a_user_without_a_name(
    monkeypatch: pytest.MonkeyPatch, seen_by_all: Path
) -> None:
    monkeypatch.setattr(client, "DEFAULT", f"unix://{seen_by_all}/s")
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000)
    text = refused(seen_by_all / "s", 0o660, grp.getgrall()[1].gr_gid)
    assert text.endswith("; ask who runs it to let you in, or let steps run without a container")


@pytest.mark.parametrize(
    ("mode", "group", "above"),
    [(0o660, 0, 0o755), (0o600, 1, 0o755), (0o640, 1, 0o755), (0o660, 1, 0o700)],
    ids=["root's group", "no group", "a group that reads", "a folder that is shut"],
)
@pytest.mark.parametrize("named", [True, False])
def test_d08_nobody_is_told_to_join_a_group_that_opens_nothing_or_all(
    monkeypatch: pytest.MonkeyPatch,
    seen_by_all: Path,
    mode: int,
    group: int,
    above: int,
    named: bool,
) -> None:
    place = seen_by_all / "s"
    monkeypatch.setattr(client, "DEFAULT", f"unix://{place}")
    if named:
        monkeypatch.setenv("DOCKER_HOST", f"unix://{place}")
    by, first = (" (named by DOCKER_HOST)", "unset DOCKER_HOST, or ") if named else ("", "")
    assert refused(place, mode, group, above) == (
        f"you may not use the container engine at {place}{by}; {first}ask who runs it to let you "
        f"in, or let steps run without a container"
    )


def test_d08_a_context_whose_socket_is_not_there(tmp_path: Path) -> None:
    context(tmp_path, "desktop-linux", f"unix://{tmp_path}/desktop.sock")
    assert said() == (
        f"no container engine: {tmp_path}/desktop.sock (named by the docker context"
        " 'desktop-linux') is not there; start Docker Desktop (or what it belongs to),"
        " docker context use default, or let steps run without a container"
    )


def test_d08_a_socket_of_docker_desktop_that_no_context_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(client, "DEFAULT", f"unix://{tmp_path}/none.sock")
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".docker/run").mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(".docker/run/docker.sock")
        assert "Docker Desktop is there: docker context use desktop-linux" in said()


def test_d08_a_context_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_CONTEXT", "gone")
    text = said()
    assert "gone" in text
    assert text.endswith(("docker context use default", "docker context ls"))


def test_d08_docker_host_leads_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # and held, lest somebody listens there
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        monkeypatch.setenv("DOCKER_HOST", address)
        told = said()
    assert told == (
        f"no container engine answers at {address} (named by DOCKER_HOST): Connection refused;"
        " unset DOCKER_HOST, or start the engine that it names,"
        " or let steps run without a container"
    )


def test_d08_docker_host_names_a_machine_that_never_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")
    assert "(named by DOCKER_HOST)" in said()


@pytest.mark.parametrize("address", ["nonsense", "tcp://", "unix://"])
def test_d08_docker_host_is_no_address(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("DOCKER_HOST", address)
    assert "named by DOCKER_HOST" in said()


def test_d08_docker_host_by_ssh_is_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "ssh://ada@cluster")
    with within(5), pytest.raises(EngineUnfit, match=r"is on another machine.*unset DOCKER_HOST"):
        connect()


def test_d08_a_socket_that_nobody_listens_on(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / "s"))
    assert "no container engine answers at" in said(f"unix://{tmp_path}/s")


def test_d08_a_file_is_no_socket(tmp_path: Path) -> None:
    (tmp_path / "s").touch()
    assert f"{tmp_path}/s is not a socket" in said(f"unix://{tmp_path}/s")


@pytest.mark.parametrize("patience", [1.0, 0.25])
def test_d08_somebody_listens_and_never_answers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, patience: float
) -> None:
    monkeypatch.setattr(client, "GREETING", patience)
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "s"))
        silent.listen()
        text = f"what listens at {tmp_path}/s did not answer within {patience:g} seconds"
        assert text in said(f"unix://{tmp_path}/s")


def test_d08_a_busy_engine_has_time_for_its_first_answer(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as busy:
        busy.bind(str(tmp_path / "s"))
        busy.listen()

        def answer() -> None:
            busy.accept()[0].close()  # the knock
            caller, _ = busy.accept()
            caller.recv(4096)
            time.sleep(client.KNOCKING + 0.5)
            body = b'{"ApiVersion": "1.43", "MinAPIVersion": "1.24"}'
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
            caller.sendall(head.encode() + body)
            caller.close()

        answering = threading.Thread(target=answer)
        answering.start()
        connect(f"unix://{tmp_path}/s").close()
        answering.join()


def test_the_package_docker_is_asked_for_when_it_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "docker", None)
    with pytest.raises(ToolMissing, match="python -m pip install docker"):
        connect()


def test_docker_is_not_imported_before_an_engine_is_asked_for() -> None:
    code = (
        "import sys, vaibify_lab, vaibify_lab.project, vaibify_lab.apps.main\n"
        "import vaibify_lab.engines.docker.engine\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('docker', 'requests')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_an_image_that_is_not_here_is_said(image: str) -> None:
    with pytest.raises(ImageRefused, match="does not hold this image; jupyter vaibify build"):
        DockerEngine("sha256:" + "0" * 64)
    assert DockerEngine(image).describe()["image"] == image


def test_the_engine_named_by_a_context_is_used(client: docker.DockerClient, tmp_path: Path) -> None:
    context(tmp_path, "mine", "unix:///var/run/docker.sock")
    assert connect().info()["ID"] == client.info()["ID"]
