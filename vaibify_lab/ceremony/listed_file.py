"""One listed file against what is on disk: does it match, and if not, why, in useful words."""

from __future__ import annotations

from dataclasses import dataclass

from vaibify_lab.ceremony.line_endings import only_line_endings_differ
from vaibify_lab.ceremony.report import TierProblem, problem
from vaibify_lab.core.clashes import told_apart
from vaibify_lab.core.observed import FileState
from vaibify_lab.core.paths import shown
from vaibify_lab.envelope.manifest import ManifestEntry
from vaibify_lab.files.attributes import attribute_line
from vaibify_lab.files.disk_names import DiskNames
from vaibify_lab.files.hashing import hash_file
from vaibify_lab.files.tree import Tree


@dataclass(frozen=True, slots=True)
class ListedFile:
    """The verdict on one listed path.

    ``was_read`` says that its bytes were hashed; ``matched_by_form`` that they were found under
    another Unicode normal form of the name.
    """

    path: str
    problems: tuple[TierProblem, ...] = ()
    was_read: bool = True
    matched_by_form: bool = False


def judge(
    tree: Tree, names: DiskNames, entry: ManifestEntry, state: FileState, *, has_rival: bool
) -> ListedFile:
    """Compare one entry with ``state``, which is what hashing the listed path gave.

    ``has_rival``: the manifest lists another path that some disks cannot tell from this one.
    """
    is_same = state.kind == "file" and state.sha256 == entry.sha256
    if is_same and names.has_one_form(entry.path):
        return ListedFile(entry.path)
    forms = names.alike(entry.path, "form")
    if len(forms) > 1:
        named = " and ".join(told_apart(*sorted(forms)))
        text = f"name clash: the disk holds it in {len(forms)} Unicode normal forms: {named}"
        return _failed(entry, state, "name-clash", text)
    by_form = state.kind == "missing" and len(forms) == 1 and not has_rival
    if by_form:
        state = hash_file(tree, forms[0])
    if state.kind == "file" and state.sha256 == entry.sha256:
        return ListedFile(entry.path, matched_by_form=by_form)
    if has_rival and entry.path not in forms:
        missing = "missing" if state.kind == "missing" else "case-collision"
        text = (
            "case collision: the manifest lists another name that differs in case or normal form "
            "only, and this disk holds one of the two"
        )
        return _failed(entry, state, missing, text)
    return _failed(entry, state, *_reason(tree, names, entry, state, forms))


def _failed(entry: ManifestEntry, state: FileState, code: str, text: str) -> ListedFile:
    read = state.kind in ("file", "lfs-pointer")
    return ListedFile(entry.path, (problem(code, text, entry.path),), was_read=read)


def _reason(
    tree: Tree, names: DiskNames, entry: ManifestEntry, state: FileState, forms: list[str]
) -> tuple[str, str]:
    match state.kind:
        case "file":
            return _why_other_bytes(tree, entry, forms[0] if forms else entry.path)
        case "missing":
            return "missing", _why_missing(names, entry.path)
        case "link":
            return "link", f"{state.detail}; links are refused"
        case "not-regular":
            return "not-regular", f"is {state.detail}, not a regular file"
        case "changing":
            return "changing", state.detail
        case "lfs-pointer":
            return _why_pointer(entry, state)
        case "unreadable":
            return "unreadable", f"cannot be read: {state.detail}"


def _why_other_bytes(tree: Tree, entry: ManifestEntry, path: str) -> tuple[str, str]:
    if only_line_endings_differ(tree, path, entry.sha256):
        line = attribute_line(entry.path, "-text")
        text = f"only the line endings differ; put this line into .gitattributes: {line}"
        return "line-endings", text
    return "modified", "its bytes are not those that were listed"


def _why_missing(names: DiskNames, path: str) -> str:
    others = names.alike(path, "case")
    if others:
        return f"is missing; the disk has {shown(others[0])}, which differs in case"
    return "is missing"


def _why_pointer(entry: ManifestEntry, state: FileState) -> tuple[str, str]:
    code, text = "lfs-pointer", "LFS pointer to other content than the manifest lists"
    if state.detail == entry.sha256:
        text = "LFS pointer, content not fetched; oid matches the manifest: git lfs pull"
    elif state.sha256 == entry.sha256:
        code = "lfs-pointer-listed"
        text = "the LFS pointer itself is listed instead of its content, which is not here"
    return code, text
