"""The panel in Notebook 7."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import server
from tests.browser.projects import gated
from tests.browser.screen import choose, fresh_page, has_state

EXPOSE = "--JupyterNotebookApp.expose_app_in_browser=True"
OPEN = "vaibify:open"  # the panel's plugin is there
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
NOTEBOOK = json.dumps({"cells": [], "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture
def classic(home: Path, tmp_path: Path) -> Iterator[server.Lab]:
    """Notebook 7 on an empty folder."""
    root = tmp_path / "root"
    root.mkdir()
    command = (sys.executable, "-m", "notebook", f"--ServerApp.root_dir={root}")
    lab = server.start(home, root, EXPOSE, command=command)
    yield lab
    lab.stop()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page where nothing of ours may raise; Notebook itself does, also without us."""
    errors: list[str] = []
    with fresh_page(browser) as page:
        page.on("pageerror", lambda error: errors.append(str(error.stack)))
        page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
        yield page
        raised = [error for error in errors if "vaibify" in error]
    assert raised == []


def opened(page: Page, lab: server.Lab, path: str) -> Locator:
    """Open a page and, by its menu, the panel."""
    page.goto(lab.page(path), wait_until="domcontentloaded")
    page.wait_for_function("window.jupyterapp !== undefined", timeout=120_000)
    page.evaluate("jupyterapp.restored")
    page.wait_for_function(f"jupyterapp.commands.hasCommand('{OPEN}')")
    choose(page, "View", "Left Sidebar", "Show Vaibify")
    panel = page.locator("#vaibify-panel")
    expect(panel).to_be_visible()
    return panel


def test_run_and_see_beside_the_files(page: Page, classic: server.Lab) -> None:
    made = gated(classic.root / "made")
    made.write("gate", "7\n")
    panel = opened(page, classic, "tree")
    has_state(panel, "Draw", "never run")
    panel.get_by_role("button", name="More ways to run").click()
    page.get_by_role("menuitem", name="Run All Steps").click()
    has_state(panel, "Count", "current")


def test_beside_a_notebook_its_own_project_is_shown(page: Page, classic: server.Lab) -> None:
    gated(classic.root / "another")
    mine = gated(classic.root / "mine")
    workflow = json.loads(mine.read("workflow.json"))
    workflow["sWorkflowName"] = "Mine"
    mine.write("workflow.json", json.dumps(workflow))
    mine.write("look.ipynb", NOTEBOOK)
    panel = opened(page, classic, "notebooks/mine/look.ipynb")
    expect(panel.get_by_label("Workflow")).to_contain_text("mine")
