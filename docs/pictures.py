"""Takes the pictures: ``python docs/pictures.py FOLDER``, of a finished demo there.

Without FOLDER it takes only that of step cells, in a demo of its own.

Needs Chromium and what the ``browser`` extra installs.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.browser import server
from tests.browser.conftest import ARGUMENTS, NAMES
from tests.browser.screen import open_lab, open_panel
from tests.kit import Made, git
from vaibify_lab.demo import write_demo

Take = Callable[[Page, server.Lab, Path, Path], None]
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
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "root").mkdir()
        made = Made(Path(folder, "root/co2"))
        write_demo(made.root, notebook=True)
        git(made.root, "init", "-q")
        files = {"light": "cells"} | {name: f"cells-{name}" for name in ("dark", "high-contrast")}
        take_all(
            Path(folder), made.root, {files[name]: (THEMES[name], take_cells) for name in THEMES}
        )
    if len(sys.argv) > 1:
        with tempfile.TemporaryDirectory() as folder:
            wanted = {f"panel-{name}": (theme, take) for name, theme in THEMES.items()}
            wanted["step-by-hand"] = (THEMES["light"], waiting)
            take_all(Path(folder), Path(sys.argv[1]).resolve(), wanted)


def take_all(home: Path, demo: Path, wanted: dict[str, tuple[str, Take]]) -> None:
    """Take the wanted ones of a demo, each in its theme."""
    found = next((path for name in NAMES if name and (path := shutil.which(name))), None)
    with sync_playwright() as playwright:
        lab = server.start(home, demo.parent, variables=server.NO_ENGINE)
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        try:
            for name, (theme, one) in wanted.items():
                lab.theme(theme)
                page = browser.new_page(
                    viewport={"width": 1280, "height": 860}, reduced_motion="reduce"
                )
                one(page, lab, demo, HERE / f"{name}.png")
                page.close()
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


def waiting(page: Page, lab: server.Lab, demo: Path, picture: Path) -> None:
    """Make a project with a step done by hand, run it, open its terminal, and take one."""
    root = demo.parent / "by-hand"
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


def take_cells(page: Page, lab: server.Lab, demo: Path, picture: Path) -> None:
    """Run all cells, edit one, show what differs, and take one."""
    page.set_default_timeout(60_000)
    open_lab(page, lab)
    open_panel(page)
    path = f"{demo.name}/co2.ipynb"
    page.evaluate("path => jupyterapp.commands.execute('docmanager:open', {path})", path)
    notebook = page.locator(".jp-NotebookPanel .jp-Notebook")
    notebook.locator(".vb-Cell").first.wait_for()
    page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
    notebook.get_by_role("button", name=re.compile("^Figure, current")).wait_for()
    notebook.locator(".vaibify-step").nth(2).wait_for()
    mark = page.get_by_role("group", name="Step of this cell: Trend")
    notebook.locator(".jp-Cell").filter(has=mark).locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("\nprint(len(rows), 'rows')")
    notebook.get_by_role("button", name="Differences").click()
    page.locator(".jp-WindowedPanel-outer").evaluate("outer => outer.scrollTo(0, 460)")
    page.wait_for_timeout(1500)
    page.screenshot(path=picture)


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
