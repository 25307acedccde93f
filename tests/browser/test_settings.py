"""What a person sets in JupyterLab's settings holds at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import server
from tests.browser.screen import has_state, open_lab, open_panel
from tests.browser.server import Lab
from tests.kit import Made

CHATTY = [
    {
        "sName": "Chatty",
        "saDataCommands": ["seq 100000 120000; echo 3 > out/n.txt"],
        "saDataFiles": ["out/n.txt"],
        "bNoTests": True,
    }
]


@pytest.fixture
def lab(home: Path, tmp_path: Path) -> Iterator[Lab]:
    """JupyterLab that by itself would look once in an hour."""
    root = tmp_path / "root"
    root.mkdir()
    lab = server.start(home, root, "--VaibifyApp.poll_seconds=3600")
    yield lab
    lab.stop()


def field(page: Page, name: str) -> Locator:
    """Return the field of a setting of ours in JupyterLab's editor of settings."""
    return page.locator(f'[id="jp-SettingsEditor-vaibify-lab:panel_{name}"]')


def test_side_pace_and_log_are_as_set(page: Page, lab: Lab) -> None:
    made = Made.new(lab.root / "made", CHATTY, {})
    made.run()
    open_lab(page, lab)
    panel = open_panel(page)
    has_state(panel, "Chatty", "current")
    panel.get_by_role("heading", name="Log").click()
    panel.get_by_role("button", name="Show the latest run").click()
    log = panel.get_by_role("log")
    expect(log).to_contain_text("100000")
    page.evaluate("jupyterapp.commands.execute('settingeditor:open', {query: 'Vaibify'})")
    expect(field(page, "side")).to_be_visible()

    field(page, "logKilobytes").fill("50")
    expect(log).not_to_contain_text("100000")
    expect(log).to_contain_text(re.compile(r"\d+(\.\d)? kB not shown"))
    expect(log).to_contain_text("120000")
    assert 1_000 < log.evaluate("node => node.textContent.length") < 60_000
    field(page, "logKilobytes").fill("400")
    expect(log).to_contain_text("100000")

    field(page, "pollSeconds").fill("1")
    made.write("out/n.txt", "4\n")
    has_state(panel, "Chatty", "stale")
    made.write("out/n.txt", "3\n")
    has_state(panel, "Chatty", "current")

    field(page, "side").select_option(label="right")
    expect(page.locator("#jp-right-stack").locator(panel)).to_have_count(1)
    has_state(page.locator("#jp-right-stack #vaibify-panel"), "Chatty", "current")
    field(page, "side").select_option(label="left")
    expect(page.locator("#jp-left-stack #vaibify-panel")).to_have_count(1)
