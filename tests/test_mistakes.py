"""The mistakes a new user makes: docs/mistakes.md is what each must show, word for word."""

from __future__ import annotations

import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.kit import Made
from tests.mistakes import SCENES, contents, green

TABLE = Path(__file__).parents[1] / "docs/mistakes.md"


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    mistake: str
    command: str
    shown: str
    code: int
    remedy: str


def rows() -> list[Row]:
    found = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 5 and cells[3].isdigit():
            mistake, command, shown, code, remedy = cells
            found.append(Row(mistake, command.strip("`"), shown.strip("`"), int(code), remedy))
    return found


ROWS = {row.mistake: row for row in rows()}


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project that is all green; it is copied, never changed."""
    return green(tmp_path_factory.mktemp("green") / "project").root


@pytest.fixture
def made(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(finished, tmp_path / "project", symlinks=True)
    return Made(tmp_path / "project")


def test_every_row_has_a_scene_and_every_scene_a_row() -> None:
    assert [row.mistake for row in rows()] == list(SCENES)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_row_is_fit_for_a_newcomer(row: Row) -> None:
    jupyter, vaibify, verb, *_ = row.command.split()
    assert (jupyter, vaibify) == ("jupyter", "vaibify")
    assert row.shown.startswith(("jupyter vaibify: ", f"jupyter vaibify {verb}: "))
    assert row.code in (1, 2)
    assert row.remedy.endswith(".")
    assert not re.search(r"/(?:home|root|tmp|Users|work)/", row.shown + row.remedy)


@pytest.mark.parametrize("mistake", SCENES)
def test_mistake(mistake: str, made: Made) -> None:
    row = ROWS[mistake]
    with SCENES[mistake](made) as scene:
        before = contents(scene.root)
        done = scene.type(*shlex.split(row.command)[2:])
        after = contents(scene.root)
    assert (done.code, done.err) == (row.code, f"{row.shown}\n")
    assert "Traceback" not in done.err
    changed = {path for path in before | after if before.get(path) != after.get(path)}
    assert changed == scene.writes
