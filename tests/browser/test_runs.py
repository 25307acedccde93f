"""Running in the panel: steps turn, the log is there, a run is stopped and found again."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import server
from tests.browser.projects import gated
from tests.browser.screen import has_state, open_lab, open_panel, told
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


def test_a_server_that_is_restarted_finds_the_run_and_the_page_goes_on_with_it(
    page: Page, lab: Lab, home: Path, made: Made
) -> None:
    open_lab(page, lab)
    panel = open_panel(page)
    start_all(page, panel)
    has_state(panel, "Draw", "running")
    panel.get_by_role("heading", name="Log").click()
    log = panel.get_by_role("log")
    expect(log).to_contain_text("drawing begins")
    port = urlsplit(lab.url).port
    assert port is not None
    lab.stop()
    expect(panel).to_contain_text("What is shown may be old.")
    again = server.start(home, lab.root, port=port, token=lab.token)
    try:
        has_state(panel, "Draw", "running")
        made.write("gate", "7\n")
        has_state(panel, "Count", "current")
        expect(log).to_contain_text("The run ended: passed")
        for text in ("drawing begins", "drawing ends"):
            assert log.inner_text().count(text) == 1
    finally:
        again.stop()


def test_a_second_run_is_refused_with_who_runs_and_since_when(
    page: Page, lab: Lab, made: Made
) -> None:
    page.route_web_socket(re.compile("events/subscribe"), lambda socket: None)  # hears nothing
    open_lab(page, lab)
    panel = open_panel(page)
    has_state(panel, "Draw", "never run")
    page.route("**/file-status", lambda route: route.abort())  # nor when it asks
    project = lab.ask("vaibify/projects")["projects"][0]["id"]
    run = lab.ask(f"vaibify/projects/{project}/runs", "POST", {})["run_id"]
    panel.get_by_role("button", name="Run", exact=True).click()
    told(page, re.compile(f"a run is in progress: {run}, started by Ada Test .* at 2"))
    lab.ask(f"vaibify/projects/{project}/runs/{run}", "DELETE")
    page.unroute("**/file-status")
    has_state(panel, "Draw", "interrupted")
