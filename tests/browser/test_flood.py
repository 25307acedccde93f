"""A step that prints without measure: page and server stay small and usable, nothing is lost."""

from __future__ import annotations

import re
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser import server
from tests.browser.screen import has_state, open_lab, open_panel
from tests.browser.server import Lab
from tests.kit import Made

LINES = 40_000_000
ONE_LINE = 8_000_000
BINARY = 2_000_000
FLOOD = """
import os, sys, time
out = sys.stdout.buffer
lines, line, binary = map(int, sys.argv[1:])
block = b"".join(b"%07d a line of the flood\\n" % i for i in range(10_000))
for _ in range(lines // len(block)):
    out.write(block)
out.write(b"o" * line + b"\\n" + os.urandom(binary) + b"\\nthe flood ends\\n")
out.flush()
end = time.monotonic() + 300  # nobody may be there any more to open it
while not os.path.exists("gate") and time.monotonic() < end:
    time.sleep(0.05)
sys.exit(7)
"""
MOST_CHARACTERS = 500_000  # in the page's log
MOST_GROWTH = 150 * 2**20  # of the server, in bytes


def steps(lines: int, line: int, binary: int) -> list[dict[str, Any]]:
    """Return a step that floods and one to look at meanwhile."""
    flood = {
        "sName": "Flood",
        "saDataCommands": [f"python flood.py {lines} {line} {binary}"],
        "saDataFiles": ["out/never.txt"],
        "bNoInputData": True,
        "bNoTests": True,
    }
    calm = {
        "sName": "Calm",
        "saDataCommands": ["echo calm > calm/it.txt"],
        "saDataFiles": ["calm/it.txt"],
        "bNoInputData": True,
        "bNoTests": True,
    }
    return [flood, calm]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    return root


@pytest.fixture
def lab(home: Path, root: Path) -> Iterator[Lab]:
    lab = server.start(home, root)
    yield lab
    lab.stop()


def peak(lab: Lab) -> int:
    """Return the most memory that the server ever held, in bytes."""
    status = Path(f"/proc/{lab.process.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024


def test_a_flood_leaves_page_and_server_usable_and_the_exit_status_known(
    page: Page, lab: Lab, root: Path
) -> None:
    made = Made.new(root / "made", steps(LINES, ONE_LINE, BINARY), {"flood.py": FLOOD})
    made.write(".gitignore", "gate\n")
    open_lab(page, lab)
    panel = open_panel(page)
    has_state(panel, "Flood", "never run")
    panel.get_by_role("heading", name="Log").click()
    before = peak(lab)
    panel.get_by_role("listbox").press("r")
    log = panel.get_by_role("log")
    expect(log).to_contain_text("not shown")
    panel.get_by_role("option", name=re.compile("^Calm")).click()
    expect(panel.locator(".vb-Detail h3")).to_have_text("Calm")
    has_state(panel, "Flood", "running")
    expect(log).to_contain_text("the flood ends")
    assert log.evaluate("node => node.textContent.length") < MOST_CHARACTERS
    assert log.evaluate("node => node.childElementCount") < 2_100
    assert peak(lab) - before < MOST_GROWTH

    href = panel.get_by_role("link", name=re.compile("full log of flood")).get_attribute("href")
    request = urllib.request.Request(urllib.parse.urljoin(lab.url, href))
    request.add_header("Authorization", f"token {lab.token}")
    whole = urllib.request.urlopen(request, timeout=60).read()
    assert len(whole) > LINES + ONE_LINE + BINARY - 300_000
    assert whole.endswith(b"\nthe flood ends\n")
    made.write("gate", "")
    has_state(panel, "Flood", "failed")
    panel.get_by_role("option", name=re.compile("^Flood")).click()
    facts = panel.locator(".vb-Detail .vb-Facts")
    expect(facts).to_contain_text("Exit code7")
