"""Rules that a workflow must keep as a whole; each refusal names the step and the key."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping, Sequence

from vaibify_lab.core import paths
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.core.model import Step

_FOLDER_KEYS = frozenset(
    {"saDataFiles", "saPlotFiles", "saOutputFiles", "saInputDataFiles", "sDirectory"}
)
_WRITTEN_KEYS = frozenset({"saDataFiles", "saPlotFiles", "saOutputFiles", "sDirectory"})


def check_paths_of_step(where: str, step: str, key: str, given: Iterable[str]) -> list[str]:
    """Return the paths, each once, or refuse the first that is not plain."""
    found: dict[str, None] = {}
    for path in given:
        folder = key in _FOLDER_KEYS
        if paths.is_plain(path) and path != "MANIFEST.sha256" and (folder or path[-1] != "/"):
            found[path] = None
            continue
        fault = paths.fault_of(path, directory=folder)
        if fault is None and key in _WRITTEN_KEYS and paths.is_protected(path):
            fault = "lies where no step may write"
        if fault is None and path.split("/", 1)[0].casefold() == ".git":
            fault = "lies in git's own folder"
        if fault is None and path.rstrip("/") == "MANIFEST.sha256":
            fault = "is written by the envelope and cannot be a step's file"
        if fault is not None:
            raise InvalidFile(f"step {step!r}: {key}: {paths.shown(path)!r} {fault}", where=where)
        found[path] = None
    return list(found)


def producers_of(where: str, outputs: Mapping[str, Sequence[Sequence[str]]]) -> dict[str, str]:
    """Return which step makes each output; refuse one output of two steps, also by a folder."""
    producers: dict[str, str] = {}
    for slug, groups in outputs.items():
        for path in (path for group in groups for path in group):
            other = producers.setdefault(path, slug)
            if other != slug:
                _refuse_shared(where, path, other, slug)
    folders = {path for path in producers if path.endswith("/")}
    for path, slug in producers.items() if folders else ():
        parts = path.rstrip("/").split("/")
        for count in range(1, len(parts)):
            folder = "/".join(parts[:count]) + "/"
            if folder in folders and producers[folder] != slug:
                _refuse_shared(where, path, producers[folder], slug)
    return producers


class Producers:
    """Who makes what, asked by input: the same file, a folder above it, or files in a folder."""

    def __init__(self, by_output: Mapping[str, str]) -> None:
        self._by_output = by_output
        self._sorted = sorted(by_output)

    def of(self, inputs: Iterable[str]) -> list[str]:
        """Return the slugs of the steps that make any of the inputs."""
        found = []
        for path in inputs:
            parts = path.rstrip("/").split("/")
            above = ["/".join(parts[:count]) + "/" for count in range(1, len(parts))]
            found += [self._by_output[one] for one in [path, *above] if one in self._by_output]
            if path.endswith("/"):
                found += [self._by_output[one] for one in self._below(path)]
        return found

    def _below(self, folder: str) -> Iterable[str]:
        index = bisect.bisect_right(self._sorted, folder)
        while index < len(self._sorted) and self._sorted[index].startswith(folder):
            yield self._sorted[index]
            index += 1


def _refuse_shared(where: str, path: str, one: str, other: str) -> None:
    text = f"two steps write {path!r}: {one!r} and {other!r}"
    raise InvalidFile(text, where=where, action="an output belongs to one step")


def check_workflow(where: str, steps: Sequence[Step]) -> None:
    """Refuse what only shows when steps are seen together or whole."""
    _check_clashes(where, steps)
    for step in steps:
        _check_own(where, step)


def _check_clashes(where: str, steps: Sequence[Step]) -> None:
    by_path = {path.rstrip("/"): step for step in steps for path in step.outputs + step.inputs}
    for one, other in paths.clashes(by_path):
        text = (
            f"step {by_path[other].name!r}: {other!r} and {one!r} are one name on a file system "
            "that ignores case or normalises Unicode"
        )
        raise InvalidFile(text, where=where, action="rename one of them")


def _check_own(where: str, step: Step) -> None:
    outputs = set(step.outputs)
    both = [path for path in step.inputs if path in outputs]
    for folder in (path for path in step.inputs if path.endswith("/")):
        both += [path for path in outputs if path.startswith(folder)]
    for folder in (path for path in outputs if path.endswith("/")):
        both += [path for path in step.inputs if path.startswith(folder)]
    if both:
        text = f"step {step.name!r}: {both[0]!r} is both an input and an output"
        raise InvalidFile(text, where=where, action="write the result to another file")
    if step.enabled and not step.interactive and not step.commands and not step.notebook:
        text = f"step {step.name!r} has nothing to run"
        raise InvalidFile(text, where=where, action="add saDataCommands or saPlotCommands")
