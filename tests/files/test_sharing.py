"""Many files hashed by several processes: the same answers, whatever becomes of the helpers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

import pytest

from tests.engines.conftest import running, wait_for
from vaibify_lab.files import hashing, sharer, sharing
from vaibify_lab.files.tree import Tree

DIES = "import sys; sys.stdin.buffer.read(9); sys.exit(1)"
HALF = """
import sys
sys.path.append({packages!r})
from vaibify_lab.files import frames
frames.receive(0)
sys.stdout.buffer.write((1000).to_bytes(8, "little") + b"no list")
"""
NONSENSE = "import sys; sys.stdin.buffer.read(9); sys.stdout.buffer.write(bytes(1000))"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Files of many kinds, more than enough for every helper."""
    for number in range(300):
        place = tmp_path / f"f{number % 7}" / os.fsdecode(b"n\xc3\xa9\xff %d" % number)
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(b"x" * number)
    (tmp_path / "large").write_bytes(bytes(2**20 + 1))
    (tmp_path / "link").symlink_to("large")
    (tmp_path / "folder").mkdir()
    (tmp_path / "pointer").write_bytes(
        b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 3\n" % (b"0" * 64)
    )
    return Tree(tmp_path)


@pytest.fixture
def paths(tree: Tree) -> list[str]:
    names = [os.fsdecode(one.relative_to(tree.root)) for one in sorted(tree.root.rglob("*"))]
    return [*reversed(names), "missing", "large/below", "link/below"]


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever there is counts as many, and a piece is small."""
    monkeypatch.setattr(sharing, "MANY", 1)
    monkeypatch.setattr(sharing, "PIECE", 10)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)


def test_helpers_say_what_this_process_says(
    tree: Tree, paths: list[str], request: pytest.FixtureRequest
) -> None:
    alone = hashing.hash_many(tree, paths)
    assert {"missing", "link", "lfs-pointer", "not-regular", "file"} == {
        one.kind for one in alone.values()
    }
    request.getfixturevalue("many")
    assert hashing.hash_many(tree, paths) == alone


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that helpers gave an answer on."""
    paths: list[str] = []
    ask = sharing._ask

    def heard(orders: IO[bytes], answers: IO[bytes], piece: list[str]) -> object:
        answer = ask(orders, answers, piece)
        paths.extend(path for path, _ in answer or ())
        return answer

    monkeypatch.setattr(sharing, "_ask", heard)
    return paths


def test_helpers_take_part(tree: Tree, paths: list[str], many: None, answered: list[str]) -> None:
    own: list[str] = []

    def slow(piece: list[str]) -> sharing.States:
        own.extend(piece)
        wait_for(lambda: answered)
        return [(path, None) for path in piece]

    found = [path for path, _ in sharing.shared(tree.root, list(paths), slow)]
    assert sorted(found) == sorted(paths) == sorted(own + answered)


@pytest.mark.parametrize("program", [DIES, HALF, NONSENSE, "raise SystemExit(3)"])
def test_a_helper_that_fails_costs_nothing_but_time(
    tree: Tree,
    paths: list[str],
    program: str,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    alone = hashing.hash_many(tree, paths)
    request.getfixturevalue("many")
    script = tmp_path_factory.mktemp("helper") / "sharer.py"
    script.write_text(program.replace("{packages!r}", repr(sharer.PACKAGES)))
    monkeypatch.setattr(sharer, "__file__", str(script))
    assert hashing.hash_many(tree, paths) == alone


def test_where_no_helper_can_be_started_this_process_does_it(
    tree: Tree, paths: list[str], many: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    assert len(hashing.hash_many(tree, paths)) == len(paths)


def test_helpers_go_ahead_of_who_takes_the_answers(
    tree: Tree, paths: list[str], many: None, answered: list[str]
) -> None:
    alone = hashing.hash_many(tree, paths)
    answered.clear()
    with hashing.hashed_ahead(tree, paths) as states:
        wait_for(lambda: len(answered) >= len(paths) - sharing.PIECE)  # but for this process's own
        assert dict(states) == alone


def test_who_stops_asking_leaves_no_helper(tree: Tree, paths: list[str], many: None) -> None:
    with hashing.hashed_ahead(tree, paths):
        assert running(str(tree.root))
    assert not running(str(tree.root))
