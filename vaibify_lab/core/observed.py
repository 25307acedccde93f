"""What was seen of the world at one look: plain values, so that ``derive`` can stay pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

FileKind = Literal[
    "file",  # a regular file; sha256 and size are given
    "missing",
    "link",  # a symbolic link, or a file below one
    "not-regular",  # a directory, FIFO, socket or device
    "unreadable",
    "changing",  # changed while it was read
    "lfs-pointer",  # a git LFS pointer stands where the content should be; sha256 is the pointer's
]


@dataclass(frozen=True, slots=True)
class FileState:
    """One file as it is now. ``sha256`` is 64 lower-case hex digits for ``file``, else None.

    ``detail`` says more in words (the link's place, the operating system's error, an LFS oid).
    """

    kind: FileKind
    sha256: str | None = None
    size: int | None = None
    detail: str = ""


MISSING = FileState("missing")


@dataclass(frozen=True, slots=True)
class GitSnapshot:
    """What git holds, read by plumbing only.

    Attributes
    ----------
    commit : str or None
        HEAD's commit; None when there is none yet.
    branch : str or None
        Short name; None when detached.
    shallow : bool
        History was cut (a depth-limited clone).
    commit_time : int or None
        HEAD's committer time, seconds since the epoch.
    object_format : str
        ``sha1`` or ``sha256``: how blob ids are made.
    tree : mapping of str to (mode, object id)
        HEAD's tree, recursively; a gitlink has mode ``160000``.
    index : mapping of str to (mode, object id)
        The index, stage 0 only.
    unmerged : frozenset of str
        Paths with conflict stages.
    """

    commit: str | None
    branch: str | None
    shallow: bool = False
    commit_time: int | None = None
    object_format: str = "sha1"
    tree: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    index: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    unmerged: frozenset[str] = frozenset()


# Codes of a `CloneProblem` that a commit of what is here would mend.
TO_BE_COMMITTED = frozenset({"untracked", "modified", "staged"})


@dataclass(frozen=True, slots=True)
class CloneProblem:
    """Why a clone would not hold a file as the bytes that are here.

    ``code`` is one of ``ignored``, ``untracked``, ``modified`` (HEAD holds other bytes), ``staged``
    (added, not committed), ``filtered`` (a clean filter or line-ending rule alters it),
    ``lfs`` (git, or the disk, holds only an LFS pointer), ``nested`` (it lies in another
    repository), ``no-commit`` (nothing is committed yet).
    """

    path: str
    code: str
    text: str
    action: str = ""
