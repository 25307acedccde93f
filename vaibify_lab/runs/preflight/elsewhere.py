"""What is there in place of a file that is missing: another form of its name, another folder."""

from __future__ import annotations

from dataclasses import dataclass

from vaibify_lab.files.other_form import instead_of, renaming
from vaibify_lab.runs.preflight.inspection import Inspection


def in_other_form(inspection: Inspection, path: str) -> tuple[str, str] | None:
    """Return what is there under another Unicode form of a name, and how it is renamed."""
    if path.isascii():
        return None
    action = renaming(inspection.tree, inspection.repository.snapshot(), path)
    return (instead_of(inspection.tree, path), action) if action else None


@dataclass(frozen=True, slots=True)
class Other:
    """A file of the same relative path, ``base`` being the folder it would be reached from."""

    path: str
    base: str


def elsewhere(inspection: Inspection, path: str, directory: str) -> Other | None:
    """Return a file that is what ``path`` would be, were it seen from another folder."""
    word = path
    if directory and path.startswith(f"{directory}/"):
        word = path.removeprefix(f"{directory}/")
    for other in inspection.ending_with(word):
        if other != path and inspection.place(other).kind == "file":
            return Other(other, other.removesuffix(word).rstrip("/"))
    return None
