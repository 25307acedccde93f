"""The picture of a lineage: nothing overlaps or is cut off, edges go down, the bytes are one."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.counting import counted
from tests.provenance.test_pins import (
    RAN,
    THERE,
    THREE,
    checked,
    content,
    graph,
    record,
    workflow,
)
from tests.runs.test_growth import assert_even
from vaibify_lab.core.facts import RunRecord
from vaibify_lab.provenance.lineage import Lineage
from vaibify_lab.provenance.picture.boxes import boxes_of
from vaibify_lab.provenance.picture.layout import Place, Size, layout
from vaibify_lab.provenance.picture.metrics import width_of, wrapped
from vaibify_lab.provenance.picture.svg import svg

_SVG = "{http://www.w3.org/2000/svg}"


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[str, Size], list[tuple[str, str]]]:
    """Draw boxes of odd sizes and edges that go on."""
    count = draw(st.integers(0, 20))
    sizes = {
        f"b{number}": Size(draw(st.integers(1, 400)), draw(st.integers(1, 200)))
        for number in range(count)
    }
    pairs = list(combinations(sizes, 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=40)) if pairs else []
    return sizes, edges


def overlap(one: Place, other: Place) -> bool:
    beside = abs(one.x - other.x) * 2 < one.size.width + other.size.width
    return beside and one.y < other.y + other.size.height and other.y < one.y + one.size.height


@settings(deadline=None, max_examples=150)
@given(graphs())
def test_boxes_do_not_overlap_and_edges_go_down(
    drawn: tuple[dict[str, Size], list[tuple[str, str]]],
) -> None:
    sizes, edges = drawn
    found = layout(sizes, edges)
    assert found == layout(sizes, edges)
    assert set(found.places) == set(sizes) and set(found.ways) == set(edges)
    for one, other in combinations(found.places.values(), 2):
        assert not overlap(one, other)
    for place in found.places.values():
        assert place.x - place.size.width // 2 >= -1
        assert place.x + place.size.width // 2 <= found.width
        assert place.y >= 0 and place.y + place.size.height <= found.height
    for (start, end), way in found.ways.items():
        upper, lower = found.places[start], found.places[end]
        assert way[0][1] == upper.y + upper.size.height and way[-1][1] == lower.y
        assert [y for _, y in way] == sorted(y for _, y in way)
        for place, (x, _) in ((upper, way[0]), (lower, way[-1])):
            assert abs(x - place.x) * 2 <= place.size.width


def test_a_chain_is_a_straight_line() -> None:
    sizes = {str(number): Size(50 + number, 20) for number in range(300)}
    edges = [(str(number), str(number + 1)) for number in range(299)]
    found = layout(sizes, edges)
    assert {place.x for place in found.places.values()} == {found.places["299"].x}


def test_a_step_more_costs_the_same_among_few_and_among_many() -> None:
    counts = {}
    for steps in (60, 120, 240):
        names = [f"f{number}" for number in range(steps + 1)]
        flow = workflow(**{f"s{at}": ([names[at]], [names[at + 1]]) for at in range(steps)})
        ran = {
            f"s{at}": record(f"s{at}", {names[at]: "1"}, {names[at + 1]: "1"})
            for at in range(steps)
        }
        with counted() as counts[steps]:
            svg(graph(checked(flow, ran, dict.fromkeys(names, "1")), f"s{steps - 1}"))
    assert_even(counts, "calls")


@given(st.text(max_size=300), st.floats(30, 400))
def test_wrapped_text_fits_and_loses_nothing(text: str, widest: float) -> None:
    lines = list(wrapped(text, widest, "plain"))
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(len(line) == 1 or width_of(line, "plain") <= widest for line in lines)


def shown_texts(picture: str) -> list[str]:
    return [one.text or "" for one in ElementTree.fromstring(picture).iter(f"{_SVG}text")]


def assert_everything_is_inside(picture: str) -> None:
    """Require each line to be inside the box that is drawn before it, and that in the picture."""
    root = ElementTree.fromstring(picture)
    width, height = int(root.attrib["width"]), int(root.attrib["height"])
    outer = root.find(f"{_SVG}g")
    assert outer is not None
    inner = outer.find(f"{_SVG}g")
    assert inner is not None
    left = int(re.findall(r"\d+", inner.attrib["transform"])[0])
    box = (0, 0, 0, 0)
    for one in inner:
        if one.tag == f"{_SVG}rect":
            x, y, wide, high = (int(one.attrib[name]) for name in ("x", "y", "width", "height"))
            box = (x, y, wide, high)
            assert box[0] + left + 24 >= 0 and box[0] + left + box[2] + 24 <= width
            assert box[1] >= 0 and box[1] + box[3] + 24 <= height
        elif one.tag == f"{_SVG}text":
            look = {"13": "plain", "14": "bold"}.get(one.attrib["font-size"], "bad")
            half = width_of(one.text or "", look) / 2
            x, y = int(one.attrib["x"]), int(one.attrib["y"])
            assert box[0] <= x - half + 1 and x + half - 1 <= box[0] + box[2]
            assert box[1] < y < box[1] + box[3]


def test_everything_of_a_lineage_is_shown_inside_its_box() -> None:
    picture = svg(graph(checked(THREE, RAN, THERE), "c"))
    assert_everything_is_inside(picture)
    texts = shown_texts(picture)
    for word in ("a", "b", "c", "raw", "x", "y", "z", "Every content is as the runs recorded it."):
        assert word in texts
    assert f"version 1, {content('z1')[:12]}" in texts


def test_the_same_lineage_at_another_time_is_the_same_picture() -> None:
    drawn = graph(checked(THREE, RAN, THERE), "c")
    assert svg(drawn) == svg(replace(drawn, checked_at="2030-01-01T00:00:00Z"))
    assert svg(drawn).isascii()


def test_what_does_not_hold_is_said_in_words_too() -> None:
    drawn = graph(checked(THREE, RAN, {**THERE, "raw": "other", "z": "missing"}), "c")
    texts = shown_texts(svg(drawn))
    assert "modified" in texts and "missing" in texts
    said = " ".join(texts)
    assert "Not as recorded, first at step a: input raw is modified." in said
    assert "no run on record" in shown_texts(svg(graph(checked(THREE, {}, THERE), "c")))


def test_who_does_not_see_it_is_told_the_same() -> None:
    root = ElementTree.fromstring(svg(graph(checked(THREE, RAN, THERE), "c")))
    title, described = root.find(f"{_SVG}title"), root.find(f"{_SVG}desc")
    assert root.attrib["role"] == "img" and title is not None and described is not None
    assert root.attrib["aria-labelledby"] == f"{title.attrib['id']} {described.attrib['id']}"
    assert title.text == "What step c comes from"
    assert described.text == (
        "Step a read raw and made x. Step b read x and made y. Step c read y and made z. "
        "Every content is as the runs recorded it."
    )


def test_a_hundred_plots_are_one_box_and_those_that_do_not_hold_come_first() -> None:
    plots = [f"plots/{number:03d}.png" for number in range(100)]
    flow = workflow(a=(["raw"], plots))
    ran = {"a": record("a", {"raw": "r"}, {path: path for path in plots})}
    files = {"raw": "r", **{path: path for path in plots}, "plots/077.png": "missing"}
    drawn = graph(checked(flow, ran, files), "a")
    assert len(boxes_of(drawn).boxes) == 3
    texts = shown_texts(svg(drawn))
    assert "plots/077.png" in texts and "and 94 more files" in texts
    assert_everything_is_inside(svg(drawn))


def test_a_circle_of_old_records_is_drawn_all_the_same() -> None:
    flow = workflow(a=(["raw"], ["x"]), b=(["x"], ["y"]))
    ran = {"a": record("a", {"y": "y"}, {"x": "x"}), "b": record("b", {"x": "x"}, {"y": "y"})}
    drawn = graph(checked(flow, ran, {"x": "x", "y": "y"}), "a")
    assert shown_texts(svg(drawn)).count("y") == 2


EVIL = "<script>alert(1)</script>&\"'\x1b[31m\u202e]]>"
names = st.text(st.sampled_from("aW漢é/ _.<&\"'"), min_size=1, max_size=60)


def named(name: str, path: str) -> Lineage:
    flow = workflow(a=(["raw"], ["out/"]))
    flow = replace(flow, steps=(replace(flow.steps[0], name=name),))
    ran: dict[str, RunRecord] = {"a": record("a", {"raw": "r"}, {f"out/{path}": "1"})}
    return graph(checked(flow, ran, {"raw": "r", f"out/{path}": "1"}), "a")


def test_hostile_names_are_text() -> None:
    picture = svg(named(EVIL, EVIL))
    assert "<script" not in picture and "\x1b" not in picture and "\u202e" not in picture
    texts = "".join(shown_texts(picture))
    assert "<script>alert(1)</script>" in texts and r"\x1b[31m" in texts


@settings(deadline=None, max_examples=60)
@given(names, names)
def test_any_name_is_inside_its_box(name: str, path: str) -> None:
    assert_everything_is_inside(svg(named(name, path)))
