"""The workflow file, a step's details, plots as they are and as they were signed, the envelope."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tests.kit import Made, git
from tests.server.client import Client

PLOT = [
    {
        "sName": "Draw",
        "saPlotCommands": ["bash draw.sh"],
        "saPlotFiles": ["plots/f.svg"],
        "saDataFiles": ["plots/deep/"],
        "saInputDataFiles": ["in.txt"],
        "bNoTests": True,
    }
]
PLOT_FILES = {
    "in.txt": "one",
    "draw.sh": 'echo "<svg>$(cat in.txt)</svg>" > plots/f.svg\ncp plots/f.svg plots/deep/d.csv\n',
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def plot(jp_root_dir: Path) -> Made:
    return Made.new(jp_root_dir / "plot", PLOT, PLOT_FILES)


async def test_the_workflow_file_is_written_as_it_was_formatted(client: Client, made: Made) -> None:
    address = f"projects/{await client.id()}/workflow"
    made.write("workflow.json", json.dumps(json.loads(made.read("workflow.json")), indent=4))
    read = (await client.get(address)).json
    assert read["text"] == made.read("workflow.json")
    document = read["document"] | {"sWorkflowName": "100% <b>é</b>"}
    written = await client.ask("PUT", address, {"sha256": read["sha256"], "document": document})
    assert written.status == 200
    assert made.read("workflow.json") == json.dumps(document, indent=4, ensure_ascii=False) + "\n"
    assert (await client.get(address)).json["sha256"] == written.json["sha256"]


async def test_a_stale_or_broken_workflow_is_not_written(client: Client, made: Made) -> None:
    address = f"projects/{await client.id()}/workflow"
    read = (await client.get(address)).json
    made.write("workflow.json", read["text"] + "\n")
    there = hashlib.sha256(made.read("workflow.json").encode()).hexdigest()
    stale = await client.ask("PUT", address, {"sha256": read["sha256"], "text": "{}"})
    assert (stale.status, stale.code, stale.json["sha256"]) == (409, "stale", there)
    broken = await client.ask("PUT", address, {"sha256": there, "text": '{"listSteps": 3}'})
    assert (broken.status, broken.code) == (422, "invalid-file")
    both = await client.ask("PUT", address, {"sha256": there, "text": "", "document": {}})
    assert (both.status, both.code) == (400, "usage")
    assert made.read("workflow.json") == read["text"] + "\n"


async def test_a_step_whole(client: Client, plot: Made) -> None:
    identity = await client.id()
    before = (await client.get(f"projects/{identity}/steps/draw")).json
    assert (before["record"], before["inputs"][0]["state"]) == (None, "new")
    assert [(one["path"], one["state"]) for one in before["outputs"]] == [
        ("plots/f.svg", "missing")
    ]
    await client.run(identity)
    plot.commit("results")
    plot.write("in.txt", "two")
    found = (await client.get(f"projects/{identity}/steps/draw")).json
    (one,) = found["inputs"]
    assert (one["state"], one["kind"], one["git"]) == ("changed", "input", "modified")
    assert sorted((one["path"], one["kind"], one["state"]) for one in found["outputs"]) == [
        ("plots/deep/d.csv", "data", "verified"),
        ("plots/f.svg", "plot", "verified"),
    ]
    assert [one["path"] for one in found["code"]] == ["draw.sh"]
    assert found["record"]["outcome"] == "passed" and found["passed"] == found["record"]
    assert found["report"] == (await client.steps(identity))["draw"]
    wrong = await client.get(f"projects/{identity}/steps/nothing")
    assert (wrong.status, wrong.code) == (404, "unknown-step")


async def test_a_plot_is_served_without_rights(client: Client, plot: Made) -> None:
    identity = await client.id()
    address = f"projects/{identity}/steps/draw/plots"
    assert (await client.get(f"{address}/plots/f.svg")).status == 404
    await client.run(identity)
    found = await client.get(f"{address}/plots/f.svg")
    assert (found.status, found.body) == (200, b"<svg>one</svg>\n")
    assert found.headers["Content-Type"] == "image/svg+xml"
    assert found.headers["Content-Security-Policy"].startswith("sandbox;")
    assert found.headers["X-Content-Type-Options"] == "nosniff"
    etag = found.headers["Etag"]
    assert etag == f'"{hashlib.sha256(found.body).hexdigest()}"'
    again = await client.get(f"{address}/plots/f.svg", headers={"If-None-Match": etag})
    assert again.status == 304
    assert found.headers["Cache-Control"] == "private, no-cache"
    named = await client.get(f"{address}/plots/f.svg", params={"bytes": etag.strip('"')})
    assert (named.status, named.body) == (200, found.body)
    assert named.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    other = await client.get(f"{address}/plots/f.svg", params={"bytes": "0" * 64})
    assert (other.status, other.code) == (409, "bytes-changed")
    assert (await client.get(f"{address}/plots/deep/d.csv")).body == found.body
    for path in ("in.txt", "workflow.json", "plots/deep/../../in.txt", "plots/deep/none"):
        assert (await client.get(f"{address}/{path}")).status in (404, 400), path
    (plot.root / "plots/f.svg").unlink()
    (plot.root / "plots/f.svg").symlink_to("/etc/hostname")
    linked = await client.get(f"{address}/plots/f.svg")
    assert (linked.status, linked.code) == (400, "unsafe-path")


async def _sign(client: Client, identity: str) -> None:
    address = f"projects/{identity}/steps/draw/sign-offs"
    seen = (await client.get(address)).json["to_sign"]
    asked = {"verdict": "passed", "run_id": seen["run_id"], "hashes": seen["hashes"]}
    assert (await client.post(address, asked)).status == 201


@pytest.mark.parametrize("kept_by", ["cache", "history", "index", "lfs", "nobody"])
async def test_the_signed_version_of_a_plot(
    client: Client, plot: Made, tmp_path: Path, kept_by: str
) -> None:
    identity = await client.id()
    address = f"projects/{identity}/steps/draw/plots/plots/f.svg"
    await client.run(identity)
    unsigned = await client.get(address, params={"version": "signed"})
    assert (unsigned.status, unsigned.code) == (404, "version-unknown")
    await _sign(client, identity)
    signed = (await client.get(address)).body
    same = await client.get(address, params={"version": "signed"})
    assert (same.status, same.body) == (200, signed)
    copies = list((tmp_path / "cache/vaibify_lab/signed").iterdir())
    assert [one.name for one in copies] == [hashlib.sha256(signed).hexdigest()]
    if kept_by == "history":
        plot.commit("signed")
    elif kept_by == "index":
        git(plot.root, "add", "plots/f.svg")
    elif kept_by == "lfs":
        name = hashlib.sha256(signed).hexdigest()
        folder = plot.root / ".git/lfs/objects" / name[:2] / name[2:4]
        folder.mkdir(parents=True)
        (folder / name).write_bytes(signed)
    plot.write("plots/f.svg", "<svg>three</svg>\n")
    if kept_by == "history":
        plot.commit("changed")
        plot.write("plots/f.svg", "<svg>four</svg>\n")
    if kept_by != "cache":
        copies[0].write_bytes(b"forged")
    found = await client.get(address, params={"version": "signed"})
    if kept_by == "nobody":
        assert (found.status, found.code) == (404, "version-unknown")
    else:
        assert (found.status, found.body) == (200, signed)
    assert (await client.get(address)).body != signed


async def test_the_envelope_as_it_is(client: Client, made: Made) -> None:
    identity = await client.id()
    before = (await client.get(f"projects/{identity}/envelope")).json
    assert [one["exists"] for one in before["files"]] == [False, False, False]
    assert (await client.get(f"projects/{identity}/manifest")).json["exists"] is False
    made.run()
    made.project().envelope()
    data = (made.root / "MANIFEST.sha256").read_bytes()
    (file, *_) = (await client.get(f"projects/{identity}/envelope")).json["files"]
    assert file == {
        "path": "MANIFEST.sha256",
        "exists": True,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    made.write("MANIFEST.sha256", data + b"# nothing\n")
    listed = (await client.get(f"projects/{identity}/manifest")).json
    assert listed["listed"] == len(listed["entries"]) == data.count(b"\n")
    assert [one["code"] for one in listed["problems"]] == ["malformed"]


async def test_check_and_doctor_say_what_the_command_line_says(client: Client, made: Made) -> None:
    identity = await client.id()
    (made.root / "data/in.txt").unlink()
    found = (await client.get(f"projects/{identity}/check")).json
    expected = [one.to_json() for one in made.project().check()]
    assert (found["passed"], found["findings"]) == (False, expected)
    wider = (await client.get(f"projects/{identity}/check", params={"publish": "1"})).json
    assert len(wider["findings"]) > len(expected)
    wrong = await client.get(f"projects/{identity}/check", params={"publish": "yes"})
    assert (wrong.status, wrong.code) == (400, "usage")
    looked = (await client.get("doctor", params={"contents": "co2"})).json["findings"]
    assert f"git repository {made.root}" in [one["text"] for one in looked]


async def test_the_panel_needs_no_hidden_file_of_the_contents_api(
    client: Client, made: Made
) -> None:
    """Case S03: environment.json lies in a hidden folder, and comes from our own address."""
    identity = await client.id()
    made.project().envelope("environment")
    found = (await client.get(f"projects/{identity}/envelope")).json["environment"]
    assert found == json.loads(made.read(".vaibify/environment.json"))
