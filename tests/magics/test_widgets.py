"""ipywidgets beside the text of a cell: where there are none, and when they have gone."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient

from tests.magics.kernel import LOAD, new_project, run, started

VIEW = "application/vnd.jupyter.widget-view+json"
CELL = """%%vaibify step Slow --no-input --no-tests --output out/s.txt
import pathlib, time
time.sleep(2.5)
pathlib.Path("out/s.txt").write_text("1")"""
OFFER = "slow: looked at it? %vaibify sign-off slow --pass (or --fail)"


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with ipywidgets in it, which this environment does without."""
    place = str(tmp_path_factory.mktemp("kit"))
    words = ("-m", "pip", "install", "-q", "--no-deps", "--target", place, "ipywidgets>=8,<9")
    subprocess.run([sys.executable, *words], check=True, timeout=300)
    return place


def test_without_widgets_a_cell_is_its_text(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    (tmp_path / "none/ipywidgets.py").write_text("raise ModuleNotFoundError('ipywidgets')\n")
    made = new_project(tmp_path / "p")
    ran = run(made.root, CELL, PYTHONPATH=str(tmp_path / "none"))
    assert ran.stopped is None
    [view] = ran.shown()
    assert list(view) == ["text/plain", "text/html"]
    assert view["text/plain"].startswith("slow: not verified yet\n  ✓ run current")


def test_with_widgets_each_output_begins_with_its_text(tmp_path: Path, kit: str) -> None:
    made = new_project(tmp_path / "p")
    ran = run(made.root, CELL, PYTHONPATH=kit)
    assert ran.stopped is None
    past, view, form = ran.shown()
    assert past == {"text/plain": "slow: ran"}  # what was progress is a text
    assert list(view) == ["text/plain", "text/html"]
    assert view["text/plain"].startswith("slow: not verified yet\n  ✓ run current")
    # stored without the states of widgets, or not trusted, this is what is read
    assert list(form) == ["text/plain", VIEW] and form["text/plain"] == OFFER
    again = run(made.root, CELL.replace('"1"', "1"), "%vaibify status", on=True, PYTHONPATH=kit)
    assert again.error(0)[0] == "StepFailed"
    assert not any(VIEW in one for one in again.shown(0))  # nothing there to be signed


class Kernel:
    """A kernel, and what it said of widgets and displays."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self.client = client
        self.widgets: dict[str, dict[str, Any]] = {}
        self.updates: list[str] = []

    def hear(self, message: dict[str, Any]) -> None:
        kind, content = message["msg_type"], message["content"]
        if kind == "comm_open":
            self.widgets[content["comm_id"]] = dict(content["data"]["state"])
        elif kind == "comm_msg" and content["data"].get("method") == "update":
            self.widgets[content["comm_id"]] |= content["data"]["state"]
        elif kind == "update_display_data":
            self.updates.append(content["data"]["text/plain"])

    def run(self, code: str) -> None:
        reply = self.client.execute_interactive(code, timeout=120, output_hook=self.hear)
        assert reply["content"]["status"] == "ok", reply

    def click(self, word: str) -> None:
        """Click a button as a front end does, and hear all that comes of it."""
        ids = [one for one, state in self.widgets.items() if state.get("description") == word]
        data = {"method": "custom", "content": {"event": "click"}}
        message = self.client.session.msg("comm_msg", {"comm_id": ids[-1], "data": data})
        self.client.shell_channel.send(message)
        until = time.monotonic() + 120
        while time.monotonic() < until:
            heard = self.client.get_iopub_msg(timeout=120)
            self.hear(heard)
            is_of_it = heard["parent_header"].get("msg_id") == message["header"]["msg_id"]
            if is_of_it and heard["content"].get("execution_state") == "idle":
                return
        raise AssertionError("the kernel did not answer")

    def labels(self) -> list[str]:
        return [one["value"] for one in self.widgets.values() if one["_model_name"] == "LabelModel"]


def test_a_click_signs_the_bytes_that_were_shown_and_no_others(tmp_path: Path, kit: str) -> None:
    made = new_project(tmp_path / "p")
    with started(made.root, PYTHONPATH=kit) as (_, client):
        kernel = Kernel(client)
        kernel.run(LOAD)
        kernel.run(CELL)
        assert any(one.startswith("running: slow ") for one in kernel.labels())
        made.write("out/s.txt", "2")
        kernel.click("Pass")
        assert "out/s.txt is not what the last run of 'slow' wrote" in kernel.labels()[-1]
        assert made.steps()["slow"].user == "untested"
        made.write("out/s.txt", "1")
        kernel.click("Pass")
    signed, view = kernel.updates[-2:]
    assert signed.startswith("slow is signed off as passed by Ada Test")
    assert re.match(r"slow: verified, \d{4}-\d\d-\d\d \d\d:\d\d UTC\n", view)
    assert made.steps()["slow"].green
