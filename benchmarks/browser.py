"""The panel in a real browser: ``python benchmarks/browser.py [--steps 1000] [--megabytes 500]``.

Needs Chromium and what the ``browser`` extra installs. First a workflow of so many steps: how long
from opening the panel, its data there, to the first rows on the screen; the longest task of the
page's main thread while the list is scrolled from end to end, from the browser's own trace, in
processor time; what of the page changes at polls that bring nothing. Then a step that prints so
many megabytes, a line of a tenth of that and binary bytes, as fast as it can: how long a click
waits meanwhile, what server and page hold. Prints each figure with its goal; exits 1 when one is
missed or the exit status of the step is not kept.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect, sync_playwright
from projects import make_project

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.browser import server
from tests.browser.conftest import ARGUMENTS, NAMES
from tests.browser.screen import has_state, open_lab, open_panel
from tests.browser.test_flood import FLOOD, peak, steps
from tests.kit import Made

MIB = 2**20
POLLS = 3

OBSERVED = """
window.bench = {polls: 0, changes: 0};
const asked = window.fetch;
window.fetch = async (...given) => {
  const answer = await asked(...given);
  bench.polls += answer.url.includes('/file-status') ? 1 : 0;
  return answer;
};
"""
PAINTED = """async () => {
  const began = performance.now();
  void jupyterapp.commands.execute('vaibify:open');
  while (!document.querySelector('#vaibify-panel .vb-Row')) {
    await new Promise(requestAnimationFrame);
  }
  await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - began;
}"""
SCROLLED = """async list => {
  const frames = [];
  let last = performance.now();
  for (let at = 0; at < list.scrollHeight; at += 120) {
    list.scrollTop = at;
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    frames.push(now - last);
    last = now;
  }
  return frames;
}"""
WATCHED = """panel => {
  bench.changes = 0;
  new MutationObserver(all => { bench.changes += all.length; })
    .observe(panel, {subtree: true, childList: true, attributes: true, characterData: true});
}"""
CLICKED = """async name => {
  const row = [...document.querySelectorAll('#vaibify-panel .vb-Row')]
    .find(one => one.getAttribute('aria-label').startsWith(name));
  const began = performance.now();
  row.click();
  while (!row.matches('.vb-mod-open')) await new Promise(requestAnimationFrame);
  const answered = performance.now() - began;
  const heading = () => document.querySelector('#vaibify-panel .vb-Detail h3')?.textContent;
  while (heading() !== name) await new Promise(requestAnimationFrame);
  return [answered, performance.now() - began];
}"""


class Figures:
    """What was measured, each with its goal."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def put(self, what: str, value: float, goal: float, unit: str) -> None:
        """Print one."""
        good = value <= goal
        print(f"{'ok  ' if good else 'MISS'} {what}: {value:,.1f} {unit} (goal {goal:,.0f} {unit})")
        if not good:
            self.missed.append(what)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--megabytes", type=int, default=500)
    given = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="vaibify-bench-"))
    figures = Figures()
    try:
        (place / "many").mkdir()
        make_project(place / "many" / "p", given.steps, outputs=1)
        time.sleep(3)  # stamps younger than two seconds are not trusted
        with shown(place / "many") as (page, lab):
            open_lab(page, lab)
            many(page, figures)
        (place / "flood").mkdir()
        with shown(place / "flood") as (page, lab):
            flood(page, lab, given.megabytes, figures)
    finally:
        shutil.rmtree(place)
    return 1 if figures.missed else 0


@contextmanager
def shown(root: Path) -> Iterator[tuple[Page, server.Lab]]:
    """Give a page and the JupyterLab that it will show."""
    home = root.with_name(root.name + "-home")
    home.mkdir()
    lab = server.start(home, root)
    found = next((path for name in NAMES if name and (path := shutil.which(name))), None)
    arguments = [*ARGUMENTS, "--enable-precise-memory-info"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=arguments)
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(120_000)
        expect.set_options(timeout=120_000)
        page = context.new_page()
        page.add_init_script(OBSERVED)
        try:
            yield page, lab
        finally:
            browser.close()
            lab.stop()


def many(page: Page, figures: Figures) -> None:
    """Measure a workflow of many steps."""
    item = page.locator(".vb-StatusItem")
    expect(item).to_contain_text("/")  # the data is there
    painted = page.evaluate(PAINTED)
    figures.put("first paint of the panel after its data is there", painted, 1500, "ms")
    panel = page.locator("#vaibify-panel")
    steps_shown = panel.get_by_role("listbox")
    page.wait_for_timeout(1000)
    with traced(page) as tasks:
        frames = steps_shown.evaluate(SCROLLED)
    print(f"     scrolling: {len(frames)} frames, median {statistics.median(frames):.1f} ms")
    figures.put("the longest task while scrolling", max(tasks), 100, "ms")
    figures.put("rows in the page at once", panel.locator(".vb-Row").count(), 60, "")
    panel.evaluate(WATCHED)
    before = page.evaluate("bench.polls")
    page.wait_for_function("polls => bench.polls >= polls", arg=before + POLLS, timeout=120_000)
    figures.put(
        f"changes of the page at {POLLS} unchanged polls", page.evaluate("bench.changes"), 0, ""
    )


@contextmanager
def traced(page: Page) -> Iterator[list[float]]:
    """Give a list that holds, afterwards, the tasks of the page's main thread in milliseconds."""
    tasks: list[float] = []
    browser = page.context.browser
    assert browser is not None
    categories = ["toplevel", "__metadata", "disabled-by-default-devtools.timeline"]
    browser.start_tracing(page=page, categories=categories)
    yield tasks
    events = json.loads(browser.stop_tracing())["traceEvents"]
    mains = {
        (one["pid"], one["tid"])
        for one in events
        if one["name"] == "thread_name" and one["args"]["name"] == "CrRendererMain"
    }
    tasks += [
        one["tdur"] / 1000
        for one in events
        if one["name"] == "RunTask" and (one["pid"], one["tid"]) in mains and "tdur" in one
    ]


def flood(page: Page, lab: server.Lab, megabytes: int, figures: Figures) -> None:
    """Measure a step that prints without measure."""
    size = megabytes * 1_000_000
    declared = steps(size, size // 10, 2_000_000)
    made = Made.new(lab.root / "p", declared, {"flood.py": FLOOD, ".gitignore": "gate\n"})
    plain = redirected(lab.root.with_name("plain"), size)
    open_lab(page, lab)
    panel = open_panel(page)
    has_state(panel, "Flood", "never run")
    panel.get_by_role("heading", name="Log").click()
    before = peak(lab)
    began = time.monotonic()
    panel.get_by_role("listbox").press("r")
    has_state(panel, "Flood", "running")
    clicks, heap = clicked_meanwhile(page, panel)
    seconds = time.monotonic() - began
    print(f"     {megabytes} MB and a line of {megabytes // 10}: shown in {seconds:.1f} s,")
    print(f"     written to a file by the shell alone in {plain:.1f} s")
    longest = max(one[0] for one in clicks)
    figures.put("the longest answer to a click meanwhile", longest, 1000, "ms")
    middle = statistics.median(one[1] for one in clicks)
    print(
        f"     {len(clicks)} clicks; the server's part of the answer after {middle:.0f} ms, median"
    )
    figures.put("growth of the server's memory", (peak(lab) - before) / MIB, 150, "MiB")
    figures.put("the page's memory at most", max(heap) / MIB, 300, "MiB")
    made.write("gate", "")
    has_state(panel, "Flood", "failed")
    status = exit_status(lab)
    print(f"     exit status told: {status}")
    if status != 7:
        figures.missed.append("exit status")


def redirected(place: Path, size: int) -> float:
    """Return how long the same flood takes into a file, on this disk and beside the same load."""
    place.mkdir()
    (place / "flood.py").write_text(FLOOD)
    (place / "gate").touch()
    command = [sys.executable, "flood.py", str(size), str(size // 10), "2000000"]
    began = time.monotonic()
    with (place / "out").open("wb") as out:
        subprocess.run(command, cwd=place, stdout=out, check=False)
    return time.monotonic() - began


def exit_status(lab: server.Lab) -> Any:
    """Return what the server says of the flood's end."""
    identity = lab.ask("vaibify/projects")["projects"][0]["id"]
    return lab.ask(f"vaibify/projects/{identity}/steps/flood")["record"]["exit_code"]


def clicked_meanwhile(page: Page, panel: Locator) -> tuple[list[list[float]], list[float]]:
    """Click one step and the other until the flood has ended; return times and heap sizes."""
    clicks: list[list[float]] = []
    heap: list[float] = []
    while "the flood ends" not in panel.get_by_role("log").inner_text():
        for name in ("Calm", "Flood"):
            clicks.append(page.evaluate(CLICKED, name))
            heap.append(page.evaluate("performance.memory.usedJSHeapSize"))
        page.wait_for_timeout(100)
    return clicks, heap


if __name__ == "__main__":
    sys.exit(main())
