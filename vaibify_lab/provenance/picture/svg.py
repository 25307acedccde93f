"""The picture of a lineage as SVG: one file for screen and paper, no styles, no scripts, no fonts.

The same lineage gives the same bytes: no time is in them, and every number is whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from xml.sax.saxutils import escape, quoteattr

from vaibify_lab.core.paths import shown
from vaibify_lab.provenance.lineage import Lineage
from vaibify_lab.provenance.picture.boxes import Box, Boxes, Line, boxes_of
from vaibify_lab.provenance.picture.layout import Layout, Place, Size, layout
from vaibify_lab.provenance.picture.metrics import HEIGHTS, SIZES, width_of, wrapped

_MARGIN, _PAD, _NARROWEST, _LINE = 24, 10, 90, "#5f6368"
_FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
_FILLS = {"step": "#dce8f7", "raw": "#fff3d6", "made": "#ffffff", "figure": "#e3f2e4"}
_STROKES = {"step": "#1d4f91", "raw": "#8a6100", "made": "#5f6368", "figure": "#2e6b34"}
_INKS = {"plain": "#1f1f1f", "bold": "#1f1f1f", "small": "#4a4a4a", "bad": "#a50e0e"}
_BAD = "#a50e0e"
_KEY = (("raw", "input"), ("step", "step, with its code"), ("made", "made"), ("figure", "figure"))


def svg(lineage: Lineage) -> str:
    """Return the picture of a lineage."""
    shapes = boxes_of(lineage)
    sizes = {box.id: _size(box) for box in shapes.boxes}
    where = layout(sizes, shapes.edges)
    words = _words(lineage, max(where.width, 420))
    width = max([where.width, 420, *(round(width_of(one, "plain")) + 1 for one in words)])
    height = where.height + 2 * _MARGIN + 30 + 18 * len(words)
    body = "\n".join([*_drawn(shapes, where, width), *_below(words, where.height)])
    title = _title(lineage)
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + 2 * _MARGIN}" height="{height}" '
        f'viewBox="0 0 {width + 2 * _MARGIN} {height}" role="img" '
        f'aria-labelledby="lineage-title lineage-desc" font-family={quoteattr(_FONT)}>\n'
        f'<title id="lineage-title">{escape(title)}</title>\n'
        f'<desc id="lineage-desc">{escape(_description(lineage))}</desc>\n'
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n'
        f'<g transform="translate({_MARGIN} {_MARGIN})">\n{body}\n</g>\n</svg>\n'
    )
    return text.encode("ascii", "xmlcharrefreplace").decode()  # wherever it is printed


def _title(lineage: Lineage) -> str:
    names = {node.id: node.name for node in lineage.nodes if node.pinned is None}
    of = f"step {names[lineage.step]}" if lineage.step else lineage.workflow
    return f"What {shown(of)} comes from"


def _description(lineage: Lineage) -> str:
    """Return the graph in sentences, for who does not see it."""
    told = []
    for step in lineage.chain.steps:
        read = ", ".join(shown(pin.path) for pin in step.of("input", "code")) or "nothing"
        made = ", ".join(shown(pin.path) for pin in step.of("output")) or "nothing"
        told.append(f"Step {step.slug} read {read} and made {made}.")
    return " ".join([*told, _verdict(lineage)])


def _verdict(lineage: Lineage) -> str:
    chain = lineage.chain
    if chain.status == "no-pins":
        return "No run that passed is on record."
    if not chain.breaks:
        return "Every content is as the runs recorded it."
    first = chain.breaks[0]
    return f"Not as recorded, first at step {first.step}: {first.text}."


def _words(lineage: Lineage, width: int) -> list[str]:
    return list(wrapped(shown(_verdict(lineage)), width, "plain"))


def _size(box: Box) -> Size:
    width = max([_NARROWEST, *(width_of(line.text, line.look) for line in box.lines)])
    return Size(round(width) + 2 * _PAD, sum(HEIGHTS[line.look] for line in box.lines) + 2 * _PAD)


def _drawn(shapes: Boxes, where: Layout, width: int) -> Iterator[str]:
    left = (width - where.width) // 2
    yield f'<g transform="translate({left} 0)">'
    for edge in shapes.edges:
        yield from _edge(where.ways[edge])
    for box in shapes.boxes:
        yield from _box(box, where.places[box.id])
    yield "</g>"


def _edge(points: Sequence[tuple[int, int]]) -> Iterator[str]:
    path = f"M{points[0][0]} {points[0][1]}"
    for (x, y), (to_x, to_y) in pairwise(points):
        middle = (y + to_y) // 2
        path += f"C{x} {middle} {to_x} {middle} {to_x} {to_y}"
    yield f'<path d="{path}" fill="none" stroke="{_LINE}"/>'
    end_x, end_y = points[-1]
    head = f"M{end_x - 4} {end_y - 8}L{end_x + 4} {end_y - 8}L{end_x} {end_y}z"
    yield f'<path d="{head}" fill="{_LINE}"/>'


def _box(box: Box, place: Place) -> Iterator[str]:
    left, size = place.x - place.size.width // 2, place.size
    stroke = _BAD if box.is_bad else _STROKES[box.kind]
    thick = 3 if box.is_center else 1
    dashes = ' stroke-dasharray="6 3"' if box.is_bad else ""
    corner = 0 if box.kind == "step" else 9
    yield (
        f'<rect x="{left}" y="{place.y}" width="{size.width}" height="{size.height}" '
        f'rx="{corner}" fill="{_FILLS[box.kind]}" stroke="{stroke}" '
        f'stroke-width="{thick}"{dashes}/>'
    )
    y = place.y + _PAD
    for line in box.lines:
        y += HEIGHTS[line.look]
        yield _text(line, place.x, y - 5, "middle")


def _text(line: Line, x: int, y: int, anchor: str) -> str:
    weight = ' font-weight="bold"' if line.look in ("bold", "bad") else ""
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{SIZES[line.look]}" '
        f'fill="{_INKS[line.look]}"{weight}>{escape(line.text)}</text>'
    )


def _below(words: Sequence[str], height: int) -> Iterator[str]:
    """Yield what stands below: whether all is as recorded, and what the boxes are."""
    y = height + _MARGIN
    for word in words:
        y += 18
        yield _text(Line(word), 0, y - 5, "start")
    x = 0
    for kind, name in _KEY:
        corner = 0 if kind == "step" else 4
        yield (
            f'<rect x="{x}" y="{y + 8}" width="16" height="11" rx="{corner}" '
            f'fill="{_FILLS[kind]}" stroke="{_STROKES[kind]}"/>'
        )
        yield _text(Line(name, "small"), x + 22, y + 18, "start")
        x += 22 + round(width_of(name, "small")) + 18
