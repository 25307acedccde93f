"""The real engine, a loopback registry of the tests' own, and small images made in moments."""

from __future__ import annotations

import io
import os
import shutil
import signal
import socket
import subprocess
import tarfile
import time
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vaibify_lab.engines.image.client import connect

BASE = os.environ.get("LAB_BASE_APT", "lab/base:apt")


class Registry:
    """A registry process on loopback, its blobs in a folder that a test can spoil."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = _free_port()
        self.host = f"127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        config = self.folder / "registry.yml"
        config.write_text(
            "version: 0.1\nlog:\n  level: error\nstorage:\n  filesystem:\n"
            f"    rootdirectory: {self.folder / 'data'}\n  delete:\n    enabled: true\n"
            f"http:\n  addr: {self.host}\n"
        )
        program = shutil.which("docker-registry")
        assert program is not None, "docker-registry is not installed: .ci/engine"
        with (self.folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [program, "serve", str(config)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=os.setsid,
            )
        deadline = time.monotonic() + 30
        while not self.answers():
            assert time.monotonic() < deadline, (self.folder / "log").read_text()
            time.sleep(0.05)

    def answers(self) -> bool:
        """Tell whether it answers."""
        try:
            urllib.request.urlopen(f"http://{self.host}/v2/", timeout=1).close()
        except OSError:
            return False
        return True

    def stop(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(20)
            self._process = None

    def blobs(self) -> list[Path]:
        """Return the files of its blobs."""
        return list((self.folder / "data").rglob("blobs/sha256/*/*/data"))


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="session")
def client() -> Any:
    """Return a client of the engine, which must be there: no test of it is skipped."""
    return connect()


@pytest.fixture(scope="session")
def base(client: Any) -> str:
    """Return the Id of a Debian image with Python and pip."""
    return str(client.inspect_image(BASE)["Id"])


@pytest.fixture
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """Give a registry of the test's own."""
    made = Registry(tmp_path_factory.mktemp("registry"))
    made.start()
    yield made
    made.stop()


def unique(name: str = "test") -> str:
    """Return a name of an image that no other test uses."""
    return f"vaibify-test/{name}-{uuid.uuid4().hex[:12]}"


def small_image(client: Any, content: bytes, tag: str, *, changes: tuple[str, ...] = ()) -> str:
    """Import a one-file image and return its Id."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        entry = tarfile.TarInfo("content")
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))
    name, _, version = tag.partition(":")
    client.import_image_from_data(data.getvalue(), name, version or "latest", list(changes))
    return str(client.inspect_image(tag)["Id"])


@pytest.fixture
def image(client: Any) -> Iterator[str]:
    """Give the Id of a one-file image, different in every test."""
    tag = f"{unique()}:one"
    yield small_image(client, uuid.uuid4().bytes, tag)
    for name in (tag,):
        client.remove_image(name, force=True)
