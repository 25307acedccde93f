"""Runs, their journals and sign-offs, through a real server."""

from __future__ import annotations

from tests.kit import Made
from tests.server.client import Client


async def test_a_run_from_start_to_end(client: Client, made: Made) -> None:
    identity = await client.id()
    hello, *events = await client.run(identity, mode="all")
    assert hello["event"] == "hello" and hello["after"] == 0
    assert hello["instance"] == (await client.get("projects")).json["instance"]
    assert events[-1] | {"time": 0} == {
        "event": "runComplete",
        "outcome": "passed",
        "steps": {"make": "passed", "use": "passed"},
        "sequence": events[-1]["sequence"],
        "time": 0,
    }
    sequences = [one["sequence"] for one in events]
    assert sequences == sorted(sequences)
    runs = (await client.get(f"projects/{identity}/runs")).json
    assert [one["outcome"] for one in runs["runs"]] == ["passed"] and runs["current"] is None
    assert runs["runs"][0]["person"] == "Ada Test <ada@example.org>"
    address = f"projects/{identity}/runs/{hello['run_id']}"
    assert (await client.get(address)).json == runs["runs"][0]
    rest = await client.follow(f"{address}/journal", after=sequences[3])
    assert [one["sequence"] for one in rest[1:]] == sequences[4:]


async def test_a_sign_off_holds_for_the_bytes_that_were_seen(client: Client, made: Made) -> None:
    identity = await client.id()
    await client.run(identity)
    address = f"projects/{identity}/steps/make/sign-offs"
    seen = (await client.get(address)).json
    assert seen["name"] == "Ada Test <ada@example.org>" and seen["sign_offs"] == []
    assert seen["to_sign"]["bytes"] == {"out/a.txt": 2}
    asked = {key: seen["to_sign"][key] for key in ("run_id", "hashes")} | {"verdict": "passed"}
    signed = await client.post(address, {**asked, "note": "100% <b>fine</b>"})
    assert signed.status == 201
    assert signed.json["sign_off"]["note"] == "100% <b>fine</b>"
    assert (await client.steps(identity))["make"]["sUser"] == "passed"
    made.write("data/in.txt", "2\n")
    await client.run(identity)
    late = await client.post(address, asked)
    assert (late.status, late.code) == (409, "bytes-changed")
    fresh = (await client.get(address)).json["to_sign"]
    assert late.json["to_sign"] == fresh and fresh["hashes"] != asked["hashes"]
    assert (await client.steps(identity))["make"]["sUser"] == "untested"
