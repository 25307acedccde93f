"""What a step comes from, in its detail: contents and versions, where it breaks, the way back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import is_clean
from tests.browser.screen import has_state, open_lab, open_panel
from tests.browser.server import Lab
from tests.kit import DIAMOND, DIAMOND_FILES, Made
from vaibify_lab.provenance.picture.svg import svg


@pytest.fixture
def made(lab: Lab) -> Made:
    made = Made.new(lab.root / "made", DIAMOND, DIAMOND_FILES)
    made.run()
    made.commit("run")
    return made


def test_what_a_step_comes_from_is_shown_and_followed_back(
    page: Page, lab: Lab, made: Made
) -> None:
    open_lab(page, lab)
    panel = open_panel(page)
    has_state(panel, "End", "current")
    panel.get_by_role("option", name=re.compile("^End")).click()
    lineage = panel.locator("section").filter(has=page.get_by_role("heading", name="Lineage"))
    lineage.get_by_role("button", name="Show what it comes from").click()
    expect(lineage).to_contain_text("It rests on 3 steps.")
    entries = lineage.get_by_role("listitem")
    expect(entries).to_have_text(
        [
            re.compile(r"left/l\.txt\s*version 1\s*made by left\s*verified"),
            re.compile(r"right/r\.txt\s*version 1\s*made by right\s*verified"),
            re.compile(r"end/e\.txt\s*version 1\s*verified"),
        ]
    )
    is_clean(page, "#vaibify-panel")
    with page.expect_download() as download:
        lineage.get_by_role("link", name="Download it as a picture").click()
    assert download.value.path().read_text() == svg(made.project().lineage("end"))

    made.write("data/in.txt", "2\n")  # far behind it; what is shown follows
    expect(lineage).to_contain_text("It breaks first at top")
    expect(lineage).to_contain_text("top: input data/in.txt is modified")
    (made.root / "left/l.txt").unlink()
    expect(entries.filter(has_text="made by left")).to_contain_text("missing")

    lineage.get_by_role("button", name="top", exact=True).click()
    expect(panel.get_by_role("heading", name="Top", exact=True)).to_be_visible()
