"""What mends a fact file that is not believed: what git holds of it, if that reads, or a new one.

Git is asked only where there is such a file; what it holds is read as a fact before it is advised.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from vaibify_lab.core import fact_files
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.facts import FactFault, Facts
from vaibify_lab.core.model import Step, Workflow
from vaibify_lab.core.observed import GitSnapshot
from vaibify_lab.core.paths import as_word
from vaibify_lab.files.clone_reasons import REGULAR, fetch_pointer
from vaibify_lab.files.git import Repository

_Fact = TypeVar("_Fact")
_Reads = Callable[[str], bool]
_PARSERS: Mapping[str, Callable[[bytes, str, str, str], object]] = {
    "record": fact_files.parse_record,
    "marker": fact_files.parse_marker,
    "sign-off": fact_files.parse_sign_offs,
}
_SIDES = {"2": "--ours", "3": "--theirs"}


class FactRemedies:
    """Looks for what git holds of fact files that are not believed; each object is read once."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._known: dict[tuple[str, str], bool] = {}

    def mended(self, facts: Facts, workflow: Workflow) -> Facts:
        """Return the facts, with what mends those that are not believed."""
        if not any(facts.faults()):
            return facts
        return replace(
            facts,
            records=self._those("record", facts.records, workflow),
            markers=self._those("marker", facts.markers, workflow),
            sign_offs=self._those("sign-off", facts.sign_offs, workflow),
        )

    def _those(
        self, kind: str, facts: Mapping[str, _Fact | FactFault], workflow: Workflow
    ) -> dict[str, _Fact | FactFault]:
        return {
            slug: self._mended(fact, kind, workflow, slug) if isinstance(fact, FactFault) else fact
            for slug, fact in facts.items()
        }

    def _mended(self, fault: FactFault, kind: str, workflow: Workflow, slug: str) -> FactFault:
        if fault.cause == "other":
            return fault
        if fault.cause == "damaged":
            fault = replace(fault, anew=_anew(fault, kind, workflow.by_slug[slug]))
        try:
            snapshot = self._repository.snapshot()
            if fault.cause == "pointer":
                return replace(fault, anew=fetch_pointer(snapshot, fault.path))

            def reads(blob: str) -> bool:
                return self._reads(blob, kind, fault.path, workflow.stem, slug)

            if fault.path in snapshot.unmerged:
                return self._of_merge(fault, reads)
            return replace(fault, back=_back(snapshot, fault.path, reads))
        except VaibifyError:  # without git there is still what makes it anew
            return fault

    def _of_merge(self, fault: FactFault, reads: _Reads) -> FactFault:
        """Name the sides of an unfinished merge that can be taken; a new fact is added too."""
        word = as_word(fault.path)
        listed = self._repository.run(
            "--literal-pathspecs", "ls-files", "-u", "-z", "--", fault.path
        )
        sides = [side for blob, side in _sides(os.fsdecode(listed)) if reads(blob)]
        back = f"git checkout {sides[0]} -- {word} && git add -- {word}" if sides else ""
        back += " (or --theirs)" if len(sides) > 1 else ""
        text = f"{fault.path} is in conflict: a merge is not finished"
        return replace(fault, text=text, back=back, after=f", then: git add -- {word}")

    def _reads(self, blob: str, kind: str, path: str, stem: str, slug: str) -> bool:
        """Tell whether a blob of git's is such a fact of that step."""
        key = (blob, path)
        if key not in self._known:
            try:
                _PARSERS[kind](self._repository.run("cat-file", "blob", blob), path, stem, slug)
                self._known[key] = True
            except VaibifyError:
                self._known[key] = False
        return self._known[key]


def _anew(fault: FactFault, kind: str, step: Step) -> str:
    """Return what makes the fact anew, of a step that is as it is."""
    if kind == "marker" and not step.suites:
        return f"rm -- {as_word(fault.path)}"  # no test can make another
    return fault.anew if kind == "sign-off" else f"{step.to_be_enabled}{fault.anew}"


def _back(snapshot: GitSnapshot, path: str, reads: _Reads) -> str:
    """Return how to take the file back from the index, else from HEAD; "" for neither."""
    for where, held in (("", snapshot.index), ("HEAD ", snapshot.tree)):
        entry = held.get(path)
        if entry is not None and entry[0] in REGULAR and reads(entry[1]):
            return f"git checkout {where}-- {as_word(path)}"
    return ""


def _sides(listed: str) -> Iterator[tuple[str, str]]:
    """Yield blob and side of each version in what git lists of a path in conflict."""
    for entry in listed.split("\0")[:-1]:
        _, blob, stage = entry.partition("\t")[0].split(" ")
        if stage in _SIDES:
            yield blob, _SIDES[stage]
