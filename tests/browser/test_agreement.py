"""Case E07: command line, HTTP and the panel say the same, edit after edit."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser import server
from tests.browser.screen import open_lab, open_panel
from tests.edits import Edits, diamond

EDITS = 50
TESTS = {"Integrity tests": "sIntegrity", "Qualitative tests": "sQualitative"}
TESTS |= {"Quantitative tests": "sQuantitative"}
USER = {"untested": "not signed off", "passed": "signed off", "failed": "rejected"}
RUNGS = {True: "met", False: "not met", "unknown": "unknown"}


def row(step: dict[str, Any]) -> str:
    """Return what a step's row should say to somebody who listens."""
    tests = [f"{name}: {step[key]}" for name, key in TESTS.items()]
    user = USER.get(step["sUser"], step["sUser"])
    upstream = "modified" if step["bUpstreamModified"] else "unmodified"
    run = step["run"].replace("-", " ")
    return ", ".join([step["name"], run, *tests, f"You: {user}", f"Upstream: {upstream}"])


def rung(level: dict[str, Any]) -> str:
    """Return what a rung of the ladder should say."""
    return f"{level['level']} {level['title']}: {RUNGS[level['met']]}"


def command_line(home: Path, root: Path) -> dict[str, Any]:
    """Return what ``status --json`` says, to the account that the server runs in."""
    command = [sys.executable, "-m", "vaibify_lab.apps", "status", "--json"]
    done = subprocess.run(
        command, cwd=root, env=server.environment(home), capture_output=True, check=True
    )
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def shown(panel: Locator) -> list[str]:
    """Return what the ladder and the rows say."""
    drawn = panel.locator(".vb-Rung, [role=option]")
    return [str(one) for one in drawn.evaluate_all("all => all.map(a => a.ariaLabel)")]


def test_command_line_server_and_panel_agree_after_each_edit(
    page: Page, home: Path, tmp_path: Path
) -> None:
    root, kept = tmp_path / "root", tmp_path / "kept"
    root.mkdir()
    made = diamond(root / "d", kept)
    lab = server.start(home, root, "--VaibifyApp.poll_seconds=0.5")
    try:
        open_lab(page, lab)
        panel = open_panel(page)
        expect(panel.get_by_role("option")).to_have_count(4)
        (project,) = lab.ask("vaibify/projects")["projects"]
        seed = random.randrange(2**32)
        chance = random.Random(seed)
        edits = Edits(made, kept, chance)
        for number in range(EDITS):
            edit = chance.choice(edits.all)
            edit()
            said = command_line(home, made.root)
            found = lab.ask(f"vaibify/projects/{project['id']}/file-status")
            for key in ("steps", "levels", "warnings"):
                assert said[key] == found[key], (seed, number, edit, key)
            wanted = [rung(one) for one in said["levels"]]
            wanted += [row(step) for step in said["steps"]]
            deadline = 60_000
            while shown(panel) != wanted and deadline:
                page.wait_for_timeout(100)
                deadline -= 100
            assert shown(panel) == wanted, (seed, number, edit)
    finally:
        lab.stop()
