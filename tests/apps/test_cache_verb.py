"""``cache``: what is kept on this machine, said and emptied; a folder of others left alone."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from tests.apps.front import vaibify
from vaibify_lab.files.packs import Member
from vaibify_lab.files.packstore import PackStore
from vaibify_lab.runs.doctor import doctor

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
