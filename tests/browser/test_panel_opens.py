"""The panel is in JupyterLab, and shows what the server says."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.screen import open_lab, open_panel
from tests.browser.server import Lab
from tests.kit import DIAMOND, DIAMOND_FILES, Made, git
from vaibify_lab.demo import write_demo
from vaibify_lab.project import Project

WORDS = {
    "never-run": "never run",
    "untested": "untested",
    "none": "none",
    "passed": "passed",
    "current": "current",
    "stale": "stale",
}
USER = {"untested": "not signed off", "passed": "signed off"}


def labels(project: Project) -> list[str]:
    """Return how a screen reader names the rows of what is true now."""
    return [
        f"{step.name}, {WORDS[step.run]}, Integrity tests: {WORDS[step.integrity]}, "
        f"Qualitative tests: {WORDS[step.qualitative]}, "
        f"Quantitative tests: {WORDS[step.quantitative]}, You: {USER[step.user]}, "
        f"Upstream: {'modified' if step.upstream_modified else 'unmodified'}"
        for step in project.report().steps
    ]


def test_the_panel_opens_from_its_tab_and_is_a_named_region(page: Page, lab: Lab) -> None:
    open_lab(page, lab)
    panel = open_panel(page)
    assert (panel.get_attribute("role"), panel.get_attribute("aria-label")) == ("region", "Vaibify")


def test_the_panel_shows_the_badges_of_the_demo(page: Page, lab: Lab) -> None:
    write_demo(lab.root / "co2")
    git(lab.root / "co2", "init", "-q")
    open_lab(page, lab)
    rows = open_panel(page).get_by_role("option")
    expect(rows).to_have_count(4)
    shown = [rows.nth(i).get_attribute("aria-label") for i in range(4)]
    assert shown == labels(Project(lab.root / "co2"))


def test_the_panel_shows_what_changed_on_disk_without_being_asked(page: Page, lab: Lab) -> None:
    made = Made.new(lab.root / "made", DIAMOND, DIAMOND_FILES)
    made.run()
    open_lab(page, lab)
    rows = open_panel(page).get_by_role("option")
    expect(rows.nth(3)).to_have_attribute("aria-label", labels(Project(made.root))[3])
    made.write("left/l.txt", "another\n")
    changed = labels(Project(made.root))
    assert "stale" in changed[1]
    for place, label in enumerate(changed):
        expect(rows.nth(place)).to_have_attribute("aria-label", label)
