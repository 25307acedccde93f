"""Names, paths, notes and logs that would be more than text are text, also under a strict CSP."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import server
from tests.browser.screen import open_lab, open_panel
from tests.browser.server import Lab
from tests.kit import Made

MARKUP = "<img src=x onerror=pwned=1><b>100% %1 %s</b> ${7*7}"
TURNED = "\u202eevil\u2066"
EVIL = f"{MARKUP} {TURNED} \x1b[31mred\x1b[0m " + "x" * 5000
NAME = (f"{MARKUP} " + "x" * 200)[:200]  # marks of direction are refused in it
SEEN = "⟨U+202E⟩evil⟨U+2066⟩"
FILE = f"out/{MARKUP.replace('*', '')} {TURNED}.txt"
PLOT = "out/<i>100%</i>.svg"
SCRIPT = "new Image().src = '/api/status?pwned'; document.title = 'pwned'"
SVG = f'<svg xmlns="http://www.w3.org/2000/svg" onload="{SCRIPT}"><script>{SCRIPT}</script></svg>'
POLICY = "script-src 'self' 'unsafe-eval'"
HEADERS = json.dumps({"headers": {"Content-Security-Policy": POLICY}})
STEPS: list[dict[str, Any]] = [
    {
        "sName": NAME,
        "sStepId": "evil",
        "sDescription": EVIL,
        "saDataCommands": ["bash evil.sh"],
        "saDataFiles": [FILE, "out/page.html"],
        "saPlotFiles": [PLOT],
        "bNoInputData": True,
        "dictTests": {"dictIntegrity": {"saCommands": ["cat evil.txt; false"]}},
    }
]
FILES: dict[str, str | bytes] = {
    "evil.txt": EVIL,
    "plot.svg": SVG,
    "evil.sh": f"cat evil.txt evil.txt >&2\ncp evil.txt '{FILE}'\ncp plot.svg '{PLOT}'\n"
    f"cp evil.txt 'out/undeclared {MARKUP.replace('*', '')}'\n"
    f'echo "<script>{SCRIPT}</script>" > out/page.html\n',
}
WATCH = """
window.violations = [];
addEventListener('securitypolicyviolation', event => violations.push(
    `${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    return root


@pytest.fixture
def lab(home: Path, root: Path) -> Iterator[Lab]:
    """JupyterLab under a policy that lets no markup run."""
    lab = server.start(home, root, f"--ServerApp.tornado_settings={HEADERS}")
    yield lab
    lab.stop()


def shows(place: Locator) -> None:
    """Wait until a place shows the markup as text and the marks of direction as signs."""
    expect(place).to_contain_text("<img src=x onerror=pwned=1><b>100% %1 %s</b>")
    expect(place).to_contain_text(SEEN)


def signed(made: Made) -> None:
    """Sign the step with a name and a note that are hostile too."""
    project = made.project()
    project.sign_off(project.to_sign("evil"), "failed", by=f"{MARKUP} Ana", note=EVIL)


def test_what_others_wrote_is_text_everywhere_in_the_panel(
    page: Page, lab: Lab, root: Path
) -> None:
    made = Made.new(root / "made", STEPS, FILES, sWorkflowName=f"{MARKUP} {TURNED}")
    assert made.run()["outcome"] == "failed"  # its test does
    signed(made)
    page.add_init_script(WATCH)
    open_lab(page, lab)
    panel = open_panel(page)
    shows(panel.get_by_role("heading", level=2))
    row = panel.get_by_role("option")
    expect(row.locator(".vb-Row-name")).to_have_text(NAME)
    assert (row.get_attribute("aria-label") or "").startswith(NAME)
    row.click()
    detail = panel.locator(".vb-Detail")
    expect(detail.locator("h3")).to_have_text(NAME)
    shows(detail.locator(".vb-Detail-description"))
    expect(detail.locator(".vb-Detail-description")).to_contain_text("␛[31mred")
    expect(detail.locator(".vb-Files").first).to_contain_text(FILE.replace(TURNED, SEEN))
    expect(detail.locator(".vb-Files").first).to_contain_text(PLOT)
    detail.get_by_role("button", name="Show sign-offs").click()
    shows(detail.locator("blockquote"))
    expect(detail.locator(".vb-Past")).to_contain_text(f"{MARKUP} Ana")

    panel.get_by_role("heading", name="Log").click()
    panel.get_by_role("button", name="Show the latest run").click()
    log = panel.get_by_role("log")
    shows(log)
    expect(log).to_contain_text("␛[31mred")
    detail.get_by_role("button", name="Sign off…").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(PLOT)
    expect(dialog).to_contain_text(MARKUP[:40])
    expect(dialog.get_by_role("radio").first).to_be_focused()
    page.keyboard.press("Escape")
    panel.get_by_role("listbox").press("r")
    page.locator(".jp-Notification-Status").click()
    expect(page.locator(".jp-Notification-List")).to_contain_text(MARKUP[:40])

    assert page.evaluate("window.pwned") is None
    strange = "img[src='x'], #vaibify-panel b, #vaibify-panel i, .jp-Dialog b"
    expect(page.locator(strange)).to_have_count(0)
    wide = "node => node.scrollWidth - node.clientWidth"
    assert panel.evaluate(wide) <= 0
    for section in panel.locator(".vb-Detail, .vb-Header, .vb-Log").all():
        assert section.evaluate(wide) <= 1
    # JupyterLab's own page holds one script, which takes the token off the address
    assert page.evaluate("violations") == [f"script-src-elem inline {lab.url}lab:1"]


def test_a_plot_with_a_script_in_it_runs_nothing_when_it_is_opened_by_itself(
    page: Page, lab: Lab, root: Path
) -> None:
    made = Made.new(root / "made", STEPS, FILES)
    made.run()
    identity = lab.ask("vaibify/projects")["projects"][0]["id"]
    asked: list[str] = []
    page.context.on("request", lambda request: asked.append(request.url))
    for path in (PLOT, "out/page.html"):
        place = f"vaibify/projects/{identity}/steps/evil/plots/{urllib.parse.quote(path)}"
        answer = page.goto(lab.page(place))
        assert answer is not None and answer.status == 200, answer
        assert "sandbox" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        page.wait_for_load_state("networkidle")
    assert [url for url in asked if "pwned" in url] == []
