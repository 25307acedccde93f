"""Which folders a step may write, made ready just before it starts."""

from __future__ import annotations

from vaibify_lab.core.errors import UnsafePath
from vaibify_lab.core.model import Step
from vaibify_lab.core.paths import is_protected, is_within, shown
from vaibify_lab.files.git import Repository
from vaibify_lab.files.tree import Tree


def writable_folders(step: Step) -> tuple[str, ...]:
    """Return the repository paths a step may write: its directory and its outputs' folders.

    ``bWriteAnywhere`` and a step whose directory is the root may write the whole tree except
    ``.git`` and ``.vaibify``; the runner then tells forbidden writes by the files' stamps.
    """
    if step.write_anywhere:
        return ("",)
    unique = list(dict.fromkeys([step.directory, *map(folder_of, step.outputs)]))
    return tuple(
        one for one in unique if not any(one != other and is_within(one, other) for other in unique)
    )


def make_ready(tree: Tree, step: Step) -> None:
    """Create the folders a step may write; refuse one that is, or lies below, a link."""
    for folder in map(folder_of, step.outputs):
        if folder:
            tree.make_directory(folder)
    if step.directory and not tree.exists_as_directory(step.directory):
        text = "is no folder of the repository"
        raise UnsafePath(text, where=f"step {step.name!r}: sDirectory {step.directory!r}")


def require_git_apart(repository: Repository, step: Step) -> None:
    """Refuse a step that may write the folder in which git keeps the repository.

    Raises
    ------
    UnsafePath
        It is not ``.git``, which no step can write, but some other folder (by a ``.git`` file or
        link), and the step's outputs lie around it.
    """
    root = repository.root.resolve()
    for place in (repository.git_dir.resolve(), repository.common_dir.resolve()):
        path = str(place.relative_to(root)) if place.is_relative_to(root) else ".git"
        if not is_protected(path) and any(is_within(path, one) for one in writable_folders(step)):
            text = "holds this git repository, and the step may write there"
            raise UnsafePath(text, where=shown(path), action="keep it in .git, or elsewhere")


def folder_of(output: str) -> str:
    """Return the folder an output lies in; a declared folder is its own."""
    return output.rstrip("/") if output.endswith("/") else output.rpartition("/")[0]
