"""Two notebooks, cell by cell; files of every format are read and never rewritten."""

from __future__ import annotations

import base64
import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.provenance.test_compare_text import png
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.provenance.compare.noise import Rules
from vaibify_lab.provenance.compare.notebook_file import read_notebook
from vaibify_lab.provenance.compare.notebooks import NotebookComparison, compare_notebooks

Json = dict[str, Any]


def stream(text: str, name: str = "stdout") -> Json:
    return {"output_type": "stream", "name": name, "text": text}


def result(count: int = 1, **data: Any) -> Json:
    named = {key.replace("__", "/"): value for key, value in data.items()}
    return {
        "output_type": "execute_result",
        "execution_count": count,
        "metadata": {},
        "data": named,
    }


def failed(name: str = "NameError", value: str = "x") -> Json:
    return {"output_type": "error", "ename": name, "evalue": value, "traceback": ["at 0x1"]}


def cell(source: str, *outputs: Json, count: int | None = 1, name: str | None = None) -> Json:
    made: Json = {
        "cell_type": "code",
        "source": source,
        "metadata": {},
        "outputs": list(outputs),
        "execution_count": count,
    }
    return made | ({"id": name} if name else {})


def book(*cells: Json, minor: int = 5, **metadata: Any) -> bytes:
    value = {"nbformat": 4, "nbformat_minor": minor, "metadata": metadata, "cells": list(cells)}
    return json.dumps(value).encode()


def compared(one: bytes, other: bytes) -> NotebookComparison:
    return compare_notebooks(read_notebook(one, "a.ipynb"), read_notebook(other, "b.ipynb"))


def verdicts(one: bytes, other: bytes) -> list[str]:
    return [item.found.verdict for item in compared(one, other).cells]


def test_every_verdict() -> None:
    picture = {"image__png": base64.b64encode(png()).decode()}
    moved = {"image__png": base64.b64encode(png(at=(1, 1))).decode()}
    stored = book(
        cell("print(1)", stream("1\n"), count=1),
        cell("f", result(text__plain="<f at 0x7f12ab34cd50>"), count=2),
        cell("1.5", result(text__plain="1.5"), count=3),
        cell("0.1+0.2", result(text__plain="0.3"), count=4),
        cell("plot()", result(**picture), count=5),
        cell("n", result(text__plain="7"), count=6),
        cell("later()", count=None),
        cell("x", result(text__plain="1"), count=8),
    )
    fresh = book(
        cell("print(1)", stream("1\n"), count=1),
        cell("f", result(text__plain="<f at 0x7f99ab34cd50>"), count=2),
        cell("1.5", result(text__plain="np.float64(1.5)"), count=3),
        cell("0.1+0.2", result(text__plain="0.30000000000000004"), count=4),
        cell("plot()", result(**moved), count=5),
        cell("n", result(text__plain="8"), count=6),
        cell("later()", count=7),
        cell("x", failed(), count=8),
    )
    found = compared(stored, fresh)
    assert [one.found.verdict for one in found.cells] == [
        "identical",
        "noise-only",
        "printed-otherwise",
        "within-tolerance",
        "figure-differs",
        "different",
        "not-run",
        "error",
    ]
    assert (found.passes, found.whole.verdict) == (False, "error")
    assert found.whole.pictures and found.cells[7].found.text == "NameError: x"
    answer = json.loads(json.dumps(found.as_json()))
    assert answer["cells"][1]["ignored"][0]["kind"] == "address"
    assert compared(stored, stored).cells[0].found.verdict == "identical"


def test_n08_counts_and_metadata_are_noise() -> None:
    stored = book(cell("a", result(3, text__plain="1"), count=3, name="one"))
    fresh = json.loads(book(cell("a", result(1, text__plain="1"), count=1, name="one")))
    fresh["cells"][0]["metadata"] = {"scrolled": True, "execution": {"iopub.status.busy": "now"}}
    fresh["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    found = compared(stored, json.dumps(fresh).encode())
    assert [one.found.verdict for one in found.cells] == ["identical"]
    assert [(one.kind, one.where) for one in found.ignored] == [("execution count", "1 cells")]


def test_how_a_stream_was_cut_says_nothing() -> None:
    stored = book(cell("a", stream("1\n"), stream("w\n", "stderr"), stream("2\n")))
    fresh = book(cell("a", stream("1\n2\n"), stream("w\n", "stderr")))
    assert verdicts(stored, fresh) == ["identical"]
    assert verdicts(stored, book(cell("a", stream("1\n2\nw\n")))) == ["different"]


def test_widgets_and_representations() -> None:
    def widget(name: str) -> Json:
        data = {"application/vnd.jupyter.widget-view+json": {"model_id": name}}
        return {"output_type": "display_data", "data": data, "metadata": {}}

    assert verdicts(book(cell("w", widget("a"))), book(cell("w", widget("b")))) == ["noise-only"]
    plain, both = result(text__plain="1"), result(text__plain="1", text__html="<b>1</b>")
    assert verdicts(book(cell("w", plain)), book(cell("w", both))) == ["printed-otherwise"]
    html = result(text__html="<b>1</b>")
    assert verdicts(book(cell("w", plain)), book(cell("w", html))) == ["different"]
    assert verdicts(book(cell("w", plain)), book(cell("w"))) == ["different"]
    lists = result(text__plain=["1", "\n2"])
    assert verdicts(book(cell("w", lists)), book(cell("w", result(text__plain="1\n2")))) == [
        "identical"
    ]


def test_cells_are_paired_by_id_then_by_order() -> None:
    one = book(cell("a", stream("1"), name="a"), cell("b", stream("2"), name="b"))
    other = book(cell("b", stream("2"), name="b"), cell("a", stream("1"), name="a"))
    assert verdicts(one, other) == ["identical", "identical"]
    assert verdicts(one, book(cell("a", stream("1"), name="a"))) == ["identical", "different"]
    assert verdicts(book(cell("a", stream("1"), name="a")), one) == ["identical", "different"]
    assert verdicts(one, book(cell("a", stream("1")), cell("b", stream("3")))) == [
        "identical",
        "different",
    ]
    assert verdicts(
        one, book(cell("a2", stream("1"), name="a"), cell("b", stream("2"), name="b"))
    ) == [
        "different",
        "identical",
    ]


def test_n08_the_same_code_under_other_ids_is_compared_in_its_order() -> None:
    one = book(
        cell("1", result(**{"text/plain": "3"}), name="a"),
        cell("2", result(**{"text/plain": "3"}), name="b"),
    )
    other = book(
        cell("1", result(**{"text/plain": "3"}), name="b"),
        cell("2", result(**{"text/plain": "3"}), name="new"),
    )
    assert verdicts(one, other) == ["identical", "identical"]


def test_a_cell_that_says_it_raises_is_compared_like_others() -> None:
    value = json.loads(book(cell("1/0", failed("ZeroDivisionError", "division by zero"))))
    value["cells"][0]["metadata"]["tags"] = ["raises-exception"]
    tagged = json.dumps(value).encode()
    assert verdicts(tagged, tagged) == ["identical"]
    untagged = book(cell("1/0", failed("ZeroDivisionError", "division by zero")))
    assert verdicts(untagged, untagged) == ["error"]
    assert verdicts(tagged, book(cell("1/0"))) == ["different"]


def test_nothing_stored_is_not_run_and_counts_stripped_is() -> None:
    run = book(cell("a = 1", count=1), cell("a", result(text__plain="1"), count=2))
    bare = book(cell("a = 1", count=None), cell("a", count=None))
    assert verdicts(bare, run) == ["not-run", "not-run"]
    stripped = book(cell("a = 1", count=None), cell("a", result(text__plain="1"), count=None))
    assert verdicts(stripped, run) == ["identical", "identical"]
    assert compared(book(), book()).passes is False


def test_n05_formats_and_ids(tmp_path: Path) -> None:
    old: Json = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": ""},
        "worksheets": [
            {
                "cells": [
                    {
                        "cell_type": "code",
                        "input": ["print(1)"],
                        "language": "python",
                        "prompt_number": 4,
                        "collapsed": False,
                        "outputs": [{"output_type": "stream", "stream": "stdout", "text": ["1\n"]}],
                    }
                ],
                "metadata": {},
            }
        ],
    }
    made = read_notebook(json.dumps(old).encode(), "old.ipynb")
    assert (made.format, made.code[0].source, made.code[0].count) == ((3, 0), "print(1)", 4)
    fresh = read_notebook(book(cell("print(1)", stream("1\n"))), "new.ipynb")
    assert compare_notebooks(made, fresh).passes
    without = read_notebook(book(cell("a"), cell("b"), minor=4), "a.ipynb")
    assert [one.id for one in without.cells] == [None, None]
    missing = read_notebook(book(cell("a", name="x"), cell("b")), "a.ipynb")
    assert [one.id for one in missing.cells] == ["x", None]
    for data, said in [
        (b"", "is an empty notebook"),
        (b"{", "is not JSON"),
        (b"[]", "expected a JSON object"),
        (b"{}", "no number nbformat"),
        (b'{"nbformat": 5, "nbformat_minor": 0}', "format 5.0"),
        (b'{"nbformat": 4}', "no list of cells"),
        (b'{"nbformat": 4, "cells": [3]}', "cell 1 has no type"),
        (b'{"nbformat": 3, "worksheets": 7}', "cannot be converted"),
        (book(cell("a", name="x"), cell("b", name="x")), "cells 1 and 2 have one id, 'x'"),
    ]:
        with pytest.raises(InvalidFile, match=said) as raised:
            read_notebook(data, "bad.ipynb")
        assert raised.value.where == "bad.ipynb"


texts = st.sampled_from(["1", "2.5", "a 1.0", "nan", "<f at 0x7f12ab34cd50>", "", "x\ny"])
books = st.lists(st.lists(texts, max_size=3), min_size=1, max_size=5)


@settings(deadline=None, max_examples=100, derandomize=True)
@given(books, books)
def test_generated_notebooks(one: list[list[str]], other: list[list[str]]) -> None:
    def made(outputs: list[list[str]]) -> bytes:
        return book(*(cell("f()", *map(stream, texts)) for texts in outputs))

    assert set(verdicts(made(one), made(one))) == {"identical"}
    joined = [["".join(texts) for texts in side] for side in (one, other)]
    found = compared(made(one), made(other))
    assert (found.whole.verdict == "identical") is (joined[0] == joined[1])


def test_what_is_read_is_not_changed() -> None:
    value = json.loads(book(cell("a", result(text__plain=["1", "2"]))))
    kept = copy.deepcopy(value)
    read = read_notebook(json.dumps(value).encode(), "a.ipynb")
    compare_notebooks(read, read, Rules(ignore=False))
    assert value == kept
