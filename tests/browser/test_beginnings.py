"""From an empty folder to an archived project, by what the panel offers; and without an engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import server
from tests.browser.axe import is_clean_in_every_theme
from tests.browser.screen import has_state, open_lab, open_panel, told
from tests.browser.server import Lab
from tests.kit import CHAIN, CHAIN_FILES, DIAMOND, Made, new_repository


def test_an_empty_folder_becomes_a_project_that_is_run_archived_and_verified(
    page: Page, lab: Lab
) -> None:
    open_lab(page, lab)
    panel = open_panel(page)
    expect(panel).to_contain_text("No project here yet")
    expect(panel).to_contain_text("is in no git repository")
    expect(panel.locator("pre")).to_have_text("git init")
    is_clean_in_every_theme(page, "#vaibify-panel")
    new_repository(lab.root)
    expect(panel).to_contain_text("has no workflow")
    is_clean_in_every_theme(page, "#vaibify-panel")
    panel.get_by_role("button", name="Set up a project here").click()
    expect(panel).to_contain_text("No steps yet")
    is_clean_in_every_theme(page, "#vaibify-panel")
    assert {"workflow.json", "vaibify.yml"} <= {one.name for one in lab.root.iterdir()}
    panel.get_by_role("button", name="Open the workflow file").click()
    expect(page.get_by_role("tab", name="workflow.json")).to_be_visible()

    made = Made(lab.root)
    made.workflow(CHAIN)
    for path, content in CHAIN_FILES.items():
        made.write(path, content)
    made.commit("steps")
    has_state(panel, "Make", "never run")
    panel.get_by_role("button", name="Run", exact=True).click()
    has_state(panel, "Use", "current")
    panel.get_by_role("button", name="More ways to run").click()
    page.get_by_role("menuitem", name="Verify All Steps, Running Nothing").click()
    told(page, "Every byte was read: 0 of 2 steps are verified. Not: Make, Use")
    panel.get_by_role("button", name="Archive").click()
    told(page, "The envelope is written.")
    listed = made.read("MANIFEST.sha256").count("\n")
    panel.get_by_role("heading", name="Project").click()
    panel.get_by_role("button", name="Verify", exact=True).click()
    told(page, f"{listed} of {listed} files are the ones listed.")
    made.write("make.sh", "exit 3\n")
    panel.get_by_role("button", name="Verify", exact=True).click()
    told(page, "Not confirmed")


def test_the_picker_opens_another_workflow_and_a_failed_step_is_acknowledged(
    page: Page, lab: Lab
) -> None:
    made = Made.new(lab.root / "made", CHAIN, {**CHAIN_FILES, "make.sh": "exit 3\n"})
    made.workflow(DIAMOND, at=".vaibify/workflows/other.json")
    made.commit()
    open_lab(page, lab)
    panel = open_panel(page)
    picker = panel.get_by_role("combobox", name="Workflow")
    expect(picker.get_by_role("option")).to_have_count(2)
    names = picker.get_by_role("option").all_inner_texts()
    other = next(one for one in names if "other.json" in one)
    picker.select_option(label=other)
    has_state(panel, "Left", "never run")
    picker.select_option(label=next(one for one in names if one != other))
    has_state(panel, "Make", "never run")
    panel.get_by_role("button", name="Run", exact=True).click()
    has_state(panel, "Make", "failed")
    told(page, "the run failed")
    panel.get_by_role("option", name="Make, failed").click()
    panel.get_by_role("button", name="Acknowledge").click()
    expect(panel.get_by_role("button", name="Acknowledge")).to_have_count(0)


@pytest.fixture
def engineless(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    """JupyterLab where no container engine answers."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    root = tmp_path / "root"
    root.mkdir()
    lab = server.start(home, root)
    yield lab
    lab.stop()


def test_without_an_engine_what_still_works_is_said_and_works(page: Page, engineless: Lab) -> None:
    Made.new(engineless.root / "made", CHAIN, CHAIN_FILES)
    open_lab(page, engineless)
    panel = open_panel(page)
    expect(panel.locator(".vb-Engine")).to_contain_text("no container engine")
    panel.get_by_role("heading", name="Project").click()
    expect(panel.get_by_role("button", name="Build", exact=True)).to_be_disabled()
    expect(panel).to_contain_text("No container engine answers here")
    panel.get_by_role("button", name="Run", exact=True).click()
    has_state(panel, "Use", "current")
