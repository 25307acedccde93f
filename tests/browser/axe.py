"""What axe finds on the page, in each theme."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

THEMES = ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# axe takes what lies in JupyterLab's <body>, which has no height, for hidden, and passes over it
TALL = "body { height: 100vh !important; }"


def put_on(page: Page, theme: str) -> None:
    """Change the theme and wait until it is there."""
    change = "theme => jupyterapp.commands.execute('apputils:change-theme', {theme})"
    page.evaluate(change, theme)
    page.wait_for_function("theme => document.body.dataset.jpThemeName === theme", arg=theme)
    page.wait_for_selector("#jupyterlab-splash", state="detached")  # it covers the page meanwhile
    page.mouse.move(700, 5)  # nothing is hovered


def is_clean(page: Page, *places: str) -> None:
    """Let axe look at these parts of the page."""
    page.add_style_tag(content=TALL)
    for place in places:
        found = Axe().run(page, context=place, options={"runOnly": RULES})
        assert "color-contrast" in [rule["id"] for rule in found.response["passes"]], place
        assert found.violations_count == 0, (place, found.generate_report())


def is_clean_in_every_theme(page: Page, *places: str) -> None:
    """Let axe look in one theme after the other."""
    for theme in THEMES:
        put_on(page, theme)
        is_clean(page, *places)
