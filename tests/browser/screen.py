"""What a person does in JupyterLab."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Locator, Page, expect
from playwright.sync_api import Error as BrowserError

from tests.browser.server import Lab


@contextmanager
def fresh_page(browser: Browser) -> Iterator[Page]:
    """Give a page in a fresh profile."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(60_000)
    yield context.new_page()
    context.close()


_NO_THEME = "!!document.querySelector('.jp-Dialog')?.textContent.includes('Error Loading Theme')"


def open_lab(page: Page, lab: Lab, path: str = "lab") -> None:
    """Open JupyterLab and wait until it is there.

    JupyterLab gives its theme's stylesheet one and a half seconds; a browser that was too busy for
    that is told so by a dialog, and opens it again.
    """
    for _ in range(4):
        page.goto(lab.page(path, reset=""), wait_until="domcontentloaded")
        page.wait_for_function("window.jupyterapp !== undefined", timeout=120_000)
        page.evaluate("jupyterapp.restored")
        page.wait_for_selector("#jupyterlab-splash", state="detached")
        # last of all it opens its launcher, which takes the focus from whoever has it
        page.wait_for_function(f"document.activeElement.closest('.jp-Launcher') || {_NO_THEME}")
        if not page.evaluate(_NO_THEME):
            return
    raise AssertionError("JupyterLab could not load its theme")


def open_panel(page: Page) -> Locator:
    """Open the panel by its tab; return it."""
    page.locator('.jp-SideBar .lm-TabBar-tab[data-id="vaibify-panel"]').click()
    panel = page.locator("#vaibify-panel")
    expect(panel).to_be_visible()
    return panel


def choose(page: Page, *names: str) -> None:
    """Choose an entry of the menu bar, through the menus that lead to it.

    What is loaded last may take the focus, which closes a menu: then it is opened again.
    """
    for _ in range(6):
        try:
            for name in names:
                labels = page.locator(".lm-MenuBar-itemLabel, .lm-Menu-itemLabel")
                labels.filter(has_text=re.compile(f"^{name}$")).click(timeout=8_000)
            return
        except BrowserError:
            page.keyboard.press("Escape")
    raise AssertionError(f"the menus do not lead to {names[-1]}")


def has_state(panel: Locator, step: str, state: str) -> None:
    """Wait until the row of a step says that state."""
    pattern = re.compile(f"^{step}, {state}, ")
    expect(panel.get_by_role("option", name=pattern)).to_have_count(1)


def told(page: Page, text: str | re.Pattern[str]) -> None:
    """Wait until the person was told that; what was said stays in the notification centre."""
    page.locator(".jp-Notification-Status").click()
    expect(page.get_by_text(text).first).to_be_visible()
    page.locator(".jp-Notification-Status").click()
