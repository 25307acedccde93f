"""Files that somebody made to hurt us: always one line of ours, never another exception."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pace import assert_took_at_most
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.fact_files import (
    dump_marker,
    dump_record,
    dump_sign_offs,
    parse_marker,
    parse_record,
    parse_sign_offs,
)
from vaibify_lab.core.workflow_file import parse

from . import documents
from .builders import document, step
from .test_fact_files import FAILED, MARKER, SIGNED

PATH = "x.json"
WORKFLOW = document(
    step("Fit", saDataFiles=["out/fit.csv", "tiles/"], saInputDataFiles=["raw.csv"],
         dictTests={"dictIntegrity": {"saCommands": ["pytest t.py"], "sFilePath": "t.py"}},
         dictEnvironment={"A": "1"}, dictResources={"iGpus": 1}),
    step("Plot", saPlotCommands=["plot {Step01.fit} {sPlotDirectory}"], saDependencies=["Fit"],
         saPlotFiles=["plots/a.{sFigureType}"], saScripts=["a.py"], sDirectory="plots"),
    dictVariables={"v": 1}, sPlotDirectory="plots", iSeed=1,
)  # fmt: skip
KINDS: dict[str, tuple[Callable[[bytes], Any], bytes]] = {
    "workflow": (lambda data: parse(data, PATH), json.dumps(WORKFLOW, indent=1).encode()),
    "record": (lambda data: parse_record(data, PATH, "workflow", "fit"), dump_record(FAILED)),
    "marker": (lambda data: parse_marker(data, PATH, "workflow", "fit"), dump_marker(MARKER)),
    "sign-off": (
        lambda data: parse_sign_offs(data, PATH, "workflow", "fit"), dump_sign_offs(SIGNED),
    ),
}  # fmt: skip


def outcome(read: Callable[[bytes], Any], data: bytes) -> str:
    """What a person sees: nothing when it is read, one line otherwise."""
    started = time.process_time()
    try:
        read(data)
        text = ""
    except VaibifyError as error:
        text = str(error)
        assert text.startswith(f"{PATH}: ")
        assert text.isprintable()
        assert len(text) < 1500
    assert_took_at_most(100, time.process_time() - started)  # a second is 25
    return text


@pytest.mark.parametrize("kind", KINDS)
def test_the_good_ones_are_read(kind):
    read, data = KINDS[kind]
    assert outcome(read, data) == ""


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 2**32))
def test_bytes_flipped_cut_or_put_in(kind, seed):
    read, good = KINDS[kind]
    rng = Random(seed)
    for _ in range(20):
        data = bytearray(good)
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(data) + 1)
            action = rng.randrange(4)
            if action == 0:
                del data[at:]
            elif action == 1:
                data[at : at + 1] = bytes([rng.randrange(256)])
            elif action == 2:
                data[at:at] = rng.choice(
                    [b"{", b"]", b'"', b"\\", b"\\u0000", b"\\ud800", b",", b"9"]
                )
            else:
                del data[at : at + rng.randrange(40)]
        outcome(read, bytes(data))


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 2**32))
def test_values_keys_and_types_exchanged(kind, seed):
    read, good = KINDS[kind]
    rng = Random(seed)
    for _ in range(20):
        value = documents.changed(json.loads(good), rng)
        outcome(read, json.dumps(value).encode())


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30)
@given(st.binary(max_size=60))
def test_any_bytes_at_all(kind, data):
    assert outcome(KINDS[kind][0], data) != ""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00",
        b"null",
        b"[]",
        b"{}",
        b'"x"',
        b'{"sFormat": "vaibify-lab/1", "listSteps": ' + b"[" * 10_000,
        b'{"iSeed": ' + b"9" * 10_000 + b"}",
        b'{"iSeed": 1e999999999}',
        b'{"a": NaN}',
        b'{"a": 1, "a": 2}',
        b"\xef\xbb\xbf{}",
        b"<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> theirs\n",
        "{}".encode("utf-16"),
        "{}".encode("utf-32"),
        b"\x1b[2J\x1b[31m",
        b"%PDF-1.4",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
    ],
    ids=lambda value: repr(value[:16]) if isinstance(value, bytes) else value,
)
def test_wrong_files(kind, data):
    assert outcome(KINDS[kind][0], data) != ""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("before", "piece", "count"),
    [
        (b"", b"[", 60_000_000),
        (b"", b'{"a":', 5_000_000),
        (b'{"sFormat": "vaibify-lab/1", "listSteps": ', b"[", 10**6),
        (b'{"iSeed": ', b"9", 10**6),
    ],
)
def test_bombs(kind, before, piece, count):
    assert outcome(KINDS[kind][0], before + piece * count) != ""


def steps(count: int, **keys: Any) -> bytes:
    those = [step(f"S{n}", **{key: value(n) for key, value in keys.items()}) for n in range(count)]
    return json.dumps(document(*those)).encode()


def huge() -> dict[str, bytes]:
    one = document(step("A", saDataFiles=[f"f{n}/" for n in range(30_000)]),
                   step("B", saInputDataFiles=[f"f{n}/x" for n in range(30_000)]))  # fmt: skip
    deep = "/".join(["d" * 30] * 120)
    return {
        "millions of steps": b'{"sFormat": "vaibify-lab/1", "listSteps": ['
        + b'{"sName":"a"},' * 2_000_000 + b"{}]}",
        "one name for all": steps(20_000, sName=lambda n: "same"),
        "a long chain": steps(9000, saDependencies=lambda n: [f"S{n - 1}"] if n else []),
        "a circle of all": steps(9000, saDependencies=lambda n: [f"S{(n + 1) % 9000}"]),
        "all on one": steps(5000, saDataFiles=lambda n: [f"o{k}" for k in range(500 * (n == 0))],
                            saDependencies=lambda n: ["S0"] if n else []),
        "unknown keys": steps(4000, **{f"k{n}": str for n in range(30)}),
        "long unknown keys": steps(20, **{"k" * 40_000 + str(n): str for n in range(30)}),
        "one stem": steps(1, saDataFiles=lambda n: [f"{k}/x.csv" for k in range(60_000)]),
        "folders in folders": json.dumps(one).encode(),
        "deeper paths": steps(
            100, saDataFiles=lambda n: [f"{n}/{k}/" + "d/" * 2000 for k in range(20)]
        ),
        "deep paths": steps(100, saDataFiles=lambda n: [f"{n}/{k}/{deep}" for k in range(20)]),
        "command of NUL": steps(100, saDataCommands=lambda n: ["a" * 99_000 + "\x00"]),
        "blank commands": steps(100, saDataCommands=lambda n: [" " * 99_000]),
        "braces": steps(100, saDataCommands=lambda n: ["{Step01." * 12_000]),
        "tokens": steps(100, saDataCommands=lambda n: ["{a}" * 30_000]),
    }  # fmt: skip


def test_workflows_made_to_exhaust():
    for name, data in huge().items():
        assert name
        outcome(KINDS["workflow"][0], data)
