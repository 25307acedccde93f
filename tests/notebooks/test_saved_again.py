"""N08: a notebook that was saved again is the same step; one whose code differs is another."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit import Made
from tests.notebooks.books import book, code, step
from vaibify_lab.notebooks.what_runs import what_runs
from vaibify_lab.runs.opened import Opened

TAGS = ("raises-exception", "skip-execution", "parameters", "injected-parameters")
# Text that a save, a shell or a normaliser may be tempted to touch.
SOURCE = st.text(st.sampled_from('ab é\u0301\r\n\t\u2028\x0c"\\{}%!#=1'), min_size=1, max_size=8)
CODE = st.fixed_dictionaries(
    {
        "source": SOURCE,
        "tags": st.sets(st.sampled_from((*TAGS, "hide-input", "remove-cell"))),
        "type": st.sampled_from(("code", "code", "code", "markdown", "raw")),
    }
)
KERNEL = st.sampled_from(
    (
        {},
        {"kernelspec": {"name": "python3"}},
        {"kernelspec": {"name": "ir", "language": "R", "display_name": "R"}},
        {"language_info": {"name": "julia", "version": "1.9"}},
    )
)
BOOKS = st.tuples(st.lists(CODE, max_size=4), KERNEL)
_Book = tuple[list[dict[str, Any]], dict[str, Any]]


def document(drawn: _Book) -> Any:
    """Return a notebook of format 4.4."""
    cells = []
    for one in drawn[0]:
        cell = code(one["source"]) | {"cell_type": one["type"]}
        cell["metadata"] = {"tags": sorted(one["tags"])} if one["tags"] else {}
        if one["type"] != "code":
            del cell["outputs"], cell["execution_count"]
        cells.append(cell)
    head = {"nbformat": 4, "nbformat_minor": 4, "metadata": deepcopy(drawn[1])}
    return nbformat.from_dict({**head, "cells": cells})


def saved(value: Any, split: bool = True) -> bytes:
    """Return what is on disk after nbformat or JupyterLab saved it."""
    if split:
        return nbformat.writes(value).encode()
    return json.dumps(value).encode()


def given_to_a_kernel(drawn: _Book) -> Any:
    """Return, told without the code under test, what a kernel is asked for."""
    spec, told = drawn[1].get("kernelspec", {}), drawn[1].get("language_info", {})
    language = (spec.get("language") or told.get("name") or "python").lower()
    cells = [
        (one["source"], sorted(one["tags"].intersection(TAGS)))
        for one in drawn[0]
        if one["type"] == "code" and one["source"].strip()
    ]
    return spec.get("name") or "python3", language, cells


@settings(max_examples=300, deadline=None, derandomize=True)
@given(BOOKS, BOOKS)
def test_n08_two_digests_are_equal_exactly_where_a_kernel_is_given_the_same(
    one: _Book, other: _Book
) -> None:
    same = given_to_a_kernel(one) == given_to_a_kernel(other)
    assert (what_runs(saved(document(one))) == what_runs(saved(document(other)))) is same


@settings(max_examples=200, deadline=None, derandomize=True)
@given(BOOKS.filter(lambda drawn: drawn[0]), st.data())
def test_n08_any_change_of_what_runs_changes_the_digest(drawn: _Book, data: st.DataObject) -> None:
    changed = deepcopy(drawn)
    at = data.draw(st.integers(0, len(drawn[0]) - 1))
    one = changed[0][at]
    how = data.draw(st.sampled_from(("source", "tag", "type", "swap", "drop", "kernel")))
    if how == "source":
        one["source"] = data.draw(SOURCE)
    elif how == "tag":
        one["tags"] ^= {data.draw(st.sampled_from(TAGS))}
    elif how == "type":
        one["type"] = data.draw(st.sampled_from(("code", "markdown", "raw")))
    elif how == "swap":
        changed[0].reverse()
    elif how == "drop":
        del changed[0][at]
    else:
        changed = (changed[0], data.draw(KERNEL))
    same = given_to_a_kernel(drawn) == given_to_a_kernel(changed)
    before, after = what_runs(saved(document(drawn))), what_runs(saved(document(changed)))
    assert before is not None and (before == after) is same


@settings(max_examples=150, deadline=None, derandomize=True)
@given(BOOKS, st.integers(0, 5), st.booleans(), st.booleans())
def test_n08_a_save_of_any_minor_format_changes_no_digest(
    drawn: _Book, minor: int, split: bool, noisy: bool
) -> None:
    value = document(drawn)
    before = what_runs(saved(value))
    again = nbformat.v4.upgrade(deepcopy(value)) if minor == 5 else deepcopy(value)
    again["nbformat_minor"] = minor
    if noisy:
        add_noise(again)
    assert before is not None and what_runs(saved(again, split)) == before


def add_noise(value: Any) -> None:
    """Change what running, looking and saving change."""
    value["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    value["metadata"]["toc"] = {"base_numbering": 1}
    for number, cell in enumerate(value["cells"]):
        cell["metadata"] |= {"trusted": True, "collapsed": False, "scrolled": True}
        if cell["cell_type"] == "code":
            cell["metadata"]["execution"] = {"iopub.status.idle": "2024-01-01T00:00:00Z"}
            cell["execution_count"] = number + 40
            text = {"output_type": "stream", "name": "stdout", "text": f"{number}\n"}
            cell["outputs"] = [nbformat.from_dict(text)]


@pytest.mark.parametrize("lines", [["a = 1", "b = 2"], ["a = 1\n", "b = 2"], "a = 1\nb = 2"])
def test_n08_format_3_and_what_it_becomes_are_one(lines: Any) -> None:
    cells = [{"cell_type": "code", "input": lines, "outputs": [], "metadata": {}}]
    value = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]}
    old = json.dumps(value).encode()
    new = nbformat.writes(nbformat.reads(old.decode(), as_version=4)).encode()
    assert what_runs(old) == what_runs(new) == what_runs(book("a = 1\nb = 2").encode())
    assert what_runs(old) != what_runs(book("a = 1b = 2").encode())


@pytest.mark.parametrize("source", [None, 3, ["a", 1], {"a": 1}])
def test_what_is_no_notebook_has_no_digest(source: Any) -> None:
    value = json.loads(book("1"))
    value["cells"][0]["source"] = source
    assert what_runs(json.dumps(value).encode()) is None
    assert what_runs(b"") is None and what_runs(b"{}") is None


def made(root: Path, **keys: Any) -> Made:
    text = book("print(1)", code("1/0", tags=["raises-exception"]))
    one = Made.new(root / "p", [step(**keys)], {"nb/fit.ipynb": text})
    assert one.run()["outcome"] == "passed"
    one.sign("fit")
    assert one.states()["fit"][0] == "current"
    return one


def change(one: Made, how: Callable[[Any], None]) -> str:
    """Change the notebook and return the state of its step's run."""
    value = nbformat.from_dict(json.loads(one.read("nb/fit.ipynb")))
    how(value)
    one.write("nb/fit.ipynb", saved(value, split=False))
    return one.states()["fit"][0]


def test_n08_a_notebook_saved_again_leaves_its_step_verified(tmp_path: Path) -> None:
    one = made(tmp_path)
    kept = one.read("nb/fit.ipynb")
    assert one.steps()["fit"].green
    assert change(one, add_noise) == "current"
    report = one.steps()["fit"]
    assert report.green and report.user == "passed" and not report.modified_files
    note = next(note for note in report.notes if note.code == "notebook-saved")
    assert note.path == "nb/fit.ipynb"
    assert note.text == "nb/fit.ipynb was saved again since; what runs in it is the same"
    # its bytes did change: the ladder and sha256sum say so
    lacking = next(one for one in one.project().report().levels if one.level == "L3").missing
    assert ("manifest-differs", "nb/fit.ipynb") in [(why.code, why.path) for why in lacking]
    plain = subprocess.run(
        ["sha256sum", "-c", "--quiet", "MANIFEST.sha256"],
        cwd=one.root,
        env={**os.environ, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert plain.returncode == 1 and plain.stdout == "nb/fit.ipynb: FAILED\n"
    assert one.run()["steps"] == {"fit": "skipped"}
    one.write("nb/fit.ipynb", kept)
    assert "notebook-saved" not in [note.code for note in one.steps()["fit"].notes]
    # and its executed copy is the same, so that its sign-off may stand
    first = one.read("out/fit.ipynb")
    assert change(one, add_times) == "current"
    assert one.run("fit")["steps"] == {"fit": "passed"}
    assert one.read("out/fit.ipynb") == first


def add_times(value: Any) -> None:
    value["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {}}
    for cell in value["cells"]:
        cell["metadata"]["execution"] = {"iopub.status.idle": "2024-01-01T00:00:00Z"}
        cell["metadata"]["ExecuteTime"] = {"end_time": "2024-01-01T00:00:00Z"}


def set_source(value: Any) -> None:
    value["cells"][0]["source"] = "print(2)"


def drop_tag(value: Any) -> None:
    value["cells"][1]["metadata"] = {}


def add_cell(value: Any) -> None:
    value["cells"].append(nbformat.from_dict(code("2", name="more")))


def other_kernel(value: Any) -> None:
    value["metadata"]["kernelspec"] = {"name": "other", "display_name": "Other"}


def break_it(value: Any) -> None:
    value["cells"][1]["id"] = value["cells"][0]["id"]


def test_n08_what_runs_differs_and_the_step_is_stale(tmp_path: Path) -> None:
    one = made(tmp_path)
    kept = one.read("nb/fit.ipynb")
    for how in (set_source, drop_tag, add_cell, other_kernel, break_it):
        assert change(one, how) == "stale", how
        assert "code-changed" in one.codes()["fit"] and not one.steps()["fit"].green
        one.write("nb/fit.ipynb", kept)
        assert one.steps()["fit"].green


@pytest.mark.parametrize(
    ("keys", "counts_whole"),
    [
        ({}, False),
        ({"saDataCommands": ["python look.py"]}, False),
        ({"saDataCommands": ["cp fit.ipynb ../out/n.txt"]}, True),
        ({"saScripts": ["nb/fit.ipynb"]}, True),
        ({"bInteractive": True}, True),
    ],
)
def test_n08_a_notebook_that_is_read_as_a_file_counts_whole(
    tmp_path: Path, keys: dict[str, Any], counts_whole: bool
) -> None:
    files = {"nb/fit.ipynb": book("1"), "nb/look.py": ""}
    one = Made.new(tmp_path / "p", [step(**keys)], files)
    opened = Opened(one.root, cached=False)
    (seen,) = opened.workflow("workflow.json").steps
    reach = opened.observer.scout.reach(opened.workflow("workflow.json"))
    found = opened.observer.scout.notebook_of(seen)
    assert found == reach.notebooks.get("fit") == (None if counts_whole else "nb/fit.ipynb")
