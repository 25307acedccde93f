"""A sample of what ``python -m tests.kills`` looks at.

Its seed is the same in each run of the tests, so that a new red tells of a change; the command
takes another one each time.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kills.faults import MODES
from tests.kills.points import Stage
from tests.kills.scenes import SCENES

SEED = 20261128
SHARES = 2  # each makes an engine of its own


@pytest.mark.parametrize("share", range(SHARES))
def test_rounds_of_random_deaths(tmp_path: Path, share: int) -> None:
    """Thirty rounds; a seed that went wrong is repeated by the command that is shown."""
    words = ["--rounds", str(30 // SHARES), "--first", str(1 + share * 30 // SHARES)]
    command = [sys.executable, "-m", "tests.kills", *words, "--place", str(tmp_path)]
    command += ["--seed", str(SEED)]
    done = subprocess.run(
        command,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-8000:]}{done.stderr[-2000:]}"


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Return where scenes are played."""
    return Stage(tmp_path_factory.mktemp("stage"))


@pytest.mark.parametrize("name", SCENES)
def test_a_death_and_an_error_at_some_change(
    name: str, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(stage.place / "cache"))
    scene = stage.scene(name)
    last = scene.count()
    chance = random.Random(f"{SEED}/{name}")
    scene.meet("kill", chance.randint(1, last))
    scene.meet(chance.choice([mode for mode in MODES if mode != "kill"]), chance.randint(1, last))
    scene.forget()
