"""Order, ancestors, descendants, circles."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.core.graph import ancestors, descendants, order, workflow_order

from .builders import refusal, step, workflow

DIAMOND = (
    step("Figure", saInputDataFiles=["l", "r"]),
    step("Left", saInputDataFiles=["t"], saDataFiles=["l"]),
    step("Right", saInputDataFiles=["t"], saDataFiles=["r"]),
    step("Top", saDataFiles=["t"]),
    step("Alone"),
)


def test_parents_come_first_and_equals_keep_the_order_of_the_file():
    made = workflow(*DIAMOND)
    assert workflow_order(made) == ("top", "alone", "left", "right", "figure")


def test_ancestors_and_descendants_of_a_diamond():
    made = workflow(*DIAMOND)
    assert ancestors(made, ["figure"]) == {"left", "right", "top"}
    assert ancestors(made, ["left", "top"]) == set()
    assert descendants(made, ["top"]) == {"left", "right", "figure"}
    assert descendants(made, ["left"]) == {"figure"}
    assert descendants(made, ["alone", "figure"]) == set()
    assert made.children["top"] == ("left", "right")


def test_a_circle_is_named():
    text = refusal(
        step("A", saDependencies=["C"]),
        step("B", saDependencies=["A"]),
        step("C", saDependencies=["B"]),
        step("D", saDependencies=["A"]),
    )
    circles = {
        "a -> b -> c -> a",
        "b -> c -> a -> b",
        "c -> a -> b -> c",
        "a -> c -> b -> a",
        "c -> b -> a -> c",
        "b -> a -> c -> b",
    }
    head, _, tail = text.partition("circle: ")
    assert head == "workflow.json: steps depend on each other in a "
    assert tail.removesuffix("; remove one of these dependencies") in circles


@pytest.mark.parametrize("keys", [{"saDependencies": ["A"]}, {"saDependencies": ["Step01"]}])
def test_a_step_that_depends_on_itself(keys):
    assert refusal(step("A", saDataFiles=["x"], **keys)) == (
        "workflow.json: steps depend on each other in a circle: a -> a; "
        "remove one of these dependencies"
    )


def test_a_circle_by_files_and_references():
    text = refusal(
        step("A", saDataCommands=["cat {step:b.y}"], saDataFiles=["x.csv"]),
        step("B", saInputDataFiles=["x.csv"], saDataFiles=["y.csv"]),
    )
    assert "in a circle: " in text


def test_a_long_circle_is_cut_short():
    steps = [step(f"S{n}", saDependencies=[f"S{(n + 1) % 500}"]) for n in range(500)]
    text = refusal(*steps)
    assert text.count("->") == 11
    assert " -> ... -> " in text


graphs = st.integers(1, 9).flatmap(
    lambda size: st.lists(
        st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=16
    ).map(lambda pairs: {str(n): [str(a) for a, b in pairs if b == n] for n in range(size)})
)


def reaches(parents, start, goal):
    todo, seen = list(parents[start]), set()
    while todo:
        one = todo.pop()
        if one == goal:
            return True
        if one not in seen:
            seen.add(one)
            todo += parents[one]
    return False


@given(graphs)
def test_any_graph_is_ordered_or_has_a_true_circle(parents):
    circular = any(reaches(parents, one, one) for one in parents)
    try:
        found = order(parents, "w")
    except InvalidFile as error:
        assert circular
        names = error.text.partition("circle: ")[2].split(" -> ")
        assert names[0] == names[-1]
        assert all(two in parents[one] for one, two in pairwise(names))
    else:
        assert not circular
        assert sorted(found) == sorted(parents)
        assert all(found.index(p) < found.index(one) for one in parents for p in parents[one])
