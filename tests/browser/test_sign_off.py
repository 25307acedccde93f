"""Signing off in the panel: by keyboard alone, over the bytes that were shown and no others."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.projects import gated
from tests.browser.screen import has_state, open_lab, open_panel
from tests.browser.server import Lab
from tests.kit import Made


@pytest.fixture
def made(lab: Lab) -> Made:
    made = gated(lab.root / "made")
    made.write("gate", "7\n")
    made.run()
    made.commit("run")
    return made


def is_signed(panel: Locator, step: str, word: str) -> None:
    """Wait until the row of a step says what the person said."""
    pattern = re.compile(f"^{step}, .*You: {word}")
    expect(panel.get_by_role("option", name=pattern)).to_have_count(1)


def test_a_sign_off_with_the_keyboard_alone_falls_when_a_plot_changes_and_comes_back(
    page: Page, lab: Lab, made: Made
) -> None:
    open_lab(page, lab)
    panel = open_panel(page)
    is_signed(panel, "Draw", "not signed off")
    panel.get_by_role("listbox").focus()
    page.keyboard.press("s")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("out/dot.png")
    expect(dialog.get_by_label("Pass")).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    is_signed(panel, "Draw", "signed off")
    assert made.states()["draw"][1] == "passed"

    plot = (made.root / "out/dot.png").read_bytes()
    made.write("out/dot.png", plot + b"\n")
    is_signed(panel, "Draw", "not signed off")
    made.write("out/dot.png", plot)
    is_signed(panel, "Draw", "signed off")


def test_what_changed_since_it_was_shown_is_not_signed_and_the_new_bytes_are_shown(
    page: Page, lab: Lab, made: Made
) -> None:
    open_lab(page, lab)
    panel = open_panel(page)
    has_state(panel, "Count", "current")
    panel.get_by_role("option", name=re.compile("^Count")).click()
    panel.get_by_role("button", name="Sign off…").first.click()
    dialog = page.get_by_role("dialog")
    old = dialog.locator("tbody code").inner_text()
    made.write("gate", "77\n")
    made.run(mode="all")
    dialog.get_by_label("Fail").check()
    dialog.get_by_label("Note").fill("<img src=x onerror=alert(1)> 100%")
    dialog.get_by_role("button", name="Sign off").click()
    expect(dialog.get_by_role("alert")).to_contain_text("The bytes changed")
    new = dialog.locator("tbody code").inner_text()
    assert new != old
    assert made.steps()["count"].user == "untested"
    dialog.get_by_label("Fail").check()
    dialog.get_by_role("button", name="Sign off").click()
    expect(dialog).to_have_count(0)
    is_signed(panel, "Count", "rejected")


def test_a_sign_off_needs_a_verdict_and_a_name(page: Page, lab: Lab, made: Made) -> None:
    open_lab(page, lab)
    panel = open_panel(page)
    panel.get_by_role("option", name=re.compile("^Count")).click()
    panel.get_by_role("button", name="Sign off…").first.click()
    dialog = page.get_by_role("dialog")
    name = dialog.get_by_label("Name")
    expect(name).to_have_value("Ada Test <ada@example.org>")
    dialog.get_by_role("button", name="Sign off").click()
    expect(dialog.get_by_role("alert")).to_contain_text("passes or fails")
    dialog.get_by_label("Pass").check()
    name.fill(" ")
    dialog.get_by_role("button", name="Sign off").click()
    expect(dialog.get_by_role("alert")).to_contain_text("name")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert made.steps()["count"].user == "untested"
