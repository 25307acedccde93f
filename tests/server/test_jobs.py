"""What takes long and is no run: started, followed, cancelled, gone with the server."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.kit import Made
from tests.server.client import Client
from vaibify_lab.project.jobs import request

NAP = f"60.{os.getpid()}"  # by which its program is told from those of other tests
SLOW = [
    {
        "sName": "Slow",
        "saDataCommands": [f"sleep {NAP}; echo x > out/x"],
        "saDataFiles": ["out/x"],
        "bNoInputData": True,
        "bNoTests": True,
    }
]


async def _done(client: Client, identity: str, address: str, body: Any = None) -> dict[str, Any]:
    """Start a job, follow it to its end, return how it stands."""
    started = await client.post(f"projects/{identity}/{address}", body)
    assert started.status == 202, started
    job = f"projects/{identity}/jobs/{started.json['job']}"
    hello, *lines = await client.follow(f"{job}/journal")
    assert (hello["event"], hello["first"]) == ("hello", 1)
    assert [one["sequence"] for one in lines] == list(range(1, len(lines) + 1))
    found: dict[str, Any] = (await client.get(job)).json
    assert lines[-1]["event"] in ("jobDone", "jobFailed", "jobCancelled")
    rest = (await client.get(f"{job}/journal", params={"after": str(len(lines) - 1)})).body
    assert [json.loads(line) for line in rest.splitlines()] == lines[-1:]
    return found | {"lines": lines}


async def test_the_envelope_written_and_verified(client: Client, made: Made) -> None:
    identity = await client.id()
    made.run()
    written = await _done(client, identity, "envelope")
    assert (written["state"], written["kind"], written["error"]) == ("done", "envelope", None)
    assert [one["path"] for one in written["result"]["written"]] == [
        ".vaibify/environment.json",
        "MANIFEST.sha256",
    ]
    verified = await _done(client, identity, "manifest/verify")
    assert (verified["result"]["state"], verified["result"]["problems"]) == ("passed", [])
    made.write("out/a.txt", "forged\n")
    differs = await _done(client, identity, "manifest/verify")
    assert [one["path"] for one in differs["result"]["problems"]] == ["out/a.txt"]
    again = await _done(client, identity, "manifest")
    assert [one["path"] for one in again["result"]["written"]] == ["MANIFEST.sha256"]


async def test_a_reproduction_is_what_the_command_line_says(client: Client, made: Made) -> None:
    identity = await client.id()
    made.run()
    made.project().envelope()
    found = await _done(client, identity, "reproductions", {"skip": [2, 3], "rerun": True})
    tiers = [one["tier"] for one in found["lines"] if one["event"] == "tierDone"]
    assert tiers == [1, 2, 3, 4]
    assert found["result"]["confirmed"] is True
    assert found["result"]["summary"] == "Confirmed: tiers 1, 4. Not checked: 2, 3."
    assert {one["verdict"] for one in found["result"]["rerun"]["outputs"]} == {"identical"}
    assert "stepPass" in [one["line"]["event"] for one in found["lines"] if "line" in one]
    jobs = (await client.get(f"projects/{identity}/reproductions")).json["jobs"]
    assert [one["job"] for one in jobs] == [found["job"]]
    wrong = await _done(client, identity, "reproductions", {"skip": [1, 2, 3]})
    assert (wrong["state"], wrong["error"]["code"]) == ("failed", "usage")


async def test_a_job_is_cancelled_and_another_of_its_kind_waits(client: Client, made: Made) -> None:
    made.workflow(SLOW)
    identity = await client.id()
    address = f"projects/{identity}/reproductions"
    asked = {"skip": [2, 3], "rerun": True}
    job = (await client.post(address, asked)).json["job"]
    second = await client.post(address, asked)
    assert (second.status, second.code) == (409, "job-in-progress")
    socket = await client.socket(f"projects/{identity}/jobs/{job}/journal")
    while json.loads(await socket.read_message()).get("line", {}).get("event") != "stepStarted":
        pass
    assert (await client.ask("DELETE", f"projects/{identity}/jobs/{job}")).status == 202
    last = None
    while (text := await asyncio.wait_for(socket.read_message(), 60)) is not None:
        last = json.loads(text)
    assert last is not None and last["event"] == "jobCancelled"
    found = (await client.get(f"projects/{identity}/jobs/{job}")).json
    assert (found["state"], found["result"]) == ("cancelled", None)
    assert not [one for one in made.root.parent.iterdir() if one.name.startswith(".vaibify-rerun")]
    assert not _processes_naming(f"sleep\0{NAP}\0")


def _processes_naming(words: str) -> list[str]:
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            said = place.read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if words in said:
            found.append(said)
    return found


async def test_a_job_that_breaks_down_says_so(
    client: Client, made: Made, jp_serverapp: Any
) -> None:
    identity = await client.id()
    job = (await client.post(f"projects/{identity}/reproductions", {"rerun": True})).json["job"]
    bench = jp_serverapp.web_app.settings["vaibify_lab"]
    (process,) = [one.process for one in bench.jobs.of(await bench.shelf.entry(identity))]
    process.send_signal(signal.SIGKILL)
    lines = await client.follow(f"projects/{identity}/jobs/{job}/journal")
    assert (lines[-1]["event"], lines[-1]["error"]["code"]) == ("jobFailed", "internal")


async def test_an_unknown_job(client: Client, made: Made) -> None:
    found = await client.get(f"projects/{await client.id()}/jobs/0123")
    assert (found.status, found.code) == (404, "missing-file")


@pytest.mark.parametrize("ignored", [False, True])
def test_a_job_ends_with_who_started_it(made: Made, ignored: bool) -> None:
    """Also where a shell had SIGINT ignored, as for a server in the background."""
    made.workflow(SLOW)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN) if ignored else None
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "vaibify_lab.project.jobs"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
    assert process.stdin is not None and process.stdout is not None
    asked = {"skip": [2, 3], "rerun": True}
    process.stdin.write(request("reproduction", made.root, "workflow.json", asked))
    process.stdin.flush()
    while b"stepStarted" not in process.stdout.readline():
        pass
    process.stdin.close()
    last = json.loads(process.stdout.read().splitlines()[-1])
    assert (last["event"], process.wait(30)) == ("jobCancelled", 0)


async def test_the_steps_verified_from_every_byte(client: Client, made: Made) -> None:
    identity = await client.id()
    made.run()
    found = await _done(client, identity, "verify")
    assert (found["state"], found["kind"], found["result"]["green"]) == ("done", "look", False)
    expected = made.project().report().to_json()
    assert found["result"] == {"green": False, **expected}
    record = (await client.get(f"projects/{identity}/steps/make")).json["record"]
    (make, _) = expected["steps"]
    assert make["since"] == {"run": record["ended"], "tests": None, "user": None}
    made.sign("make", "use")
    assert (await _done(client, identity, "verify"))["result"]["green"] is True
