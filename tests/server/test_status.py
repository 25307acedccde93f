"""The list of projects and the poll, through a real server."""

from __future__ import annotations

from tests.kit import Made
from tests.server.client import Client


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
