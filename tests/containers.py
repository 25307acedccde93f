"""The real engine, a loopback registry of the tests' own, and small images made in moments."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import signal
import subprocess
import tarfile
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from docker.errors import NotFound

from tests.ports import free_port
from vaibify_lab.engines.image.client import connect
from vaibify_lab.engines.image.throwaway import ask_image

SCRIPT = Path(__file__).parents[1] / ".ci" / "engine"


class Registry:
    """A registry process on loopback, its blobs in a folder that a test can spoil."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
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
                start_new_session=True,
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


@pytest.fixture(scope="session")
def engine_room() -> dict[str, str]:
    """Return what ``.ci/engine`` says of the engine that it brought up, or found."""
    done = subprocess.run([SCRIPT, "--pip"], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"these tests need a container engine, and {SCRIPT} failed:\n{done.stderr}")
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


@pytest.fixture(scope="session")
def client(engine_room: dict[str, str]) -> Any:
    """Return a client of the real engine."""
    return connect()


@pytest.fixture(scope="session")
def base(engine_room: dict[str, str]) -> str:
    """Return the name of a Debian image with Python, apt and pip, which only this machine has."""
    return engine_room["VAIBIFY_TEST_PIP"]


@pytest.fixture(scope="session")
def shared(engine_room: dict[str, str]) -> str:
    """Return the address of a registry that has the base images' layers already."""
    return engine_room["VAIBIFY_TEST_REGISTRY"]


@pytest.fixture(scope="session")
def bare(engine_room: dict[str, str]) -> str:
    """Return the Id of an image with bash and Python and without pip."""
    return engine_room["VAIBIFY_TEST_HOST_ID"]


@pytest.fixture(scope="session")
def python(client: Any, base: str) -> str:
    """Return the version of the base image's Python, as 3.11.2."""
    code = "import platform; print(platform.python_version())"
    said = ask_image(client, base, f"python3 -c '{code}'")
    return said.out.decode().strip()


def holding(client: Any, base: str, *packages: str) -> str:
    """Return the Id of the base image with what makes its Python say that it holds packages."""
    place = "/usr/lib/python3/dist-packages"
    lines = [f"FROM {base}"]
    for one in packages:
        name, version = one.split("==")
        told = f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n"
        folder = f"{place}/{name}-{version}.dist-info"
        lines.append(f"RUN mkdir -p {folder} && printf '{told}' > {folder}/METADATA")
    text = io.BytesIO("\n".join(lines).encode())
    said = list(client.build(fileobj=text, rm=True, forcerm=True, decode=True))
    return next(str(one["aux"]["ID"]) for one in said if "aux" in one)


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


def small_image(client: Any, content: bytes, tag: str, *, platform: str | None = None) -> str:
    """Load a one-file image, made for any platform, and return its Id."""
    system, _, processor = (platform or _platform(client)).partition("/")
    layer = _tar({"content": content})
    config = {
        "os": system,
        "architecture": processor.split("/")[0],
        "config": {"Labels": {"content": content.decode("utf-8", "replace")}},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{_sha256(layer)}"]},
        "history": [{"created_by": "test"}],
    }
    data = json.dumps(config).encode()
    name = f"{_sha256(data)}.json"
    manifest = [{"Config": name, "RepoTags": [tag], "Layers": ["layer.tar"]}]
    files = {"manifest.json": json.dumps(manifest).encode(), name: data, "layer.tar": layer}
    list(client.load_image(_tar(files)))
    return f"sha256:{_sha256(data)}"


def _platform(client: Any) -> str:
    version = client.version()
    return f"{version['Os']}/{version['Arch']}"


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _tar(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path, content in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


@pytest.fixture
def image(client: Any) -> Iterator[str]:
    """Give the Id of a one-file image, different in every test."""
    tag = f"{unique()}:one"
    yield small_image(client, tag.encode(), tag)
    with suppress(NotFound):  # the test may have taken it away
        client.remove_image(tag, force=True)
