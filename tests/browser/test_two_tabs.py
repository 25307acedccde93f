"""Two tabs of one browser on one project: one run at a time, one truth, each lives by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.projects import gated
from tests.browser.screen import has_state, open_lab, open_panel, told
from tests.browser.server import Lab
from tests.kit import Made

RUNS = re.compile(r"/runs\b")
RUNNING = re.compile(r"Running since .*\d.*, by Ada Test")
REFUSED = re.compile(r"a run is in progress: \S+, started by Ada Test .* at 2\d{3}-")


@pytest.fixture
def made(lab: Lab) -> Made:
    """A project that is run already, and whose first step would wait again."""
    made = gated(lab.root / "made")
    made.write("gate", "7\n")
    made.run()
    (made.root / "gate").unlink()
    return made


@pytest.fixture
def other(page: Page) -> Iterator[Page]:
    """A second tab of the same profile."""
    errors: list[str] = []
    other = page.context.new_page()
    other.on("pageerror", lambda error: errors.append(str(error)))
    yield other
    assert errors == []


def sign_off(page: Page, panel: Locator) -> None:
    """Sign the step that is open off."""
    panel.get_by_role("option", name=re.compile("^Count")).click()
    panel.get_by_role("button", name="Sign off…").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Pass").check()
    dialog.get_by_role("button", name="Sign off").click()
    expect(dialog).to_have_count(0)


def test_two_tabs_share_a_run_and_its_refusal_a_sign_off_and_outlive_one_another(
    page: Page, other: Page, lab: Lab, made: Made
) -> None:
    panels = {}
    for tab, path in ((page, "lab"), (other, "lab/workspaces/other")):
        open_lab(tab, lab, path)  # JupyterLab would send a second tab of one workspace to another
        panels[tab] = open_panel(tab)
        has_state(panels[tab], "Count", "current")
    signed = panels[other].get_by_role("option", name=re.compile("^Count, .* You: signed off"))
    expect(signed).to_have_count(0)
    sign_off(page, panels[page])
    expect(signed).to_have_count(1)

    slow: list[Route] = []  # the second key is down before any word of the first run is there
    other.route(RUNS, lambda route: slow.append(route))
    for tab in (other, page):
        panels[tab].get_by_role("option", name=re.compile("^Draw")).click()
        panels[tab].get_by_role("listbox").press("r")
    for tab in (page, other):
        expect(panels[tab].locator(".vb-Progress")).to_contain_text(RUNNING)
        has_state(panels[tab], "Draw", "running")
        expect(panels[tab].get_by_role("button", name="Run", exact=True)).to_be_disabled()
    (request,) = slow
    request.continue_()
    other.unroute(RUNS)
    told(other, REFUSED)
    page.close()
    panels[other].get_by_role("heading", name="Log").click()
    log = panels[other].get_by_role("log")
    expect(log).to_contain_text("drawing begins")
    made.write("gate", "8\n")
    expect(log).to_contain_text("The run ended: passed")
    has_state(panels[other], "Draw", "current")
    has_state(panels[other], "Count", "stale")  # it read what was drawn
    panels[other].get_by_role("button", name="Run", exact=True).click()
    told(other, "the run passed")
    has_state(panels[other], "Count", "current")
