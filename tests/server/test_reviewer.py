"""A reviewer's server records nothing in the project."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit import Made, git
from tests.server.addresses import ADDRESSES
from tests.server.client import Client

MAY = {"container", "reproductions", "reruns", "manifest/verify", "runs/x", "jobs/x"}


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
        if one.method == "GET" or what in MAY:
            continue
        body = bodies.get(what, {})
        asked = await client.ask(one.method, one.address.format(id=identity), body)
        assert (asked.status, asked.code) == (403, "reviewer-mode"), one
    assert git(made.root, "status", "--porcelain") == ""


async def test_a_single_step_is_rerun_on_a_copy(client: Client, made: Made) -> None:
    made.run()
    made.commit("results")
    identity = await client.id()
    for path, verdict in (("out2/b.txt", "identical"), ("out2/b.txt", "different")):
        asked = await client.post(f"projects/{identity}/reruns", {"steps": ["use"]})
        job = f"projects/{identity}/jobs/{asked.json['job']}"
        last = (await client.follow(f"{job}/journal"))[-1]
        assert last["event"] == "jobDone", last
        assert last["result"]["outputs"] == [{"path": path, "verdict": verdict}]
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
