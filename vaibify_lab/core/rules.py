"""Rules that a workflow must keep as a whole; each refusal names the step and the key."""

from __future__ import annotations

import bisect
from collections.abc import Collection, Iterable, Mapping, Sequence

from vaibify_lab.core import paths
from vaibify_lab.core.clashes import RENAME, clashes
from vaibify_lab.core.code_names import counts_in_folder
from vaibify_lab.core.errors import InvalidFile
from vaibify_lab.core.model import Step

_FOLDER_KEYS = frozenset(
    {
        *("saDataFiles", "saPlotFiles", "saOutputFiles", "saInputDataFiles", "saScripts"),
        "sDirectory",
    }
)
_OURS = ("manifest.sha256", "requirements.lock")
_WRITTEN_KEYS = frozenset({"saDataFiles", "saPlotFiles", "saOutputFiles", "sDirectory"})


def check_paths_of_step(where: str, step: str, key: str, given: Iterable[str]) -> list[str]:
    """Return the paths, each once, or refuse the first that is not plain."""
    found: dict[str, None] = {}
    folder = key in _FOLDER_KEYS
    ours = (*_OURS, where.lower())
    for path in given:
        everyday = paths.is_plain(path) and (folder or path[-1] != "/")
        if not everyday or path.lower().startswith(ours):
            fault = _fault_of(where, key, path)
            if fault is not None:
                text = f"step {step!r}: {key}: {paths.shown(path)[:300]!r} {fault}"
                raise InvalidFile(text, where=where)
        found[path] = None
    return list(found)


def _fault_of(where: str, key: str, path: str) -> str | None:
    written = key in _WRITTEN_KEYS
    fault = paths.fault_of(path, directory=key in _FOLDER_KEYS)
    if fault is not None:
        return fault
    name = path.rstrip("/").casefold()
    if ".git" in name.split("/"):
        return "lies in git's own folder"
    if written and paths.is_protected(path):
        return "lies where no step may write"
    if name == "manifest.sha256" or (written and name == "requirements.lock"):
        return "is written by the envelope and cannot be a step's file"
    if written and name == where.casefold():
        return "is the workflow itself"
    return None


def producers_of(where: str, outputs: Mapping[str, Sequence[Sequence[str]]]) -> dict[str, str]:
    """Return which step makes each output; refuse one output of two steps, also by a folder."""
    producers: dict[str, str] = {}
    for slug, groups in outputs.items():
        for path in (path for group in groups for path in group):
            other = producers.setdefault(path, slug)
            if other != slug:
                _refuse_shared(where, path, other, slug)
    folders = _folders_of(producers)
    for path, slug in producers.items() if folders else ():
        for folder in folders.intersection(_above(path)):
            if producers[folder] != slug:
                _refuse_shared(where, path, producers[folder], slug)
    return producers


class Producers:
    """Who makes what, asked by input: the same file, a folder above it, or files in a folder."""

    def __init__(self, by_output: Mapping[str, str]) -> None:
        self._by_output = by_output
        self._sorted = sorted(by_output)
        self._folders = _folders_of(by_output)

    @classmethod
    def among(cls, steps: Iterable[Step]) -> Producers:
        """Return who makes what among steps."""
        return cls({path: step.slug for step in steps for path in step.outputs})

    def of(self, inputs: Iterable[str]) -> list[str]:
        """Return the slugs of the steps that make any of the inputs."""
        found = []
        for path in inputs:
            if path in self._by_output:
                found.append(self._by_output[path])
            if self._folders:
                above = (one for one in _above(path) if one in self._folders)
                found += [self._by_output[folder] for folder in above]
            if path.endswith("/"):
                found += [self._by_output[one] for one in self._below(path)]
        return found

    def of_code(self, scripts: Iterable[str]) -> list[str]:
        """Return the slugs of the steps that make any of these; of folders, any code in them."""
        named: list[str] = []
        for path in scripts:
            below = self._below(path) if path.endswith("/") else (path,)
            named += [one for one in below if one == path or counts_in_folder(one)]
        return self.of(named)

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
    by_path = {path: step for step in steps for path in step.outputs + step.inputs + step.code}
    _check_clashes(where, {path.rstrip("/"): step for path, step in by_path.items()})
    _check_folders(where, by_path)
    for step in steps:
        _check_own(where, step)


def _check_clashes(where: str, by_path: Mapping[str, Step]) -> None:
    for clash in clashes(by_path):
        text = f"step {by_path[clash.other].name!r}: {clash}"
        raise InvalidFile(text, where=where, action=RENAME)


def _check_folders(where: str, by_path: Mapping[str, Step]) -> None:
    """Refuse a path that is a file here and a folder there."""
    folders: set[str] = set()
    for folder in {path.rpartition("/")[0] for path in by_path}:
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    for path in sorted(by_path.keys() & folders):
        text = f"step {by_path[path].name!r}: {path!r} is a file here and a folder elsewhere"
        raise InvalidFile(text, where=where, action="declare a folder with a final '/'")


def _check_own(where: str, step: Step) -> None:
    outputs = frozenset(step.outputs)
    for role, given, around in (("an input", step.inputs, True), ("code", step.code, False)):
        both = _overlap(outputs, given, around=around)
        if both is not None:
            text = f"step {step.name!r}: {both!r} is both {role} and an output"
            raise InvalidFile(text, where=where, action="write the result to another file")
    holding = outputs.intersection(_above(where))
    if holding:
        text = f"step {step.name!r}: its output {min(holding)!r} holds the workflow itself"
        raise InvalidFile(text, where=where, action="declare a folder of its own")
    if step.enabled and not step.interactive and not step.commands and not step.notebook:
        text = f"step {step.name!r} has nothing to run"
        raise InvalidFile(text, where=where, action="add saDataCommands or saPlotCommands")


def _overlap(outputs: frozenset[str], given: Collection[str], *, around: bool) -> str | None:
    """Return a path that both name, also by a folder.

    ``around``: a given folder may hold no output. One of code may: it stands for the code in it.
    """
    made = _folders_of(outputs)
    for path in given:
        if path in outputs or (made and not made.isdisjoint(_above(path))):
            return path
    read = _folders_of(given) if around else frozenset()
    below = (path for path in outputs if read and not read.isdisjoint(_above(path)))
    return min(below, default=None)


def _folders_of(given: Iterable[str]) -> frozenset[str]:
    return frozenset([path for path in given if path[-1] == "/"])


def _above(path: str) -> list[str]:
    """Return the folders above a path, each with its final slash."""
    end = path.find("/")
    found = []
    while 0 <= end < len(path) - 1:
        found.append(path[: end + 1])
        end = path.find("/", end + 1)
    return found
