"""What belongs to others, and outputs that are none, from containers; tiers: runs/test_writes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.kit import Made
from tests.runs.here import not_regular, record, step
from tests.runs.test_writes import FILES, TARGETS

from .ground import CONTAINERS, DONE, Ground, grounds, told

PLACES = {name: path for name, (path, _) in TARGETS.items()}
SHIPPED = {
    **FILES,
    **{path: "old\n" for path in PLACES.values() if path not in FILES and path[0] != "."},
    "folder/a.txt": "",
    ".vaibify/test_markers/workflow/other.json": "{}",
    ".vaibify/records/second/one.json": "{}",
}
for made_by_it in ("workflow.json", "folder/new.txt", "requirements.lock"):
    del SHIPPED[made_by_it]


def writing(root: str) -> str:
    """Return commands that try to write every target."""
    return "".join(f'(echo bad >> "{root}{path}") 2>/dev/null; ' for path in PLACES.values())


def seen(made: Made) -> dict[str, bytes | None]:
    """Return every target's bytes."""
    places = {path: made.root / path for path in PLACES.values()}
    return {path: one.read_bytes() if one.exists() else None for path, one in places.items()}


def others() -> dict[str, object]:
    """Return a step to which some of the targets belong."""
    more = {"saInputDataFiles": ["data/other.txt"], "saScripts": ["scripts/other.sh"]}
    return step("Other", "bash scripts/other.sh", out=["other/o.txt", "folder/"], **more)


@grounds(*CONTAINERS)
def test_a_step_in_its_own_folder_writes_nothing_of_others(ground: Ground) -> None:
    evil = step("Evil", writing("../") + DONE, out="w/o.txt", sDirectory="w")
    made = ground.made([others(), evil], SHIPPED)
    before = seen(made)
    assert ground.run(made, "evil", mode="only").steps == {"evil": "passed"}
    assert seen(made) == before


@grounds(*CONTAINERS)
def test_a_step_in_the_root_is_kept_from_git_and_facts_and_told_by_the_rest(
    ground: Ground,
) -> None:
    commands = writing("") + "echo 1 > w/o.txt"
    evil = step("Evil", commands, out="w/o.txt", bWriteAnywhere=True)
    made = ground.made([others(), evil], SHIPPED)
    before = seen(made)
    ran = ground.run(made, "evil", mode="only")
    assert ran.steps == {"evil": "failed"}
    said = told(made, ran, "evil")
    changed = {path for path, data in seen(made).items() if data != before[path]}
    assert changed == {path for path in PLACES.values() if path[0] != "."}
    for path in changed:
        assert path in said or path in record(made, "evil").undeclared_writes


@grounds(*CONTAINERS)
def test_an_output_that_is_no_regular_file_is_refused(ground: Ground, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("1\n")
    commands = not_regular(secret)
    steps = [step(name, text, out=f"{name}/o.txt") for name, text in commands.items()]
    made = ground.made(steps, {f"{name}/o.txt": "old\n" for name in commands})
    ran = ground.run(made)
    assert ran.steps == dict.fromkeys(commands, "failed")
    for name in commands:
        found = record(made, name)
        assert found.reason_code == ("exit" if name == "device" else "output-unusable")
        assert name == "device" or f"{name}/o.txt" in (found.reason or "")
        assert made.read(f"{name}/o.txt") == "old\n"
    assert secret.read_text() == "1\n"


def test_a_step_that_makes_a_later_steps_folder_a_link_reaches_nothing_by_it(
    ground: Ground, tmp_path: Path
) -> None:
    """A container engine would follow it on the host when it mounts the folder."""
    host = tmp_path / "host"
    host.mkdir()
    first = step("First", f"rmdir b; ln -s {host} b; echo 1 > a/o.txt", out="a/o.txt")
    second = step(
        "Second",
        "echo evil > b/mine.txt; cat a/o.txt",
        out="b/mine.txt",
        saInputDataFiles=["a/o.txt"],
    )
    first["bWriteAnywhere"] = True
    made = ground.made([first, second], {"a/x": ""})
    (made.root / "b").mkdir()
    ran = ground.run(made, jobs=1)
    assert ran.steps["second"] != "passed"
    assert os.listdir(host) == []
    said = [str(one) for one in ran.events if one["event"] in ("stepFail", "stepBlocked")]
    assert any("b" in one for one in said), said


@pytest.mark.parametrize("tier", ["bwrap"])
def test_steps_of_nested_folders_are_not_run_together(tier: str, tmp_path: Path) -> None:
    steps = [
        step("Outer", "echo 1 > a/o.txt; sleep 0.3", out="a/o.txt"),
        step("Inner", "echo 1 > a/b/o.txt; sleep 0.3", out="a/b/o.txt"),
    ]
    made = Made.new(tmp_path / "p", steps, {})
    events = made.events(tier=tier, jobs=2)
    kinds = [one["event"] for one in events if one["event"] in ("stepStarted", "stepPass")]
    assert kinds == ["stepStarted", "stepPass"] * 2
