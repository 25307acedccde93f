"""Replay in containers: in the pinned image, and where another one is pinned."""

from __future__ import annotations

import json
from pathlib import Path

from tests.apps.front import vaibify
from tests.contained.pinned import Image, pin, pinned
from tests.kit import CHAIN, CHAIN_FILES


def test_a_run_in_a_container_is_made_again_there_or_not_at_all(
    tmp_path: Path, image: Image, other: Image
) -> None:
    top = {"bDeterministic": True, "bNoHostBinaries": True}
    made = pinned(tmp_path / "p", image, CHAIN, CHAIN_FILES, **top)
    assert made.run()["outcome"] == "passed"
    done = vaibify(made.root, "replay", "--all")
    assert (done.code, done.err) == (0, ""), done.out
    pin(made, other)
    (step,) = json.loads(vaibify(made.root, "replay", "make", "--json").out)["steps"]
    assert (step["state"], step["layer"]) == ("drifted", "image")
    assert step["drift"][0] == {
        "layer": "image",
        "name": "image",
        "then": image.digest,
        "now": other.digest,
    }
    answer = json.loads(vaibify(made.root, "replay", "make", "--accept", "image", "--json").out)
    assert answer["identical"] is True
