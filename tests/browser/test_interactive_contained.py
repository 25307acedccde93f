"""A step that a person does in the panel, inside the pinned image's container."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.screen import has_state, open_lab, open_panel
from tests.browser.server import Lab
from tests.browser.test_interactive import SHOWS, STEPS, expect_file
from tests.contained.pinned import Image, pinned, record


@pytest.fixture
def lab(engine_room: Any, lab: Lab) -> Lab:
    """The server is started when the engine's address is in the environment."""
    return lab


def test_the_terminal_is_inside_the_steps_own_container(page: Page, lab: Lab, image: Image) -> None:
    made = pinned(lab.root / "made", image, STEPS, {})
    open_lab(page, lab)
    panel = open_panel(page)
    expect(panel.locator(".vb-Engine")).to_contain_text(image.digest.removeprefix("sha256:")[:12])
    panel.get_by_role("button", name="Run", exact=True).click()
    panel.get_by_role("button", name="Look waits for you").click()
    place = panel.get_by_role("region", name="Waiting for you")
    place.get_by_role("button", name="Open terminal").click()
    terminal = page.locator(".jp-Terminal:visible")
    expect(terminal).to_have_count(1)
    page.wait_for_function(SHOWS, arg="vaibify:/workspace/made")
    terminal.locator("textarea").focus()
    page.keyboard.type("(pwd; hostname; echo x > .git/x) > marks/m.txt 2> /dev/null; echo e$?\n")
    page.wait_for_function(SHOWS, arg="e1")  # of .git nothing can be written there
    expect_file(page, made, "marks/m.txt", "/workspace/made\nvaibify\n")
    place.get_by_role("button", name="Complete").click()
    has_state(panel, "Use", "current")
    assert record(made, "look").isolation == "container"
    assert made.steps()["look"].in_pinned_image
