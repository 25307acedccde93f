"""Notices on Jupyter's own bus."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.kit import Made
from tests.server.client import Client
from vaibify_lab.events import NOTEBOOK, RUN, STEP


@pytest.fixture
def heard(jp_serverapp: Any) -> list[tuple[str, dict[str, Any]]]:
    """Everything that our schemas emitted, as any listener of the server gets it."""
    found: list[tuple[str, dict[str, Any]]] = []

    async def listen(logger: Any, schema_id: str, data: dict[str, Any]) -> None:
        kept = {key: value for key, value in data.items() if not key.startswith("__")}
        found.append((schema_id, kept))

    for schema in (STEP, RUN, NOTEBOOK):
        jp_serverapp.event_logger.add_listener(schema_id=schema, listener=listen)
    return found


async def _until(heard: list[Any], wanted: Any) -> None:
    for _ in range(600):
        if wanted in heard:
            return
        await asyncio.sleep(0.1)
    raise AssertionError(heard)


async def test_a_run_is_told_step_by_step(client: Client, made: Made, heard: list[Any]) -> None:
    identity = await client.id()
    run = (await client.run(identity))[0]["run_id"]
    ended = {"project": identity, "run_id": run, "change": "ended", "outcome": "passed"}
    await _until(heard, (RUN, ended))
    assert heard[0] == (RUN, {"project": identity, "run_id": run, "change": "started"})
    steps = [(one["step"], one["change"]) for schema, one in heard if schema == STEP]
    assert steps == [("make", "started"), ("make", "passed"), ("use", "started"), ("use", "passed")]


async def test_a_run_of_the_command_line_is_told_once_it_was_seen(
    client: Client, made: Made, heard: list[Any]
) -> None:
    wait = "until [ -e go.txt ]; do sleep 0.05; done"
    made.write("make.sh", f"{wait}; cat data/in.txt > out/a.txt\n")
    identity = await client.id()
    await client.status(identity)
    from vaibify_lab.runs.options import RunOptions

    folder = made.project().start_run(RunOptions("workflow.json"))
    current = (await client.status(identity))["current"]
    assert (current["run_id"], current["state"], current["person"]) == (
        folder.run_id,
        "running",
        "Ada Test <ada@example.org>",
    )
    made.write("go.txt", "")
    await _until(heard, (STEP, {"project": identity, "step": "make", "change": "passed"}))
    ended = {"project": identity, "run_id": folder.run_id, "change": "ended"}
    await _until(heard, (RUN, {**ended, "outcome": "passed"}))


async def test_a_change_on_disk_is_told_by_the_next_look(
    client: Client, made: Made, heard: list[Any]
) -> None:
    made.run()
    identity = await client.id()
    await client.status(identity)
    assert heard == []
    made.write("out/a.txt", "forged\n")
    await client.status(identity)
    for slug, run in (("make", "stale"), ("use", "stale")):
        changed = {"project": identity, "step": slug, "change": "changed"}
        await _until(heard, (STEP, {**changed, "run": run, "green": False}))


async def test_a_saved_notebook_is_told(
    client: Client, made: Made, jp_fetch: Any, heard: list[Any]
) -> None:
    (made.root / "notebooks").mkdir()
    identity = await client.id()
    cells: dict[str, Any] = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    for name in ("co2/notebooks/fit.ipynb", "outside.ipynb"):
        body = json.dumps({"type": "notebook", "content": cells})
        await jp_fetch("api", "contents", *name.split("/"), method="PUT", body=body)
    saved = {"contents": "co2/notebooks/fit.ipynb", "path": "notebooks/fit.ipynb"}
    await _until(heard, (NOTEBOOK, {"project": identity, **saved}))
    assert len(heard) == 1
