"""The graph of what produced what: steps, what they read and wrote, and how it hangs together.

One node a content: where a graph holds two contents of one path (a step has not run again since
what it reads was made anew) each has a node. A node is named by its path, where that names one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from vaibify_lab.core.model import Step
from vaibify_lab.provenance.pins import Chain, PinCheck, Pinned, StepPins

NodeType = Literal["analysis", "dataset", "figure", "code", "file"]
NodeRole = Literal["center", "input", "output", "upstream"]
EdgeType = Literal["cites", "produces", "derives_from"]


@dataclass(frozen=True, slots=True)
class Node:
    """A step (``analysis``), or a content of a file. ``pinned`` is None for a step."""

    id: str
    type: NodeType
    version: int | None
    role: NodeRole
    status: str
    name: str
    pinned: Pinned | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        value = {"id": self.id, "type": self.type, "version": self.version, "role": self.role}
        value |= {"status": self.status}
        if self.pinned is None:
            return value | {"name": self.name}
        content = {"artifact_id": self.name, "content_hash": f"sha256:{self.pinned.sha256}"}
        return value | content


@dataclass(frozen=True, slots=True)
class Edge:
    """``cites`` runs from what was read to the step, ``produces`` from the step to what it wrote.

    ``derives_from`` is the link back: from what was written to the step.
    """

    start: str
    end: str
    type: EdgeType

    def to_json(self) -> dict[str, str]:
        """Return the JSON answer's form."""
        return {"from": self.start, "to": self.end, "type": self.type}


@dataclass(frozen=True, slots=True)
class Lineage:
    """The graph of one step, with all that it comes from, or of a workflow (``step`` is None)."""

    workflow: str
    step: str | None
    chain: Chain
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    checked_at: str

    def to_json(self) -> dict[str, Any]:
        """Return the answer in the shape of the requirement document."""
        own = [one for one in self.chain.steps if self.step in (None, one.slug)]
        read = [pin for one in own for pin in one.of("input", "code")]
        if self.step is None:  # what a workflow cites is what none of its steps makes
            read = [pin for pin in read if pin.maker is None]
        made = [pin for one in own for pin in one.of("output")]
        return {
            "analysis_id": self.step or self.workflow,
            "workflow": self.workflow,
            "pinned_artifacts": _once(read),
            "outputs": _once(made),
            "nodes": [one.to_json() for one in self.nodes],
            "edges": [one.to_json() for one in self.edges],
            "reproducibility": {**self.chain.to_json(), "checked_at": self.checked_at},
        }


def lineage(check: PinCheck, step: str | None, checked_at: str) -> Lineage:
    """Return the graph of a step, or of the whole workflow."""
    chain = check.whole() if step is None else check.chain(step)
    drawn = _Drawn(check, step, chain)
    nodes, edges = tuple(drawn.nodes()), tuple(drawn.edges())
    return Lineage(check.workflow.path, step, chain, nodes, edges, checked_at)


class _Drawn:
    """Names the contents of a chain, and yields nodes and edges in the order of the workflow."""

    def __init__(self, check: PinCheck, center: str | None, chain: Chain) -> None:
        self._check, self._center, self._chain = check, center, chain
        own = check.of(center).contents if center is not None else ()
        self._own: dict[tuple[str, str], NodeRole] = {
            (pin.path, pin.sha256): "output" if pin.role == "output" else "input" for pin in own
        }
        self._named: dict[str, str] = {}  # path: the hash of the content that it names
        for step in chain.steps:
            for pin in step.contents:
                if pin.role == "output" or pin.path not in self._named:
                    self._named[pin.path] = pin.sha256

    def nodes(self) -> Iterator[Node]:
        seen: set[str] = set()
        for step in self._chain.steps:
            fresh = [(pin, self._id(pin)) for pin in step.contents if self._id(pin) not in seen]
            seen.update(name for _, name in fresh)
            for pin, name in fresh:
                if pin.role != "output":
                    yield self._node(pin, name)
            yield self._analysis(step)
            for pin, name in fresh:
                if pin.role == "output":
                    yield self._node(pin, name)

    def edges(self) -> Iterator[Edge]:
        for step in self._chain.steps:
            made = [self._id(pin) for pin in step.of("output")]
            for pin in step.of("input", "code"):
                yield Edge(self._id(pin), step.slug, "cites")
            for name in made:
                yield Edge(step.slug, name, "produces")
            for name in made:
                yield Edge(name, step.slug, "derives_from")

    def _id(self, pin: Pinned) -> str:
        is_named = self._named[pin.path] == pin.sha256
        if is_named and pin.path not in self._check.workflow.by_slug:
            return pin.path
        return f"{pin.path}@{pin.sha256[:12]}"

    def _analysis(self, pins: StepPins) -> Node:
        role: NodeRole = "center" if self._center in (None, pins.slug) else "upstream"
        name = self._check.workflow.by_slug[pins.slug].name
        return Node(pins.slug, "analysis", pins.version, role, pins.status, name)

    def _node(self, pin: Pinned, name: str) -> Node:
        kind, role = self._type(pin), self._role(pin)
        return Node(name, kind, pin.version, role, pin.status, pin.path, pin)

    def _role(self, pin: Pinned) -> NodeRole:
        if self._center is None:
            is_made = pin.role == "output" or pin.maker is not None
            return "output" if is_made else "input"
        return self._own.get((pin.path, pin.sha256), "upstream")

    def _type(self, pin: Pinned) -> NodeType:
        maker = self._check.maker(pin.path)
        if maker is None:
            return "code" if pin.role == "code" else "file" if pin.role == "output" else "dataset"
        return _type_of_output(self._check.workflow.by_slug[maker], pin.path)


def _type_of_output(step: Step, path: str) -> NodeType:
    if _is_among(step.plot_files, path):
        return "figure"
    return "dataset" if _is_among(step.data_files, path) else "file"


def _is_among(declared: tuple[str, ...], path: str) -> bool:
    return path in declared or any(path.startswith(one) for one in declared if one.endswith("/"))


def _once(pins: list[Pinned]) -> list[dict[str, Any]]:
    """Return the pins, each content once."""
    found = {(pin.path, pin.sha256): pin for pin in reversed(pins)}
    return [found[key].to_json() for key in sorted(found)]
