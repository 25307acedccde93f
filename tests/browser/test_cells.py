"""Step cells in JupyterLab: badges at the cells, run and signed there, stale as soon as edited."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as TooSlow

from tests.browser import server
from tests.browser.axe import is_clean, is_clean_in_every_theme
from tests.browser.screen import has_state, open_lab, open_panel, told
from tests.kit import Made

STEPS = ("Clean", "Trend", "Figure")
NEW = "no such step yet"
SCROLLED = """([where, step]) => {
  const badge = document.querySelector(`.vb-Cell[aria-label$="${step}"]`);
  if (badge) badge.scrollIntoView({block: 'center'});
  else document.querySelector('.jp-WindowedPanel-outer').scrollTo(0, where);
  const top = badge?.getBoundingClientRect().top ?? -1;
  return top > 0 && top < innerHeight;
}"""


@pytest.fixture
def lab(home: Path, tmp_path: Path) -> Iterator[server.Lab]:
    """JupyterLab on a folder with the demo whose steps are cells; no container engine."""
    root = tmp_path / "root"
    root.mkdir()
    Made.demo_in_cells(root / "co2")
    lab = server.start(home, root, variables=server.NO_ENGINE)
    yield lab
    lab.stop()


def open_notebook(page: Page, path: str) -> Locator:
    """Open a notebook; return it."""
    page.evaluate("path => jupyterapp.commands.execute('docmanager:open', {path})", path)
    notebook = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook")
    expect(notebook).to_be_visible()
    return notebook


def badge(notebook: Locator, step: str) -> Locator:
    """Return the badge of a step's cell."""
    return notebook.get_by_role("group", name=f"Step of this cell: {step}")


def says(notebook: Locator, step: str, word: str, within: float | None = None) -> None:
    """Wait until the badge of a step's cell says that of it."""
    button = badge(notebook, step).get_by_role("button", name=re.compile(f"^{step}, {word}(,|$)"))
    expect(button).to_have_count(1, timeout=within)


def cell_of(page: Page, notebook: Locator, step: str) -> Locator:
    """Return the cell that carries the badge of a step."""
    mark = page.get_by_role("group", name=f"Step of this cell: {step}")
    return notebook.locator(".jp-Cell").filter(has=mark)


def edit(page: Page, notebook: Locator, step: str, text: str) -> None:
    """Type at the end of a step's cell."""
    cell_of(page, notebook, step).locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type(text)


def test_cells_are_run_edited_run_again_and_signed_where_they_stand(
    page: Page, lab: server.Lab
) -> None:
    open_lab(page, lab)
    panel = open_panel(page)
    path = lab.root / "co2/co2.ipynb"
    before = path.read_bytes()
    notebook = open_notebook(page, "co2/co2.ipynb")
    expect(notebook.locator(".vb-Cell")).to_have_count(3)
    for step in STEPS:
        says(notebook, step, NEW)

    page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
    for step in STEPS:
        says(notebook, step, "current")
        has_state(panel, step, "current")
    outputs = notebook.locator(".jp-OutputArea-output")
    expect(outputs.filter(has_text="months").first).to_be_visible()
    assert path.read_bytes() == before

    edit(page, notebook, "Trend", "\nprint('again')")
    says(notebook, "Trend", "stale")
    says(notebook, "Figure", "stale")
    says(notebook, "Clean", "current")
    sign = badge(notebook, "Trend").get_by_role("button", name="Sign off Trend")
    expect(sign).to_be_disabled()  # the cell is not what the step ran
    badge(notebook, "Trend").get_by_role("button", name="Differences").click()
    expect(badge(notebook, "Trend").locator("pre")).to_contain_text("+print('again')")
    is_clean(page, ".jp-NotebookPanel .vb-Cell")

    page.evaluate("jupyterapp.commands.execute('vaibify:cells-run-stale')")
    told(page, re.compile("the run passed"))
    for step in STEPS:
        says(notebook, step, "current")

    badge(notebook, "Figure").get_by_role("button", name="Sign off Figure").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("plots/co2.svg")
    dialog.get_by_label("Pass").check()
    dialog.get_by_label("Name").fill("Ada Test")
    dialog.get_by_role("button", name="Sign off").click()
    expect(dialog).to_have_count(0)
    says(notebook, "Figure", "current, .*You: signed off")
    panel_says = panel.get_by_role("option", name=re.compile("^Figure, .*You: signed off"))
    expect(panel_says).to_have_count(1)


WAITS = """import os, time
print("the first line")
while not os.path.exists("gate"):
    time.sleep(0.05)
print("the second line")"""


def test_what_a_step_prints_is_in_the_cell_while_it_runs(page: Page, lab: server.Lab) -> None:
    path = lab.root / "co2/co2.ipynb"
    document = json.loads(path.read_text())
    cell = next(one for one in document["cells"] if one["id"] == "clean")
    cell["source"] = f"%%vaibify step Wait --no-input --no-tests\n{WAITS}"
    document["cells"] = [one for one in document["cells"] if one["id"] in ("load", "clean")]
    path.write_text(json.dumps(document))
    open_lab(page, lab)
    notebook = open_notebook(page, "co2/co2.ipynb")
    says(notebook, "Wait", NEW)
    page.evaluate("void jupyterapp.commands.execute('notebook:run-all-cells')")
    output = cell_of(page, notebook, "Wait").locator(".jp-OutputArea-output")
    expect(output.first).to_contain_text("the first line")
    says(notebook, "Wait", "running")
    expect(output.filter(has_text="the second line")).to_have_count(0)
    (lab.root / "co2/gate").touch()
    expect(output.first).to_contain_text("the second line")
    says(notebook, "Wait", "current")
    is_clean_in_every_theme(page, ".jp-NotebookPanel .vaibify-step", ".jp-NotebookPanel .vb-Cell")


def test_a_badge_goes_with_its_cell_and_is_reached_and_used_by_keys(
    page: Page, lab: server.Lab
) -> None:
    open_lab(page, lab)
    panel = open_panel(page)
    notebook = open_notebook(page, "co2/co2.ipynb")
    says(notebook, "Trend", NEW)
    cell_of(page, notebook, "Clean").locator(".jp-InputPrompt").click()
    page.keyboard.press("Tab")
    expect(badge(notebook, "Clean").get_by_role("button", name="Why")).to_be_focused()
    page.keyboard.press("Tab")
    run = badge(notebook, "Clean").get_by_role("button", name="Run step Clean")
    expect(run).to_be_focused()
    page.keyboard.press("Enter")
    told(page, re.compile("the run passed"))
    says(notebook, "Clean", "current")
    assert (lab.root / "co2/cells/clean.py").is_file()
    assert not (lab.root / "co2/cells/trend.py").exists()
    badge(notebook, "Clean").get_by_role("button", name=re.compile("^Clean, ")).press("Enter")
    expect(panel.locator(".vb-Detail h3")).to_have_text("Clean")

    cell_of(page, notebook, "Trend").locator(".jp-InputPrompt").click()
    page.evaluate("jupyterapp.commands.execute('notebook:move-cell-up')")
    expect(notebook.locator(".vb-Cell-name")).to_have_text(
        [re.compile(name) for name in ("Trend", "Clean", "Figure")]
    )
    says(notebook, "Clean", "current")
    page.evaluate("jupyterapp.commands.execute('notebook:undo-cell-action')")
    expect(notebook.locator(".vb-Cell-name")).to_have_text([re.compile(name) for name in STEPS])


DRAWN = """() => {
  const seen = document.querySelector('.jp-WindowedPanel-outer').getBoundingClientRect();
  const boxes = [...document.querySelectorAll('.jp-Cell')].map(one => one.getBoundingClientRect());
  return boxes.some(one => one.height > 0 && one.bottom > seen.top && one.top < seen.bottom);
}"""


def scrolled(page: Page, lab: server.Lab, notebook: Locator, to: int, step: str) -> None:
    """Scroll until a badge is there; cells that are drawn on the way may push it out again.

    On a machine that does much else JupyterLab may draw no cell at all: then scroll elsewhere, and
    at last open the page anew, as a person would.
    """
    for attempt in range(20):
        try:
            page.wait_for_function(SCROLLED, arg=[to, step], timeout=20_000)
        except TooSlow:
            assert not page.evaluate(DRAWN), f"cells are drawn, and there is no badge of {step}"
            if attempt % 3 == 2:
                open_lab(page, lab)
                open_notebook(page, "co2/co2.ipynb")
                page.wait_for_function(DRAWN)
            page.evaluate("document.querySelector('.jp-WindowedPanel-outer').scrollTo(0, 700)")
            continue
        with suppress(AssertionError):
            says(notebook, step, NEW, 3000)
            return
    pytest.fail(f"no badge of {step} stayed")


def test_a_long_notebook_keeps_its_badges_as_cells_come_and_go(page: Page, lab: server.Lab) -> None:
    path = lab.root / "co2/co2.ipynb"
    document = json.loads(path.read_text())
    texts = [f"x = {number}\n" * 12 for number in range(150)]
    plain = [
        {"cell_type": "code", "id": f"c{number}", "metadata": {}, "outputs": [], "source": text}
        for number, text in enumerate(texts)
    ]
    cells = [one | {"execution_count": None} for one in plain]
    document["cells"] = [*document["cells"][:4], *cells, *document["cells"][4:]]
    path.write_text(json.dumps(document))
    lab.setting("@jupyterlab/notebook-extension:tracker", windowingMode="full")
    open_lab(page, lab)
    notebook = open_notebook(page, "co2/co2.ipynb")
    says(notebook, "Clean", NEW)
    for _ in range(3):
        scrolled(page, lab, notebook, 10_000_000, "Figure")
        expect(badge(notebook, "Clean")).to_have_count(0)
        scrolled(page, lab, notebook, 0, "Clean")
        expect(badge(notebook, "Figure")).to_have_count(0)
    assert notebook.locator(".vb-Cell").count() <= 3
    assert json.loads(path.read_text()) == document


def test_a_notebook_without_step_cells_is_asked_about_by_nobody(
    page: Page, lab: server.Lab
) -> None:
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if "/cells?" in one.url else None)
    path = lab.root / "co2/plain.ipynb"
    document = json.loads((lab.root / "co2/co2.ipynb").read_text())
    path.write_text(json.dumps(document | {"cells": document["cells"][:2]}))
    open_lab(page, lab)
    notebook = open_notebook(page, "co2/plain.ipynb")
    cell = notebook.locator(".jp-CodeCell .cm-content").first
    cell.click()
    page.keyboard.press("Control+a")
    page.keyboard.type("1 + 1")
    page.wait_for_timeout(1500)
    assert asked == []
    page.keyboard.press("Control+a")
    page.keyboard.type("%%vaibify step Other --no-tests\npass")
    says(notebook, "Other", NEW)
    assert asked


DRIVE = """name => {
  const { contents } = jupyterapp.serviceManager;
  const { constructor: Drive, serverSettings } = contents.defaultDrive;
  contents.addDrive(new Drive({ name, serverSettings }));
}"""


def test_a_notebook_of_the_drive_of_collaboration_has_badges_and_one_of_others_has_not(
    page: Page, lab: server.Lab
) -> None:
    open_lab(page, lab)
    for drive in ("RTC", "Other"):
        page.evaluate(DRIVE, drive)
    make = "jupyterapp.commands.label('vaibify:cell-make-step')"
    notebook = open_notebook(page, "Other:co2/co2.ipynb")
    cell = notebook.locator('.jp-Cell[data-windowed-list-index="1"]')
    cell.locator(".jp-InputPrompt").click()
    page.wait_for_function(f"{make}.endsWith('(the notebook lies in no project)')")
    other = open_notebook(page, "RTC:co2/co2.ipynb")
    for step in STEPS:
        says(other, step, NEW)
    page.evaluate("jupyterapp.commands.execute('docmanager:open', {path: 'Other:co2/co2.ipynb'})")
    expect(notebook.locator(".jp-CodeCell").first).to_be_visible()
    expect(notebook.locator(".vb-Cell")).to_have_count(0)
