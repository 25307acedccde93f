"""The outputs of a rerun beside those that are here: a verdict for each, and what was found."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.observed import MISSING, FileState
from vaibify_lab.files.hashing import hash_many
from vaibify_lab.files.tree import Tree
from vaibify_lab.provenance.apart.host import Apart
from vaibify_lab.provenance.compare.files import LARGEST
from vaibify_lab.provenance.compare.noise import Rules
from vaibify_lab.provenance.compare.verdict import Comparison, Verdict

OutputVerdict = Literal[
    "identical",
    "noise only",
    "written otherwise",
    "inside tolerance",
    "different",
    "not produced",
    "new",
]
_SAME = frozenset({"identical", "noise only", "written otherwise", "inside tolerance"})
_OF_CONTENT: dict[Verdict, OutputVerdict] = {  # every other one is different
    "noise-only": "noise only",
    "printed-otherwise": "written otherwise",
    "within-tolerance": "inside tolerance",
}
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Compared:
    """One output after a rerun; ``found`` says how its bytes differ, where both are there."""

    path: str
    verdict: OutputVerdict
    found: Comparison | None = None

    @property
    def passes(self) -> bool:
        """Whether it says the same."""
        return self.verdict in _SAME

    @property
    def said(self) -> str:
        """What was found, in a line; empty where the verdict says all."""
        text = "; ".join(_details(self.found)) if self.found is not None else ""
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"

    @property
    def words(self) -> str:
        """The verdict with what was found."""
        return f"{self.verdict} ({self.said})" if self.said else self.verdict

    @property
    def line(self) -> str:
        """The same, with the path."""
        return f"{self.path}: {self.words}"

    def as_json(self) -> dict[str, Any]:
        """Return the JSON answer's form."""
        value = {"path": self.path, "verdict": self.verdict}
        if self.found is None:
            return value
        found = {"said": self.said, **self.found.as_json()}
        return value | {k: v for k, v in found.items() if k not in ("verdict", "passes")}


def _details(found: Comparison) -> Iterator[str]:
    if found.verdict == "within-tolerance":
        for gap, value, kind in (
            (found.absolute, found.absolute and found.absolute.absolute, "absolute"),
            (found.relative, found.relative and found.relative.relative, "relative"),
        ):
            if gap is not None:
                yield f"at most {value:.3g} {kind}, {gap.where}"
    elif found.text:
        yield f"{found.text}, {found.where}" if found.where else found.text
    kinds = dict.fromkeys(one.kind for one in found.ignored)
    if kinds:
        yield f"{', '.join(kinds)} passed over"


def compare_outputs(
    here: Tree, before: Mapping[str, FileState], copy: Tree, made: Sequence[str], rules: Rules
) -> tuple[Compared, ...]:
    """Compare what a rerun left in ``copy`` with what is here, whose hashes were taken before."""
    paths = list(dict.fromkeys((*before, *made)))
    after = hash_many(copy, paths)
    with Apart(rules) as apart:
        return tuple(
            _compared(here, before.get(path, MISSING), copy, after[path], path, apart)
            for path in paths
        )


def _compared(
    here: Tree, before: FileState, copy: Tree, after: FileState, path: str, apart: Apart
) -> Compared:
    if after.kind != "file":
        return Compared(path, "not produced")
    if before.kind != "file":
        return Compared(path, "new" if before.kind == "missing" else "different")
    if before.sha256 == after.sha256:
        return Compared(path, "identical")
    try:
        stored, fresh = (tree.read(path, LARGEST) for tree in (here, copy))
    except VaibifyError as error:
        return Compared(
            path, "different", Comparison("different", f"not looked into: {error.text}")
        )
    if (_hash(stored), _hash(fresh)) != (before.sha256, after.sha256):
        text = "not looked into: it changed in the meantime"
        return Compared(path, "different", Comparison("different", text))
    found = apart.compare(path, stored, fresh)
    return Compared(path, _OF_CONTENT.get(found.verdict, "different"), found)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
