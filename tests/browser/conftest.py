"""A real JupyterLab, a real Chromium; run apart from other tests, for playwright holds a loop."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from tests.browser import server
from tests.browser.screen import fresh_page
from tests.contained.conftest import image as image
from tests.containers import bare as bare
from tests.containers import client as client
from tests.containers import engine_room as engine_room
from tests.containers import registry as registry
from tests.containers import unique as unique

expect.set_options(timeout=60_000)  # the machine is shared

NAMES = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",  # root's
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    # Chromium asks hosts of its own whatever it is told: let no name resolve.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium as installed here, else playwright's own."""
    found = next((path for name in NAMES if name and (path := shutil.which(name))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Beside a failure, tell what the page and the server's log said."""
    report = yield
    used = getattr(item, "funcargs", {})
    if report.when == "call" and report.failed:
        if isinstance(page := used.get("page"), Page):
            report.sections.append(("page", told_by(page)))
        if isinstance(lab := used.get("lab"), server.Lab):
            report.sections.append(("server", lab.log.read_text()[-4000:]))
    return report


def told_by(page: Page) -> str:
    """Return the text of the panel, of dialogs and of what the person was told."""
    try:
        parts = page.locator("#vaibify-panel, .jp-Dialog, .jp-toast, .Toastify__toast").all()
        return "\n---\n".join(part.inner_text(timeout=2000) for part in parts)
    except Error as error:
        return f"nothing could be read: {error}"


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a fresh profile; nothing that runs in it may raise."""
    errors: list[str] = []
    with fresh_page(browser) as page:
        page.on("pageerror", lambda error: errors.append(str(error)))
        yield page
        raised = list(errors)  # what a closing page breaks off is nobody's mistake
    assert raised == []


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder of a server's own settings and log."""
    place = tmp_path / "home"
    place.mkdir()
    return place


@pytest.fixture
def lab(home: Path, tmp_path: Path) -> Iterator[server.Lab]:
    """JupyterLab on an empty folder."""
    root = tmp_path / "root"
    root.mkdir()
    lab = server.start(home, root)
    yield lab
    lab.stop()
