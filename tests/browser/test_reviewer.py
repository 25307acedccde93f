"""A reviewer's JupyterLab: checks at once, reruns on a copy, writes a review, records nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import server
from tests.browser.screen import has_state, open_lab, open_panel
from tests.browser.server import Lab
from tests.kit import Made, git

STEPS: list[dict[str, Any]] = [
    {
        "sName": "Count",
        "saDataCommands": ["wc -l < data/in.txt > out/lines.txt"],
        "saInputDataFiles": ["data/in.txt"],
        "saDataFiles": ["out/lines.txt"],
        "bNoTests": True,
    },
    {
        "sName": "Throw",
        "saDataCommands": [
            "cat {Step01.lines} > dice/kept.txt",
            "echo $RANDOM$RANDOM > dice/d.txt",
        ],
        "saDataFiles": ["dice/kept.txt", "dice/d.txt"],
        "bNoTests": True,
    },
]


def finished(root: Path) -> Made:
    """Make a project whose envelope is written and committed."""
    made = Made.new(root, STEPS, {"data/in.txt": "1\n2\n"})
    made.run()
    made.project().envelope()
    made.commit("results")
    return made


def everything(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, git's own too."""
    return {str(one): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def shown_panel(page: Page) -> Locator:
    """Return the panel, which a reviewer's server shows by itself."""
    panel = page.locator("#vaibify-panel")
    expect(panel).to_be_visible()
    return panel


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    return root


@pytest.fixture
def lab(home: Path, root: Path) -> Iterator[Lab]:
    """JupyterLab as a reviewer's, on a machine without a container engine."""
    variables = {"VAIBIFY_REVIEWER": "1", **server.NO_ENGINE}
    lab = server.start(home, root, variables=variables)
    yield lab
    lab.stop()


def test_a_reviewer_sees_what_was_checked_reruns_steps_and_downloads_a_review(
    page: Page, root: Path, lab: Lab
) -> None:
    made = finished(root / "made")
    before = everything(root)
    open_lab(page, lab)
    panel = shown_panel(page)
    expect(panel.get_by_text("Reviewer mode")).to_be_visible()
    tiers = panel.locator(".vb-Tiers > li")
    expect(tiers.nth(0)).to_contain_text(re.compile(r"Files \(MANIFEST.sha256\).*passed"))
    expect(tiers.nth(2)).to_contain_text("cannot be checked here")
    expect(tiers.nth(2)).to_contain_text("no image is pinned")
    for name in ("Run", "Stop", "Archive", "Regenerate", "Sign off…"):
        expect(panel.get_by_role("button", name=name, exact=True)).to_have_count(0)

    for step, words in (("Count", "1 of 1 outputs"), ("Throw", "1 of 2 outputs")):
        has_state(panel, step, "current")
        panel.get_by_role("option", name=re.compile(f"^{step}")).click()
        detail = panel.locator(".vb-Detail")
        expect(detail.get_by_role("heading", name=step)).to_be_visible()
        detail.get_by_role("button", name="Rerun and compare").click()
        expect(detail.locator(".vb-Rerun")).to_contain_text(words)
        expect(detail.locator(".vb-Rerun")).to_contain_text("outside the container")
    said = re.compile(r"^dice/d.txt\s*different\s*\d+ is now \d+, line 1$")
    expect(detail.locator(".vb-Rerun li")).to_have_text(said)

    panel.get_by_role("button", name="Write a review…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Download").click()
    expect(dialog.get_by_role("alert")).to_contain_text("verdict")
    dialog.get_by_label("It does not hold").check()
    dialog.get_by_label("Review", exact=True).fill("Throw gives <b>other</b> numbers each time.")
    dialog.get_by_label("Name").fill("Bea Other")
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Download").click()
    expect(dialog).to_have_count(0)
    review = json.loads(download.value.path().read_bytes())
    commit = git(made.root, "rev-parse", "HEAD").strip()
    assert download.value.suggested_filename == f"review-{commit[:12]}.json"
    assert (review["verdict"], review["by"]) == ("does-not-hold", "Bea Other")
    assert review["text"] == "Throw gives <b>other</b> numbers each time."
    assert review["project"]["commit"] == commit
    states = [one["state"] for one in review["checked"]["tiers"]]
    assert states == ["passed", "passed", "not-checkable"]
    assert [(one["steps"], one["passed"]) for one in review["reruns"]] == [
        (["count"], True),
        (["throw"], False),
    ]
    assert everything(root) == before


def test_a_file_that_is_not_the_listed_one_is_named_and_a_page_that_comes_back_knows(
    page: Page, root: Path, lab: Lab
) -> None:
    made = finished(root / "made")
    made.write("out/lines.txt", "3\n")
    open_lab(page, lab)
    tier = shown_panel(page).locator(".vb-Tiers > li").first
    expect(tier).to_contain_text("failed")
    expect(tier).to_contain_text("out/lines.txt")
    open_lab(page, lab)
    panel = shown_panel(page)
    expect(panel.locator(".vb-Tiers > li").first).to_contain_text("out/lines.txt")
    identity = lab.ask("vaibify/projects")["projects"][0]["id"]
    assert len(lab.ask(f"vaibify/projects/{identity}/reproductions")["jobs"]) == 1
    made.write("out/lines.txt", "2\n")
    panel.get_by_role("button", name="Check everything again").click()
    expect(panel.locator(".vb-Tiers > li").first).to_contain_text("passed")


def test_the_setting_makes_a_reviewer_of_one_person(page: Page, home: Path, root: Path) -> None:
    finished(root / "made")
    lab = server.start(home, root, variables=server.NO_ENGINE)
    try:
        lab.setting("vaibify-lab:panel", reviewer=True)
        open_lab(page, lab)
        panel = open_panel(page)
        expect(panel.locator(".vb-Tiers > li").first).to_contain_text("passed")
        lab.setting("vaibify-lab:panel", reviewer=False)
        open_lab(page, lab)
        panel = open_panel(page)
        expect(panel.get_by_role("button", name="Run", exact=True)).to_be_enabled()
        expect(panel.get_by_text("Reviewer mode")).to_have_count(0)
        expect(panel.locator(".vb-Tiers")).to_have_count(0)
    finally:
        lab.stop()
