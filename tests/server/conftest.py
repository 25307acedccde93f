"""A Jupyter Server in the tests' process, with the extension, on a folder that holds a project."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_jupyter.jupyter_server import *  # noqa: F403  fixtures and hooks, for this folder only

from tests.kit import CHAIN, CHAIN_FILES, Made
from tests.server.client import Client
from tests.server.process import Server


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


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server in a process of its own."""
    place = tmp_path_factory.mktemp("server")
    (place / "work").mkdir()
    found = Server(place / "work", place / "home")
    found.start()
    yield found
    found.kill(signal.SIGTERM)
