"""A step that a person does, in the panel: waited for, held, done in a terminal, completed."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import is_clean_in_every_theme
from tests.browser.screen import has_state, open_lab, open_panel
from tests.browser.server import Lab
from tests.kit import Made
from tests.runs.here import by_hand

SHOWS = """text => {
    const buffer = jupyterapp.shell.currentWidget?.content?._term?.buffer.active ?? {length: 0};
    const lines = Array.from({length: buffer.length}, (_, i) => buffer.getLine(i));
    return lines.some(line => line.translateToString().includes(text));
}"""
STEPS = [
    by_hand("vi marks/m.txt"),
    {
        "sName": "Use",
        "saDataCommands": ["wc -c < {Step01.m} > used/u.txt"],
        "saDataFiles": ["used/u.txt"],
        "bNoTests": True,
    },
]


@pytest.fixture
def made(lab: Lab) -> Made:
    return Made.new(lab.root / "made", STEPS, {})


def begin(page: Page, lab: Lab) -> tuple[Locator, Locator]:
    """Run, and go to the step that waits; return the panel and what it offers there."""
    open_lab(page, lab)
    panel = open_panel(page)
    expect(panel.get_by_role("button", name="Run", exact=True)).to_be_enabled()
    panel.get_by_role("button", name="Run", exact=True).click()
    panel.get_by_role("button", name="Look waits for you").click()
    place = panel.get_by_role("region", name="Waiting for you")
    expect(place).to_contain_text("vi marks/m.txt")
    return panel, place


def test_a_step_is_held_done_in_a_terminal_of_its_own_and_completed(
    page: Page, lab: Lab, made: Made
) -> None:
    panel, place = begin(page, lab)
    has_state(panel, "Look", "waiting for you")
    is_clean_in_every_theme(page, "#vaibify-panel")
    place.get_by_role("button", name="Pause").click()
    expect(place.get_by_role("heading")).to_have_text("Paused")
    expect(place.get_by_role("button", name="Open terminal")).to_be_disabled()
    place.get_by_role("button", name="Resume").click()
    expect(place.get_by_role("heading")).to_have_text("Waiting for you")
    place.get_by_role("button", name="Open terminal").click()
    terminal = page.locator(".jp-Terminal:visible")
    expect(terminal).to_have_count(1)
    page.wait_for_function(SHOWS, arg="[look]")
    terminal.locator("textarea").focus()
    page.keyboard.type("echo outliers > marks/m.txt\n")
    expect_file(page, made, "marks/m.txt", "outliers\n")
    place.get_by_role("button", name="Complete").click()
    has_state(panel, "Look", "current")
    has_state(panel, "Use", "current")
    assert made.read("used/u.txt") == "9\n"
    assert made.project().report().steps[0].run == "current"


def test_a_step_that_is_given_up_asks_first_and_puts_back_what_was_there(
    page: Page, lab: Lab, made: Made
) -> None:
    panel, place = begin(page, lab)
    made.write("marks/m.txt", "half done\n")
    place.get_by_role("button", name="Give up").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("put back")
    dialog.get_by_role("button", name="Give up").click()
    has_state(panel, "Look", "interrupted")
    assert not (made.root / "marks/m.txt").exists()
    expect(place).to_have_count(0)
    panel.get_by_role("option", name=re.compile("^Look")).click()
    panel.get_by_role("button", name="Acknowledge").click()
    expect(panel.get_by_role("button", name="Acknowledge")).to_have_count(0)


def expect_file(page: Page, made: Made, path: str, text: str) -> None:
    """Wait until a file holds that text."""
    for _ in range(600):
        if (made.root / path).exists() and made.read(path) == text:
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"{path} was not written")
