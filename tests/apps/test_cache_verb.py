"""``cache``: what is kept on this machine, said and emptied; a folder of others left alone."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.apps.front import vaibify
from tests.kit import CHAIN, CHAIN_FILES, Made
from vaibify_lab.envelope.environment import NAME, EnvironmentFile
from vaibify_lab.files.packs import Member
from vaibify_lab.files.packstore import PackStore
from vaibify_lab.runs.cachekey import name_of
from vaibify_lab.runs.doctor import doctor
from vaibify_lab.runs.opened import Opened
from vaibify_lab.runs.reuse import described_now

DATA = b"x" * 2_000_000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a cache that holds one result."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("VAIBIFY_CACHE_GIGABYTES", "0.5")
    place = tmp_path / "cache" / "vaibify_lab" / "outputs"
    (tmp_path / "data").write_bytes(DATA)
    one = Member("a", hashlib.sha256(DATA).hexdigest(), len(DATA), 0o644)
    store = PackStore(place, 10**9)
    assert store.keep("0" * 80, {}, [one], lambda _: os.open(tmp_path / "data", 0)) == ""
    return place


def test_it_is_said_and_emptied(folder: Path, tmp_path: Path) -> None:
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "VAIBIFY_CACHE_GIGABYTES": "0.5"}
    said = f"cache of outputs: 1 result of runs, 0.00 GB (at most 0.5 GB) in {folder}\n"
    done = vaibify(tmp_path, "cache", env=env)
    assert (done.code, done.out) == (0, said)
    done = vaibify(tmp_path, "cache", "--clear", "--json", env=env)
    size = json.loads(done.out)["cleared"]["bytes"]
    assert len(DATA) < size < len(DATA) + 10_000
    assert json.loads(done.out) == {
        "folder": str(folder), "entries": 0, "bytes": 0, "limit": 500_000_000,
        "cleared": {"entries": 1, "bytes": size},
    }  # fmt: skip
    assert list(folder.iterdir()) == []


def test_a_cache_that_is_not_to_be_used_is_told(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told() -> tuple[str, str]:
        [found] = [one for one in doctor(tmp_path) if one.code == "outputs"]
        return found.level, found.text

    assert told()[0] == "ok"
    folder.chmod(0o777)
    text = "can be written by others, who may have put anything there"
    assert told() == ("warning", f"outputs of runs are not cached: {folder}: {text}")
    done = vaibify(tmp_path, "cache", "--clear", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert (done.code, len(list(folder.iterdir()))) == (1, 1)
    folder.chmod(0o700)
    for said in ("much", "-1", "nan", "1e99"):
        monkeypatch.setenv("VAIBIFY_CACHE_GIGABYTES", said)
        level, text = told()
        assert (level, f"is {said!r}, no number" in text) == ("warning", True)


def test_why_names_the_first_difference_from_what_is_cached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "VAIBIFY_CACHE_GIGABYTES": "1"}
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    made = Made.new(tmp_path / "p", CHAIN, CHAIN_FILES)

    def why() -> tuple[str, dict[str, Any]]:
        text = vaibify(made.root, "status", "--why", "make", env=env).out
        answer = json.loads(vaibify(made.root, "status", "--why", "--json", "make", env=env).out)
        [row] = [one for one in answer["plan"] if one["slug"] == "make"]
        lines = [line.strip() for line in text.splitlines() if "with its inputs as they" in line]
        assert len(lines) == 1
        return lines[0], row["cache"]

    line, answer = why()
    said = "no image is pinned, and only container runs are cached"
    assert line.startswith("with its inputs as they are, run would make them anew: no image")
    assert answer == {"state": "never", "text": said, "run_id": None}

    pinned = EnvironmentFile(image_name="x:1", config_digest="sha256:" + "1" * 64)
    made.write(NAME, pinned.to_bytes())
    assert why()[1] == {"state": "miss", "text": "nothing of it is cached", "run_id": None}

    opened = Opened(made.root, cached=False)
    look = opened.look("workflow.json")
    description = described_now(opened, look, look.workflow.by_slug["make"])
    about = {"description": description, "record": {"run_id": "run-1"}}
    store = PackStore(tmp_path / "cache" / "vaibify_lab" / "outputs", 10**9)
    assert store.keep(name_of(description), about, [], lambda _: -1) == ""
    line, answer = why()
    assert line == (
        "with its inputs as they are, run would put its outputs back: run run-1 made its outputs, "
        "which are cached"
    )
    text = "run run-1 made its outputs, which are cached"
    assert answer == {"state": "hit", "text": text, "run_id": "run-1"}

    made.write("make.sh", "echo other > out/a.txt\n")
    made.write("data/in.txt", "2\n")  # and with it the seed
    text = "unlike in run run-1, the nearest that is cached: the code make.sh differs (and 2 more)"
    assert why()[1] == {"state": "miss", "text": text, "run_id": "run-1"}
    (made.root / "data/in.txt").unlink()
    text = "data/in.txt, which it reads, is not there"
    assert why()[1] == {"state": "miss", "text": text, "run_id": None}
    env["VAIBIFY_CACHE_GIGABYTES"] = "0"
    assert why()[1]["text"] == "the cache is turned off"
