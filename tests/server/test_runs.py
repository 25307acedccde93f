"""Runs, their journals and sign-offs, through a real server."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest
from jupyter_server.auth.identity import IdentityProvider, User
from tornado.web import RequestHandler

from tests.kit import Made
from tests.server.client import Client
from vaibify_lab.handlers.runs import person_of


class Hub(IdentityProvider):
    """Knows who is logged in, as a hub does."""

    def get_user(self, handler: RequestHandler) -> User:
        return User(username="grace", name="Grace Hopper")

    def is_token_authenticated(self, handler: RequestHandler) -> bool:
        return True


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
    assert signed.json["envelope_fault"] is None
    assert signed.json["sign_off"]["note"] == "100% <b>fine</b>"
    assert (await client.steps(identity))["make"]["sUser"] == "passed"
    made.write("data/in.txt", "2\n")
    await client.run(identity)
    late = await client.post(address, asked)
    assert (late.status, late.code) == (409, "bytes-changed")
    fresh = (await client.get(address)).json["to_sign"]
    assert late.json["to_sign"] == fresh and fresh["hashes"] != asked["hashes"]
    assert (await client.steps(identity))["make"]["sUser"] == "untested"


def test_the_name_that_jupyter_makes_up_is_nobodys() -> None:
    class Asking:
        log = logging.getLogger()

    made_up = IdentityProvider().generate_anonymous_user(Asking())  # type: ignore[arg-type]
    assert person_of(made_up) is None and person_of(None) is None
    assert person_of(User(username="grace", name="Grace Hopper")) == "Grace Hopper"


@pytest.fixture
def behind_a_hub(jp_serverapp: Any) -> None:
    jp_serverapp.web_app.settings["identity_provider"] = Hub(parent=jp_serverapp)


@pytest.mark.usefixtures("behind_a_hub")
async def test_who_is_logged_in_is_recorded_and_named(client: Client, made: Made) -> None:
    made.write("make.sh", "sleep 30; cat data/in.txt > out/a.txt\n")
    identity = await client.id()
    run = (await client.post(f"projects/{identity}/runs", {})).json["run_id"]
    second = await client.post(f"projects/{identity}/runs", {})
    assert (second.status, second.code) == (409, "run-in-progress")
    assert re.search(f"{run}, started by Grace Hopper at 2", second.json["error"]["text"])
    read = (await client.get(f"projects/{identity}/workflow")).json
    asked = {"sha256": read["sha256"], "text": read["text"]}
    for method, address, body in (
        ("PUT", "workflow", asked),
        ("POST", "acknowledge", {}),
    ):
        found = await client.ask(method, f"projects/{identity}/{address}", body)
        assert (found.status, found.code) == (409, "run-in-progress"), address
    assert (await client.status(identity))["current"]["person"] == "Grace Hopper"
    await client.ask("DELETE", f"projects/{identity}/runs/{run}")
    await client.follow(f"projects/{identity}/runs/{run}/journal")
    made.write("make.sh", "cat data/in.txt > out/a.txt\n")
    await client.run(identity)
    address = f"projects/{identity}/steps/make/sign-offs"
    seen = (await client.get(address)).json
    asked = {key: seen["to_sign"][key] for key in ("run_id", "hashes")}
    signed = await client.post(address, {**asked, "verdict": "failed", "by": "G. Hopper"})
    entry = signed.json["sign_off"]
    assert (entry["by"], entry["server_identity"]) == ("G. Hopper", "grace")
