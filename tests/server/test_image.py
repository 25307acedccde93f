"""Image and container over HTTP, with the real engine and with none (case D08)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contained.conftest import image  # noqa: F401  a fixture
from tests.contained.pinned import Image, pin
from tests.containers import bare, base, client, engine_room, python, registry  # noqa: F401
from tests.kit import CHAIN, CHAIN_FILES, Made
from tests.server.client import Client
from vaibify_lab.engines.image import terminal

pytestmark = pytest.mark.usefixtures("engine_room")


@pytest.fixture
def ask(jp_fetch: Any, jp_ws_fetch: Any) -> Client:
    return Client(jp_fetch, jp_ws_fetch)


@pytest.fixture
def contained(jp_root_dir: Path, image: Image, client: Any) -> Iterator[Made]:  # noqa: F811
    made = Made.new(jp_root_dir / "co2", CHAIN, CHAIN_FILES)
    pin(made, image)
    made.commit("pinned")
    yield made
    terminal.stop(client, made.root)


async def test_a_pinned_image_that_is_here(ask: Client, contained: Made, image: Image) -> None:  # noqa: F811
    found = (await ask.get(f"projects/{await ask.id()}/image")).json
    assert found["engine"]["state"] == "ok" and found["engine"]["version"]
    assert found["pinned"]["config_digest"] == image.digest
    assert found["here"] is True
    assert found["build"] is None


async def test_the_container_from_start_to_stop(ask: Client, contained: Made) -> None:
    address = f"projects/{await ask.id()}/container"
    assert (await ask.get(address)).json["state"] == "none"
    started = await ask.post(address, {})
    assert (started.status, started.json["already"]) == (201, False)
    found = (await ask.get(address)).json
    assert (found["state"], found["name"], found["error"]) == (
        "running",
        started.json["container"],
        None,
    )
    assert found["memory_bytes"] >= 0 and found["cpu_percent"] is not None
    assert {(one["host"], one["writable"]) for one in found["mounts"]} == {
        (str(contained.root), True),
        (f"{contained.root}/.git", False),
        (f"{contained.root}/.vaibify", False),
    }
    assert (await ask.post(address)).json["already"] is True
    assert (await ask.ask("DELETE", address)).json == {"stopped": True}
    assert (await ask.ask("DELETE", address)).json == {"stopped": False}


async def test_a_step_runs_in_its_container(ask: Client, contained: Made) -> None:
    identity = await ask.id()
    events = await ask.run(identity)
    assert (events[-1]["outcome"], events[-1]["steps"]["make"]) == ("passed", "passed")
    assert {one["isolation"] for one in (await ask.steps(identity)).values()} == {"container"}


async def test_a_build_tells_its_lines(
    ask: Client,
    jp_root_dir: Path,
    client: Any,  # noqa: F811
    bare: str,  # noqa: F811
) -> None:
    made = Made.new(jp_root_dir / "built", CHAIN, CHAIN_FILES)
    tag = next(one for one in client.inspect_image(bare)["RepoTags"] if "host:" in one)
    made.write("Dockerfile", f"FROM {tag}\nLABEL unlike=http-{os.getpid()}\nRUN echo hello\n")
    made.commit()
    identity = await ask.id()
    job = (await ask.post(f"projects/{identity}/image", {"no_cache": False})).json["job"]
    lines = await ask.follow(f"projects/{identity}/jobs/{job}/journal")
    assert lines[-1]["event"] == "jobDone", lines[-1]
    said = [one["text"] for one in lines if one["event"] == "buildLine"]
    assert "hello" in said and lines[-1]["result"]["config_digest"].startswith("sha256:")
    found = (await ask.get(f"projects/{identity}/image")).json
    assert found["pinned"]["config_digest"] == lines[-1]["result"]["config_digest"]
    assert (found["build"]["job"], found["build"]["state"]) == (job, "done")
    client.remove_image(lines[-1]["result"]["config_digest"], force=True)


async def test_without_an_engine_everything_else_answers(
    ask: Client, contained: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    identity = await ask.id()
    found = (await ask.get(f"projects/{identity}/image")).json
    assert (found["engine"]["state"], found["here"]) == ("missing", "unknown")
    assert found["engine"]["error"]["code"] == "engine-missing"
    container = (await ask.get(f"projects/{identity}/container")).json
    assert (container["state"], container["error"]["code"]) == ("unknown", "engine-missing")
    started = await ask.post(f"projects/{identity}/container", {})
    assert (started.status, started.code) == (503, "engine-missing")
    job = (await ask.post(f"projects/{identity}/image", {})).json["job"]
    last = (await ask.follow(f"projects/{identity}/jobs/{job}/journal"))[-1]
    assert (last["event"], last["error"]["code"]) == ("jobFailed", "engine-missing")
    assert (await ask.get(f"projects/{identity}/file-status")).status == 200
