"""Ids of HTML and SVG: noise under one renaming alone, and what leads elsewhere never is."""

from __future__ import annotations

import io
import time

import pytest

from vaibify_lab.provenance.compare.files import compare_files
from vaibify_lab.provenance.compare.markup import compare_markup, compare_svg
from vaibify_lab.provenance.compare.noise import Own, Rules

RULES = Rules()
TWO = '<svg><g id="{0}"/><g id="{1}"/>{2}</svg>'
ELSEWHERE = {
    "use": ('<use href="#{0}"/>', '<use href="#{1}"/>'),
    "xlink": ('<use xlink:href="#{0}"/>', '<use xlink:href="#{1}"/>'),
    "uses swapped": (
        '<use href="#{0}"/><use href="#{1}"/>',
        '<use href="#{1}"/><use href="#{0}"/>',
    ),
    "fill": ('<path fill="url(#{0})"/>', '<path fill="url(#{1})"/>'),
    "quoted": ("<path fill=\"url('#{0}')\"/>", "<path fill=\"url('#{1}')\"/>"),
    "in a style": (
        '<path style="x: y; fill: url(#{0})"/>',
        '<path style="x: y; fill: url(#{1})"/>',
    ),
    "styles swapped": (
        "<style>#{0}{{fill:red}}\n#{1}{{fill:blue}}</style>",
        "<style>#{1}{{fill:red}}\n#{0}{{fill:blue}}</style>",
    ),
    "CDATA": (
        "<style><![CDATA[ #{0} {{fill:red}} ]]></style>",
        "<style><![CDATA[ #{1} {{fill:red}} ]]></style>",
    ),
    "described": ('<g aria-labelledby="{0} {1}"/>', '<g aria-labelledby="{1} {0}"/>'),
    "label": ('<label for="{0}">x</label>', '<label for="{1}">x</label>'),
    "begin": ('<set begin="0s;{0}.end"/>', '<set begin="0s;{1}.end"/>'),
    "animated": ('<set attributeName="href" to="#{0}"/>', '<set attributeName="href" to="#{1}"/>'),
    "script": (
        "<script>document.getElementById('{0}').x = 1</script>",
        "<script>document.getElementById('{1}').x = 1</script>",
    ),
    "handler": (
        "<i onclick=\"document.getElementById('{0}')\"/>",
        "<i onclick=\"document.getElementById('{1}')\"/>",
    ),
    "selected": (
        '<script>document.querySelector("#{0} > g")</script>',
        '<script>document.querySelector("#{1} > g")</script>',
    ),
}


@pytest.mark.parametrize("ids", [("red", "blue"), ("p1a2b3c4d5", "p9f8e7d6c5"), ("g1", "xy_2")])
@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_leads_to_another_element_is_different(name: str, ids: tuple[str, str]) -> None:
    led, leads = (TWO.format(*ids, one.format(*ids)) for one in ELSEWHERE[name])
    assert compare_svg(led, leads, RULES).verdict == "figure-differs"
    assert compare_markup(led, leads, RULES).verdict == "different"
    assert not compare_files("a.svg", led.encode(), leads.encode(), RULES).passes
    assert not compare_files("a.html", led.encode(), leads.encode(), RULES).passes
    # renamed alike it is the same, also where the other side's names stand elsewhere
    for others in (("pz1", "pz2"), (ids[1], ids[0]), (ids[1], "pz1")):
        again = TWO.format(*others, ELSEWHERE[name][0].format(*others))
        found = compare_svg(led, again, RULES)
        assert (found.verdict, {one.kind for one in found.ignored}) == (
            "noise-only",
            {"element id"},
        )
        wrong = TWO.format(*others, ELSEWHERE[name][1].format(*others))
        assert compare_svg(led, wrong, RULES).verdict == "figure-differs"
        left = TWO.format(*others, ELSEWHERE[name][0].format(*ids))  # its ids alone are others
        assert compare_svg(led, left, RULES).verdict == "figure-differs"
        assert compare_markup(led, again, Rules(ignore=False)).verdict == "different"


@pytest.mark.parametrize(
    ("stored", "fresh"),
    [
        ('<style>#c1{r:5}</style><g id="c1"/>', '<style>#c1{r:5}</style><g id="c2"/>'),
        ('<g id="a1"/><use href="#b1"/>', '<g id="b1"/><use href="#b1"/>'),  # led nowhere
        ('<g id="a1"/><use href="#x1"/>', '<g id="a1"/><use href="#x2"/>'),
        ('<g id="a"/><g id="a"/>', '<g id="b"/><g id="c"/>'),
        ('<g id="a"/><g id="b"/>', '<g id="c"/><g id="c"/>'),
        ('<g id="abc"/><p fill="#abc"/>', '<g id="def"/><p fill="#def"/>'),  # colours
        (
            '<style>#abc{fill:#abc}</style><g id="abc"/>',
            '<style>#def{fill:#def}</style><g id="def"/>',
        ),
        ('<g id="abc"/><set to="#abc"/>', '<g id="b"/><set to="#abc"/>'),  # or an element
        ('<g id="a">a</g>', '<g id="b">b</g>'),  # text that is seen
        ('<g id="a"/><script>f("a")</script>', '<g id="b"/><script>f("b")</script>'),
        ('<g id="a"/><script>f("a")</script>', '<g id="b"/><script>f("a")</script>'),
        ('<style>[id="a"]{x:y}</style><g id="a"/>', '<style>[id="a"]{x:y}</style><g id="b"/>'),
        ('<g id="a b"/><use href="#a%20b"/>', '<g id="c"/><use href="#a%20b"/>'),
        ("<style>#\\31 a{x:y}</style><g id='1a'/>", "<style>#\\31 a{x:y}</style><g id='b'/>"),
        ('<g id="a1"/><a href="x.html#a1"/>', '<g id="b1"/><a href="x.html#b1"/>'),
        ('<g id="a"/><use t="p>q" href="#a"/>', '<g id="b"/><use t="p>q" href="#a"/>'),
        ('<g id="a"/><i onclick="f(\'a\')"/>', '<g id="b"/><i onclick="f(\'a\')"/>'),
        ('<g id="a"/><script>a.x = 1</script>', '<g id="b"/><script>a.x = 1</script>'),
        (
            '<style>#a /* } */ {x:y}</style><g id="a"/>',
            '<style>#a /* } */ {x:y}</style><g id="b"/>',
        ),
        ('<style>#a[t="}"] {x:y}</style><g id="a"/>', '<style>#a[t="}"] {x:y}</style><g id="b"/>'),
        ('<g id="a"/><g title="#a"/>', '<g id="b"/><g title="#b"/>'),
        ('<input name="a1">', '<input name="a2">'),
    ],
)
def test_ids_that_no_renaming_explains_are_different(stored: str, fresh: str) -> None:
    for one, other in ((stored, fresh), (fresh, stored)):
        assert compare_markup(one, other, RULES).verdict == "different"
        assert not compare_files("a.svg", one.encode(), other.encode(), RULES).passes


def test_tables_and_forms_that_number_their_ids_stay_noise() -> None:
    pages = [
        f"<style>#T_{one} th, #T_{one}_row0_col0 {{\n  color: #aabb12;\n}}</style>"
        f'<table id="T_{one}"><td id="T_{one}_row0_col0">5.5</td></table>'
        f'<input id="sk-{one}"><label for="sk-{one}">e</label>'
        f'<a name="x{one}"></a><a href="#x{one}">up</a>'
        f'<div id="d-{one}" data-id="d-{one}">'
        for one in ("a1b2c", "9f8e7")
    ]
    assert compare_markup(*pages, RULES).verdict == "noise-only"
    close = compare_markup(pages[0], pages[1].replace("5.5", "5.500000001"), RULES)
    assert close.verdict == "within-tolerance"


def test_what_a_cell_plots_by_a_uuid_stays_noise() -> None:
    plot = '<div id="{0}"></div><script>if (a<3 && b>2) {{ Plotly.newPlot("{0}", [1]) }}</script>'
    ids = "123e4567-e89b-12d3-a456-426614174000", "223e4567-e89b-12d3-a456-426614174000"
    one, other = (plot.format(each) for each in ids)
    assert compare_markup(one, other, RULES).verdict == "noise-only"
    two = [f'<i id="{ids[0]}"/><i id="{ids[1]}"/><use href="#{one}"/>' for one in ids]
    assert compare_markup(*two, RULES).verdict == "different"


def test_a_project_may_still_pass_over_ids_of_html_files() -> None:
    own = Rules(own=(Own("ids", r"\bsk-\d+"),))
    pages = [f'<p id="sk-{one}"/><a href="#sk-{one}"/>'.encode() for one in (1, 2)]
    assert compare_files("a.html", *pages, own).verdict == "noise-only"
    assert compare_files("a.html", *pages, RULES).verdict == "different"


def test_hashed_ids_of_matplotlib_stay_noise() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    figures = pytest.importorskip("matplotlib.figure")

    def drawn(salt: str) -> bytes:
        with matplotlib.rc_context({"svg.hashsalt": salt}):
            figure = figures.Figure()
            axes = figure.subplots()
            axes.plot([1, 2], [3, 4], "o-")
            axes.fill_between([1, 2], [3, 4], hatch="/")
            target = io.BytesIO()
            figure.savefig(target, format="svg", metadata={"Date": None})
        return bytes(target.getvalue())

    one, other = drawn("a"), drawn("b")
    found = compare_files("a.svg", one, other, RULES)
    assert one != other
    assert (found.verdict, {each.kind for each in found.ignored}) == ("noise-only", {"element id"})


@pytest.mark.parametrize("piece", ['<a "', "<a '>", "/*", "/* *", "#a", '"#a', "a{", "\\0"])
@pytest.mark.parametrize(
    "around", ["{}", "<style>{}</style>", "<script>{}</script>", '<g on="{}"/>']
)
def test_ids_are_found_quickly(piece: str, around: str) -> None:
    text = around.format(piece * (100_000 // len(piece)))
    began = time.monotonic()
    compare_markup(f'<g id="a"/>{text}', f'<g id="b"/>{text}', RULES)
    assert time.monotonic() - began < 10
