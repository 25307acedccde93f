"""The table of docs/how-it-holds.md: its tests exist, its codes are those of the run records."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from vaibify_lab.engines.docker import notes
from vaibify_lab.engines.docker.inspected import About
from vaibify_lab.engines.local import tiers

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs/how-it-holds.md"
ABOUT = About("docker", "20.10", "1.41", "one", "linux/amd64", 1, rootless=False)
COLUMNS = {
    "docker": {one["code"] for one in notes.cannot_prevent(ABOUT, None)},
    "bubblewrap": {one["code"] for one in tiers.cannot_prevent("bwrap")},
    "Landlock": {one["code"] for one in tiers.cannot_prevent("landlock")},
    "plain": {one["code"] for one in tiers.cannot_prevent("plain")},
}
NO_ROW = {"leftover-count", "truncate", "tcp", "signals", "escape"}
_CODE = re.compile(r"`([^`]+)`")


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table under the first cell of its head."""
    text = PAGE.read_text(encoding="utf-8")
    _, _, rest = text.partition(f"| {heading} |")
    lines = rest.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


STEPS = rows("a step …")
OTHERS = rows("a repository, a server or the machine …")


def test_the_tables_are_found() -> None:
    assert len(STEPS) > 20 and len(OTHERS) > 10
    assert {len(row) for row in STEPS} == {6}
    assert {len(row) for row in OTHERS} == {3}


@pytest.mark.parametrize("row", [*STEPS, *OTHERS], ids=lambda row: row[0])
def test_every_row_names_tests_that_exist(row: list[str]) -> None:
    named = _CODE.findall(row[-1])
    assert named, "a row without a test"
    for one in named:
        path, _, name = one.partition("::")
        source = (TESTS / path).read_text(encoding="utf-8")
        assert re.search(rf"^(async )?def {re.escape(name)}\(", source, re.MULTILINE), one


@pytest.mark.parametrize("column", COLUMNS)
def test_what_is_not_prevented_is_what_records_say(column: str) -> None:
    cells = [row[1 + list(COLUMNS).index(column)] for row in STEPS]
    named = {code for cell in cells for code in _CODE.findall(cell)}
    assert named - COLUMNS[column] == set(), "the table names what no record does"
    assert COLUMNS[column] - named <= NO_ROW, "the table leaves out what a record says"
