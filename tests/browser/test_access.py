"""Everybody can use it: axe in every theme, keys alone, what is said aloud, behind a hub."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import server
from tests.browser.axe import THEMES, is_clean, put_on
from tests.browser.projects import gated
from tests.browser.screen import has_state, open_lab, open_panel
from tests.browser.server import Lab
from tests.kit import Made


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("access")
    (place / "home").mkdir()
    (place / "root").mkdir()
    return place


@pytest.fixture(scope="module")
def made(place: Path) -> Made:
    """A project with one step verified as far as a machine can, and one that failed."""
    made = gated(place / "root" / "made")
    made.write("gate", "7\n")
    made.run()
    made.commit("run")
    return made


@pytest.fixture(scope="module")
def lab(place: Path, made: Made) -> Iterator[Lab]:
    """One JupyterLab for all of this, as behind a hub."""
    lab = server.start(place / "home", place / "root", "--ServerApp.base_url=/user/ana/")
    yield lab
    lab.stop()


def opened(page: Page, lab: Lab) -> Locator:
    """Open the panel with everything in it to be seen."""
    open_lab(page, lab)
    panel = open_panel(page)
    has_state(panel, "Draw", "current")
    panel.get_by_role("option", name=re.compile("^Draw")).click()
    expect(panel.locator(".vb-Detail h3")).to_have_text("Draw")
    panel.get_by_role("button", name=re.compile("^L1 ")).click()
    return panel


@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_nothing(page: Page, lab: Lab, theme: str) -> None:
    panel = opened(page, lab)
    put_on(page, theme)
    panel.get_by_role("button", name="Show sign-offs").click()
    is_clean(page, "#vaibify-panel", ".vb-StatusItem")
    for section in ("Project", "Log"):
        panel.get_by_role("heading", name=section).click()
    panel.get_by_role("button", name="Show the latest run").click()
    expect(panel.get_by_role("log")).to_contain_text("drawing ends")
    is_clean(page, "#vaibify-panel")
    panel.get_by_role("button", name="Sign off…").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Sign off").click()
    expect(dialog.get_by_role("alert")).not_to_be_empty()
    is_clean(page, ".jp-Dialog-content")


def test_axe_finds_nothing_for_a_reviewer(page: Page, lab: Lab) -> None:
    lab.setting("vaibify-lab:panel", reviewer=True)
    try:
        panel = opened(page, lab)
        expect(panel.locator(".vb-Tiers > li")).to_have_count(3)
        for theme in THEMES:
            put_on(page, theme)
            is_clean(page, "#vaibify-panel")
        panel.get_by_role("button", name="Write a review…").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="Download").click()
        expect(dialog.get_by_role("alert")).not_to_be_empty()
        is_clean(page, ".jp-Dialog-content")
    finally:
        lab.setting("vaibify-lab:panel", reviewer=False)


SEEN = """() => {
  const panel = document.getElementById('vaibify-panel');
  const node = document.activeElement;
  if (!panel.contains(node)) return null;
  const active = node.getAttribute('aria-activedescendant');
  const style = getComputedStyle(active ? document.getElementById(active) : node);
  const seen = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
  const name = node.getAttribute('aria-label') || node.innerText || node.tagName;
  return [name.split('\\n')[0], seen];
}"""
REACHABLE = "button:not(:disabled), a[href], select, summary, [tabindex='0']"


def _settled(page: Page, wanted: Locator) -> None:
    """Wait until the panel's parts have come, each when the server has answered for it."""
    seen: list[int] = []
    while len(seen) < 5 or len(set(seen[-5:])) > 1:
        seen.append(wanted.count())
        page.wait_for_timeout(400)


def test_the_keyboard_reaches_everything_and_the_focus_is_seen(page: Page, lab: Lab) -> None:
    panel = opened(page, lab)
    panel.get_by_role("heading", name="Project").click()
    expect(panel.get_by_role("button", name="Verify")).to_be_visible()
    wanted = panel.locator(REACHABLE).filter(visible=True)
    _settled(page, wanted)
    panel.get_by_role("button", name="Look again").focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    reached: list[str] = []
    while (found := page.evaluate(SEEN)) is not None and len(reached) < 100:
        reached.append(found[0])
        assert found[1], f"the focus on {found[0]!r} is not seen, after {reached}"
        page.keyboard.press("Tab")
    assert len(reached) == wanted.count(), (reached, wanted.all_inner_texts())
    for name in ("Look again", "Run", "More ways to run", "Archive", "Steps", "Sign off…"):
        assert name in reached


def test_the_keys_of_the_list_and_of_the_menu(page: Page, lab: Lab) -> None:
    panel = opened(page, lab)
    steps = panel.get_by_role("listbox")
    steps.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(panel.locator(".vb-Detail h3")).to_have_text("Count")
    page.keyboard.press("Space")
    expect(panel.get_by_role("option", selected=True)).to_have_text(re.compile("^Count"))
    page.keyboard.press("Space")
    expect(panel.get_by_role("option", selected=True)).to_have_count(0)
    panel.get_by_role("button", name="More ways to run").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem", name="Run All Steps")).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel.get_by_role("button", name="More ways to run")).to_be_focused()
    steps.focus()
    page.keyboard.press("s")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(steps).to_be_focused()


LISTEN = """node => {
  window.heard = [];
  const listen = () => window.heard.push(node.textContent);
  new MutationObserver(listen).observe(node, {childList: true, characterData: true, subtree: true});
}"""


def test_changes_are_said_aloud_and_seen_behind_a_hub(page: Page, lab: Lab, made: Made) -> None:
    panel = opened(page, lab)
    assert "/user/ana/lab" in page.url
    said = panel.locator(".vb-Announcer")
    assert (said.get_attribute("role"), said.get_attribute("aria-live")) == ("status", "polite")
    said.evaluate(LISTEN)
    made.write("out/number.txt", "8\n")
    expect(said).to_have_text("Draw: stale; Count: stale")
    made.write("out/number.txt", "7\n")
    expect(said).to_have_text("Draw: current; Count: current")
    (made.root / "gate").unlink()
    panel.get_by_role("listbox").press("r")
    page.wait_for_function("heard.some(one => one.includes('Draw: running'))")
    made.write("gate", "7\n")
    has_state(panel, "Draw", "current")
