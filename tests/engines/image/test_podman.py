"""D10, what a smoke test can show: podman as a stand-in for docker, found out and not believed."""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from filelock import FileLock

from tests.containers import SCRIPT, small_image, unique
from vaibify_lab.ceremony.image import check_image
from vaibify_lab.core.errors import ImageRefused, RegistryUnreachable
from vaibify_lab.engines.image import registry as images
from vaibify_lab.engines.image.build import Recipe, build_image
from vaibify_lab.engines.image.client import connect
from vaibify_lab.engines.image.inside import look_inside
from vaibify_lab.engines.image.throwaway import ask_image
from vaibify_lab.envelope.environment import EnvironmentFile

SETTINGS = """\
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""


@pytest.fixture(scope="module")
def podman():
    """Return a client of a podman of the tests' own: its own store, settings and socket."""
    folder = Path(tempfile.mkdtemp(prefix="vp-"))  # short: a socket's path may have 107 bytes
    with FileLock(Path(tempfile.gettempdir(), "vaibify-test-podman.lock")):
        if shutil.which("podman") is None or shutil.which("catatonit") is None:
            subprocess.run([SCRIPT.with_name("system-packages"), "podman", "catatonit"], check=True)
    (folder / "containers.conf").write_text(SETTINGS)
    (folder / "registries.conf").write_text(
        '[[registry]]\nlocation = "127.0.0.1"\nprefix = "127.0.0.1"\ninsecure = true\n'
    )
    environment = os.environ | {
        "CONTAINERS_CONF": str(folder / "containers.conf"),
        "CONTAINERS_REGISTRIES_CONF": str(folder / "registries.conf"),
    }
    store = ["--root", str(folder / "root"), "--runroot", str(folder / "run")]
    socket = folder / "s"
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            ["podman", *store, "system", "service", "-t", "0", f"unix://{socket}"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    deadline = time.monotonic() + 60
    while not socket.exists():
        assert time.monotonic() < deadline, (folder / "log").read_text()
        time.sleep(0.05)
    yield connect(f"unix://{socket}")
    process.terminate()
    process.wait(30)
    subprocess.run(
        ["podman", *store, "system", "reset", "--force"],
        env=environment,
        capture_output=True,
        check=False,
    )
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def debian(podman, engine_room):
    """Return an image with bash and Python, loaded into podman."""
    with Path(engine_room["VAIBIFY_TEST_ARCHIVE"]).open("rb") as archive:
        list(podman.load_image(archive))
    return engine_room["VAIBIFY_TEST_HOST_ID"]


def test_d10_exit_status_output_and_no_network(podman, debian):
    said = ask_image(podman, debian, "echo out; echo err >&2; cat /proc/net/dev | wc -l; exit 3")

    assert (said.code, said.out, said.err) == (3, b"out\n3\n", b"err\n")


def test_d10_built_and_looked_into(podman, debian):
    lines = []
    recipe = Recipe(f"FROM {debian}\nRUN echo hello\nUSER nobody\n", {}, (), {"a": "b"})

    built = build_image(podman, recipe, f"localhost/{unique()}:x", tell=lines.append)

    assert built.inside.python == look_inside(podman, debian).python is not None
    assert built.image.label["a"] == "b"
    assert any(line.text == "hello" for line in lines)


def test_d10_invented_digest_is_not_believed(podman, registry):
    made = small_image(podman, b"podman", f"localhost/{unique()}:x")
    invented = podman.inspect_image(made)["RepoDigests"]

    reference = images.push(podman, made, f"{registry.host}/trial:v1")
    podman.remove_image(made, force=True)
    pulled = images.pull(podman, reference)

    digest = reference.rpartition("@")[2]
    assert digest not in str(invented)
    assert pulled.image.config_digest == made
    pinned = EnvironmentFile("trial:v1", made, reference, pulled.image.platform, "pushed")
    report = check_image(pinned, missing=False, client=podman)
    assert (report.state, report.checked) == ("passed", 1)
    text = "this engine cannot ask a registry, so only its pull speaks for the image"
    assert text in report.warnings


def test_d10_both_engines_agree_on_the_config_digest(podman, client, registry):
    made = small_image(client, b"both", f"{unique()}:x")
    reference = images.push(client, made, f"{registry.host}/trial:v1")

    pulled = images.pull(podman, reference)

    assert pulled.image.config_digest == made


def test_d10_errors_of_the_stream_are_raised(podman, registry):
    made = small_image(podman, b"gone", f"localhost/{unique()}:x")
    missing = f"{registry.host}/trial@sha256:{'0' * 64}"

    with pytest.raises(ImageRefused):
        images.pull(podman, missing)
    registry.stop()
    with pytest.raises(RegistryUnreachable):
        images.push(podman, made, f"{registry.host}/trial:v1")
