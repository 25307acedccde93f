"""What ``make demo`` does last: JupyterLab where a person can see it, else the command for it."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.browser.server import environment

SCRIPT = Path(__file__).parents[1] / ".ci" / "open-lab"


def surroundings(tmp_path: Path, **more: str) -> dict[str, str]:
    """Return an environment with a home of its own and no display."""
    found = environment(tmp_path / "home")
    displays = ("DISPLAY", "WAYLAND_DISPLAY")
    return {k: v for k, v in found.items() if k not in displays} | more


@pytest.mark.parametrize("display", [{}, {"DISPLAY": ":9"}])
def test_without_a_terminal_the_one_command_is_told(
    tmp_path: Path, display: Mapping[str, str]
) -> None:
    done = subprocess.run(
        [SCRIPT, "demo/co2"],
        env=surroundings(tmp_path, **display),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    root = "--allow-root " if os.getuid() == 0 else ""
    told = f"To look at it in JupyterLab: .venv/bin/jupyter-lab {root}demo/co2\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, told, "")


def test_on_a_terminal_with_a_display_the_browser_is_sent_to_it(tmp_path: Path) -> None:
    (tmp_path / "co2").mkdir()
    (tmp_path / "co2" / "here.txt").write_text("here")
    shown = tmp_path / "shown"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\ncp "${{1#file://}}" {shown}.part && mv {shown}.part {shown}\n')
    browser.chmod(0o755)
    ours, theirs = pty.openpty()
    lab = subprocess.Popen(
        [SCRIPT, "co2"],
        cwd=tmp_path,
        env=surroundings(tmp_path, DISPLAY=":9", BROWSER=str(browser)),
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 120
        while not shown.exists() and lab.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        page = shown.read_text()  # what sends the browser on, with the token
        assert re.search(r"http://(localhost|127\.0\.0\.1):\d+/lab\?token=\w+", page), page
    finally:
        lab.send_signal(signal.SIGTERM)
        lab.wait(30)
        os.close(ours)
        os.close(theirs)
