"""The extension's settings, from the file that the command line shares its name with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kit import Made
from tests.server.client import Client


@pytest.fixture
def settings(jp_config_dir: Path, jp_environ: None) -> None:
    jp_config_dir.mkdir(parents=True, exist_ok=True)
    lines = ("c.VaibifyApp.poll_seconds = 7", "c.VaibifyApp.engine = 'docker'")
    (jp_config_dir / "jupyter_vaibify_config.py").write_text("\n".join(lines) + "\n")


@pytest.fixture
def configured(settings: None, client: Client) -> Client:
    return client


async def test_the_configuration_file_is_read(configured: Client, made: Made) -> None:
    found = (await configured.get("projects")).json
    assert found["settings"] == {"poll_seconds": 7.0, "reviewer": False}
    run = await configured.post(f"projects/{found['projects'][0]['id']}/runs", {})
    lines = await configured.follow(
        f"projects/{found['projects'][0]['id']}/runs/{run.json['run_id']}/journal"
    )
    assert lines[-1]["event"] == "runRefused"  # nothing is pinned that a container could be made of
    named = await configured.run(found["projects"][0]["id"], engine="local")
    assert named[-1]["outcome"] == "passed"
