"""A plain cell becomes a step in JupyterLab: proposed, changed, written down, undone, refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import server
from tests.browser.axe import is_clean_in_every_theme
from tests.browser.screen import open_lab, open_panel
from tests.browser.test_cells import badge, open_notebook, says
from tests.kit import Made

MARKUP = "<img src=x onerror=pwned=1><b>100% %1</b>"
CODE = """text = open("data/in.txt").read()
open("results/sum.txt", "w").write(text.upper())"""
COMMAND = "vaibify:cell-make-step"
LABEL = "Make This Cell a Step…"


def cell(kind: str, source: str, **metadata: Any) -> dict[str, Any]:
    rest: dict[str, Any] = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "metadata": metadata, "source": source, **rest}


BOOK = [
    cell("markdown", f"# {MARKUP}\u202e"),
    cell("code", "%load_ext vaibify_lab"),
    cell("code", CODE),
    cell("code", "x = 1"),
    cell("code", "%%bash\nls"),
    cell("code", ""),
    cell("code", "y = 2", editable=False),
    cell("code", "%%time\n%%vaibify step Timed --no-tests\npass"),
]


@pytest.fixture
def made(home: Path, tmp_path: Path) -> Made:
    made = Made.new(tmp_path / "root/made", [], {"data/in.txt": "a\n"})
    cells = [one | {"id": f"c{number}"} for number, one in enumerate(BOOK)]
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    document = {"cells": cells, "metadata": {"kernelspec": spec}}
    made.write("n.ipynb", json.dumps(document | {"nbformat": 4, "nbformat_minor": 5}))
    return made


@pytest.fixture
def lab(home: Path, made: Made) -> Iterator[server.Lab]:
    lab = server.start(home, made.root.parent, variables=server.NO_ENGINE)
    yield lab
    lab.stop()


def at(notebook: Locator, number: int) -> Locator:
    """Return a cell."""
    return notebook.locator(f'.jp-Cell[data-windowed-list-index="{number}"]')


def sources(page: Page) -> list[str]:
    """Return the texts of the notebook's cells as the editor holds them."""
    found: list[str] = page.evaluate(
        "[...jupyterapp.shell.currentWidget.content.model.cells].map("
        "cell => cell.sharedModel.getSource())"
    )
    return found


def ask(page: Page, notebook: Locator, number: int) -> Locator:
    """Ask for a cell to become a step by its toolbar; return the dialog."""
    at(notebook, number).locator(".jp-InputPrompt").click()
    at(notebook, number).locator(f'[data-command="{COMMAND}"]').click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Name")).to_be_focused()
    return dialog


def steps(made: Made) -> list[str]:
    return [one["sName"] for one in json.loads(made.read("workflow.json"))["listSteps"]]


def test_a_cell_becomes_a_step_and_nothing_is_lost_on_the_way(
    page: Page, lab: server.Lab, made: Made
) -> None:
    open_lab(page, lab)
    open_panel(page)
    notebook = open_notebook(page, "made/n.ipynb")
    before = sources(page)
    dialog = ask(page, notebook, 2)
    expect(dialog.get_by_label("Name")).to_have_value(MARKUP)
    expect(dialog.get_by_label("Reads these files")).to_have_value("data/in.txt")
    expect(dialog.get_by_label("Writes these data files")).to_have_value("results/sum.txt")
    is_clean_in_every_theme(page, ".jp-Dialog")

    name = dialog.get_by_label("Name")
    name.fill(f"{MARKUP} \u202eevil")
    name.press("Enter")
    alert = dialog.get_by_role("alert")
    expect(alert).to_contain_text(MARKUP)
    assert page.evaluate("window.pwned === undefined")
    name.fill("Sum")
    dialog.get_by_label("Writes these plots").fill("../p.png")
    page.keyboard.press("Enter")  # a line of its own, in a field of many
    dialog.get_by_role("button", name="Make it a step").click()
    expect(alert).to_contain_text("../p.png")
    assert (sources(page), steps(made)) == (before, [])
    assert not (made.root / "cells").exists()
    dialog.get_by_label("Writes these plots").fill("")
    name.press("Enter")
    expect(dialog).to_have_count(0)

    line = "%%vaibify step Sum --input data/in.txt --data results/sum.txt"
    after = [*before[:2], f"{line}\n{CODE}", *before[3:]]
    assert sources(page) == after
    assert steps(made) == ["Sum"]
    assert made.read("cells/sum.py").endswith(f"\n{CODE}\n")
    says(notebook, "Sum", "never run")
    assert page.evaluate(f"jupyterapp.commands.label('{COMMAND}')") == f"{LABEL} (it is a step)"

    at(notebook, 2).locator(".cm-content").click()
    page.keyboard.press("Control+z")
    expect(badge(notebook, "Sum")).to_have_count(0)
    assert sources(page) == before
    page.keyboard.press("Control+Shift+z")
    says(notebook, "Sum", "never run")
    assert sources(page) == after
    badge(notebook, "Sum").get_by_role("button", name="Run step Sum").click()
    says(notebook, "Sum", "current")
    assert made.read("results/sum.txt") == "A\n"

    dialog = ask(page, notebook, 3)
    dialog.get_by_label("Name").fill("Sum")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("there is a step 'sum' already")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert (sources(page), steps(made)) == (after, ["Sum"])


def test_a_cell_that_was_moved_or_removed_meanwhile(
    page: Page, lab: server.Lab, made: Made
) -> None:
    open_lab(page, lab)
    notebook = open_notebook(page, "made/n.ipynb")
    before = sources(page)
    dialog = ask(page, notebook, 3)
    dialog.get_by_label("Name").fill("Moved")
    page.evaluate("jupyterapp.commands.execute('notebook:move-cell-down')")
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    moved = [*before[:3], before[4], "%%vaibify step Moved\nx = 1", *before[5:]]
    assert sources(page) == moved

    dialog = ask(page, notebook, 2)
    dialog.get_by_label("Name").fill("Gone")
    page.evaluate("jupyterapp.commands.execute('notebook:delete-cell')")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("no longer in the notebook")
    page.keyboard.press("Escape")
    assert sources(page) == [*moved[:2], *moved[3:]]
    assert steps(made) == ["Moved"]


def test_where_a_cell_cannot_become_a_step_it_says_why(
    page: Page, lab: server.Lab, made: Made
) -> None:
    (lab.root / "n.ipynb").write_text(made.read("n.ipynb"))
    open_lab(page, lab)
    label = f"jupyterapp.commands.label('{COMMAND}')"
    assert page.evaluate(label) == f"{LABEL} (no code cell is active)"

    def reason(number: int) -> Any:
        at(notebook, number).locator(".jp-InputPrompt, .jp-RenderedMarkdown").first.click()
        expect(at(notebook, number)).to_have_class(re.compile("jp-mod-active"))
        enabled = page.evaluate(f"jupyterapp.commands.isEnabled('{COMMAND}')")
        said = page.evaluate(label).removeprefix(LABEL)
        assert enabled is (not said)
        return said

    notebook = open_notebook(page, "made/n.ipynb")
    says(notebook, "Timed", "no such step yet")
    assert [reason(number) for number in range(len(BOOK))] == [
        " (no code cell is active)",
        "",
        "",
        "",
        " (it begins with another magic)",
        " (it is empty)",
        " (it cannot be edited)",
        " (it is a step)",
    ]
    at(notebook, 2).locator(".cm-content").click(button="right")
    expect(page.get_by_role("menuitem", name=LABEL)).to_be_visible()
    page.keyboard.press("Escape")
    button = at(notebook, 5).locator(f'[data-command="{COMMAND}"]')
    at(notebook, 5).locator(".cm-content").click()
    expect(button).to_have_attribute("aria-disabled", "true")
    expect(button).to_have_attribute("title", f"{LABEL} (it is empty)")
    page.keyboard.type("z = 3")
    expect(button).to_have_attribute("title", LABEL)
    expect(button).to_have_attribute("aria-disabled", "false")
    page.evaluate(  # as a kernel of R says of itself
        "jupyterapp.shell.currentWidget.content.model.setMetadata('language_info', {name: 'R'})"
    )
    assert reason(2) == " (its kernel is not Python)"
    notebook = open_notebook(page, "n.ipynb")
    assert reason(2) == " (the notebook lies in no project)"
