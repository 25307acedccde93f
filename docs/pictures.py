"""Takes the pictures of the panel: ``python docs/pictures.py FOLDER``, of a finished demo there.

Needs Chromium and what the ``browser`` extra installs.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Locator, Page, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.browser import server
from tests.browser.conftest import ARGUMENTS, NAMES
from tests.browser.screen import open_lab, open_panel
from tests.kit import Made

HERE = Path(__file__).resolve().parent
THEMES = {
    "light": "JupyterLab Light",
    "dark": "JupyterLab Dark",
    "high-contrast": "JupyterLab Dark High Contrast",
}

BY_HAND = [
    {
        "sName": "Mark the outliers",
        "bInteractive": True,
        "sDescription": "Look at the scatter plot and list the months that are outliers.",
        "saDataCommands": ["vi marks/outliers.txt"],
        "saDataFiles": ["marks/outliers.txt"],
        "bNoInputData": True,
        "bNoTests": True,
    }
]


def main() -> None:
    """Take them all."""
    demo = Path(sys.argv[1]).resolve()
    found = next((path for name in NAMES if name and (path := shutil.which(name))), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        lab = server.start(Path(folder), demo.parent, variables=server.NO_ENGINE)
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        try:
            for name, theme in THEMES.items():
                lab.theme(theme)
                page = browser.new_page(
                    viewport={"width": 1280, "height": 860}, reduced_motion="reduce"
                )
                take(page, lab, demo, HERE / f"panel-{name}.png")
                page.close()
            lab.theme(THEMES["light"])
            page = browser.new_page(viewport={"width": 1280, "height": 860})
            waiting(page, lab, demo.parent / "by-hand", HERE / "step-by-hand.png")
        finally:
            browser.close()
            lab.stop()


def take(page: Page, lab: server.Lab, demo: Path, picture: Path) -> None:
    """Show the figure's step, its file beside it, and take one."""
    page.set_default_timeout(60_000)
    expect.set_options(timeout=60_000)
    open_lab(page, lab)
    panel = open_panel(page)
    widen(page, panel, 380)
    panel.get_by_role("option", name=re.compile("^Figure")).click()
    expect(panel.locator(".vb-Detail h3")).to_have_text("Figure")
    panel.locator(".vb-Plots button").first.click()
    expect(page.locator(".vb-Beside img")).to_have_count(2)
    page.mouse.move(900, 600)
    page.wait_for_timeout(2500)
    page.screenshot(path=picture)


def waiting(page: Page, lab: server.Lab, root: Path, picture: Path) -> None:
    """Make a project with a step done by hand, run it, open its terminal, and take one."""
    Made.new(root, BY_HAND, {})
    open_lab(page, lab)
    panel = open_panel(page)
    widen(page, panel, 380)
    picker = panel.get_by_role("combobox", name="Workflow")
    wanted = picker.get_by_role("option").filter(has_text=f"({root.name}:")
    picker.select_option(label=wanted.inner_text())
    expect(panel.get_by_role("option", name=re.compile("^Mark the outliers"))).to_be_visible()
    panel.get_by_role("button", name="Run", exact=True).click()
    panel.get_by_role("button", name="Mark the outliers waits for you").click()
    panel.get_by_role("button", name="Open terminal").click()
    expect(page.locator(".jp-Terminal:visible")).to_have_count(1)
    page.mouse.move(900, 600)
    page.wait_for_timeout(2500)
    page.screenshot(path=picture)
    panel.get_by_role("button", name="Stop").click()
    expect(panel.get_by_role("button", name="Stop")).to_be_disabled()
    shutil.rmtree(root)


def widen(page: Page, panel: Locator, width: int) -> None:
    """Draw the panel's edge to that width."""
    box = panel.bounding_box()
    assert box is not None
    edge = box["x"] + box["width"] + 2
    page.mouse.move(edge, 500)
    page.mouse.down()
    page.mouse.move(box["x"] + width, 500, steps=5)
    page.mouse.up()


if __name__ == "__main__":
    main()
