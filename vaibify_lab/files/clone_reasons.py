"""Why HEAD does not hold a file as it is here, in words and with what to do about it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from vaibify_lab.core.errors import InvalidFile, MissingFile, UnsafePath
from vaibify_lab.core.observed import CloneProblem, GitSnapshot
from vaibify_lab.core.paths import as_word
from vaibify_lab.files.attributes import (
    Attributes,
    attribute_line,
    blob_id,
    changes_on_checkout,
    read_attributes,
    stored_form,
)
from vaibify_lab.files.git import Repository
from vaibify_lab.files.hashing import holds_pointer
from vaibify_lab.files.other_form import renaming
from vaibify_lab.files.paths import escaped
from vaibify_lab.files.tree import Tree

BlobIds = Mapping[str, str | None]
REGULAR = ("100644", "100755")
GITLINK = "160000"
_MANIFEST, _OURS = "MANIFEST.sha256", ".vaibify/"  # what no person writes, nor resolves
_ADD, _ADD_SPARSE = "git add ", "git add --sparse "
_PUT_BACK = "make it or put it back, or list it no more, and then: jupyter vaibify envelope"


def explain(repo: Repository, snapshot: GitSnapshot, paths: BlobIds) -> Iterator[CloneProblem]:
    """Yield why HEAD's tree does not hold these paths as these blobs: one problem a path."""
    is_sparse = (repo.git_dir / "info" / "sparse-checkout").exists()
    for one in _explained(repo, snapshot, paths):
        # of what a sparse checkout leaves out git adds nothing without that word
        yield replace(one, action=one.action.replace(_ADD, _ADD_SPARSE)) if is_sparse else one


def _explained(repo: Repository, snapshot: GitSnapshot, paths: BlobIds) -> Iterator[CloneProblem]:
    tree = Tree(repo.root)
    plain: dict[str, str | None] = {}
    for path, blob in paths.items():
        problem = _obstacle(tree, snapshot, path) or _pointer(tree, snapshot, path)
        if problem:
            yield problem
        else:
            plain[path] = blob
    unknown = [path for path in plain if path not in snapshot.tree and path not in snapshot.index]
    rules = ignore_rules(repo, unknown)
    attributes = read_attributes(repo, [path for path in plain if path in snapshot.tree])
    autocrlf = repo.config("core.autocrlf") if attributes else None
    unseen = unseen_by_git(repo, [path for path in attributes if path in snapshot.index])
    for path, blob in plain.items():
        if path in rules:
            yield _ignored(path, rules[path])
        elif path not in snapshot.tree and not is_there(tree, path):
            action = renaming(tree, snapshot, path) or _PUT_BACK
            yield CloneProblem(path, "untracked", "is not there, nor in the last commit", action)
        elif path not in snapshot.tree:
            yield _uncommitted(path, is_staged=path in snapshot.index)
        elif problem := _stored_otherwise(tree, snapshot, path, attributes[path], autocrlf):
            yield _seen_again(problem, unseen.get(path, ()))
        else:
            is_staged = snapshot.index.get(path, ("", ""))[1] == blob
            yield _seen_again(_modified(path, is_staged=is_staged), unseen.get(path, ()))


def altered(repo: Repository, paths: Iterable[str]) -> Iterator[CloneProblem]:
    """Yield which paths, whose bytes are HEAD's, would hold others once checked out."""
    tree = Tree(repo.root)
    for path, attributes in read_attributes(repo, paths, committed=True).items():
        if not (attributes.recodes or attributes.ident == "set" or attributes.eol == "crlf"):
            continue
        try:
            changes = changes_on_checkout(tree.read(path), attributes)
        except InvalidFile:  # too large to look into: what the attribute says counts
            changes = True
        except (MissingFile, UnsafePath):  # no bytes here to be altered; its own state says so
            changes = False
        if changes:
            text = f"is checked out with other bytes than these, because of {attributes.words()}"
            yield CloneProblem(path, "filtered", text, _as_is(path, attributes))


def above(path: str) -> list[str]:
    """Return the folders above a path, the root itself left out."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]


def _obstacle(tree: Tree, snapshot: GitSnapshot, path: str) -> CloneProblem | None:
    """Return what keeps the path out of this repository altogether."""
    if snapshot.commit is None:
        action = _add(path) if is_there(tree, path) else _PUT_BACK
        return CloneProblem(path, "no-commit", "nothing is committed yet", action)
    for folder in (*above(path), path):
        if _is_gitlink(snapshot, folder) or folder.rpartition("/")[2].lower() == ".git":
            return _nested(path, folder)
    for folder in above(path):
        if _mode(tree, folder, stat.S_ISLNK):
            text = f"lies below the symbolic link {escaped(folder)}, of which git holds the link"
            return CloneProblem(path, "untracked", text, "put a folder in its place")
        if _mode(tree, f"{folder}/.git", bool):
            return _nested(path, folder)
    if path in snapshot.unmerged:
        text = "is in conflict: a merge is not finished"
        return CloneProblem(path, "modified", text, _resolve(path, snapshot))
    return None


def _resolve(path: str, snapshot: GitSnapshot) -> str:
    """Return how a conflict ends; git commits nothing while there is another."""
    add = _add(path) if len(snapshot.unmerged) == 1 else f"git add -- {as_word(path)}"
    if path != _MANIFEST and not path.startswith(_OURS):
        return f"resolve it, then {add}"
    return f"take one side, git checkout --ours -- {as_word(path)} (or --theirs), then {add}"


def _pointer(tree: Tree, snapshot: GitSnapshot, path: str) -> CloneProblem | None:
    """Return the problem of a file whose content is not here: to commit it would lose that."""
    if not holds_pointer(tree, path):
        return None
    text = "holds a git LFS pointer, not the content"
    return CloneProblem(path, "lfs", text, fetch_pointer(snapshot, path))


def fetch_pointer(snapshot: GitSnapshot, path: str) -> str:
    """Return how to get the content of an LFS pointer; git-lfs fetches for what git holds."""
    is_held = path in snapshot.tree or path in snapshot.index
    return "git lfs pull" if is_held else "put the content itself in its place"


def _is_gitlink(snapshot: GitSnapshot, path: str) -> bool:
    entries = snapshot.tree.get(path), snapshot.index.get(path)
    return any(entry is not None and entry[0] == GITLINK for entry in entries)


def is_there(tree: Tree, path: str) -> bool:
    """Tell whether anything stands at a path, by which the advice differs; not below a link."""
    try:
        return _mode(tree, path, bool)
    except UnsafePath:
        return False


def _mode(tree: Tree, path: str, test: Callable[[int], bool]) -> bool:
    try:
        status = tree.lstat(path)
    except MissingFile:  # unreadable: git will say what it can
        return False
    return status is not None and test(status.st_mode)


def _nested(path: str, folder: str) -> CloneProblem:
    name = escaped(path.rpartition("/")[2])
    text = f"{name} lies in another repository ({escaped(folder)}) and will not be in a clone"
    return CloneProblem(path, "nested", text, "move it out of that repository")


def ignore_rules(repo: Repository, paths: Iterable[str]) -> dict[str, str]:
    """Return the rule, with its file and line, by which git ignores each path that it ignores."""
    wanted = b"".join(os.fsencode(path) + b"\0" for path in paths)
    if not wanted:
        return {}
    said = repo.run("check-ignore", "-v", "-z", "--stdin", input=wanted, accept=(0, 1))
    fields = os.fsdecode(said).split("\0")[:-1]
    rows = zip(fields[::4], fields[1::4], fields[2::4], fields[3::4], strict=True)
    return {
        path: f"{escaped(source)}:{line}: {escaped(rule)}"
        for source, line, rule, path in rows
        if not rule.startswith("!")
    }


def unseen_by_git(repo: Repository, paths: Iterable[str]) -> dict[str, list[str]]:
    """Return of each path that git was told not to look at by which marks of its index."""
    wanted = frozenset(paths)
    listed = os.fsdecode(repo.run("ls-files", "-v", "-z")).split("\0")[:-1] if wanted else []
    found = {}
    for tag, path in ((entry[0], entry[2:]) for entry in listed):
        marks = {"assume-unchanged": tag.islower(), "skip-worktree": tag.upper() == "S"}
        if path in wanted and any(marks.values()):
            found[path] = [mark for mark, is_set in marks.items() if is_set]
    return found


def _seen_again(problem: CloneProblem, marks: Collection[str]) -> CloneProblem:
    """Return the problem with what must be taken back first, where ``git add`` would do nothing."""
    if not marks or problem.code == "staged":
        return problem
    text = f"{problem.text}; git was told not to look at it ({', '.join(marks)})"
    word = as_word(problem.path)
    first = "".join(f"git update-index --no-{mark} -- {word} && " for mark in marks)
    return replace(problem, text=text, action=problem.action.replace(_ADD, f"{first}{_ADD}", 1))


def _ignored(path: str, rule: str) -> CloneProblem:
    action = f"git add -f -- {as_word(path)} && git commit, or change that rule"
    return CloneProblem(path, "ignored", f"is ignored by git ({rule})", action)


def _uncommitted(path: str, *, is_staged: bool) -> CloneProblem:
    if is_staged:
        return CloneProblem(path, "staged", "is added but not committed", "git commit")
    return CloneProblem(path, "untracked", "is not tracked by git", _add(path))


def _modified(path: str, *, is_staged: bool) -> CloneProblem:
    if is_staged:
        text = "is added as it is here, but the last commit holds other bytes"
        return CloneProblem(path, "staged", text, "git commit")
    text = "differs from what the last commit holds"
    return CloneProblem(path, "modified", text, _add(path))


def _stored_otherwise(
    tree: Tree, snapshot: GitSnapshot, path: str, attributes: Attributes, autocrlf: str | None
) -> CloneProblem | None:
    """Return the problem when git's own conversions explain why HEAD holds other bytes."""
    mode, committed = snapshot.tree[path]
    if mode not in REGULAR:
        text = "is a symbolic link in the last commit, and a file here"
        return CloneProblem(path, "modified", text, _add(path))
    if attributes.is_lfs:
        text = "is in git as an LFS pointer only: a clone without git-lfs lacks the content"
        return CloneProblem(path, "lfs", text, _as_is(path, attributes))
    explained = attributes.has_filter or attributes.recodes
    if not explained:
        try:
            data = stored_form(tree.read(path), attributes, autocrlf)
        except (InvalidFile, MissingFile, UnsafePath):
            return None
        explained = blob_id(data, snapshot.object_format) == committed
    if not explained:
        return None
    text = f"is stored by git with other bytes than these, because of {attributes.words(autocrlf)}"
    return CloneProblem(path, "filtered", text, _as_is(path, attributes))


def _as_is(path: str, attributes: Attributes) -> str:
    """Return how to make git keep a file's bytes."""
    unset = {
        "-text": True,
        "-ident": attributes.ident == "set",
        "!working-tree-encoding": attributes.recodes,
        "!filter": attributes.filter not in ("", "unset"),
    }
    words = " ".join(word for word, is_needed in unset.items() if is_needed)
    line = attribute_line(path, words)
    again = f"git add --renormalize -- .gitattributes {as_word(path)} && git commit"
    return f"add the line `{line}` to .gitattributes, then {again}"


def _add(path: str) -> str:
    return f"git add -- {as_word(path)} && git commit"
