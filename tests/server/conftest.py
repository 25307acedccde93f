"""A Jupyter Server in the tests' process, with the extension, on a folder that holds a project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytest_jupyter.jupyter_server import *  # noqa: F403  fixtures and hooks, for this folder only

from tests.kit import CHAIN, CHAIN_FILES, Made
from tests.server.client import Client


@pytest.fixture
def jp_server_config() -> dict[str, Any]:
    return {
        "ServerApp": {
            "jpserver_extensions": {"vaibify_lab": True},
            "allow_unauthenticated_access": False,
        }
    }


@pytest.fixture
def made(jp_root_dir: Path) -> Made:
    """The two steps of the kit, one folder below the server's root."""
    return Made.new(jp_root_dir / "co2", CHAIN, CHAIN_FILES)


@pytest.fixture
def client(jp_fetch: Any, jp_ws_fetch: Any) -> Client:
    return Client(jp_fetch, jp_ws_fetch)
