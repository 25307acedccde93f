"""Tier 1: every byte that MANIFEST.sha256 lists, read and compared.

``sha256sum -c MANIFEST.sha256`` is the trust anchor. Where this differs from it, on purpose, the
problem or the warning says so: links are refused, malformed lines fail, and a file whose name is
in another Unicode normal form is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from vaibify_lab.ceremony.by_hand import with_by_hand
from vaibify_lab.ceremony.listed_file import ListedFile, judge
from vaibify_lab.ceremony.listing import expected_but_not_listed, not_in_manifest
from vaibify_lab.ceremony.report import TierProblem, TierReport, problem, some
from vaibify_lab.core.clashes import Clash, clashes, told_apart
from vaibify_lab.core.errors import InvalidFile, MissingFile, UnsafePath
from vaibify_lab.core.observed import FileState
from vaibify_lab.core.paths import shown
from vaibify_lab.envelope.manifest import (
    MAX_BYTES,
    NAME,
    Manifest,
    ManifestProblem,
    parse_manifest,
)
from vaibify_lab.files.disk_names import DiskNames
from vaibify_lab.files.hashing import hashed_ahead
from vaibify_lab.files.own import PULL, read_own
from vaibify_lab.files.tree import Tree

Progress = Callable[[int, int, int], None]
_TIER = 1
_MISSING_INPUT = {"missing", "unreadable"}


def check_integrity(
    tree: Tree,
    *,
    expected: Sequence[str] | None = None,
    declared_directories: Sequence[str] = (),
    progress: Progress | None = None,
) -> TierReport:
    """Read every listed file whole, without any cache, and compare.

    Parameters
    ----------
    tree : Tree
        The project.
    expected : sequence of str, optional
        What must be listed (declared outputs, code, workflow files); a folder ends with a slash
        and wants at least one listed file in it.
    declared_directories : sequence of str
        Folders declared as outputs: files in them that are not listed are a warning.
    progress : callable, optional
        Called as (files done, files listed, bytes read).
    """
    with being_read(tree) as listed:
        directories = dict.fromkeys(declared_directories)
        return listed.judged(expected=expected, directories=directories, progress=progress)


@contextmanager
def being_read(tree: Tree) -> Iterator[Listed]:
    """Give what the manifest lists, read from now on: helpers go ahead while others work."""
    manifest = _manifest(tree)
    if isinstance(manifest, TierReport):
        yield Listed(tree, Manifest(()), iter(()), manifest)
        return
    with hashed_ahead(tree, [entry.path for entry in manifest.entries]) as states:
        yield Listed(tree, manifest, states)


@dataclass(frozen=True, slots=True)
class Listed:
    """The listed files and their states as they come; or why the manifest cannot be used."""

    tree: Tree
    manifest: Manifest
    states: Iterator[tuple[str, FileState]]
    refused: TierReport | None = None

    def judged(
        self,
        *,
        expected: Sequence[str] | None,
        directories: Mapping[str, Sequence[str] | None],
        progress: Progress | None,
    ) -> TierReport:
        """Return the tier's report, once.

        The parameters are those of `check_integrity`, the folders with their files, None for one
        whose files are to be listed.
        """
        if self.refused is not None:
            return self.refused
        entries = self.manifest.entries
        lists = [_of_line(one) for one in self.manifest.problems]
        if not entries:
            text = "lists no file; sha256sum -c fails as well"
            lists.append(problem("nothing-listed", text, NAME))
        if expected is not None:
            lists += expected_but_not_listed(expected, self.manifest)
        beside = not_in_manifest(self.tree, directories, self.manifest)
        pairs = clashes(entry.path for entry in entries)
        states = _told(self.states, len(entries), progress)
        names, clashing = DiskNames(self.tree), {path for pair in pairs for path in pair.both}
        files = [
            judge(self.tree, names, one, states[one.path], has_rival=one.path in clashing)
            for one in entries
        ]
        return _report(files, lists, [*self.manifest.warnings, *_warnings(files, pairs), *beside])


def _manifest(tree: Tree) -> Manifest | TierReport:
    try:
        return parse_manifest(read_own(tree, NAME, MAX_BYTES))
    except MissingFile as error:
        found = problem("no-manifest", f"{error.text}; write it: jupyter vaibify envelope", NAME)
        line = f"FAILED, no {NAME}"
        return TierReport(_TIER, "failed", line, problems=(found,), missing_input=True)
    except (UnsafePath, InvalidFile) as error:
        if error.action == PULL:
            found = problem("lfs-pointer", f"{error.text}: {PULL}", NAME)
        else:
            found = with_by_hand(problem("unusable-manifest", error.text, NAME))
        return TierReport(_TIER, "failed", f"FAILED, no usable {NAME}", problems=(found,))


def _told(
    coming: Iterator[tuple[str, FileState]], count: int, progress: Progress | None
) -> dict[str, FileState]:
    """Return the states when all are there, telling how many are."""
    states: dict[str, FileState] = {}
    total = 0
    for path, state in coming:
        states[path] = state
        total += state.size or 0
        if progress:
            progress(len(states), count, total)
    return states


def _of_line(found: ManifestProblem) -> TierProblem:
    """Return what is wrong with a line, which is named, as is the path that it lists."""
    named = f"{shown(found.path)}: " if found.path else ""
    start = f"line {found.line}: " if found.line else ""
    return problem(found.code, f"{start}{named}{found.text}", NAME)


def _warnings(files: Sequence[ListedFile], pairs: Sequence[Clash]) -> Iterator[str]:
    other_form = [shown(file.path) for file in files if file.matched_by_form]
    if other_form:
        yield (
            "found under the same name in another Unicode normal form, which sha256sum -c does "
            f"not find: {some(other_form)}"
        )
    if pairs:
        named = [" and ".join(told_apart(*pair.both)) for pair in pairs]
        yield f"names that some disks cannot tell apart, so that a clone loses one: {some(named)}"


def _report(
    files: Sequence[ListedFile], lists: list[TierProblem], warnings: list[str]
) -> TierReport:
    found = [*lists, *(problem for file in files for problem in file.problems)]
    problems = tuple(map(with_by_hand, found))
    checked = sum(file.was_read for file in files)
    matching = sum(not file.problems for file in files)
    if not problems:
        line = f"{checked}/{len(files)} OK"
    else:
        line = f"FAILED, {matching} of {len(files)} match" if files else "FAILED, nothing listed"
    return TierReport(
        _TIER,
        "failed" if problems else "passed",
        line,
        listed=len(files),
        checked=checked,
        problems=problems,
        warnings=tuple(warnings),
        missing_input=any(problem.code in _MISSING_INPUT for problem in problems),
    )
