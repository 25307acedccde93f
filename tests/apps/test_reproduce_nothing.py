"""``reproduce`` where there is nothing to confirm (case M10): never "confirmed"."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.apps.front import vaibify
from tests.kit import CHAIN, CHAIN_FILES, Made

BARE: dict[str, Any] = {
    "sName": "Make",
    "saDataCommands": ["mkdir -p out; echo 1 > out/x"],
    "bNoInputData": True,
    "bNoTests": True,
}
HEAD = "jupyter vaibify reproduce: not confirmed: "
HINT = "To leave out what cannot be checked here"
BY_HAND = " (sha256sum -c looks at listed files alone)\n"


def enveloped(root: Path, steps: list[dict[str, Any]], **files: str) -> Made:
    made = Made.new(root, steps, {**CHAIN_FILES, **files})
    made.project().envelope()
    made.commit()
    return made


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ([], "workflow.json has no step, so there is no result to confirm"),
        ([BARE], "no step of workflow.json declares an output, so there is no result to confirm"),
    ],
)
def test_m10_a_workflow_without_a_result_is_not_confirmed(
    tmp_path: Path, steps: list[dict[str, Any]], text: str
) -> None:
    made = enveloped(tmp_path / "r", steps)
    done = vaibify(made.root, "reproduce", "--skip-tier", "3")
    assert (done.code, done.err) == (1, HEAD + text + BY_HAND)
    assert f"(MANIFEST.sha256) ... FAILED, 2/2 OK but: {text}\n" in done.out
    assert "\nNOT confirmed. Tiers failed: 1; passed: 2; skipped: 3." in done.out
    again = vaibify(made.root, "reproduce", "--skip-tier", "3", "--rerun")
    assert again.code == 1 and "0 of 0" not in again.out
    assert "[4/4] Re-running workflow ... FAILED, the" in again.out


def test_m10_no_workflow_is_not_confirmed(tmp_path: Path) -> None:
    made = enveloped(tmp_path / "r", [{**BARE, "saDataFiles": ["out/x"]}], **{"out/x": "1\n"})
    (made.root / "workflow.json").unlink()
    kept = made.read("MANIFEST.sha256").splitlines(keepends=True)
    made.write("MANIFEST.sha256", "".join(one for one in kept if "workflow.json" not in one))
    done = vaibify(made.root, "reproduce", "--skip-tier", "2", "--skip-tier", "3")
    assert done.code == 1
    assert done.err == f"{HEAD}there is no workflow, so there is no result to confirm{BY_HAND}"


def test_m10_one_workflow_with_results_is_enough(tmp_path: Path) -> None:
    made = Made.new(tmp_path / "r", CHAIN, CHAIN_FILES)
    assert made.run()["outcome"] == "passed"
    made.workflow([], at=".vaibify/workflows/later.json")
    made.project("workflow.json").envelope()
    assert vaibify(made.root, "reproduce", "--skip-tier", "3").code == 0
    words = ("reproduce", "--skip-tier", "3", "--workflow", "later")
    assert vaibify(made.root, *words).code == 1


def test_m10_a_tier_with_nothing_to_look_at_confirms_nothing_by_itself(tmp_path: Path) -> None:
    made = enveloped(tmp_path / "r", [{**BARE, "saDataFiles": ["out/x"]}], **{"out/x": "1\n"})
    skip = ("--skip-tier", "1", "--skip-tier", "3")
    done = vaibify(made.root, "reproduce", *skip)
    summary = "NOT confirmed. Nothing was verified: tier 2 has nothing to look at; skipped: 1, 3."
    assert (done.code, done.err) == (1, f"{HEAD}nothing was verified\n")
    assert done.out.endswith(f"(use --rerun)\n\n{summary}\n")
    answer = json.loads(vaibify(made.root, "reproduce", *skip, "--json").out)
    assert (answer["confirmed"], answer["summary"]) == (False, summary)
    again = vaibify(made.root, "reproduce", *skip, "--rerun")
    assert (again.code, again.err) == (0, "")
    assert again.out.endswith("Confirmed: tiers 2, 4. Not checked: 1, 3.\n")


def test_m10_nobody_is_told_to_leave_out_all_there_is(tmp_path: Path) -> None:
    made = enveloped(tmp_path / "r", [{**BARE, "saDataFiles": ["out/x"]}], **{"out/x": "1\n"})
    hint = f"{HINT}: jupyter vaibify reproduce --skip-tier 3\n"
    assert hint in vaibify(made.root, "reproduce").out
    for skip in (("1",), ("1", "2")):
        words = [word for number in skip for word in ("--skip-tier", number)]
        done = vaibify(made.root, "reproduce", *words)
        assert done.code == 1
        assert "[3/4] Pulling pinned container image ... not checkable here: " in done.out
        assert HINT not in done.out


@pytest.mark.parametrize("folders", [("out/",), ("out/", "plots/")])
def test_a_declared_folder_of_which_nothing_is_listed_is_not_passed_over(
    tmp_path: Path, folders: tuple[str, ...]
) -> None:
    """All of its files taken away, from the disk and from the list."""
    step = {**BARE, "saDataFiles": list(folders)}
    made = enveloped(tmp_path / "r", [step], **{"out/x": "1\n", "plots/y": "2\n"})
    assert vaibify(made.root, "reproduce", "--skip-tier", "3").code == 0
    (made.root / "out/x").unlink()
    kept = made.read("MANIFEST.sha256").splitlines(keepends=True)
    made.write("MANIFEST.sha256", "".join(one for one in kept if "out/" not in one))
    done = vaibify(made.root, "reproduce", "--skip-tier", "3")
    text = "out/: is declared but not listed in MANIFEST.sha256"
    assert (done.code, done.err) == (1, HEAD + text + BY_HAND)
    done = vaibify(made.root, "envelope", "--only", "manifest")
    text = "jupyter vaibify envelope: out/: holds no file, so the manifest was not written\n"
    assert (done.code, done.err) == (2, text)
