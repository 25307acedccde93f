"""Servers that come and go while a run goes on (cases S04, S05, S06, D05), behind a hub's prefix.

One server for all of them: each has a project of its own below its root.
"""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.kit import Made
from tests.server.process import Server

SLOW = [
    {
        "sName": "Slow",
        "saDataCommands": ["bash slow.sh"],
        "saDataFiles": ["out/x.txt"],
        "bNoInputData": True,
        "bNoTests": True,
    }
]
SLOW_FILES = {
    "slow.sh": "echo first; while [ ! -e out/go ]; do sleep 0.1; done; rm out/go\n"
    "echo last; echo done > out/x.txt\n"
}


@pytest.fixture
def made(server: Server, request: pytest.FixtureRequest) -> Made:
    return Made.new(server.root / request.node.name, SLOW, SLOW_FILES)


def _says_first(line: dict[str, Any]) -> bool:
    return line["event"] == "output" and "first" in line["text"]


def _texts(lines: list[dict[str, Any]]) -> str:
    return "".join(one["text"] for one in lines if one["event"] == "output")


def test_a_run_outlives_the_tab_and_the_server(server: Server, made: Made) -> None:
    identity = server.id(made.root)
    _, started = server.ask("POST", f"projects/{identity}/runs", {})
    address = f"projects/{identity}/runs/{started['run_id']}"
    tab = server.follow(f"{address}/journal", until=_says_first)
    status, second = server.ask("POST", f"projects/{identity}/runs", {"mode": "all"})
    assert (status, second["error"]["code"]) == (409, "run-in-progress")
    assert started["run_id"] in second["error"]["text"]
    assert re.search(r"started by Ada Test .* at \d{4}-\d\d-\d\dT", second["error"]["text"])
    again = server.follow(f"{address}/journal", until=_says_first)
    assert again[1:] == tab[1:] and again[0]["instance"] == tab[0]["instance"]

    server.kill()
    server.start()
    assert server.id(made.root) == identity
    found = server.get(f"projects/{identity}/file-status")
    assert (found["current"]["run_id"], found["current"]["state"]) == (started["run_id"], "running")
    assert found["steps"][0]["run"] == "running"
    made.write("out/go", "")
    hello, *rest = server.follow(f"{address}/journal", after=tab[-1]["sequence"])
    assert hello["instance"] != tab[0]["instance"]
    assert rest[0]["sequence"] > tab[-1]["sequence"]
    assert (_texts(rest), rest[-1]["outcome"]) == ("last\n", "passed")
    whole = server.follow(f"{address}/journal")
    assert _texts(whole) == "first\nlast\n"
    assert server.get(f"projects/{identity}/file-status")["steps"][0]["run"] == "current"
    assert server.get(address)["outcome"] == "passed"


def test_a_stopped_run_leaves_nothing(server: Server, made: Made) -> None:
    identity = server.id(made.root)
    _, started = server.ask("POST", f"projects/{identity}/runs", {})
    address = f"projects/{identity}/runs/{started['run_id']}"
    server.follow(f"{address}/journal", until=_says_first)
    assert server.ask("DELETE", f"projects/{identity}/runs/other")[0] == 404
    assert server.ask("DELETE", address) == (202, {"run_id": started["run_id"]})
    ending = server.follow(f"{address}/journal")[-1]
    assert (ending["outcome"], ending["steps"]) == ("interrupted", {"slow": "interrupted"})
    made.write("out/go", "")
    assert not (made.root / "out/x.txt").exists()
    status, late = server.ask("DELETE", address)
    assert (status, late["error"]["code"]) == (409, "not-passed")
    _, seen = server.ask("POST", f"projects/{identity}/acknowledge", {})
    assert seen == {"acknowledged": ["slow"]}


def test_a_run_that_died_with_its_server_is_interrupted(server: Server, made: Made) -> None:
    identity = server.id(made.root)
    _, started = server.ask("POST", f"projects/{identity}/runs", {})
    address = f"projects/{identity}/runs/{started['run_id']}"
    lines = server.follow(f"{address}/journal", until=_says_first)
    runner = next(one["process"]["pid"] for one in lines if one["event"] == "runAccepted")
    server.kill()
    os.kill(runner, signal.SIGKILL)
    server.start()
    found = server.get(f"projects/{identity}/file-status")
    assert (found["current"]["state"], found["steps"][0]["run"]) == ("lost", "interrupted")
    ending = server.follow(f"{address}/journal")[-1]
    assert (ending["outcome"], ending["lost"]) == ("interrupted", True)
    assert server.get(address)["outcome"] == "lost"
    assert server.ask("DELETE", address)[0] == 202  # ends the step that it left


def test_a_flood_of_output_stays_bounded(server: Server, made: Made) -> None:
    """500 MB, of which one line of 50 MB and bytes that are no text; the exit status is kept."""
    megabyte = 10**6
    made.write(
        "slow.sh",
        f"head -c {450 * megabyte} /dev/zero | tr '\\0' 'x' | fold -w 99\n"
        f"head -c {50 * megabyte} /dev/zero | tr '\\0' 'y'\n"
        "printf '\\n\\377\\376\\0binary\\n'; exit 3\n",
    )
    identity = server.id(made.root)
    before = _memory(server.pid)
    _, started = server.ask("POST", f"projects/{identity}/runs", {})
    address = f"projects/{identity}/runs/{started['run_id']}"
    running = server.follow(f"{address}/journal")
    assert server.get(f"projects/{identity}/file-status")["steps"][0]["run"] == "failed"
    later = server.follow(f"{address}/journal")
    for lines in (running, later):
        output = [one for one in lines if one["event"] == "output"]
        written = sum(one["length"] for one in output)
        assert written > 500 * megabyte and _texts(lines).endswith("\n\ufffd\ufffd\x00binary\n")
        shown = sum(len(one["text"]) for one in output)
        assert sum(one["not_shown"] for one in output) >= written - 2 * shown > 0
        failed = next(one for one in lines if one["event"] == "stepFail")
        assert failed["exit_code"] == 3
    assert sum(len(one["text"]) for one in later if one["event"] == "output") <= 2**20
    assert _memory(server.pid) - before < 100 * megabyte
    log = made.root / f".vaibify/local/runs/{started['run_id']}/steps/slow" / output[0]["log"]
    assert log.stat().st_size == written
    log.unlink()


def _memory(pid: int) -> int:
    """Return the most memory that a process has had, in bytes."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) * 1024
