"""Comparison of texts, numbers, markup, JSON and pictures: no false green and no false red."""

from __future__ import annotations

import io
import json
import math
import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from tests.pace import takes_at_most
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.provenance.compare.markup import compare_markup, compare_svg
from vaibify_lab.provenance.compare.noise import Own, Rules
from vaibify_lab.provenance.compare.pictures import compare_pictures
from vaibify_lab.provenance.compare.structured import compare_json, compare_json_text
from vaibify_lab.provenance.compare.text import compare_text
from vaibify_lab.provenance.compare.verdict import PASSING

RULES = Rules()
STEADY = settings(deadline=None, max_examples=150, derandomize=True)
numbers = st.floats(allow_nan=False, allow_infinity=False, width=64)


def text(stored: str, fresh: str, rules: Rules = RULES) -> str:
    return compare_text(stored, fresh, rules).verdict


@pytest.mark.parametrize(
    ("stored", "fresh", "verdict"),
    [
        ("a = 1.5", "a = 1.5", "identical"),
        ("a = 1.5", "a = 1.6", "different"),
        ("a = 1.5", "b = 1.5", "different"),
        ("a = 1.5", "a = 1.50", "printed-otherwise"),
        ("1e3", "1000.0", "printed-otherwise"),
        ("0.1", "0.10000000000000002", "within-tolerance"),
        ("1.0", "1.0000009", "within-tolerance"),
        ("1.0", "1.0000021", "different"),
        ("1000000", "1000001", "different"),  # whole numbers count things
        ("3 rows", "4 rows", "different"),
        ("10", "10.0", "printed-otherwise"),
        ("0.0", "-0.0", "within-tolerance"),
        ("nan", "NaN", "printed-otherwise"),
        ("nan", "1.0", "different"),
        ("inf", "-inf", "different"),
        ("inf", "Infinity", "printed-otherwise"),
        ("1e999", "1e998", "different"),
        ("1e-320", "2e-320", "different"),
        ("-1.0", "1.0", "different"),
        ("3-1", "3+1", "different"),
        ("v1.2", "v1.3", "different"),
        ("x1", "x2", "different"),
        ("1.2.3", "1.2.4", "different"),
        ("[1.0, 2.0]", "[1.0, 2.0, 3.0]", "different"),
        ("a  b", "a b", "different"),  # blanks alone may be a drawing
        ("x  1.0\ny 10.5", "x   1.0\ny 10.500000001", "within-tolerance"),
        ("a\nb", "a\nb\nc", "different"),
        ("a\n", "a", "noise-only"),
        ("Wahr", "True", "different"),
        ("np.True_", "True", "printed-otherwise"),
        ("np.True_", "False", "different"),
        ("np.True_", "np.False_", "different"),
        ("np.True_x", "True", "different"),
        ("\u22121.0", "-1.0", "printed-otherwise"),
    ],
)
def test_numbers_in_text(stored: str, fresh: str, verdict: str) -> None:
    assert text(stored, fresh) == verdict
    assert text(fresh, stored) == verdict


@pytest.mark.parametrize(
    ("stored", "fresh", "kind"),
    [
        ("<f at 0x7f12ab34cd50>", "<f at 0x7f99ab34cd50>", "address"),
        ("id=0x55d2cafe", "id=0x55d2caff", "address"),
        (
            "run 123e4567-e89b-12d3-a456-426614174000",
            "run 223e4567-e89b-12d3-a456-426614174000",
            "uuid",
        ),
        ("now 2026-11-28 11:47:50.123", "now 2026-11-29 01:00:07", "time"),
        ("Sat Nov 28 11:47:50 2026", "Sun Nov 29 01:40:02 2026", "time"),
        ("Wall time: 1.23 s", "Wall time: 987 ms", "duration"),
        (
            "CPU times: user 1.2 ms, sys: 3 ms, total: 4.2 ms",
            "CPU times: user 9.2 ms, sys: 1 ms, total: 10.2 ms",
            "duration",
        ),
        ("1.2 s ± 3 ms per loop", "1.4 s ± 30.1 ms per loop", "duration"),
        ("3 passed in 0.12s", "3 passed in 0.34s", "duration"),
        ("elapsed time 0.1234", "elapsed time 0.9", "duration"),
        (
            "100%|████| 10/10 [00:00<00:00, 12.3it/s]",
            "100%|████| 10/10 [00:01<00:00, 9.3it/s]",
            "progress",
        ),
        ("10/10 - 3s - 12ms/step", "10/10 - 4s - 9ms/step", "progress"),
        ("read at 3.2 MB/s", "read at 9 MB/s", "progress"),
        (" 5%\r 50%\r100% done", " 7%\r100% done", "progress"),
        ("\x1b[31mred\x1b[0m", "red", "terminal codes"),
        ("/tmp/tmpabc/x", "/tmp/tmpdef/x", "temporary path"),
        ("/var/folders/a1/b_c2/T/tmpa/x", "/var/folders/a9/d_e/T/tmpb/x", "temporary path"),
        ("/tmp/ipykernel_12/345.py:3", "/tmp/ipykernel_99/777.py:3", "temporary path"),
        ("pid=12", "pid=999", "process number"),
        (
            "<Figure size 432x288 with 1 Axes>",
            "<Figure size 640x480 with 1 Axes>",
            "figure line",
        ),
        ("/a/lib/python3.11/x.py", "/b/c/lib/python3.11/x.py", "installation path"),
    ],
)
def test_n06_noise_is_listed_as_ignored(stored: str, fresh: str, kind: str) -> None:
    found = compare_text(stored, fresh, RULES)
    assert (found.verdict, {one.kind for one in found.ignored}) == ("noise-only", {kind})
    assert text(stored, fresh, Rules(ignore=False)) == "different"
    # a number that changed in the same output still fails
    assert text(f"{stored} n = 3", f"{fresh} n = 4") == "different"


@pytest.mark.parametrize(
    ("stored", "fresh"),
    [
        ("hash 0xdeadbeef01", "hash 0xdeadbeef02"),
        ("2020-01-01", "2020-01-02"),
        ("12:30:00", "12:30:01"),
        ("period: 12.3 s", "period: 12.4 s"),
        ("time = 1.5", "time = 1.7"),
        ("md5 d41d8cd98f00b204e9800998ecf8427e", "md5 d41d8cd98f00b204e9800998ecf8427f"),
        ("100%| 10/10 [00:00<00:00, 2it/s]", "100%| 11/11 [00:00<00:00, 2it/s]"),
        ("a 5%\rb", "a 5%\rc"),
        ("<Figure size 640x480 with 1 Axes>", "<Figure size 640x480 with 2 Axes>"),
        ("best: /tmp/tmpabc/fold2", "best: /tmp/tmpdef/fold3"),
        ("lag - 3s", "lag - 9s"),
        ("5/10 [00:00<00:01, 9.3it/s, loss=0.1]", "5/10 [00:00<00:01, 9.3it/s, loss=0.9]"),
        ("[00:00<00:01, loss=0.1]", "[00:00<00:01, loss=0.9]"),
        ("failed in 3 of 10 trials", "failed in 7 of 10 trials"),
        ("ran in 12 of 40 stars", "ran in 30 of 40 stars"),
        ("completed in 4 iterations", "completed in 999 iterations"),
        ("took the value 3.4", "took the value 9.4"),
        ("took 3.1 d to fade", "took 4.1 d to fade"),
        ("chain total: 3 m", "chain total: 9 m"),
        ("elapsed 5.0", "elapsed 9.0"),
        ("flags at 0x00ff", "flags at 0xff00"),
    ],
)
def test_results_that_look_like_noise_are_not_ignored(stored: str, fresh: str) -> None:
    assert text(stored, fresh) == "different"


def test_with_the_runs_time_known_only_a_clock_is_noise() -> None:
    begin = datetime(2026, 11, 28, 11, 0, tzinfo=UTC)
    rules = Rules(ran=(begin, begin + timedelta(minutes=2)))
    assert text("at 2026-11-01 10:00:00", "at 2026-11-28 11:01:00", rules) == "noise-only"
    assert text("at 2026-11-01 10:00:00", "at 2026-11-28 20:01:00", rules) == "noise-only"
    assert text("on 2026-11-01", "on 2026-11-28", rules) == "noise-only"
    assert text("it is 09:10:11", "it is 12:01:30", rules) == "noise-only"
    assert text("it is 09:10:11", "it is 12:09:30", rules) == "different"
    assert text("at 2020-11-01 10:00:00", "at 2020-11-01 10:00:01", rules) == "different"
    for told, verdict in (
        ("2026-11-28T11:01:30Z", "noise-only"),
        ("2026-11-28T08:38:07Z", "different"),
        ("2026-11-28T16:31:30+05:30", "noise-only"),
        ("2026-11-28 06:46:30-04:15", "noise-only"),
        ("2026-11-28T16:01:30+05:30", "different"),
        ("Sat, 28 Nov 2026 11:01:59 GMT", "noise-only"),
        ("Sat, 28 Nov 2026 12:01:59 GMT", "different"),
        ("2026-11-28 08:38:07", "different"),  # of no zone's time
    ):
        assert text("at 2026-11-01T10:00:00Z", f"at {told}", rules) == verdict, told
    assert text("on 2020-11-01", "on 2020-11-02", rules) == "different"


def test_n07_the_same_value_printed_otherwise_is_not_silently_equal() -> None:
    found = compare_text("1.5", "np.float64(1.5)", RULES)
    assert (found.verdict, found.words) == ("printed-otherwise", "same value, different printing")
    assert found.text == "1.5 is now np.float64(1.5)"
    assert text("(1.5, 2)", "(np.float64(1.5), np.int64(2))") == "printed-otherwise"
    assert text("1.5", "np.float64(1.6)") == "different"
    assert text("1.5", "np.float64(1.5000001)") == "within-tolerance"


@pytest.mark.parametrize(
    ("before", "now", "other"),
    [
        ("(1+2j)", "np.complex128(1+2j)", "np.complex128(1+3j)"),
        ("2j", "np.complex128(2j)", "np.complex128(3j)"),
        ("1e-05j", "np.complex64(1e-05j)", "np.complex64(1e-06j)"),
        ("(nan+1j)", "np.complex128(nan+1j)", "np.complex128(nan+2j)"),
        ("(-0+2j)", "np.complex128(-0+2j)", "np.complex128(-0-2j)"),
        ("(1.5+2j)", "np.clongdouble('1.5+2j')", "np.clongdouble('1.5+3j')"),
        ("1.5", "np.longdouble('1.5')", "np.longdouble('1.6')"),
        ("True", "np.True_", "np.False_"),
        ("'a'", "np.str_('a')", "np.str_('b')"),
        ('"it\'s"', 'np.str_("it\'s")', 'np.str_("its")'),
        (r"'a\'b'", r"np.str_('a\'b')", r"np.str_('a\'c')"),
        ("b'a'", "np.bytes_(b'a')", "np.bytes_(b'b')"),
        ("numpy.datetime64('2020')", "np.datetime64('2020')", "np.datetime64('2021')"),
        ("numpy.timedelta64(1,'D')", "np.timedelta64(1,'D')", "np.timedelta64(2,'D')"),
        ("-inf", "np.float64(-inf)", "np.float64(inf)"),
    ],
)
def test_n07_every_kind_of_scalar(before: str, now: str, other: str) -> None:
    for form in ("{}", "[{}, 2.5]", "x = {} # np.int64(3)", "{{'a': {}}}"):
        one, two, three = (form.format(each) for each in (before, now, other))
        assert text(one, two) == text(two, one) == "printed-otherwise"
        assert compare_text(one, two, RULES).text == f"{before} is now {now}"
        assert compare_text(two, one, RULES).text == f"{now} is now {before}"
        assert text(one, three) == text(three, two) == "different"
        assert text(two, two) == "identical"
        assert text(one, two, Rules(ignore=False)) == "printed-otherwise"
    assert text(f"{before} 1.0", f"{now} 1.0000001") == "within-tolerance"
    assert text(f"{before} 1.0", f"{now} 1.1") == "different"
    assert text(f"at 0x7f12ab34cd50 {before}", f"at 0x7f99ab34cd50 {now}") == "printed-otherwise"


def test_complex_numbers_lie_within_tolerance_or_not() -> None:
    assert text("(1.5+2.5j)", "np.complex128(1.5+2.5000001j)") == "within-tolerance"
    assert text("np.complex128(1.5+2.5j)", "np.complex128(1.5+2.51j)") == "different"


def test_the_projects_own_expressions() -> None:
    rules = Rules(own=(Own("host", r"host=\S+"),))
    found = compare_text("host=a n=1", "host=bcd n=1", rules)
    assert (found.verdict, found.ignored[0].kind) == ("noise-only", "host")
    assert text("host=a n=1", "host=b n=2", rules) == "different"
    with pytest.raises(InvalidFile, match="cannot be used"):
        text("a", "b", Rules(own=(Own("bad", "(?<=a"),)))
    slow = Rules(own=(Own("slow", "(a+)+$"),))
    with takes_at_most(600):  # exponential would not come to its end
        assert text("a" * 50_000 + "b", "a" * 50_000 + "c", slow) == "different"


def test_the_largest_gaps_are_named_with_their_places() -> None:
    found = compare_text("1.0 5.0\n1000.0", "1.0000001 5.0\n1000.0005", RULES)
    assert found.verdict == "within-tolerance"
    assert found.absolute is not None and found.relative is not None
    assert (found.absolute.where, f"{found.absolute.absolute:.1e}") == ("line 2", "5.0e-4")
    assert (found.relative.where, found.relative.stored) == ("line 2", "1000.0")


@STEADY
@given(st.lists(numbers, min_size=1, max_size=8), st.data())
def test_generated_numbers(values: list[float], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(values) - 1))
    stored = " ".join(map(repr, values))
    assert text(stored, stored) == "identical"
    value = values[at]

    def moved(to: float) -> str:
        return text(stored, " ".join(map(repr, [*values[:at], to, *values[at + 1 :]])))

    ulp = math.nextafter(value, math.inf)
    if abs(value) > 1e-300 and math.isfinite(ulp):
        assert moved(ulp) == "within-tolerance"
        assert moved(value * (1 + 5e-7)) == "within-tolerance" or math.isinf(value * 1.1)
        if math.isfinite(value * 1.1):
            assert moved(value * (1 + 3e-6)) == "different"
            assert moved(-value) == "different"
    if value:
        assert moved(math.nan) == "different"
        assert moved(math.inf) == "different"


leaves = st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=6) | numbers
trees = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


def reordered(value: object) -> object:
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(list(value))}
    return [reordered(item) for item in value] if isinstance(value, list) else value


@STEADY
@given(trees, trees)
def test_generated_json(one: object, other: object) -> None:
    assert compare_json(one, one, RULES).verdict == "identical"
    assert compare_json(one, reordered(one), RULES).verdict == "identical"
    strict = Rules(relative=0.0, ignore=False)
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (compare_json(one, other, strict).verdict == "identical") is same


@STEADY
@given(st.text(max_size=60), st.text(max_size=60))
def test_generated_texts_are_identical_only_when_they_are(one: str, other: str) -> None:
    assert text(one, one) == "identical"
    assert (text(one, other) == "identical") is (one == other)
    assert text(one, other) == text(one, other)


@pytest.mark.parametrize(
    ("stored", "fresh", "verdict"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "identical"),
        ({"a": 1}, {"a": 1.0}, "printed-otherwise"),
        ({"a": 1}, {"a": True}, "different"),
        ({"a": 0.1}, {"a": 0.1 + 1e-12}, "within-tolerance"),
        ({"a": None}, {}, "different"),
        ([1, 2], [2, 1], "different"),
        ({"a": math.nan}, {"a": math.nan}, "identical"),
        ({"a": math.nan}, {"a": math.inf}, "different"),
    ],
)
def test_json(stored: object, fresh: object, verdict: str) -> None:
    assert compare_json(stored, fresh, RULES).verdict == verdict


def test_numbers_too_small_for_a_double_are_not_all_one_value() -> None:
    def verdict(one: bytes, other: bytes) -> str:
        return compare_json_text(one, other, RULES).verdict

    assert verdict(b'{"p": 1e-400}', b'{"p": 2e-500}') == "different"
    assert verdict(b'{"p": 1e-400, "q": 0}', b'{"q": 0e-999, "p": 1e-400}') == "printed-otherwise"


def test_json_documents() -> None:
    def both(one: str, other: str) -> str:
        return compare_json_text(one.encode(), other.encode(), RULES).verdict

    assert both('{"a":1}', '{"a":1}') == "identical"
    assert both('{"a":1,"b":2}', '{"b": 2, "a": 1}') == "printed-otherwise"
    assert both('{"a":1}', '{"a":2}') == "different"
    assert both("[" * 5000, "[" * 5001) == "different"
    found = compare_json({"a": [1.5, {"b": 2.0}]}, {"a": [1.5, {"b": 3.0}]}, RULES)
    assert (found.where, found.text) == ("$.a[1].b", "2.0 is now 3.0")


TABLE = (
    "<table><thead><tr><th></th><th>mass</th><th>n</th></tr></thead>"
    "<tbody><tr><th>0</th><td>{}</td><td>{}</td></tr></tbody></table>"
)


def test_tables_are_compared_cell_by_cell() -> None:
    stored = TABLE.format("1.5", "7")
    assert compare_markup(stored, stored, RULES).verdict == "identical"
    close = compare_markup(stored, TABLE.format("1.5000001", "7"), RULES)
    assert (close.verdict, close.where) == ("within-tolerance", "table 1, row 2, column mass")
    assert close.absolute is not None and close.absolute.where == "table 1, row 2, column mass"
    apart = compare_markup(stored, TABLE.format("1.5", "8"), RULES)
    assert (apart.verdict, apart.where) == ("different", "table 1, row 2, column n")
    rows = stored.replace("</tbody>", "<tr><td>1</td></tr></tbody>")
    assert compare_markup(stored, rows, RULES).text == "2 table rows are now 3"


def test_ids_are_noise_only_where_they_are_used_alike() -> None:
    style = '<style>#T_{0}_row0 {{color: #aabb12}}</style><td id="T_{0}_row0">5</td>'
    found = compare_markup(style.format("a1b2c"), style.format("f9e8d"), RULES)
    assert found.verdict == "noise-only"
    assert {one.kind for one in found.ignored} == {"element id"}
    coloured = style.format("f9e8d").replace("#aabb12", "#aabb13")
    assert compare_markup(style.format("a1b2c"), coloured, RULES).verdict == "different"
    one, other = '<a id="p1"/><use href="#p1"/>', '<a id="q1"/><use href="#q2"/>'
    assert compare_markup(one, other, RULES).verdict == "different"


def test_svg() -> None:
    svg = (
        '<svg><dc:date>{}</dc:date><clipPath id="{}"/>'
        '<path d="M 1.0 {}" clip-path="url(#{})"/></svg>'
    )
    stored = svg.format("2026-01-01T00:00:00", "p1a2b3c4", "2.0", "p1a2b3c4")
    again = svg.format("2026-02-02T00:00:00", "p9z9z9z9", "2.0", "p9z9z9z9")
    assert compare_svg(stored, again, RULES).verdict == "noise-only"
    moved = svg.format("2026-02-02T00:00:00", "p9z9z9z9", "2.5", "p9z9z9z9")
    assert compare_svg(stored, moved, RULES).verdict == "figure-differs"


def png(colour: int = 0, *, at: tuple[int, int] | None = None, note: str = "") -> bytes:
    picture = Image.new("RGB", (20, 10), (colour, 0, 0))
    if at is not None:
        picture.putpixel(at, (255, 255, 255))
    info = PngImagePlugin.PngInfo()
    info.add_text("Software", note)
    out = io.BytesIO()
    picture.save(out, "PNG", pnginfo=info)
    return out.getvalue()


def test_pictures_are_compared_by_pixels() -> None:
    assert compare_pictures(png(), png()).verdict == "identical"
    found = compare_pictures(png(note="a"), png(note="b"))
    assert (found.verdict, found.ignored[0].kind) == ("noise-only", "picture metadata")
    found = compare_pictures(png(), png(at=(3, 4)))
    assert found.verdict == "figure-differs"
    assert found.text == "1 of 200 pixels differ, by at most 255 of 255, between (3, 4) and (3, 4)"
    assert found.pictures[0].shown is not None
    shown = Image.open(io.BytesIO(found.pictures[0].shown))
    assert shown.size == (20, 10) and shown.getpixel((3, 4)) == (220, 0, 0)
    wide = Image.new("RGB", (21, 10))
    out = io.BytesIO()
    wide.save(out, "PNG")
    assert "are now 21 x 10" in compare_pictures(png(), out.getvalue()).text


@STEADY
@given(st.integers(0, 19), st.integers(0, 9), st.integers(1, 255))
def test_one_pixel_by_one_level_is_seen(x: int, y: int, level: int) -> None:
    picture = Image.new("RGBA", (20, 10))
    out, other = io.BytesIO(), io.BytesIO()
    picture.save(out, "PNG")
    picture.putpixel((x, y), (0, 0, 0, level))
    picture.save(other, "PNG")
    assert compare_pictures(out.getvalue(), other.getvalue()).verdict == "figure-differs"


def test_pictures_that_cannot_be_read_are_never_called_equal() -> None:
    deep = Image.new("I;16", (4, 4))
    bomb = png()[:16] + b"\x00\x00\xff\xff\x00\x00\xff\xff" + png()[24:]
    out = io.BytesIO()
    deep.save(out, "PNG")
    for other in (b"", b"x", png()[:40], bomb, out.getvalue(), b"%!PS-Adobe"):
        found = compare_pictures(png(), other)
        assert (found.verdict, found.passes) == ("figure-differs", False)


@pytest.mark.parametrize(
    "piece",
    [
        "/",
        "a/",
        "0x",
        "1",
        "1.",
        "<",
        "#a",
        "[00:",
        "-",
        "at 0x7",
        "2020-",
        "\r",
        "\x1b[",
        " ",
        "e",
    ],
)
def test_hostile_text_takes_time_in_line_with_its_length(piece: str) -> None:
    def seconds(size: int) -> float:
        made = piece * (size // len(piece))
        began = time.process_time()
        assert compare_markup(made + "x", made + "y", RULES).verdict != "identical"
        return time.process_time() - began

    seconds(1000)
    small = max(seconds(8_000), 0.002)
    assert seconds(64_000) < 8 * small * 4  # eight times as long, with room; a square takes 64


def test_what_differs_without_end_is_different() -> None:
    one, other = ("\n".join(f"{at}.0 {end}" for at in range(40_000)) for end in "ab")
    assert compare_text(one, other, RULES).verdict == "different"


def test_every_verdict_that_passes_says_the_same() -> None:
    assert {"identical", "noise-only", "printed-otherwise", "within-tolerance"} == PASSING
