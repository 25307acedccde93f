"""Case E07: command line, HTTP and a project opened anew say the same, edit after edit."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.edits import Edits, diamond
from tests.server.client import Client
from vaibify_lab.apps.main import main

EDITS = 50


async def test_all_doors_agree(
    client: Client, jp_root_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = jp_root_dir.parent / "kept"
    made = diamond(jp_root_dir / "d", kept)
    identity = await client.id()
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    edits = Edits(made, kept, chance)
    seen = set()
    for number in range(EDITS):
        edit = chance.choice(edits.all)
        edit()
        capsys.readouterr()
        assert main(["status", "--json", "--repo", str(made.root)]) == 0
        said = json.loads(capsys.readouterr().out)
        found = await client.status(identity)
        anew = json.loads(json.dumps(made.project().report().to_json()))
        for key in ("steps", "levels", "warnings", "workflow", "name", "repo"):
            assert said[key] == found[key] == anew[key], (seed, number, edit, key)
        seen.add(json.dumps(said["steps"]))
    assert len(seen) > 5, seed
