"""What stands here beside what the manifest lists: told before anybody commits it as it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vaibify_lab.core.finding import Finding
from vaibify_lab.core.observed import FileState, GitSnapshot
from vaibify_lab.core.paths import as_word, shown
from vaibify_lab.envelope.manifest import NAME
from vaibify_lab.files.clone_reasons import fetch_pointer
from vaibify_lab.files.other_form import renaming
from vaibify_lab.files.tree import Tree

_WRITE = "jupyter vaibify envelope"


def not_as_listed(
    tree: Tree,
    snapshot: GitSnapshot,
    blob_ids: Mapping[str, str | None],
    listed: Mapping[str, str],
    states: Mapping[str, FileState],
) -> Iterator[Finding]:
    """Yield which files are pointers instead of their content, not there, or not as listed."""
    for path, blob in blob_ids.items():
        state = states.get(path)
        if state is None or (state.kind == "file" and listed.get(path) in (None, state.sha256)):
            continue
        if state.kind == "lfs-pointer":
            text = f"{shown(path)} {_of_pointer(state, listed.get(path))}"
            yield Finding("error", "lfs", text, None, path, fetch_pointer(snapshot, path))
        elif state.kind == "file":
            text, action = f"{shown(path)} is not what {NAME} lists", _mend(snapshot, path, blob)
            yield Finding("error", "manifest-differs", text, None, path, action)
        elif state.kind == "missing" and path in listed and path in snapshot.tree:
            text = f"{shown(path)} is listed in {NAME}, and is not there"
            action = renaming(tree, snapshot, path) or _mend(snapshot, path, None)
            yield Finding("error", "listed-missing", text, None, path, action)


def _of_pointer(state: FileState, listed: str | None) -> str:
    text = "holds a git LFS pointer, not the content"
    if listed is None:
        return text
    if listed == state.sha256:
        return f"{text}, and {NAME} lists the pointer"
    if listed == state.detail:
        return f"{text} (its oid matches {NAME})"
    return f"{text} (of other content than {NAME} lists)"


def _mend(snapshot: GitSnapshot, path: str, blob: str | None) -> str:
    """Return the ways out; git gives other bytes than these only where its last commit has some."""
    held = snapshot.tree.get(path)
    if held is None or held[1] == blob:
        return f"list what is here: {_WRITE}"
    back = f"git checkout HEAD -- {as_word(path)}"
    if blob is None:
        return f"{back}, or list what is here: {_WRITE}"
    return f"list what is here: {_WRITE}, or, to lose it: {back}"
