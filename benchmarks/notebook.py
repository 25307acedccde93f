"""A long notebook in a real browser: ``python benchmarks/notebook.py [--cells 500] [--rounds 3]``.

Needs Chromium and what the ``browser`` extra installs. A notebook of so many step cells, each
resting on the one before, is opened in turns with and without the plugin that draws badges, until
the last badge is there; then keys are typed into a cell. From the browser's own trace, in
processor time: the longest task of the page's main thread, and all of them. Prints medians, each
with its goal; exits 1 when one is missed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from browser import Figures, shown, traced
from playwright.sync_api import Page

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.browser import server
from tests.browser.screen import open_lab
from tests.kit import Made
from vaibify_lab.project import Project
from vaibify_lab.project.cells import cell_in

GOAL = 200
PLUGIN = "vaibify-lab:cells"
PLAIN, DRAWN = ".jp-Cell .cm-content", ".vb-Cell .vb-Cell-name"
OPENED = """async ([path, wanted]) => {
  const panel = await jupyterapp.commands.execute('docmanager:open', {path});
  await panel.context.ready;
  const count = panel.content.widgets.length;
  while (panel.node.querySelectorAll(wanted).length < count) {
    await new Promise(done => setTimeout(done, 500));
  }
}"""
KEYS = 40


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="vaibify-bench-"))
    figures = Figures()
    try:
        (place / "root").mkdir()
        make_notebook(place / "root" / "p", given.cells)
        with shown(place / "root") as (page, lab):
            compare(page, lab, given.rounds, figures)
    finally:
        shutil.rmtree(place)
    return 1 if figures.missed else 0


def make_notebook(root: Path, count: int) -> None:
    """Make a project whose notebook's cells are steps, each resting on the one before."""
    made = Made.new(root, [], {"data/0.txt": "a\n"})
    project = Project(root)
    cells: list[dict[str, Any]] = []
    for number in range(1, count + 1):
        line = f"%%vaibify step s{number} --no-tests --input data/{number - 1}.txt "
        line += f"--data data/{number}.txt\n"
        code = f"text = open('data/{number - 1}.txt').read()\n" * 8
        source = f"{line}{code}open('data/{number}.txt', 'w').write(text)"
        project.declare_cell(cell_in(source))
        rest = {"metadata": {}, "outputs": [], "execution_count": None}
        cells.append({"cell_type": "code", "id": f"c{number}", "source": source, **rest})
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = {"cells": cells, "metadata": {"kernelspec": spec}, "nbformat": 4, "nbformat_minor": 5}
    made.write("n.ipynb", json.dumps(book))


def compare(page: Page, lab: server.Lab, rounds: int, figures: Figures) -> None:
    """Open the notebook in turns with and without badges, and type; print what they add."""
    opening: dict[bool, list[list[float]]] = {True: [], False: []}
    typing: dict[bool, list[list[float]]] = {True: [], False: []}
    for _ in range(rounds):
        for badges in (False, True):
            allow(lab, badges=badges)
            open_lab(page, lab)
            with traced(page) as tasks:
                page.evaluate(OPENED, ["p/n.ipynb", DRAWN if badges else PLAIN])
            opening[badges].append(tasks)
            page.locator(f".jp-Notebook {PLAIN}").first.click()
            with traced(page) as tasks:
                for _ in range(KEYS):
                    page.keyboard.press("x")
                page.wait_for_timeout(1500)
            typing[badges].append(tasks)
    for what, found in (("it opens", opening), (f"{KEYS} keys are typed", typing)):
        longest = {one: statistics.median(map(max, found[one])) for one in found}
        total = {one: statistics.median(map(sum, found[one])) / 1000 for one in found}
        print(f"     JupyterLab alone while {what}: the longest task {longest[False]:.0f} ms")
        print(f"     all tasks {total[True]:.1f} s, {total[False]:.1f} s without badges")
        goal = max(GOAL, longest[False])
        figures.put(f"the longest task while {what}", longest[True], goal, "ms")


def allow(lab: server.Lab, *, badges: bool) -> None:
    """Let the next page draw badges, or not."""
    disabled = server.NO_NEWS["disabledExtensions"] | ({} if badges else {PLUGIN: True})
    place = lab.log.with_name("config") / "labconfig" / "page_config.json"
    place.write_text(json.dumps({"disabledExtensions": disabled}))


if __name__ == "__main__":
    sys.exit(main())
