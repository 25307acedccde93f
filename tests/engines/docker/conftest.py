"""A project, and steps of it in containers of a real engine, which ``.ci/engine`` brings up."""

from __future__ import annotations

import io
import subprocess
import tarfile
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import docker
import pytest

from vaibify_lab.engines.base import Handle
from vaibify_lab.engines.docker.engine import DockerEngine

from ..conftest import Lab
from .private import PrivateEngine

SCRIPT = Path(__file__).parents[3] / ".ci" / "engine"
SMALL = ("bash", "cat", "chmod", "head", "ls", "mkdir", "seq", "sleep", "touch")


@dataclass
class ContainerLab(Lab):
    """A lab whose containers no other test's have a name in common with."""

    run_id: str = field(default_factory=lambda: f"test-{uuid.uuid4().hex[:12]}")

    def launch(self, script: str, **changes: Any) -> tuple[Handle, Path]:
        return super().launch(script, **({"run_id": self.run_id} | changes))

    def name(self, step: int) -> str:
        """Return the name of a step's container."""
        return f"vaibify-{self.run_id}-step{step}"


@pytest.fixture(scope="session")
def around() -> dict[str, str]:
    """Return what ``.ci/engine`` says of the engine that it brought up, or found."""
    done = subprocess.run([SCRIPT], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"these tests need a container engine, and {SCRIPT} failed:\n{done.stderr}")
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


@pytest.fixture(scope="session")
def image(around: dict[str, str]) -> str:
    """Return the config digest of an image with bash, Python and git."""
    return around["VAIBIFY_TEST_HOST_ID"]


@pytest.fixture(scope="session")
def client(around: dict[str, str]) -> docker.DockerClient:
    """Return the bare SDK, to look from outside."""
    return docker.from_env()


@pytest.fixture
def lab(image: str, tmp_path: Path, client: docker.DockerClient) -> Iterator[ContainerLab]:
    """Return a project whose steps run in containers; none of them outlives the test."""
    lab = ContainerLab(DockerEngine(image), tmp_path)
    yield lab
    filters = {"label": f"org.vaibify.lab.run={lab.run_id}"}
    left = [one.id for one in client.containers.list(all=True, filters=filters)]
    if left:  # some may be on their way out
        subprocess.run(["docker", "rm", "-f", *left], capture_output=True, check=False)


Make = Callable[..., str]


@pytest.fixture
def imported(client: docker.DockerClient) -> Iterator[Make]:
    """Return what makes an image of a few files; it is gone after the test."""
    made = []

    def make(files: dict[str, bytes], changes: list[str] | None = None) -> str:
        data = archive(files)
        said = client.api.import_image_from_data(data, changes=changes)
        made.append(said.split('"status":"')[1].split('"')[0])
        return made[-1]

    yield make
    for one in made:
        client.images.remove(one, force=True)


def archive(files: dict[str, bytes]) -> bytes:
    """Return a tar of executable files."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o755
            tar.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


@pytest.fixture(scope="session")
def small() -> dict[str, bytes]:
    """Return the files of an image with bash and little else, from this machine."""
    paths = {subprocess.check_output(["which", one], text=True).strip() for one in SMALL}
    files = {path: Path(path).read_bytes() for path in paths}
    for path in sorted(paths):
        for line in subprocess.check_output(["ldd", path], text=True).splitlines():
            for word in line.split():
                if word.startswith("/"):
                    files[word] = Path(word).read_bytes()
    return {name.removeprefix("/"): content for name, content in files.items()}


@pytest.fixture
def private(
    around: dict[str, str], small: dict[str, bytes], tmp_path: Path
) -> Iterator[Callable[..., PrivateEngine]]:
    """Return what starts an engine of the test's own, in namespaces of its own."""
    engines: list[PrivateEngine] = []

    def start(*options: str, **more: Any) -> PrivateEngine:
        engines.append(PrivateEngine(archive(small), *options, **more))
        return engines[-1]

    yield start
    for one in engines:
        one.close()
