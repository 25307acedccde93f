"""Everything that is known of one step, for a page about it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from vaibify_lab.core import differences, fact_files
from vaibify_lab.core.facts import Pins, RunRecord, TestMarker
from vaibify_lab.core.model import Step
from vaibify_lab.core.observed import FileState
from vaibify_lab.files.clone import missing_from_clone
from vaibify_lab.runs.opened import Look, Opened

_WORDS = {
    "verified": "the bytes of the last passed run",
    "changed": "not the bytes of the last passed run",
    "new": "no run that passed has seen it",
    "missing": "is not there",
    "link": "is a symbolic link, or lies below one",
    "not-regular": "is not a regular file",
    "unreadable": "cannot be read",
    "changing": "changed while it was read",
    "lfs-pointer": "is a git LFS pointer: its content was not fetched",
}
_SAVED_AGAIN = "saved again since the last passed run; what runs in it is the same"


def step_details(opened: Opened, look: Look, step: Step) -> dict[str, Any]:
    """Return what was declared, what is there, and what was recorded of a step."""
    record = look.facts.records.get(step.slug)
    known = record if isinstance(record, RunRecord) else None
    passed = known.passed if known else None
    report = next(one for one in look.reports if one.slug == step.slug)
    marker = look.facts.markers.get(step.slug)
    return {
        **{name: getattr(step, name) for name in _DECLARED},
        "kind": step.kind,
        "commands": list(step.commands),
        "parents": list(step.parents),
        "tests": [
            {"category": one.category, "commands": list(one.commands)} for one in step.suites
        ],
        **_files(opened, look, step, passed),
        "record": _plain(known),
        "passed": _plain(passed),
        "marker": fact_files.plain_marker(marker) if isinstance(marker, TestMarker) else None,
        "report": report.to_json(),
    }


_DECLARED = ("slug", "name", "number", "description", "directory", "enabled", "interactive")


def _plain(record: RunRecord | None) -> dict[str, Any] | None:
    if record is None:
        return None
    value: dict[str, Any] = json.loads(fact_files.dump_record(record))
    value.pop("last_passed", None)
    return value


def _files(
    opened: Opened, look: Look, step: Step, passed: RunRecord | None
) -> dict[str, list[dict[str, Any]]]:
    world = look.world
    pins = passed.pins if passed else Pins()
    code = differences.code_pins(step, passed, world) if passed else {}
    saved_again = {path for path in code if code[path] != pins.code[path]}
    groups = {
        "inputs": (world.expand(step.inputs), pins.inputs),
        "code": (world.code.get(step.slug, ()), code),
        "outputs": (world.outputs(step), pins.outputs),
    }
    paths = dict.fromkeys(path for found, _ in groups.values() for path in found)
    held = _in_git(opened, paths)
    kinds = _Kinds(look, step)
    return {
        name: [
            _file(path, kinds.of(path, name), world.state(path), pinned, passed is not None)
            | {"git": held[path]}
            | ({"text": _SAVED_AGAIN} if name == "code" and path in saved_again else {})
            for path in found
        ]
        for name, (found, pinned) in groups.items()
    }


class _Kinds:
    """What each file is to its step."""

    def __init__(self, look: Look, step: Step) -> None:
        self._plots = frozenset(look.world.expand(step.plot_files))
        self._data = frozenset(look.world.expand(step.data_files))

    def of(self, path: str, group: str) -> str:
        """Return plot, data or other for an output; input or code for what is read."""
        if group != "outputs":
            return "input" if group == "inputs" else "code"
        return "plot" if path in self._plots else "data" if path in self._data else "other"


def _file(
    path: str, kind: str, seen: FileState, pinned: Mapping[str, str], has_run: bool
) -> dict[str, Any]:
    state: str = seen.kind
    if seen.kind == "file":
        known = pinned.get(path)
        state = "verified" if known == seen.sha256 else "changed" if has_run else "new"
    text = _WORDS[state] + (f" ({seen.detail})" if seen.detail else "")
    value = {"path": path, "kind": kind, "state": state, "text": text}
    return {**value, "sha256": seen.sha256, "bytes": seen.size}


def _in_git(opened: Opened, paths: Iterable[str]) -> dict[str, str | None]:
    """Return how git holds each file; None for one that is not there."""
    snapshot = opened.repository.snapshot()
    blobs = opened.cache.blob_ids(paths, snapshot.object_format)
    there = {path: blob for path, blob in blobs.items() if blob is not None}
    found: dict[str, str | None] = {path: "committed" if path in there else None for path in blobs}
    found |= {one.path: one.code for one in missing_from_clone(opened.repository, there)}
    return found
