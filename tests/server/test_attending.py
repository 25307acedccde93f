"""A step that waits for its person, over HTTP: held, done in a terminal of its own, completed."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.kit import Made
from tests.runs.here import by_hand
from tests.server.client import Client

STEPS = [by_hand("vi marks/m.txt")]


@pytest.fixture
def asking(jp_root_dir: Path) -> Made:
    return Made.new(jp_root_dir / "asks", STEPS, {})


async def _until(socket: Any, event: str) -> dict[str, Any]:
    while True:
        found: dict[str, Any] = json.loads(await asyncio.wait_for(socket.read_message(), 60))
        if found["event"] == event:
            return found


async def _in_terminal(socket: Any, *answers: tuple[str, str]) -> None:
    """Type an answer whenever what it answers is shown, until the terminal ends."""
    left, shown = list(answers), ""
    while (message := await asyncio.wait_for(socket.read_message(), 60)) is not None:
        kind, *more = json.loads(message)
        if kind == "disconnect":
            break
        shown += more[0] if kind == "stdout" else ""
        if left and left[0][0] in shown:
            await socket.write_message(json.dumps(["stdin", left.pop(0)[1]]))
            shown = ""
    assert left == []


async def test_a_waiting_step_is_held_done_in_its_terminal_and_completed(
    client: Client, asking: Made, jp_ws_fetch: Any
) -> None:
    identity = await client.id()
    step = f"projects/{identity}/steps/look"
    early = [await client.post(f"{step}/{word}") for word in ("pause", "complete", "terminals")]
    assert [(one.status, one.code) for one in early] == [(409, "not-passed")] * 3
    started = await client.post(f"projects/{identity}/runs", {"interactive": True})
    run = started.json["run_id"]
    journal = await client.socket(f"projects/{identity}/runs/{run}/journal")
    told = await _until(journal, "stepWaiting")
    assert (told["description"], told["commands"]) == ("Mark the outliers.", ["vi marks/m.txt"])
    assert (await client.steps(identity))["look"]["run"] == "waiting"

    assert (await client.post(f"{step}/pause")).json == {"run_id": run, "step": "look"}
    paused = await _until(journal, "stepPaused")
    assert paused["by"].startswith("Ada Test")
    again = await client.post(f"{step}/pause")
    assert (again.status, again.code) == (409, "not-passed")
    assert (await client.post(f"{step}/resume")).status == 202
    await _until(journal, "stepResumed")

    made = await client.post(f"{step}/terminals")
    assert made.status == 201
    socket = await jp_ws_fetch("terminals", "websocket", made.json["name"])
    typed = ("[look]", "echo 3 > marks/m.txt; exit\r")
    await _in_terminal(socket, typed, ("Is step 'look' done?", "n\r"))
    assert asking.read("marks/m.txt") == "3\n"
    wrong = await client.post(f"{step}/complete", {"give_up": True})
    assert (wrong.status, wrong.code) == (400, "usage")
    assert (await client.post(f"{step}/complete")).status == 202
    assert (await _until(journal, "runComplete"))["outcome"] == "passed"
    record = (await client.get(step)).json["record"]
    assert record["done_by"].startswith("Ada Test")


async def test_a_waiting_step_is_given_up(client: Client, asking: Made) -> None:
    identity = await client.id()
    started = await client.post(f"projects/{identity}/runs", {"interactive": True})
    journal = await client.socket(f"projects/{identity}/runs/{started.json['run_id']}/journal")
    await _until(journal, "stepWaiting")
    ended = await client.post(f"projects/{identity}/steps/look/complete", {"abandon": True})
    assert ended.status == 202
    assert (await _until(journal, "runComplete"))["outcome"] == "interrupted"


async def test_a_server_without_terminals_says_so(
    client: Client, asking: Made, jp_serverapp: Any
) -> None:
    jp_serverapp.web_app.settings["terminal_manager"] = None
    found = await client.post(f"projects/{await client.id()}/steps/look/terminals")
    assert (found.status, found.code) == (503, "cannot-check")
