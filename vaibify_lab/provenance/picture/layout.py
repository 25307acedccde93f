"""Where the boxes of a graph without circles go: layer below layer, few crossings, straight ways.

The classic four stages: layers by the longest way, a bend where an edge passes a layer, an order
within each layer by the mean of the neighbours, then places that are as near to the neighbours as
those beside them let. Nothing is left to chance, so the same graph gives the same picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise

_SWEEPS = 12
_BESIDE, _BELOW = 28, 46  # between two boxes of a layer, between two layers
_BEND = 12  # the width that a passing edge takes


@dataclass(frozen=True, slots=True)
class Size:
    """What a box takes."""

    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where a box is: the middle of its upper side, and its size."""

    x: int
    y: int
    size: Size


@dataclass(frozen=True, slots=True)
class Layout:
    """Places of boxes, and of each edge the points that it passes, from box to box."""

    places: Mapping[str, Place]
    ways: Mapping[tuple[str, str], tuple[tuple[int, int], ...]]
    width: int
    height: int


def layout(sizes: Mapping[str, Size], edges: Sequence[tuple[str, str]]) -> Layout:
    """Place boxes so that every edge goes down.

    Parameters
    ----------
    sizes : mapping of box to Size
        In the order in which equals are to stand.
    edges : sequence of (box, box)
        Without a circle, each once.
    """
    return _Layers(sizes, edges).layout()


class _Layers:
    """The graph with a bend, a box of no height, wherever an edge passes a layer."""

    def __init__(self, sizes: Mapping[str, Size], edges: Sequence[tuple[str, str]]) -> None:
        self._sizes: dict[str, Size] = dict(sizes)
        self._edges = edges
        self._rank = _ranks(sizes, edges)
        self._ways = {edge: self._way(edge) for edge in edges}
        self._above: dict[str, list[str]] = {name: [] for name in self._sizes}
        self._below: dict[str, list[str]] = {name: [] for name in self._sizes}
        for way in self._ways.values():
            for upper, lower in pairwise(way):
                self._below[upper].append(lower)
                self._above[lower].append(upper)
        self._layers: list[list[str]] = [
            [] for _ in range(max(self._rank.values(), default=-1) + 1)
        ]
        for name in self._sizes:
            self._layers[self._rank[name]].append(name)

    def layout(self) -> Layout:
        self._order()
        middles = self._middles()
        places: dict[str, Place] = {}
        y = 0
        tops: list[tuple[int, int]] = []
        for layer in self._layers:
            height = max(self._sizes[name].height for name in layer)
            tops.append((y, y + height))
            for name in layer:
                places[name] = Place(middles[name], y, self._sizes[name])
            y += height + _BELOW
        width = max((one.x + one.size.width // 2 for one in places.values()), default=0)
        ways = self._points(places, tops)
        own = {name: places[name] for name in places if not name.startswith("\0")}
        return Layout(own, ways, width, max(0, y - _BELOW))

    def _way(self, edge: tuple[str, str]) -> tuple[str, ...]:
        """Return the boxes and bends of an edge, the bends made."""
        start, end = edge
        bends = []
        for rank in range(self._rank[start] + 1, self._rank[end]):
            name = f"\0{start}\0{end}\0{rank}"
            self._sizes[name] = Size(_BEND, 0)
            self._rank[name] = rank
            bends.append(name)
        return (start, *bends, end)

    def _order(self) -> None:
        """Order each layer by where its neighbours stand, now those above, now those below."""
        for sweep in range(_SWEEPS):
            down = sweep % 2 == 0
            near = self._above if down else self._below
            step = 1 if down else -1
            layers = self._layers[::step]
            for before, layer in pairwise(layers):
                where = {name: place for place, name in enumerate(before)}
                now = {name: place for place, name in enumerate(layer)}
                layer.sort(key=lambda name: (_mean(where, near[name], now[name]), now[name]))

    def _middles(self) -> dict[str, int]:
        """Return the middle of each box: as near to its neighbours' as its layer lets it."""
        middles = {
            name: float(place)
            for layer in self._layers
            for name, place in zip(layer, self._packed(layer), strict=True)
        }
        for sweep in range(_SWEEPS):
            down = sweep % 2 == 0
            near = self._above if down else self._below
            for layer in self._layers if down else reversed(self._layers):
                wanted = [_mean(middles, near[name], middles[name]) for name in layer]
                offsets = self._packed(layer)
                shifted = _rising([one - by for one, by in zip(wanted, offsets, strict=True)])
                for name, one, by in zip(layer, shifted, offsets, strict=True):
                    middles[name] = one + by
        left = min((middles[name] - self._sizes[name].width / 2 for name in middles), default=0)
        return {name: round(place - left) for name, place in middles.items()}

    def _packed(self, layer: Sequence[str]) -> list[float]:
        """Return the middles of a layer's boxes, side by side from 0 on."""
        found = [0.0]
        for one, other in pairwise(layer):
            apart = (self._sizes[one].width + self._sizes[other].width) / 2 + _BESIDE
            found.append(found[-1] + apart)
        return found[: len(layer)]

    def _points(
        self, places: Mapping[str, Place], tops: Sequence[tuple[int, int]]
    ) -> dict[tuple[str, str], tuple[tuple[int, int], ...]]:
        """Return the points of each edge; those of one box leave and arrive beside each other."""
        leave = {name: self._ports(name, self._below[name], places) for name in places}
        arrive = {name: self._ports(name, self._above[name], places) for name in places}
        found = {}
        for edge, way in self._ways.items():
            start = (leave[way[0]][way[1]], places[way[0]].y + places[way[0]].size.height)
            points = [start]
            for bend in way[1:-1]:
                top, bottom = tops[self._rank[bend]]
                points += [(places[bend].x, top), (places[bend].x, bottom)]
            points.append((arrive[way[-1]][way[-2]], places[way[-1]].y))
            found[edge] = tuple(points)
        return found

    def _ports(self, name: str, near: Sequence[str], places: Mapping[str, Place]) -> dict[str, int]:
        there = sorted(near, key=lambda other: (places[other].x, other))
        room = places[name].size.width * 0.7
        apart = min(18.0, room / max(1, len(there) - 1))
        first = places[name].x - apart * (len(there) - 1) / 2
        return {other: round(first + apart * at) for at, other in enumerate(there)}


def _ranks(sizes: Mapping[str, Size], edges: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Return each box's layer: below all that it comes from, and what comes from nothing late."""
    above: dict[str, list[str]] = {name: [] for name in sizes}
    below: dict[str, list[str]] = {name: [] for name in sizes}
    for start, end in edges:
        above[end].append(start)
        below[start].append(end)
    rank: dict[str, int] = {}
    for name in TopologicalSorter(above).static_order():
        rank[name] = 1 + max((rank[one] for one in above[name]), default=-1)
    for name in sizes:
        if not above[name] and below[name]:
            rank[name] = min(rank[one] for one in below[name]) - 1
    return {name: rank[name] for name in sizes}


def _mean(places: Mapping[str, float], names: Sequence[str], alone: float) -> float:
    return sum(places[name] for name in names) / len(names) if names else alone


def _rising(wanted: Sequence[float]) -> Iterator[float]:
    """Yield the rising numbers that are nearest to those wanted, by least squares."""
    blocks: list[tuple[float, int]] = []  # mean, count
    for value in wanted:
        mean, count = value, 1
        while blocks and blocks[-1][0] > mean:
            before, number = blocks.pop()
            mean = (before * number + mean * count) / (number + count)
            count += number
        blocks.append((mean, count))
    for mean, count in blocks:
        yield from [mean] * count
