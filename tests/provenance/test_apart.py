"""Comparison apart: the same answers, one process for all, and nothing that a file can win."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.provenance.test_compare_files import HOSTILE, png
from tests.provenance.writers import WRITERS
from tests.rubbish import spoilt
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.engines.local import bubblewrap
from vaibify_lab.engines.local.python import environment_for
from vaibify_lab.files.hashing import hash_many
from vaibify_lab.files.tree import Tree
from vaibify_lab.provenance.apart import answer, child
from vaibify_lab.provenance.apart.host import Apart, Walls
from vaibify_lab.provenance.compare.files import compare_files
from vaibify_lab.provenance.compare.noise import Own, Rules
from vaibify_lab.provenance.compare.pictures import compare_pictures
from vaibify_lab.provenance.compare.verdict import PASSING
from vaibify_lab.provenance.outputs import compare_outputs

RULES = Rules(own=(Own("host", r"node\d+"),))
WALLS: tuple[Walls, ...] = ("bubblewrap", "landlock", "none")


@pytest.mark.parametrize("walls", WALLS)
def test_all_pairs_go_to_one_process_with_the_answers_of_the_library(walls: Walls) -> None:
    with Apart(RULES, walls) as apart:
        for path, (write, again) in WRITERS.items():
            for other in ([1.5, 2.5], [1.5, 2.5000001], [1.5, 2.6]):
                stored, fresh = write([1.5, 2.5]), again(other)
                found = apart.compare(path, stored, fresh)
                alone = compare_files(path, stored, fresh, RULES)
                assert found.as_json() == alone.as_json(), path
        assert apart.compare("a.txt", b"on node1", b"on node22").verdict == "noise-only"
        assert apart.starts == 1


def test_outputs_of_a_rerun_are_compared_apart(tmp_path: Path) -> None:
    here, copy = tmp_path / "here", tmp_path / "copy"
    for number in range(10):
        for side, value in ((here, 1.5), (copy, 1.5 + number * 1e-8)):
            side.mkdir(exist_ok=True)
            (side / f"{number}.json").write_text(json.dumps([value]))
    paths = [f"{number}.json" for number in range(10)]
    before = hash_many(Tree(here), paths)
    found = compare_outputs(Tree(here), before, Tree(copy), paths, Rules())
    assert [one.verdict for one in found] == ["identical"] + ["inside tolerance"] * 9


def test_pictures_of_cells_are_compared_apart_with_what_is_shown_of_them() -> None:
    sides = [png(), png(level=200), png(note="other")]
    with Apart(RULES) as apart:
        for other in sides[1:]:
            assert apart.compare_pictures(sides[0], other) == compare_pictures(sides[0], other)
        assert apart.compare_pictures(sides[0], sides[0]).verdict == "identical"
        assert apart.compare_pictures(b"x", sides[0]).verdict == "figure-differs"
        assert apart.starts == 1


def test_no_process_starts_where_nothing_is_to_be_compared() -> None:
    with Apart(RULES) as apart:
        pass
    assert apart.starts == 0
    with pytest.raises(InvalidFile):
        Apart(Rules(own=(Own("bad", "("),)))


# what runs there can do nothing else


ATTEMPTS = """
import os, socket, sys
sys.path.append({packages!r})
from vaibify_lab.provenance.apart import child
child._limit()
if {landlock}:
    child._confine()
def tried(what):
    try:
        what()
        return "done"
    except OSError as error:
        return type(error).__name__
def write(path):
    def act():
        with open(path, "w") as file:
            file.write("x")
    return act
def call():
    socket.create_connection(("127.0.0.1", {port}), 5).close()
print(tried(write({place!r})), tried(call), os.path.exists({secret!r}))
"""


@pytest.mark.parametrize(
    ("walls", "said"),
    [
        # no network and no such folder; the kernel's refusals; only the size of files is limited
        ("bubblewrap", "FileNotFoundError ConnectionRefusedError False"),
        ("landlock", "PermissionError PermissionError True"),
        ("none", "OSError done True"),
    ],
)
def test_it_writes_nothing_and_reaches_nobody(walls: str, said: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s")
    with socket.create_server(("127.0.0.1", 0)) as server:
        program = ATTEMPTS.format(
            packages=child.PACKAGES,
            landlock=walls == "landlock",
            port=server.getsockname()[1],
            place=str(tmp_path / "written"),
            secret=str(secret),
        )
        command = [sys.executable, "-I", "-S", "-c", program]
        if walls == "bubblewrap":
            shown = [f"{child.PACKAGES}/vaibify_lab"]
            command = [*bubblewrap.bare(environment_for(None), shown, {}), *command]
        done = subprocess.run(command, capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == (said, "")
    assert not (tmp_path / "written").exists() or not (tmp_path / "written").read_bytes()


def test_its_memory_files_and_time_are_limited() -> None:
    with Apart(RULES, "none") as apart:
        apart.compare("a", b"1.5", b"1.6")
        assert apart._process is not None
        lines = Path(f"/proc/{apart._process.pid}/limits").read_text().splitlines()
    limits = {line[:26].strip(): line[26:].split()[:2] for line in lines}
    assert limits["Max address space"] == [str(child.MEMORY)] * 2
    assert limits["Max file size"] == limits["Max core file size"] == ["0", "0"]
    assert int(limits["Max cpu time"][0]) <= child.SECONDS + 60


# what it answers is read as hostile


def program(tmp_path: Path, body: str) -> str:
    """A helper that takes one pair and then does something else than it should."""
    text = f"""
import os, signal, sys, time, resource
sys.path.append({child.PACKAGES!r})
from vaibify_lab.files import frames
frames.receive(0)
for _ in range(3):
    frames.receive(0)
{body}
"""
    path = tmp_path / "helper.py"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "the comparison was ended by signal 9"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "the comparison was ended by signal 11"),
        (
            "resource.setrlimit(resource.RLIMIT_CPU, (1, 9))\nwhile True: pass",
            "the comparison took too long",
        ),
        ("sys.exit(3)", "the comparison ended with status 3"),
        ("os.write(1, b'\\xff' * 8); time.sleep(600)", "the comparison was ended by signal 9"),
        ("os.write(1, b'abc')", "the comparison ended with status 0"),
        ("frames.send(1, b'{}')", "the comparison gave no usable answer: its verdict is none"),
        (
            'frames.send(1, b\'{"verdict": "identical", "passes": true}\')',
            "the comparison gave no usable answer: its verdict is none",
        ),
        ("frames.send(1, b'[' * 90000)", "the comparison gave no usable answer: "),
        (
            """frames.send(1, b'{"verdict": "different", "pictures": [{"shown": "PHN2Zz4="}]}')""",
            "the comparison gave no usable answer: a picture is none",
        ),
    ],
)
def test_what_it_may_do_instead_of_an_answer(tmp_path: Path, body: str, said: str) -> None:
    helper = program(tmp_path, body)
    with Apart(RULES, "none", helper) as apart:
        found = apart.compare("a", b"1", b"2")
    assert found.verdict == "different"
    assert found.text.startswith(f"the bytes differ, and could not be compared: {said}")


@pytest.mark.parametrize("walls", ["bubblewrap", "none"])
def test_one_that_never_answers_is_ended_and_the_next_pair_gets_another(
    tmp_path: Path, walls: Walls
) -> None:
    helper = program(tmp_path, "time.sleep(600)")
    with Apart(RULES, walls, helper, patience=1) as apart:
        for _ in range(2):
            found = apart.compare("a", b"1", b"2")
            assert found.text.endswith("the comparison took too long")
        assert apart.starts == 2


def test_one_that_ends_again_and_again_is_not_started_for_ever(tmp_path: Path) -> None:
    with Apart(RULES, "none", program(tmp_path, "sys.exit(3)")) as apart:
        texts = [apart.compare("a", b"1", b"2").text for _ in range(6)]
        assert apart.starts == 4
    assert texts[3].endswith("status 3") and texts[4] == texts[5]
    assert texts[5].endswith("the comparison ended 4 times before")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)
KEYS = [
    "pictures",
    "verdict",
    "text",
    "where",
    "largest_absolute",
    "ignored",
    "ignored_count",
    "passes",
]


@settings(deadline=None, derandomize=True, max_examples=300)
@given(
    st.binary(max_size=200)
    | json_values.map(lambda value: json.dumps(value).encode())
    | st.dictionaries(st.sampled_from(KEYS), json_values).map(lambda v: json.dumps(v).encode())
)
def test_no_answer_raises_or_passes_for_identical(data: bytes) -> None:
    assert verdict_of(data) != "identical"


def verdict_of(data: bytes) -> str:
    try:
        found = answer.read(data)
    except answer.NotAnAnswer:
        return "none"
    assert json.loads(json.dumps(found.as_json())) and found.text.isprintable()
    return found.verdict


def test_spoilt_answers() -> None:
    rng = Random(7)
    found = compare_files("a.csv", b"n\n1.5\n2", b"n\n1.50000001\n2", RULES).as_json()
    shown = compare_files("a.txt", b"pid 4 \x1b[31m", b"pid 5 \x1b[32m", RULES).as_json()
    for value in (found, shown):
        data = json.dumps(value).encode()
        assert verdict_of(data) == value["verdict"]
        for _ in range(300):
            assert verdict_of(spoilt(data, rng)) != "identical"


# files made to hurt


def pairs() -> Iterator[tuple[str, bytes, bytes]]:
    for path in ("a.h5", "a.fits", "a.parquet"):
        rng = Random(path)
        data = WRITERS[path][0]([1.5, 2.5, -0.0])
        yield from ((path, data, spoilt(data, rng)) for _ in range(60))


def test_spoilt_files_of_the_libraries_never_pass_for_identical() -> None:
    counts: dict[str, int] = {}
    starts = 0
    apart: Any = Apart(RULES)
    for path, stored, broken in pairs():
        if stored == broken:
            continue
        found = apart.compare(path, stored, broken)
        counts[found.verdict] = counts.get(found.verdict, 0) + 1
        if found.text.endswith("times before"):
            raise AssertionError("the readers died too often to go on")
        if apart._process is None:
            starts += apart.starts
            apart.__exit__(None, None, None)
            apart = Apart(RULES)
    apart.__exit__(None, None, None)
    assert "identical" not in counts
    assert counts["different"] > sum(counts.get(one, 0) for one in PASSING)


def test_what_hurts_is_answered_there_too() -> None:
    with Apart(RULES) as apart:
        for name in ("gzip bomb", "deep JSON", "many members", "NPY of no end"):
            found = apart.compare(*HOSTILE[name]())
            assert found.verdict == "different", name
        assert apart.starts == 1
