"""The list of projects and the poll, through a real server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.kit import CHAIN, Made
from tests.server.client import Client
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.engines.docker.calls import NotThere
from vaibify_lab.handlers.base import status_of


async def test_a_project_is_found_with_its_paths(client: Client, made: Made) -> None:
    found = (await client.get("projects")).json
    (one,) = found["projects"]
    assert (one["contents"], one["root"], one["workflow"]) == (
        "co2",
        str(made.root),
        "workflow.json",
    )
    assert (one["steps"], one["error"], found["complete"], found["refused"]) == (2, None, True, [])
    assert found["repositories"] == [
        {"contents": "co2", "root": str(made.root), "projects": [one["id"]]}
    ]


async def test_the_poll_is_what_the_project_reports(client: Client, made: Made) -> None:
    identity = await client.id()
    found = await client.status(identity)
    assert found["steps"] == [one.to_json() for one in made.project().report().steps]
    assert found["levels"] == [one.to_json() for one in made.project().report().levels]
    assert found["current"] is None and found["dictInvalidatedSteps"] == {}
    assert set(found["dictModTimes"]) == {"data/in.txt", "make.sh", "use.sh"}
    seen = (made.root / "make.sh").stat().st_mtime
    assert abs(found["dictModTimes"]["make.sh"] - seen) < 1e-3


async def test_an_unchanged_project_is_a_304(client: Client, made: Made) -> None:
    address = f"projects/{await client.id()}/file-status"
    first = await client.get(address)
    again = await client.get(address, headers={"If-None-Match": first.headers["Etag"]})
    assert (again.status, again.body) == (304, b"")
    made.write("make.sh", "true\n")
    changed = await client.get(address, headers={"If-None-Match": first.headers["Etag"]})
    assert changed.status == 200 and changed.headers["Etag"] != first.headers["Etag"]


async def test_what_changed_is_named(client: Client, made: Made) -> None:
    identity = await client.id()
    events = await client.run(identity)
    assert events[-1]["outcome"] == "passed"
    assert {slug: one["run"] for slug, one in (await client.steps(identity)).items()} == {
        "make": "current",
        "use": "current",
    }
    made.write("out/a.txt", "forged\n")
    found = await client.status(identity)
    assert set(found["dictInvalidatedSteps"]) == {"make", "use"}
    assert "out/a.txt" in str(found["dictInvalidatedSteps"]["make"])


async def test_an_unknown_project(client: Client, made: Made) -> None:
    found = await client.get("projects/0123456789abcdef/file-status")
    assert (found.status, found.code) == (404, "unknown-project")
    identity = await client.id()
    (made.root / "workflow.json").unlink()
    gone = await client.get(f"projects/{identity}/file-status")
    assert (gone.status, gone.code) == (404, "unknown-project")


HOSTILE = "<img src=x onerror=alert(1)> 100% %s evil " + "x" * 4000


async def test_hostile_text_is_passed_on_as_text(client: Client, made: Made) -> None:
    steps = [dict(one) for one in CHAIN]
    steps[0] |= {"sName": HOSTILE[:200], "sStepId": "make"}
    steps[1] |= {"sDescription": HOSTILE + "\u202e\x1b[31m"}
    made.workflow(steps)
    identity = await client.id()
    found = await client.get(f"projects/{identity}/file-status")
    assert found.headers["Content-Type"].startswith("application/json")
    assert found.headers["X-Content-Type-Options"] == "nosniff"
    assert found.json["steps"][0]["name"] == HOSTILE[:200]
    detail = (await client.get(f"projects/{identity}/steps/use")).json
    assert detail["description"] == HOSTILE + "\u202e\x1b[31m"
    asked = await client.post(f"projects/{identity}/runs", {"steps": ["100% <b>%s</b>"]})
    assert asked.status == 404 and "100% <b>%s</b>" in asked.json["error"]["text"]


def test_the_documented_statuses_are_those_that_are_sent() -> None:
    text = (Path(__file__).parents[2] / "docs/http.md").read_text()
    rows = re.findall(r"^  \| (\d{3}) \| (.*) \|$", text, re.MULTILINE)
    listed = {code: int(status) for status, cell in rows for code in re.findall("`(.*?)`", cell)}
    codes = {one.code: status_of(one("text")) for one in _all(VaibifyError)}
    assert NotThere.code in codes, "errors of the engines, which are imported late"
    own = {"error", "not-passed", "question", "cannot-check"}  # the heads of the tree's branches
    assert {code: listed.get(code) for code in codes if code not in own} == {
        code: status for code, status in codes.items() if code not in own
    }


def _all(kind: type[VaibifyError]) -> Iterator[type[VaibifyError]]:
    if kind.__module__.startswith("vaibify_lab."):  # not those that other tests define
        yield kind
    for below in kind.__subclasses__():
        yield from _all(below)
