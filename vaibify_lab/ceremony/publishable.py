"""``check --publish``: what a clone of the last commit would lack of what was verified here."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping

from vaibify_lab.ceremony.as_listed import not_as_listed
from vaibify_lab.ceremony.report import some
from vaibify_lab.core.errors import VaibifyError
from vaibify_lab.core.finding import Finding
from vaibify_lab.core.observed import TO_BE_COMMITTED, CloneProblem, FileState, GitSnapshot
from vaibify_lab.core.paths import shown
from vaibify_lab.envelope.manifest import ATTRIBUTE_LINE, NAME, Manifest
from vaibify_lab.files.attributes import Attributes, read_attributes
from vaibify_lab.files.clone import missing_from_clone
from vaibify_lab.files.git import Repository
from vaibify_lab.files.tree import Tree

_WRITE = "jupyter vaibify envelope"
_ATTRIBUTES = ".gitattributes"
_RENORMALIZE = f"git add -- {_ATTRIBUTES} && git add --renormalize . && git commit"
_MOST = 5  # problems of the manifest itself that are named
_GIT_LOOKS_AT = 8000  # a NUL among these bytes, and git takes the file for binary


def publish_findings(
    repository: Repository,
    blob_ids: Mapping[str, str | None],
    manifest: Manifest | None,
    states: Mapping[str, FileState],
) -> list[Finding]:
    """Name everything that keeps a clone from being what is here; errors first.

    Parameters
    ----------
    repository : Repository
        Asked what its last commit holds.
    blob_ids : mapping of str to (str or None)
        Git's blob id of the bytes here, for every path that must be the same in a clone: all that
        the manifest lists or should list, the manifest, the facts.
    manifest : Manifest or None
        As read; None where there is none.
    states : mapping of str to FileState
        What stands here at the same paths.
    """
    listed = manifest.hashes() if manifest else {}
    wanted: dict[str, str | None] = dict.fromkeys(listed) | dict(blob_ids)
    tree = Tree(repository.root)
    here = list(not_as_listed(tree, repository.snapshot(), wanted, listed, states))
    told = {one.path: (one.code, *TO_BE_COMMITTED) for one in here}  # nobody is to commit those
    clone = (one for one in _clone(repository, wanted) if one.code not in told.get(one.path, ()))
    found = [*_manifest(manifest, blob_ids), *here, *clone]
    troubled = {one.path for one in found}
    rest = [path for path in wanted if path not in troubled]
    return [*found, *_line_endings(repository, rest), *_not_pushed(repository)]


def _manifest(manifest: Manifest | None, wanted: Collection[str]) -> Iterator[Finding]:
    if manifest is None:
        text = f"there is no {NAME}, so nobody can verify a clone"
        yield Finding("error", "no-manifest", text, None, NAME, _WRITE)
        return
    for problem in manifest.problems[:_MOST]:
        text = f"{NAME}:{problem.line}: {problem.text}"
        yield Finding("error", "manifest-unusable", text, None, NAME, _WRITE)
    if not manifest.entries:
        yield Finding("error", "manifest-unusable", f"{NAME} lists no file", None, NAME, _WRITE)


def _clone(repository: Repository, wanted: Mapping[str, str | None]) -> Iterator[Finding]:
    problems = missing_from_clone(repository, wanted)
    if any(problem.code == "no-commit" for problem in problems):
        text, action = "nothing is committed yet, so a clone is empty", "git add -A && git commit"
        yield Finding("error", "no-commit", text, None, None, action)
        return
    yield from map(_finding, problems)


def _finding(problem: CloneProblem) -> Finding:
    text = f"{shown(problem.path)} {problem.text}"
    if problem.code == "nested":  # its text begins with the file's name
        text = f"{shown(problem.path)}: {problem.text}"
    return Finding("error", problem.code, text, None, problem.path, problem.action or None)


def _line_endings(repository: Repository, paths: Collection[str]) -> Iterator[Finding]:
    """Warn of text that a clone with ``core.autocrlf=true`` would alter (case G02)."""
    tree = Tree(repository.root)
    attributes = read_attributes(repository, paths, committed=True)
    text_files = [path for path in paths if _is_converted(tree, path, attributes.get(path))]
    if not text_files:
        yield from _staged_attributes(repository.snapshot())
        return
    which = some([shown(path) for path in text_files])
    text = f"where git converts line endings (core.autocrlf=true), a clone alters {which}"
    here = read_attributes(repository, text_files)
    if not any(_is_converted(tree, path, here.get(path)) for path in text_files):
        text += f": {_ATTRIBUTES}, which keeps git from that here, is not committed as it is"
        action = _RENORMALIZE
    else:
        line = ATTRIBUTE_LINE if text_files == [NAME] else "* -text"
        action = f"add the line `{line}` to {_ATTRIBUTES}, then: {_RENORMALIZE}"
    yield Finding("warning", "line-endings", text, None, text_files[0], action)


def _staged_attributes(snapshot: GitSnapshot) -> Iterator[Finding]:
    """Warn of attributes that git goes by here, and no clone has yet."""
    added = snapshot.index.get(_ATTRIBUTES)
    if added is not None and added != snapshot.tree.get(_ATTRIBUTES):
        text = f"{_ATTRIBUTES} is added and not committed, so that a clone has other line endings"
        yield Finding("warning", "line-endings", text, None, _ATTRIBUTES, "git commit")


def _is_converted(tree: Tree, path: str, attributes: Attributes | None) -> bool:
    if attributes is None or attributes.text == "unset" or attributes.eol == "lf":
        return False
    try:
        with os.fdopen(tree.open_file(path), "rb") as file:
            start = file.read(_GIT_LOOKS_AT)
    except VaibifyError:  # not here to be altered; what is wrong with it is said elsewhere
        return False
    return b"\n" in start and (attributes.text == "set" or b"\0" not in start)


def _not_pushed(repository: Repository) -> Iterator[Finding]:
    """Warn of commits that the branch's upstream, as last fetched, does not hold."""
    said = repository.run("rev-list", "--count", "@{upstream}..HEAD", accept=(0, 128))
    count = int(said or b"0")
    if count:
        text = f"{count} commit{'s are' if count > 1 else ' is'} not pushed yet"
        yield Finding("warning", "not-pushed", text, None, None, "git push")
