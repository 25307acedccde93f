"""Digits that are a name: versions and sections that a number would hold to be the same."""

from __future__ import annotations

import time

import pytest

from vaibify_lab.provenance.compare.files import compare_files
from vaibify_lab.provenance.compare.markup import compare_markup
from vaibify_lab.provenance.compare.named import named
from vaibify_lab.provenance.compare.noise import Own, Rules
from vaibify_lab.provenance.compare.structured import compare_json
from vaibify_lab.provenance.compare.text import compare_text

RULES = Rules()
LABELLED = [
    ("made with numpy 1.10.0 here", "made with numpy 1.1.0 here"),
    ("1.10.0", "1.1.0"),
    ("2.10.x and 3.10.*", "2.1.x and 3.1.*"),
    ("section 2.10", "section 2.1"),
    ("see Sections 2.2 and 2.10", "see Sections 2.2 and 2.1"),
    ("chapters 1, 2.10", "chapters 1, 2.1"),
    ("commit 12e3", "commit 1.2e4"),
    ("rev. 10.0", "rev. 10"),
    ("Python (3.10)", "Python (3.1)"),
    ("python_version = '3.10'", "python_version = '3.1'"),
    ("version is 3.10, mass 2.5", "version is 3.1, mass 2.5"),
    ("frobnicate==1.10", "frobnicate==1.1"),
    ("frobnicate v 1.10", "frobnicate v 1.1"),
    ("torch>=2.10", "torch>=2.1"),
    ("Fig. 3.10 shows", "Fig. 3.1 shows"),
    ("version 1.10 1.5", "version 1.1 1.500000001"),
]


@pytest.mark.parametrize(("stored", "fresh"), LABELLED)
def test_two_versions_are_never_one_number(stored: str, fresh: str) -> None:
    for one, other in ((stored, fresh), (fresh, stored)):
        assert compare_text(one, other, RULES).verdict == "different"  # what a cell printed
        assert compare_markup(f"<p>{one}</p>", f"<p>{other}</p>", RULES).verdict == "different"
        assert compare_json({"a": one}, {"a": other}, RULES).verdict == "different"
        for name, form in (
            ("a.txt", "x\n{}\n"),
            ("a.csv", 'n,m\n1,"{}"\n'),
            ("a.html", "<p>x</p><td>{}</td>"),
            ("a.json", '{{"a": "{}"}}'),
            ("a.jsonl", '["{}"]\n'),
            ("a.yml", "x: {}\n"),
        ):
            sides = [form.format(text).encode() for text in (one, other)]
            assert not compare_files(name, *sides, RULES).passes


@pytest.mark.parametrize(
    ("name", "stored", "fresh"),
    [
        ("a.json", '{"version": "3.10"}', '{"version": "3.1"}'),
        ("a.json", '{"x": "1.0"}', '{"x": "1.0000000001"}'),
        ("a.csv", "name,version\nx,3.10\n", "name,version\nx,3.1\n"),
        ("a.csv", "name,numpy_version\nx,3.10rc1\n", "name,numpy_version\nx,3.1rc1\n"),
        ("a.html", "<td>numpy</td><td>1.10</td>", "<td>numpy</td><td>1.1</td>"),
        ("a.html", "<b>Version:</b> 1.10", "<b>Version:</b> 1.1"),
        (
            "a.html",
            "<table><thead><tr><th>version</th></tr></thead><tr><td>1.10</td></tr></table>",
            "<table><thead><tr><th>version</th></tr></thead><tr><td>1.1</td></tr></table>",
        ),
    ],
)
def test_what_says_that_it_is_a_name_may_stand_apart(name: str, stored: str, fresh: str) -> None:
    for one, other in ((stored, fresh), (fresh, stored)):
        assert compare_files(name, one.encode(), other.encode(), RULES).verdict == "different"


@pytest.mark.parametrize(
    ("name", "stored", "fresh", "verdict"),
    [
        ("a.csv", "n,mass\nx,1.50\n", "n,mass\nx,1.5\n", "printed-otherwise"),
        ("a.csv", "n,version\nx,1.5\n", "n,version\nx, 1.5\n", "printed-otherwise"),
        ("a.txt", "mass 1.50 kg.", "mass 1.5 kg.", "printed-otherwise"),
        ("a.txt", "It is 1.50.", "It is 1.5.", "printed-otherwise"),
        ("a.txt", "conversion 1.50, v = 2.50", "conversion 1.5, v = 2.5", "printed-otherwise"),
        ("a.txt", "version 1.10: mass 1.5", "version 1.10: mass 1.500000001", "within-tolerance"),
        ("a.txt", "1.0..2.0", "1.00..2.0", "printed-otherwise"),
        ("a.json", '{"a": 1.50}', '{"a": 1.5}', "printed-otherwise"),
        ("a.html", "<td>mass</td><td>1.50</td>", "<td>mass</td><td>1.5</td>", "printed-otherwise"),
    ],
)
def test_numbers_stay_numbers(name: str, stored: str, fresh: str, verdict: str) -> None:
    for one, other in ((stored, fresh), (fresh, stored)):
        assert compare_files(name, one.encode(), other.encode(), RULES).verdict == verdict


def test_noise_beside_a_name_stays_noise() -> None:
    dates = [f"release 2026-01-0{day} 10:00:00, numpy 1.10" for day in (1, 2)]
    assert compare_text(*dates, RULES).verdict == "noise-only"
    own = Rules(own=(Own("build", r"build \d+\.\d+"),))
    assert compare_text("build 1.10", "build 1.1", own).verdict == "noise-only"
    assert compare_json(["build 1.10"], ["build 1.1"], own).verdict == "noise-only"


@pytest.mark.parametrize(
    "piece", ["version ", "1.1 and ", "1-", "version 1.", "v v. ", "\u00a7 1,"]
)
def test_names_are_found_quickly(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    began = time.monotonic()
    named(text)
    assert time.monotonic() - began < 5
