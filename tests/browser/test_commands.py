"""Every command of ours from the menu and from the palette: it works, or its label says why not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import server
from tests.browser.screen import has_state, open_lab, open_panel, told
from tests.browser.server import Lab
from tests.kit import Made
from tests.runs.here import by_hand

STEPS = [
    by_hand("vi marks/m.txt"),
    {
        "sName": "Use",
        "saDataCommands": ["wc -c < {Step01.m} > used/u.txt"],
        "saDataFiles": ["used/u.txt"],
        "saTestCommands": ["test -s used/u.txt"],
    },
]
RUNS = ["Run Stale Steps", "Run All Steps", "Run All Tests"]
ATTEND = [
    "Open a Terminal in the Waiting Step",
    "Pause the Waiting Step",
    "Resume the Paused Step",
    "Complete the Waiting Step",
]
VOUCH = ["Sign Off the Open Step…", "Acknowledge Failed and Interrupted Steps"]
PROJECT = ["Write the Envelope (Archive)", "Verify All Steps, Running Nothing", "Build the Image"]
REVIEW = [
    "Review: Check Everything",
    "Review: Rerun the Open Step and Compare",
    "Review: Write a Review…",
]
MAKE = "Make This Cell a Step…"
CELLS = [
    "Show the Step of This Cell",
    "Run the Step of This Cell",
    "Sign Off the Step of This Cell…",
    "Write Edited Cells and Run Stale Steps",
]
INIT = "Set Up a Project in the Open Folder"
STOP = "Stop the Run"
CANCEL = "Cancel the Build of the Image"
ALWAYS = [
    "Show the Vaibify Panel",
    "Show the Log of the Latest Run",
    "Look at the Project Again",
    "Verify the Listed Files",
]
ALL = [*RUNS, *ATTEND, MAKE, *VOUCH, *PROJECT, INIT, STOP, CANCEL, *ALWAYS]


@pytest.fixture
def lab(home: Path, tmp_path: Path) -> Iterator[Lab]:
    """JupyterLab where no container engine answers."""
    root = tmp_path / "root"
    root.mkdir()
    lab = server.start(home, root, variables=server.NO_ENGINE)
    yield lab
    lab.stop()


@pytest.fixture
def made(lab: Lab) -> Made:
    return Made.new(lab.root / "made", STEPS, {})


def open_menu(page: Page) -> Locator:
    """Open our menu; return its items."""
    page.get_by_role("menuitem", name="Vaibify", exact=True).click()
    items = page.locator(".lm-Menu .lm-Menu-item[data-type=command]")
    expect(items.first).to_be_visible()
    return items


def use(page: Page, label: str) -> None:
    """Use a command of our menu."""
    item = open_menu(page).filter(has_text=label).first
    expect(item).not_to_have_class(re.compile("lm-mod-disabled"))
    item.click()


def reasons(items: Locator, label: str) -> dict[str, str | None]:
    """Return each command's name with why it cannot be used, as its label says it."""
    found: dict[str, str | None] = {}
    for item in items.all():
        text = item.locator(label).inner_text()
        name = next(one for one in [*ALL, *REVIEW, *CELLS] if text.startswith(one))
        said = text.removeprefix(name).strip()
        disabled = "lm-mod-disabled" in (item.get_attribute("class") or "")
        assert disabled == bool(re.fullmatch(r"\(.+\)", said)), text
        found[name] = said[1:-1] if disabled else None
    return found


def hindered(page: Page) -> dict[str, str | None]:
    """Return which commands of the menu cannot be used, and why."""
    found = reasons(open_menu(page), ".lm-Menu-itemLabel")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    assert sorted(found) == sorted(ALL)
    return {name: why for name, why in found.items() if why}


def is_idle(page: Page, lab: Lab, runs: int) -> None:
    """Wait until so many runs were made, and the last runner has gone."""
    project = lab.ask("vaibify/projects")["projects"][0]["id"]
    for _ in range(600):
        kept = lab.ask(f"vaibify/projects/{project}/runs")
        if len(kept["runs"]) >= runs and not kept["current"]:
            return
        page.wait_for_timeout(100)
    pytest.fail(f"not idle after {runs} runs: {kept}")


def test_the_menu(page: Page, lab: Lab, made: Made) -> None:
    open_lab(page, lab)
    use(page, "Show the Vaibify Panel")
    panel = page.locator("#vaibify-panel")
    has_state(panel, "Look", "never run")
    nobody = dict.fromkeys(ATTEND, "no step waits for you")
    rest = {VOUCH[0]: "no step is open", CANCEL: "no build is in progress"}
    rest |= {MAKE: "no code cell is active"}
    assert hindered(page) == nobody | rest | {STOP: "no run is in progress"}

    use(page, "Run Stale Steps")
    waits = panel.get_by_role("button", name="Look waits for you")
    expect(waits).to_be_visible()
    busy = dict.fromkeys(RUNS, "a run is in progress")
    assert hindered(page) == busy | rest | {ATTEND[2]: "it is not paused"}
    use(page, "Pause the Waiting Step")
    expect(panel.get_by_role("button", name="Look is paused")).to_be_visible()
    assert hindered(page) == busy | rest | dict.fromkeys(ATTEND[:2], "it is paused")
    use(page, "Resume the Paused Step")
    expect(waits).to_be_visible()
    use(page, "Open a Terminal in the Waiting Step")
    expect(page.locator(".jp-Terminal:visible")).to_have_count(1)
    made.write("marks/m.txt", "outliers\n")
    use(page, "Complete the Waiting Step")
    has_state(panel, "Use", "current")
    told(page, "the run passed")
    is_idle(page, lab, 1)

    use(page, "Verify All Steps, Running Nothing")
    told(page, "Every byte was read")
    panel.get_by_role("option", name=re.compile("^Use")).click()
    use(page, "Sign Off the Open Step…")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Pass").check()
    dialog.get_by_role("button", name="Sign off").click()
    expect(panel.get_by_role("option", name=re.compile("^Use.*You: signed off"))).to_have_count(1)
    use(page, "Write the Envelope (Archive)")
    told(page, "The envelope is written.")
    use(page, "Verify the Listed Files")
    told(page, "files are the ones listed.")
    use(page, "Build the Image")
    panel.get_by_role("heading", name="Project").click()
    expect(panel.locator(".vb-Build .vb-Trouble")).to_contain_text("no container engine")
    panel.get_by_role("heading", name="Project").click()
    use(page, "Run All Tests")
    is_idle(page, lab, 2)
    use(page, "Show the Log of the Latest Run")
    expect(panel.get_by_role("log", name="Log")).to_contain_text("tests of use began")
    expect(panel.get_by_role("log", name="Log")).to_contain_text("The run ended: passed")

    use(page, "Run All Steps")
    has_state(panel, "Look", "waiting for you")
    use(page, "Stop the Run")
    has_state(panel, "Look", "interrupted")
    panel.get_by_role("option", name=re.compile("^Look")).click()
    offered = panel.get_by_role("button", name="Acknowledge")
    expect(offered).to_be_visible()
    use(page, "Acknowledge Failed and Interrupted Steps")
    expect(offered).to_have_count(0)
    with page.expect_request(re.compile("/file-status")):
        use(page, "Look at the Project Again")
    use(page, "Set Up a Project in the Open Folder")
    expect(page.get_by_text(re.compile("git init")).first).to_be_visible()


def in_palette(page: Page) -> Locator:
    """Open the palette on what is ours; return its items."""
    page.keyboard.press("Control+Shift+C")
    palette = page.locator("#command-palette")
    expect(palette).to_be_visible()
    palette.get_by_role("searchbox").or_(palette.locator("input")).first.fill("vaibify")
    return palette.locator(".lm-CommandPalette-item")


def choose(page: Page, label: str) -> None:
    """Use a command of the palette."""
    in_palette(page).filter(has_text=label).first.click()


def test_the_palette_for_a_researcher_and_for_a_reviewer(page: Page, lab: Lab, made: Made) -> None:
    label = ".lm-CommandPalette-itemLabel"
    open_lab(page, lab)
    has_state(open_panel(page), "Look", "never run")
    found = reasons(in_palette(page), label)
    assert sorted(found) == sorted([*ALL, *REVIEW, *CELLS])
    assert {found[one] for one in CELLS[:3]} == {"no step cell is active"}
    assert found[MAKE] == "no code cell is active"
    assert found[CELLS[3]] == "no step cell in the notebook"
    assert {found[one] for one in REVIEW} == {"only in reviewer mode"}
    assert {found[one] for one in [*RUNS, *PROJECT, INIT, *ALWAYS]} == {None}
    page.keyboard.press("Escape")

    lab.setting("vaibify-lab:panel", reviewer=True)
    open_lab(page, lab)
    panel = open_panel(page)
    has_state(panel, "Look", "never run")
    panel.get_by_role("option", name=re.compile("^Use")).click()
    found = reasons(in_palette(page), label)
    vouching = [*RUNS, *PROJECT, MAKE, *VOUCH, *CELLS[1:], INIT, STOP]
    assert {found[one] for one in vouching} == {"not in reviewer mode"}
    assert {found[one] for one in [*REVIEW, *ALWAYS]} == {None}
    page.keyboard.press("Escape")
    choose(page, "Review: Check Everything")
    expect(panel.locator(".vb-Tiers > li")).to_have_count(3)
    choose(page, "Review: Rerun the Open Step and Compare")
    expect(panel.locator(".vb-Rerun").first).to_be_visible()
    choose(page, "Review: Write a Review…")
    expect(page.get_by_role("dialog")).to_contain_text("Review workflow")
