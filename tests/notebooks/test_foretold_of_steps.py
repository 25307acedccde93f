"""Preflight of notebook and cell steps: named before the run; refused only where it must fail."""

from __future__ import annotations

import dataclasses
import platform
from pathlib import Path
from typing import Any

import pytest

from tests.kit import Made
from tests.notebooks.books import book, code, step
from tests.runs.test_preflight import ENGINE, inspection_of
from vaibify_lab.runs.preflight import preflight

HERE = dataclasses.replace(
    ENGINE, python=platform.python_version(), can_import=lambda module: module != "no_such"
)
OTHER = dataclasses.replace(HERE, python="3.99.1")
IMAGE = dataclasses.replace(HERE, isolation="container")
R = {"name": "ir", "language": "R", "display_name": "R"}


def told(
    root: Path, text: str, engine: Any = HERE, files: dict[str, str] | None = None, **keys: Any
) -> list[tuple[str, str, str]]:
    """Return what is said of a step before it runs, but that its imports may not all be known."""
    made = Made.new(root / "p", [], {"nb/fit.ipynb": text, **(files or {})})
    declared = {key: value for key, value in step(**keys).items() if text or key != "sNotebook"}
    inspection = inspection_of(made.root, [declared], engine)
    found = preflight(inspection, ["fit"])
    assert all(one.step == "fit" for one in found)
    return [(one.level, one.code, one.text) for one in found if one.code != "code-unread"]


FOUND = [
    ("print(left_over)", "error", "name-missing", "1: uses 'left_over', which no cell makes"),
    ("for x in []:\n    left_over(x)", "warning", "name-missing", "1: uses 'left_over', which no"),
    ("open('gone.csv')", "warning", "file-missing", "1: reads 'gone.csv', which is not here"),
    ("open('../../x')", "warning", "file-outside", "lies outside of the repository"),
    ("open('big.bin', 'rb')", "warning", "file-lfs", "only a git LFS pointer"),
    ("open('/home/ana/x.csv')", "warning", "absolute-path", "which other people do not have"),
    ("print 'old'", "error", "cell-broken", "1: is no Python that runs today"),
    ("%%R\nx <- 1", "warning", "magic-missing", "which nothing loads"),
    ("import os\nos.system('false')", "warning", "shell-deaf", "fails without raising"),
    ("import no_such", "error", "module-missing", "imports 'no_such', which this Python"),
]
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'ab' * 32}\nsize 99999\n"


@pytest.mark.parametrize(("source", "level", "name", "text"), FOUND)
def test_what_a_notebook_step_will_not_find_is_named(
    tmp_path: Path, source: str, level: str, name: str, text: str
) -> None:
    [one] = told(tmp_path, book(source), files={"nb/big.bin": POINTER})
    assert one[:2] == (level, name) and text in one[2], one


QUIET: list[tuple[Any, dict[str, Any]]] = [
    ("!false || true\nopen('late.csv')", {}),  # the step hears of !, and a run needs no commit
    ("open('../data/in.csv')", {"saInputDataFiles": ["data/in.csv"], "bNoInputData": False}),
    ("open('../out/a.txt')", {"saDataFiles": ["out/a.txt"]}),
    ("import urllib.request as r\nr.urlopen('https://example.org/x')", {}),
    ("matplotlib inline", {}),
    (code("left_over, open('gone.csv')", tags=["skip-execution"]), {}),
]


@pytest.mark.parametrize(("source", "keys"), QUIET)
def test_what_goes_well_in_a_step_is_not_told(
    tmp_path: Path, source: Any, keys: dict[str, Any]
) -> None:
    files = {"nb/late.csv": "1\n", "data/in.csv": "1\n"}
    assert told(tmp_path, book(source), files=files, **keys) == []


def test_a_cell_that_says_that_it_raises_refuses_nothing(tmp_path: Path) -> None:
    text = book(code("left_over", tags=["raises-exception"]))
    assert [one[:2] for one in told(tmp_path, text)] == [("warning", "name-missing")]


def test_a_newer_python_may_read_what_this_one_does_not(tmp_path: Path) -> None:
    assert [one[:2] for one in told(tmp_path, book("print 'new'"), OTHER)] == [
        ("warning", "cell-broken")
    ]


def test_a_network_is_missed_where_there_is_none(tmp_path: Path) -> None:
    files = {"vaibify.yml": "projectName: p\nnetworkIsolation: true\n"}
    [one] = told(tmp_path, book("!pip install numpy"), files=files)
    assert one == (
        "warning",
        "network",
        "nb/fit.ipynb cell 1: reaches into the network: pip install",
    )


def test_kernels_that_are_not_there(tmp_path: Path) -> None:
    other = book("1", kernelspec={"name": "my-env", "language": "python"})
    text = "nb/fit.ipynb: asks for the kernel {!r}, which is not on this machine"
    assert told(tmp_path / "a", book("1", kernelspec=R)) == [
        ("error", "kernel-missing", text.format("ir"))
    ]
    assert told(tmp_path / "b", other) == [
        ("warning", "kernel-missing", text.format("my-env") + ": this Python's is used")
    ]
    # elsewhere than this machine's kernels nobody knows
    assert told(tmp_path / "c", book("1", kernelspec=R), IMAGE) == []
    own = {"dictEnvironment": {"JUPYTER_PATH": "share"}}
    assert told(tmp_path / "d", book("1", kernelspec=R), **own) == []


def test_the_script_of_a_cell_is_read_as_well(tmp_path: Path) -> None:
    keys = {"saDataCommands": ["python -m cells.fit"], "saOutputFiles": ["a"]}
    source = "import json\nopen('gone.csv')\nprint(df)\n"
    files = {"cells/fit.py": source, "cells/__init__.py": ""}
    assert told(tmp_path / "a", "", files=files, **keys) == [
        ("warning", "file-missing", "cells/fit.py: reads 'gone.csv', which is not here")
    ]
    files["cells/fit.py"] = "print 'old'\n"
    assert ("error", "cell-broken") in [
        one[:2] for one in told(tmp_path / "b", "", files=files, **keys)
    ]


def test_a_run_that_must_fail_is_refused_before_it_starts(tmp_path: Path) -> None:
    text = book("import time\ntime.sleep(600)", "print(left_over)")
    one = Made.new(tmp_path / "p", [step()], {"nb/fit.ipynb": text})
    refused = one.events()[-1]
    assert refused["event"] == "runRefused" and refused["text"] == (
        "nb/fit.ipynb cell 2: uses 'left_over', which no cell makes"
    )
    one.write("nb/fit.ipynb", book("open('gone.csv')"))
    events = one.events()
    [said] = [event for event in events if event["event"] == "preflight"]
    assert said["level"] == "warning" and said["code"] == "file-missing"
    assert events[-1]["event"] == "runComplete" and events[-1]["outcome"] == "failed"
