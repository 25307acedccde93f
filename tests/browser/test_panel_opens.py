"""The panel is in JupyterLab."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.screen import open_lab, open_panel
from tests.browser.server import Lab


def test_the_panel_opens_from_its_tab_and_is_a_named_region(page: Page, lab: Lab) -> None:
    open_lab(page, lab)
    panel = open_panel(page)
    assert (panel.get_attribute("role"), panel.get_attribute("aria-label")) == ("region", "Vaibify")
