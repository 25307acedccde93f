"""A reviewer's server records nothing in the project."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from tests.kit import Made, git
from tests.server.addresses import ADDRESSES
from tests.server.client import Client

MAY = {"container", "reproductions", "reruns", "reviews", "manifest/verify", "verify"}
MAY |= {"runs/x", "jobs/x"}
ASK = {"cells", "cells/proposal"}  # by POST, for an editor's text is too long for an address


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any]) -> dict[str, Any]:
    return {**jp_server_config, "VaibifyApp": {"reviewer": True, "poll_seconds": 2}}


async def test_nothing_is_recorded(client: Client, made: Made) -> None:
    made.run()
    made.commit("results")
    found = (await client.get("projects")).json
    assert found["settings"] == {"poll_seconds": 2.0, "reviewer": True}
    identity = found["projects"][0]["id"]
    seen = (await client.get(f"projects/{identity}/steps/make/sign-offs")).json["to_sign"]
    sign = {"verdict": "passed", "run_id": seen["run_id"], "hashes": seen["hashes"]}
    bodies = {"init": {"contents": "co2"}, "steps/make/sign-offs": sign}
    for one in ADDRESSES:
        what = one.address.removeprefix("projects/{id}/")
        if one.method == "GET" or what in MAY or (one.method == "POST" and what in ASK):
            continue
        body = bodies.get(what, {})
        asked = await client.ask(one.method, one.address.format(id=identity), body)
        assert (asked.status, asked.code) == (403, "reviewer-mode"), one
    assert git(made.root, "status", "--porcelain") == ""


async def test_a_single_step_is_rerun_on_a_copy(client: Client, made: Made) -> None:
    made.run()
    made.commit("results")
    identity = await client.id()
    gap = {"stored": "2", "fresh": "7", "where": "line 1", "absolute": "5", "relative": "0.714286"}
    found = {
        "said": "2 is now 7, line 1",
        "text": "2 is now 7",
        "where": "line 1",
        "largest_absolute": gap,
        "largest_relative": gap,
    }
    for verdict, more in (("identical", {}), ("different", found)):
        asked = await client.post(f"projects/{identity}/reruns", {"steps": ["use"]})
        job = f"projects/{identity}/jobs/{asked.json['job']}"
        last = (await client.follow(f"{job}/journal"))[-1]
        assert last["event"] == "jobDone", last
        assert last["result"]["outputs"] == [{"path": "out2/b.txt", "verdict": verdict, **more}]
        assert "not in a container" in last["result"]["engine"]
        made.write("out/a.txt", "longer\n")  # an input of the step, which is copied as it is
    assert git(made.root, "status", "--porcelain") == " M out/a.txt\n"
    none = await client.post(f"projects/{identity}/reruns", {"steps": []})
    assert (none.status, none.code) == (400, "usage")


def test_the_environment_turns_it_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from vaibify_lab.extension import VaibifyApp

    for value, expected in (("1", True), ("true", True), ("0", False), ("", False)):
        monkeypatch.setenv("VAIBIFY_REVIEWER", value)
        assert VaibifyApp().reviewer is expected


async def test_a_review_names_what_was_checked_of_which_bytes(client: Client, made: Made) -> None:
    made.run()
    made.project().envelope()
    made.commit("results")
    identity = await client.id()
    word = {"verdict": "does-not-hold", "by": "Bea Other", "text": "The fit is not <b>100%</b>."}
    address = f"projects/{identity}/reviews"
    early = await client.post(address, word)
    assert (early.status, early.code) == (409, "stale")

    async def do(what: str, asked: dict[str, Any]) -> Any:
        job = (await client.post(f"projects/{identity}/{what}", asked)).json["job"]
        return (await client.follow(f"projects/{identity}/jobs/{job}/journal"))[-1]["result"]

    checked = await do("reproductions", {"skip": [2, 3]})
    again = await do("reruns", {"steps": ["use"]})
    before = _everything(made)
    found = await client.post(address, word)
    assert found.status == 201
    here = {
        "commit": git(made.root, "rev-parse", "HEAD").strip(),
        "manifest_sha256": hashlib.sha256((made.root / "MANIFEST.sha256").read_bytes()).hexdigest(),
        "uncommitted": {},
    }
    review = found.json
    assert {key: review[key] for key in (*word, "format", "signed")} == {
        **word,
        "format": "vaibify-lab/review-1",
        "signed": False,
    }
    assert review["project"] == {"name": "workflow", "workflow": "workflow.json", **here}
    told = {key: value for key, value in checked.items() if key != "about"}
    assert review["checked"] == review["checked"] | told
    assert [one["state"] for one in told["tiers"]] == ["passed", "skipped", "skipped"]
    (rerun,) = review["reruns"]
    assert rerun["steps"] == ["use"] and rerun["in_container"] is False
    assert rerun["outputs"] == again["outputs"] == [{"path": "out2/b.txt", "verdict": "identical"}]
    assert _everything(made) == before
    assert (await client.get(address)).json["about"] == here

    made.write("out/a.txt", "longer\n")
    late = await client.post(address, word)
    assert (late.status, late.code) == (409, "stale")
    digest = hashlib.sha256(b"longer\n").hexdigest()
    assert (await client.get(address)).json["about"]["uncommitted"] == {"out/a.txt": digest}

    await do("reproductions", {"skip": [2, 3]})
    assert (await client.post(address, word)).status == 201
    made.write("out/a.txt", "longer still\n")  # as uncommitted as before, and other bytes
    later = await client.post(address, word)
    assert (later.status, later.code) == (409, "stale")
    for fault in ({"verdict": "confirmed"}, {"text": " "}, {"by": " "}):
        asked = await client.post(address, {**word, **fault})
        assert (asked.status, asked.code) == (400, "usage"), fault


def _everything(made: Made) -> dict[str, bytes]:
    return {str(one): one.read_bytes() for one in made.root.rglob("*") if one.is_file()}
