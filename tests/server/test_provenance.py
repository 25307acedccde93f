"""Pins and provenance asked with curl, of a real server with its token: exactly this JSON.

One server for all of them: each has a project of its own below its root.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.kit import CHAIN, CHAIN_FILES, DIAMOND, DIAMOND_FILES, Made
from tests.server.process import BASE, TOKEN, Server
from vaibify_lab.core import fact_files, workflow_file
from vaibify_lab.core.facts import Pins, RunRecord
from vaibify_lab.provenance.picture.svg import svg

LONG = 200
RUN = "20260101T000000-00000000"


@pytest.fixture
def place(server: Server, request: pytest.FixtureRequest) -> Iterator[Path]:
    found = server.root / re.sub(r"\W", "_", request.node.name)
    yield found
    shutil.rmtree(found)


def curl(server: Server, made: Made, address: str) -> Any:
    """Ask with curl; the time of the look is checked and taken out."""
    identity = server.id(made.root)
    url = f"http://127.0.0.1:{server.port}{BASE}vaibify/projects/{identity}/{address}"
    words = ["curl", "-sS", "--fail-with-body", "-H", f"Authorization: token {TOKEN}", url]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done
    found = json.loads(done.stdout)
    where = found.get("reproducibility", found)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", where.pop("checked_at"))
    return found


def digest(content: str) -> str:
    return "sha256:" + sha256(content.encode()).hexdigest()


def analysis(slug: str, name: str, role: str, **more: Any) -> dict[str, Any]:
    node = {"id": slug, "type": "analysis", "version": 1, "role": role, "name": name}
    return node | {"status": "verified"} | more


def artifact(path: str, kind: str, role: str, content: str, **more: Any) -> dict[str, Any]:
    node = {"id": path, "artifact_id": path, "type": kind, "version": 1, "role": role}
    return node | {"status": "verified", "content_hash": digest(content)} | more


def pin(path: str, content: str, **more: Any) -> dict[str, Any]:
    return {"artifact_id": path, "version_number": 1, "content_hash": digest(content)} | more


def edges(slug: str, read: list[str], made: list[str]) -> list[dict[str, str]]:
    return [
        *({"from": path, "to": slug, "type": "cites"} for path in read),
        *({"from": slug, "to": path, "type": "produces"} for path in made),
        *({"from": path, "to": slug, "type": "derives_from"} for path in made),
    ]


VERIFIED = {"status": "verified", "broken_at": None, "breaks": []}


def chain_of(place: Path, steps: int) -> Made:
    """Make steps one after the other, recorded as run: 200 runs would take a minute."""
    listed = [
        {
            "sName": f"S{number:03d}",
            "saDataCommands": [f"cp d/{number - 1:03d}.txt d/{number:03d}.txt"],
            "saDataFiles": [f"d/{number:03d}.txt"],
            "saInputDataFiles": [f"d/{number - 1:03d}.txt"],
            "bNoTests": True,
        }
        for number in range(1, steps + 1)
    ]
    contents = {f"d/{number:03d}.txt": f"{number}\n" for number in range(steps + 1)}
    made = Made.new(place, listed, contents)
    workflow = workflow_file.parse((place / "workflow.json").read_bytes(), "workflow.json")
    hashes = {path: sha256(text.encode()).hexdigest() for path, text in contents.items()}
    for step in workflow.steps:
        read = {path: hashes[path] for path in step.inputs}
        wrote = {path: hashes[path] for path in step.outputs}
        record = RunRecord(
            workflow="workflow",
            step=step.slug,
            name=step.name,
            outcome="passed",
            run_id=RUN,
            started="2026-01-01T00:00:00Z",
            ended="2026-01-01T00:00:00Z",
            commands=step.commands,
            pins=Pins(read, {}, wrote, {}),
        )
        data = fact_files.dump_record(record)
        made.write(f".vaibify/records/workflow/{step.slug}.json", data)
    return made


def test_a_chain_of_200_steps(server: Server, place: Path) -> None:
    made = chain_of(place, LONG)
    numbers = range(1, LONG + 1)
    last = f"s{LONG:03d}"

    def role(number: int) -> str:
        return {LONG - 1: "input", LONG: "output"}.get(number, "upstream")

    expected = {
        "analysis_id": last,
        "workflow": "workflow.json",
        "pinned_artifacts": [pin("d/199.txt", "199\n", role="input", made_by="s199")],
        "outputs": [pin("d/200.txt", "200\n")],
        "nodes": [
            artifact("d/000.txt", "dataset", "upstream", "0\n"),
            *(
                node
                for number in numbers
                for node in (
                    analysis(
                        f"s{number:03d}",
                        f"S{number:03d}",
                        "center" if number == LONG else "upstream",
                    ),
                    artifact(f"d/{number:03d}.txt", "dataset", role(number), f"{number}\n"),
                )
            ),
        ],
        "edges": [
            edge
            for number in numbers
            for edge in edges(
                f"s{number:03d}", [f"d/{number - 1:03d}.txt"], [f"d/{number:03d}.txt"]
            )
        ],
        "reproducibility": VERIFIED,
    }
    assert curl(server, made, f"steps/{last}/provenance") == expected
    made.write("d/000.txt", "other\n")
    made.write("d/100.txt", "other\n")
    broken = curl(server, made, f"steps/{last}/provenance")["reproducibility"]
    assert (broken["status"], broken["broken_at"]) == ("modified", "s001")
    assert [(one["analysis_id"], one["artifact_id"], one["role"]) for one in broken["breaks"]] == [
        ("s001", "d/000.txt", "input"),
        ("s100", "d/100.txt", "output"),
        ("s101", "d/100.txt", "input"),
    ]
    (place / "d/000.txt").unlink()
    pins = curl(server, made, f"steps/{last}/pins")
    assert (pins["reproducible"], pins["status"], pins["broken_at"]) == (False, "missing", "s001")
    assert [one["status"] for one in pins["checks"]] == ["verified", "verified"]
    upstream = [one["analysis_id"] for one in pins["upstream"]]
    assert upstream == [f"s{number:03d}" for number in range(1, LONG)]
    assert {one["status"] for one in pins["upstream"]} == {"verified", "modified", "missing"}


TOP, LEFT, RIGHT, END = "1\n", "L1\n", "R1\n", "L1\nR1\n"


def diamond_nodes(*, end: str, raw: str, step: str, middle: str, last: str) -> list[dict[str, Any]]:
    """What is drawn of the diamond; the roles differ with what is in the centre."""
    return [
        artifact("data/in.txt", "dataset", raw, "1\n"),
        artifact("top.sh", "code", raw, DIAMOND_FILES["top.sh"]),
        analysis("top", "Top", step),
        artifact("top/t.txt", "dataset", middle if end == "center" else "output", TOP),
        artifact("left.sh", "code", raw, DIAMOND_FILES["left.sh"]),
        analysis("left", "Left", step),
        artifact("left/l.txt", "dataset", last, LEFT),
        artifact("right.sh", "code", raw, DIAMOND_FILES["right.sh"]),
        analysis("right", "Right", step),
        artifact("right/r.txt", "dataset", last, RIGHT),
        analysis("end", "End", "center"),
        artifact("end/e.txt", "dataset", "output", END),
    ]


DIAMOND_EDGES = [
    *edges("top", ["data/in.txt", "top.sh"], ["top/t.txt"]),
    *edges("left", ["top/t.txt", "left.sh"], ["left/l.txt"]),
    *edges("right", ["top/t.txt", "right.sh"], ["right/r.txt"]),
    *edges("end", ["left/l.txt", "right/r.txt"], ["end/e.txt"]),
]


def test_a_diamond(server: Server, place: Path) -> None:
    made = Made.new(place, DIAMOND, DIAMOND_FILES)
    made.run()
    assert curl(server, made, "steps/end/provenance") == {
        "analysis_id": "end",
        "workflow": "workflow.json",
        "pinned_artifacts": [
            pin("left/l.txt", LEFT, role="input", made_by="left"),
            pin("right/r.txt", RIGHT, role="input", made_by="right"),
        ],
        "outputs": [pin("end/e.txt", END)],
        "nodes": diamond_nodes(
            end="center", raw="upstream", step="upstream", middle="upstream", last="input"
        ),
        "edges": DIAMOND_EDGES,
        "reproducibility": VERIFIED,
    }
    assert curl(server, made, "provenance") == {
        "analysis_id": "workflow.json",
        "workflow": "workflow.json",
        "pinned_artifacts": [
            pin("data/in.txt", "1\n", role="input", made_by=None),
            *(
                pin(path, DIAMOND_FILES[path], role="code", made_by=None)
                for path in ("left.sh", "right.sh", "top.sh")
            ),
        ],
        "outputs": [
            pin("end/e.txt", END),
            pin("left/l.txt", LEFT),
            pin("right/r.txt", RIGHT),
            pin("top/t.txt", TOP),
        ],
        "nodes": diamond_nodes(end="", raw="input", step="center", middle="output", last="output"),
        "edges": DIAMOND_EDGES,
        "reproducibility": VERIFIED,
    }


def test_a_step_without_pins(server: Server, place: Path) -> None:
    made = Made.new(place, CHAIN, CHAIN_FILES)
    nothing = {"status": "no-pins", "broken_at": None, "breaks": []}
    assert curl(server, made, "steps/use/provenance") == {
        "analysis_id": "use",
        "workflow": "workflow.json",
        "pinned_artifacts": [],
        "outputs": [],
        "nodes": [analysis("use", "Use", "center", version=None, status="no-pins")],
        "edges": [],
        "reproducibility": nothing,
    }
    assert curl(server, made, "steps/use/pins") == {
        "analysis_id": "use",
        "workflow": "workflow.json",
        "run_id": None,
        "pinned_artifacts": [],
        "outputs": [],
        "reproducible": None,
        "checks": [],
        "added": [],
        "upstream": [],
        **nothing,
    }


@pytest.mark.parametrize("now", [None, "2\n"])
def test_an_input_that_is_missing_or_modified(server: Server, place: Path, now: str | None) -> None:
    made = Made.new(place, CHAIN, CHAIN_FILES)
    made.run()
    run_id = json.loads(made.read(".vaibify/records/workflow/make.json"))["run_id"]
    if now is None:
        (made.root / "data/in.txt").unlink()
    else:
        made.write("data/in.txt", now)
    status = "missing" if now is None else "modified"
    check = {
        "artifact_id": "data/in.txt",
        "role": "input",
        "status": status,
        "version_number": 1,
        "expected_hash": digest("1\n"),
        "current_hash": now and digest(now),
    }
    text = f"input data/in.txt is {status}"
    broken = {
        "status": status,
        "broken_at": "make",
        "breaks": [{"analysis_id": "make", **check, "text": text}],
    }
    cited = [
        pin("data/in.txt", "1\n", role="input", made_by=None),
        pin("make.sh", CHAIN_FILES["make.sh"], role="code", made_by=None),
    ]
    good = {"status": "verified", "version_number": 1}
    assert curl(server, made, "steps/make/pins") == {
        "analysis_id": "make",
        "workflow": "workflow.json",
        "run_id": run_id,
        "pinned_artifacts": cited,
        "outputs": [pin("out/a.txt", "2\n")],
        "reproducible": False,
        "checks": [
            check,
            {"artifact_id": "make.sh", "role": "code", **good},
            {"artifact_id": "out/a.txt", "role": "output", **good},
        ],
        "added": [],
        "upstream": [],
        **broken,
    }
    assert curl(server, made, "steps/make/provenance") == {
        "analysis_id": "make",
        "workflow": "workflow.json",
        "pinned_artifacts": cited,
        "outputs": [pin("out/a.txt", "2\n")],
        "nodes": [
            artifact("data/in.txt", "dataset", "input", "1\n", status=status),
            artifact("make.sh", "code", "input", CHAIN_FILES["make.sh"]),
            analysis("make", "Make", "center", status=status),
            artifact("out/a.txt", "dataset", "output", "2\n"),
        ],
        "edges": edges("make", ["data/in.txt", "make.sh"], ["out/a.txt"]),
        "reproducibility": broken,
    }
    further = curl(server, made, "steps/use/provenance")["reproducibility"]
    assert further == broken  # what rests on it does not hold either, and says where


def test_the_graph_as_a_picture_to_keep(server: Server, place: Path) -> None:
    made = Made.new(place, CHAIN, CHAIN_FILES)
    made.run()
    identity = server.id(made.root)
    base = f"http://127.0.0.1:{server.port}{BASE}vaibify/projects/{identity}"
    for address, name in (("steps/use/provenance", "use"), ("provenance", None)):
        words = ["curl", "-sSi", "-H", f"Authorization: token {TOKEN}"]
        url = f"{base}/{address}?format=svg"
        done = subprocess.run([*words, url], capture_output=True, check=True, timeout=60)
        head, _, body = done.stdout.decode().partition("\r\n\r\n")
        assert body == svg(made.project().lineage(name))
        assert "Content-Type: image/svg+xml" in head and "X-Content-Type-Options: nosniff" in head
        assert "Content-Security-Policy: sandbox; default-src 'none'" in head
        assert 'Content-Disposition: attachment; filename="lineage.svg"' in head
    status, found = server.ask("GET", f"projects/{identity}/provenance?format=png")
    assert (status, found["error"]["code"]) == (400, "usage")


def test_a_step_that_is_not_there(server: Server, place: Path) -> None:
    made = Made.new(place, CHAIN, CHAIN_FILES)
    identity = server.id(made.root)
    for what in ("pins", "provenance"):
        status, found = server.ask("GET", f"projects/{identity}/steps/nosuch/{what}")
        assert (status, found["error"]["code"]) == (404, "unknown-step")
