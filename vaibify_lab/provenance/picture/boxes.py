"""What a picture of a lineage shows: a box a step, with its code; a box for files that go together.

Files of one maker that the same steps read stand in one box, so that a hundred plots are one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from vaibify_lab.core.paths import shown
from vaibify_lab.provenance.lineage import Lineage, Node
from vaibify_lab.provenance.picture.metrics import wrapped

Look = Literal["plain", "bold", "small", "bad"]
_Kind = Literal["raw", "made", "figure"]
_MOST_FILES, _MOST_CODE = 6, 4
_WIDEST = 250


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text."""

    text: str
    look: Look = "plain"


@dataclass(frozen=True, slots=True)
class Box:
    """A box: what kind, whether in the centre, whether something does not hold, its lines."""

    id: str
    kind: Literal["step", "raw", "made", "figure"]
    is_center: bool
    is_bad: bool
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Boxes:
    """The boxes of a lineage and the edges between them, in the order of the workflow."""

    boxes: tuple[Box, ...]
    edges: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Group:
    """What files have in common that stand in one box."""

    maker: str | None
    readers: tuple[str, ...]
    kind: _Kind


def boxes_of(lineage: Lineage) -> Boxes:
    """Return what is to be shown of a lineage."""
    return _Gathered(lineage).boxes()


class _Gathered:
    """A lineage's nodes, gathered into boxes."""

    def __init__(self, lineage: Lineage) -> None:
        self._lineage = lineage
        self._nodes = {node.id: node for node in lineage.nodes}
        self._rank = {step.slug: rank for rank, step in enumerate(lineage.chain.steps)}
        self._readers: dict[str, list[str]] = {}
        self._read: dict[str, list[str]] = {}
        self._makers: dict[str, str] = {}
        for edge in lineage.edges:
            if edge.type == "cites":
                self._readers.setdefault(edge.start, []).append(edge.end)
                self._read.setdefault(edge.end, []).append(edge.start)
            elif edge.type == "produces":
                self._makers.setdefault(edge.end, edge.start)

    def boxes(self) -> Boxes:
        groups: dict[_Group | str, list[Node]] = {}
        for node in self._nodes.values():
            for group in self._groups(node):
                groups.setdefault(group, []).append(node)
        boxes: list[Box] = []
        edges: list[tuple[str, str]] = []
        for group, nodes in groups.items():
            if isinstance(group, str):
                boxes.append(self._step(nodes[0]))
                continue
            # no name of a step holds a line feed, so no box of files is named as one
            box = _files(f"\n{len(boxes)}", group.kind, nodes)
            boxes.append(box)
            edges += [(group.maker, box.id)] if group.maker is not None else []
            edges += [(box.id, reader) for reader in group.readers]
        return Boxes(tuple(boxes), tuple(edges))

    def _groups(self, node: Node) -> Iterator[_Group | str]:
        """Yield what a node is shown in: a step in its own box, code in that of its steps.

        Who read a file before the step that makes it ran (what is declared has turned round since
        then) read it as one that no step makes: a picture has no circle.
        """
        if node.pinned is None:
            yield node.id
            return
        maker, readers = self._makers.get(node.id), tuple(self._readers.get(node.id, ()))
        if maker is None:
            if node.type != "code":
                yield _Group(None, readers, "raw")
            return
        kind: _Kind = "figure" if node.type == "figure" else "made"
        later = tuple(one for one in readers if self._rank[one] > self._rank[maker])
        yield _Group(maker, later, kind)
        if len(later) < len(readers):
            yield _Group(None, tuple(one for one in readers if one not in later), "raw")

    def _is_code(self, node: Node) -> bool:
        return node.type == "code" and node.id not in self._makers

    def _step(self, node: Node) -> Box:
        read = [self._nodes[name] for name in self._read.get(node.id, ())]
        code = [one for one in read if self._is_code(one)]
        lines = [*_wrap(node.name, "bold"), *self._code(code)]
        if node.status == "no-pins":
            lines.append(Line("no run on record", "bad"))
        elif node.status == "unknown" and node.version is None:
            lines.append(Line("its record cannot be believed", "bad"))
        is_bad = any(line.look == "bad" for line in lines)
        return Box(
            node.id,
            "step",
            node.role == "center" and self._lineage.step is not None,
            is_bad,
            tuple(lines),
        )

    def _code(self, code: Sequence[Node]) -> Iterator[Line]:
        for one in _bad_first(code)[:_MOST_CODE]:
            yield from _wrap(one.name, "small")
            if one.status != "verified":
                yield Line(one.status, "bad")
        if len(code) > _MOST_CODE:
            yield Line(f"and {len(code) - _MOST_CODE} more files of code", "small")


def _files(name: str, kind: _Kind, nodes: Sequence[Node]) -> Box:
    lines: list[Line] = []
    for node in _bad_first(nodes)[:_MOST_FILES]:
        sha256 = node.pinned.sha256 if node.pinned else ""
        lines += _wrap(node.name, "plain")
        lines.append(Line(f"version {node.version}, {sha256[:12]}", "small"))
        if node.status != "verified":
            lines.append(Line(node.status, "bad"))
    if len(nodes) > _MOST_FILES:
        lines.append(Line(f"and {len(nodes) - _MOST_FILES} more files", "small"))
    is_bad = any(node.status != "verified" for node in nodes)
    return Box(name, kind, False, is_bad, tuple(lines))


def _bad_first(nodes: Sequence[Node]) -> list[Node]:
    return sorted(nodes, key=lambda one: one.status == "verified")


def _wrap(text: str, look: Look) -> Iterator[Line]:
    for line in wrapped(shown(text), _WIDEST, look):
        yield Line(line, look)
