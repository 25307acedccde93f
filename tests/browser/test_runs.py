"""Running in the panel: steps turn, the log is there, a run is stopped and found again."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.projects import gated
from tests.browser.screen import has_state, open_lab, open_panel
from tests.browser.server import Lab
from tests.kit import Made


@pytest.fixture
def made(lab: Lab) -> Made:
    return gated(lab.root / "made")


def start_all(page: Page, panel: Locator) -> None:
    """Open the menu and run all steps, once the project is there."""
    expect(panel.get_by_role("button", name="Run", exact=True)).to_be_enabled()
    panel.get_by_role("button", name="More ways to run").click()
    page.get_by_role("menuitem", name="Run All Steps").click()


def test_steps_turn_while_all_of_them_run_and_the_end_is_told(
    page: Page, lab: Lab, made: Made
) -> None:
    open_lab(page, lab)
    panel = open_panel(page)
    has_state(panel, "Draw", "never run")
    start_all(page, panel)
    has_state(panel, "Draw", "running")
    has_state(panel, "Count", "queued")
    expect(panel.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    made.write("gate", "7\n")
    has_state(panel, "Draw", "current")
    has_state(panel, "Count", "current")
    page.locator(".jp-Notification-Status").click()
    expect(page.get_by_text("the run passed").first).to_be_visible()
    expect(panel.get_by_role("button", name="Run", exact=True)).to_be_enabled()


def test_a_run_is_stopped_and_shown_as_interrupted(page: Page, lab: Lab, made: Made) -> None:
    open_lab(page, lab)
    panel = open_panel(page)
    start_all(page, panel)
    has_state(panel, "Draw", "running")
    panel.get_by_role("button", name="Stop").click()
    has_state(panel, "Draw", "interrupted")
    expect(panel.get_by_role("button", name="Stop")).to_be_disabled()


def test_a_page_that_is_opened_again_shows_the_live_run_and_its_whole_log(
    page: Page, lab: Lab, made: Made
) -> None:
    open_lab(page, lab)
    panel = open_panel(page)
    start_all(page, panel)
    has_state(panel, "Draw", "running")
    open_lab(page, lab)
    panel = open_panel(page)
    has_state(panel, "Draw", "running")
    panel.get_by_role("heading", name="Log").click()
    log = panel.get_by_role("log")
    expect(log).to_contain_text("drawing begins")
    made.write("gate", "7\n")
    expect(log).to_contain_text("drawing ends")
    expect(log).to_contain_text("The run ended: passed")
