"""What a run stood on: its hash, how two differ, and what a step's variables change."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaibify_lab.core.components import LAYERS, Drift, drifted, env_hash, locale_of, of_step

SETS = st.dictionaries(st.sampled_from([*LAYERS, "another"]), st.sampled_from("abc"))
THERE = {"lock": "a" * 64, "libc": "glibc 2.36", "locale": "LANG=C.UTF-8", "ld_preload": "none"}


def test_the_hash_is_of_one_line_that_anybody_can_write():
    line = json.dumps(THERE, sort_keys=True, separators=(",", ":"))
    assert env_hash(THERE) == f"sha256:{hashlib.sha256(line.encode()).hexdigest()}"


@given(SETS, SETS)
def test_the_hash_differs_exactly_when_something_is_named(then, now):
    assert (env_hash(then) != env_hash(now)) == bool(drifted(then, now))


@given(SETS, SETS)
def test_every_difference_is_named_once_with_both_values(then, now):
    found = {one.component: (one.then, one.now) for one in drifted(then, now)}
    names = {name for name in {*then, *now} if then.get(name) != now.get(name)}
    assert found == {name: (then.get(name), now.get(name)) for name in names}
    assert len(drifted(then, now)) == len(names)


@given(st.permutations(sorted(THERE.items())))
def test_the_order_is_of_no_influence(items):
    assert env_hash(dict(items)) == env_hash(THERE)


def test_a_difference_names_its_layer_and_the_nearest_comes_first():
    now = {**THERE, "kernel": "6.1", "libc": "glibc 2.41", "lock": "none"}
    then = {**THERE, "kernel": "5.10"}
    assert drifted(then, now) == (
        Drift("lock", "lock", "a" * 64, "none"),
        Drift("libc", "system", "glibc 2.36", "glibc 2.41"),
        Drift("kernel", "machine", "5.10", "6.1"),
    )
    assert drifted({}, {"cpu": "x"})[0].to_json() == {
        "component": "cpu", "layer": "machine", "then": None, "now": "x",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("image", "variables", "locale"),
    [
        (None, {}, "LANG=C.UTF-8"),
        ("LANG=de_DE.UTF-8 LC_ALL=", {}, "LANG=C.UTF-8"),  # a step's LANG is the engine's
        ("LANG= LC_ALL=de_DE.UTF-8", {}, "LC_ALL=de_DE.UTF-8"),
        (None, {"LC_ALL": "C", "LC_TIME": "fr"}, "LC_ALL=C"),
        (None, {"LANG": "C", "LC_TIME": "fr", "TZ": "CET"}, "LANG=C LC_TIME=fr"),
        ("LC_ALL=de", {"LC_ALL": ""}, "LANG=C.UTF-8"),
    ],
)
def test_the_locale_is_what_programs_would_find(image, variables, locale):
    assert of_step({"locale": locale_of(image)}, variables) == {"locale": locale}


@pytest.mark.parametrize(("own", "found"), [({}, "a.so"), ({"LD_PRELOAD": ""}, "none")])
def test_a_step_s_own_preload_counts(own, found):
    around = {"locale": locale_of(), "ld_preload": "a.so"}
    assert of_step(around, own)["ld_preload"] == found
