"""What the panel says and does where something is missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import server
from tests.browser.screen import has_state, open_lab, open_panel
from tests.browser.server import Lab
from tests.kit import CHAIN, CHAIN_FILES, Made


@pytest.fixture
def engineless(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """JupyterLab where no container engine answers."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    root = tmp_path / "root"
    root.mkdir()
    lab = server.start(home, root)
    yield lab
    lab.stop()


def test_without_an_engine_what_still_works_is_said_and_works(page: Page, engineless: Lab) -> None:
    Made.new(engineless.root / "made", CHAIN, CHAIN_FILES)
    open_lab(page, engineless)
    panel = open_panel(page)
    expect(panel.locator(".vb-Engine")).to_contain_text("no container engine")
    panel.get_by_role("heading", name="Project").click()
    expect(panel.get_by_role("button", name="Build", exact=True)).to_be_disabled()
    expect(panel).to_contain_text("No container engine answers here")
    panel.get_by_role("button", name="Run", exact=True).click()
    has_state(panel, "Use", "current")
