"""The real engine and the local tiers, as grounds for attacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contained.conftest import image as image
from tests.containers import client as client
from tests.containers import engine_room as engine_room

from .ground import CONTAINERS, GROUNDS, Ground


@pytest.fixture(params=GROUNDS)
def ground(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Ground:
    """Return each ground in turn."""
    name = request.param
    trust = tmp_path / "gitconfig"
    trust.write_text("[safe]\n\tdirectory = *\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(trust))
    found = request.getfixturevalue("image") if name in CONTAINERS else None
    return Ground(name, tmp_path, found)
