"""The image built from the panel: watched, cancelled, built for good, and run in."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import is_clean_in_every_theme
from tests.browser.screen import has_state, open_lab, open_panel, told
from tests.browser.server import Lab
from tests.containers import unique
from tests.kit import CHAIN, CHAIN_FILES, Made

pytestmark = pytest.mark.usefixtures("engine_room")


@pytest.fixture
def lab(engine_room: Any, lab: Lab) -> Lab:
    """The server is started when the engine's address is in the environment."""
    return lab


def test_a_build_is_watched_cancelled_and_done_and_no_run_begins_beside_it(
    page: Page, lab: Lab, client: Any, bare: str
) -> None:
    made = Made.new(lab.root / "made", CHAIN, CHAIN_FILES)
    tag = next(one for one in client.inspect_image(bare)["RepoTags"] if "host:" in one)
    head = f"FROM {tag}\nLABEL unlike={unique()}\n"
    made.write("Dockerfile", f"{head}RUN echo begun && sleep 600\n")
    made.commit()
    open_lab(page, lab)
    panel = open_panel(page)
    has_state(panel, "Make", "never run")
    panel.get_by_role("heading", name="Project").click()
    panel.get_by_role("button", name="Build", exact=True).click()
    log = panel.get_by_role("log", name="Log of the build")
    expect(log).to_contain_text("begun")
    open_lab(page, lab)  # the page is opened again, and finds the build
    panel = open_panel(page)
    panel.get_by_role("heading", name="Project").click()
    expect(log).to_contain_text("begun")
    panel.get_by_role("button", name="Run", exact=True).click()
    told(page, "the image is being built, begun by")
    is_clean_in_every_theme(page, "#vaibify-panel")
    panel.get_by_role("button", name="Cancel the build").click()
    expect(panel.get_by_text("cancelled; nothing was pinned")).to_be_visible()
    is_clean_in_every_theme(page, "#vaibify-panel")

    made.write("Dockerfile", f"{head}RUN echo hello\n")
    panel.get_by_role("button", name="L3 Reproducible").click()
    panel.get_by_role("button", name="Build the image").first.click()
    expect(panel.get_by_text("built and pinned")).to_be_visible()
    expect(log).to_contain_text("hello")
    digest = lab.ask(f"vaibify/projects/{identity(lab)}/image")["pinned"]["config_digest"]
    expect(panel.locator(".vb-Engine")).to_contain_text(digest.removeprefix("sha256:")[:12])
    panel.get_by_role("button", name="Run", exact=True).click()
    has_state(panel, "Use", "current")
    steps = lab.ask(f"vaibify/projects/{identity(lab)}/file-status")["steps"]
    assert {one["isolation"] for one in steps} == {"container"}
    client.remove_image(digest, force=True)


def identity(lab: Lab) -> str:
    """Return the project's id."""
    return str(lab.ask("vaibify/projects")["projects"][0]["id"])
