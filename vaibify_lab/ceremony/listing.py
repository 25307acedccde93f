"""What should be listed and is not, what lies beside the listed files and should not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from vaibify_lab.ceremony.report import TierProblem, problem, some
from vaibify_lab.core.errors import MissingFile, UnsafePath
from vaibify_lab.core.paths import is_protected, shown
from vaibify_lab.envelope.manifest import NAME, Manifest
from vaibify_lab.files.disk_names import normal_form
from vaibify_lab.files.tree import Tree


def expected_but_not_listed(expected: Sequence[str], manifest: Manifest) -> list[TierProblem]:
    """Return a problem for each path that ought to be listed and is not.

    A path that ends with a slash wants at least one listed file below it.
    """
    listed = {normal_form(entry.path) for entry in manifest.entries}
    folders = _folders_of(listed)
    return [
        problem("not-listed", f"is declared but not listed in {NAME}", path)
        for path in expected
        if normal_form(path) not in (folders if path.endswith("/") else listed)
    ]


def _folders_of(paths: Iterable[str]) -> set[str]:
    """Return every folder in which one of these lies, with a final slash."""
    folders: set[str] = set()
    for path in paths:
        at = path.rfind("/")
        while at >= 0 and (folder := path[: at + 1]) not in folders:
            folders.add(folder)
            at = path.rfind("/", 0, at)
    return folders


def not_in_manifest(
    tree: Tree, directories: Mapping[str, Sequence[str] | None], manifest: Manifest
) -> list[str]:
    """Return warnings about what lies in declared folders and is not listed.

    ``directories`` gives the files of each as somebody listed them just now, or None.
    """
    if not directories:
        return []
    listed = {normal_form(entry.path) for entry in manifest.entries}
    extra: dict[str, None] = {}
    warnings = []
    for directory, found in directories.items():
        if found is None:
            found, refused = _files_below(tree, directory)
            warnings += refused
        extra |= dict.fromkeys(path for path in found if normal_form(path) not in listed)
    unlisted = [shown(path) for path in extra if path != NAME and not is_protected(path)]
    if unlisted:
        warnings.append(f"not in manifest: {some(unlisted)}")
    return warnings


def _files_below(tree: Tree, directory: str) -> tuple[list[str], list[str]]:
    """Return the regular files of a folder, and what in it no manifest can list."""
    refused: list[str] = []
    for strict in (True, False):
        try:
            return tree.list_files(directory, strict=strict), refused
        except MissingFile:  # what is listed below it is named as missing already
            return [], refused
        except UnsafePath as error:
            refused = [f"{error.where} {error.text}, so no manifest can list it"]
    return [], refused
